"""Credentials: asked for again when they end, sent to whom they are for, and found nowhere else."""

import datetime
import pickle
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from delivered import CROP
from store_server import StoreServer, serving

import reader
from reader import Dataset, Loader, StoreError

pytestmark = pytest.mark.usefixtures("needs_store", "no_leftovers")

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # its imports take seconds

SECRET = "S3CR3TS3CR3TS3CR3T"
COUNT = 39


class Provider:
    """Gives keys AK1, AK2, ..., as it is called, and says how often in a file."""

    def __init__(self, calls: Path, seconds: float | None, fails_at: int = 0) -> None:
        self.calls = calls
        self.seconds = seconds
        self.fails_at = fails_at

    def __call__(self) -> dict[str, Any]:
        with self.calls.open("a") as file:
            file.write("x")
        number = len(self.calls.read_text())
        if self.fails_at and number >= self.fails_at:
            raise RuntimeError(f"the token service says {SECRET}")
        end = None
        if self.seconds is not None:
            now = datetime.datetime.now(datetime.timezone.utc)
            end = now + datetime.timedelta(seconds=self.seconds)
        return {"access_key_id": f"AK{number}", "secret_access_key": SECRET, "expires_at": end}


@pytest.fixture
def bucket(packed: Path) -> Iterator[StoreServer]:
    """A store that takes the keys in `keys` alone, with the packed `source` in s3://shards."""
    with serving(packed.parent) as server:
        server.keys = {"AK1"}

        def refuse(handler: Any) -> int | None:
            signed = handler.headers.get("Authorization", handler.path)  # a header, or in the URL
            key = re.search(r"Credential=(\w+)(/|%2F)", signed)
            return None if key and key[1] in server.keys else 403

        server.fault = refuse
        yield server


def opened(bucket: StoreServer, tmp_path: Path, provider: Provider | None, **options: Any) -> Any:
    given = {"endpoint": bucket.url, "region": "here", "retry_timeout": 1, **options}
    return Dataset(
        "s3://shards", cache_dir=tmp_path, storage_options=given, credential_provider=provider
    )


def test_credentials_that_end_in_mid_epoch_are_asked_for_again(
    bucket: StoreServer, tmp_path: Path
) -> None:
    provider = Provider(tmp_path / "calls", None)
    dataset = opened(bucket, tmp_path, provider)
    refuse = bucket.fault

    def end_keys(handler: Any) -> int | None:
        bucket.keys = {"AK1"} if len(bucket.tars) < COUNT // 2 else {"AK2"}
        return refuse(handler)

    bucket.fault = end_keys
    with Loader(dataset, batch_size=2, workers=1, transforms=[CROP], shuffle=True) as loader:
        assert sum(len(images) for images, _ in loader) == COUNT
    assert len(provider.calls.read_text()) == 2
    dataset.fetching.close()


def test_a_provider_is_asked_before_what_it_gave_ends(bucket: StoreServer, tmp_path: Path) -> None:
    provider = Provider(tmp_path / "calls", 60)  # which is soon
    bucket.keys = {f"AK{number}" for number in range(1, 1000)}
    dataset = opened(bucket, tmp_path, provider)
    for number in range(0, 30, 10):  # of three shards, each of which is signed for
        dataset[number]
        time.sleep(0.2)  # the library asks every tenth of a second at most
    assert len(provider.calls.read_text()) > 1
    dataset.fetching.close()


def test_credentials_that_were_never_good_are_told_at_once(
    bucket: StoreServer, tmp_path: Path
) -> None:
    bucket.keys = set()
    provider = Provider(tmp_path / "calls", None)
    with pytest.raises(StoreError, match=r"the store denies access \(status 403\): cred"):
        opened(bucket, tmp_path, provider)
    assert len(provider.calls.read_text()) == 1


def test_a_provider_that_fails_is_named_with_the_kind_of_its_error_alone(
    bucket: StoreServer, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match=r"credential_provider= raised RuntimeError") as told:
        opened(bucket, tmp_path, Provider(tmp_path / "calls", None, fails_at=1))
    assert SECRET not in str(told.value)
    dataset = opened(bucket, tmp_path, Provider(tmp_path / "others", None, fails_at=2))
    bucket.keys = set()
    with pytest.raises(
        StoreError, match=r"raised RuntimeError, also after .* call it yourself"
    ) as told:
        dataset[0]
    assert SECRET not in str(told.value)
    dataset.fetching.close()


def test_expired_credentials_are_named_whatever_the_status(
    bucket: StoreServer, tmp_path: Path
) -> None:
    text = b"<Error><Code>ExpiredToken</Code><Token>" + SECRET.encode() + b"</Token></Error>"
    dataset = opened(bucket, tmp_path, None, access_key_id="AK1", secret_access_key=SECRET)
    bucket.fault = lambda handler: lambda handler: handler.answer(400, text)
    with pytest.raises(StoreError, match=r"\(status 400, ExpiredToken\): .* expired") as told:
        dataset[0]
    assert SECRET not in str(told.value)
    dataset.fetching.close()


def test_a_provider_for_a_store_that_asks_for_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(reader.ArgumentError, match=r"credential_provider= is for s3://, gs://"):
        Dataset("https://example.org/x", credential_provider=Provider(tmp_path / "calls", None))


def test_a_token_is_for_the_hub_and_not_for_where_it_redirects_to(
    packed: Path, tmp_path: Path
) -> None:
    shards = tmp_path / "hub" / "datasets" / "me" / "birds" / "resolve" / "v1"
    shards.mkdir(parents=True)
    (shards / "all").symlink_to(packed)
    with serving(packed) as network, serving(tmp_path / "hub") as hub:
        there = network.url.replace("127.0.0.1", "localhost")

        def redirect(handler: Any) -> None:
            name = handler.path.rpartition("/")[2]
            handler.answer(302, b"", {"Location": f"{there}/{name}?Signature={SECRET}"})

        hub.fault = lambda handler: redirect if handler.path.endswith(".tar") else None
        dataset = Dataset(
            "hf://datasets/me/birds@v1/all",
            cache_dir=tmp_path / "cache",
            storage_options={"token": SECRET, "endpoint": hub.url, "retry_timeout": 1},
        )
        assert (dataset[0][0] == Dataset(packed)[0][0]).all()
        assert {head["authorization"] for head in hub.headers} == {f"Bearer {SECRET}"}
        assert network.tars
        assert not [head for head in network.headers if SECRET in str(head)]
        network.fault = lambda _: 403
        with pytest.raises(StoreError, match="the store denies access") as told:
            dataset[1]
        assert SECRET not in str(told.value)
        dataset.fetching.close()


@pytest.mark.parametrize("name", ["x-api-key", "X-Auth-Token", "PRIVATE-TOKEN", "cookie"])
@pytest.mark.parametrize("files", ["dataset.json", ".tar", ""])
def test_headers_of_the_users_own_are_for_the_server_and_not_for_where_it_redirects_to(
    packed: Path, tmp_path: Path, name: str, files: str
) -> None:
    with serving(packed) as network, serving(packed) as server:

        def redirect(handler: Any) -> None:
            handler.answer(302, b"", {"Location": f"{network.url}{handler.path}"})

        server.fault = lambda handler: redirect if handler.path.endswith(files) else None
        client = {"default_headers": {name: SECRET}}
        options = {"retry_timeout": 1, "client_options": client}
        dataset = Dataset(server.url, cache_dir=tmp_path / "cache", storage_options=options)
        assert (dataset[0][0] == Dataset(packed)[0][0]).all()
        assert all(SECRET in head.values() for head in server.headers)
        assert network.headers
        assert not [head for head in network.headers if SECRET in str(head)]
        network.fault = server.fault = lambda _: 403
        with pytest.raises(StoreError, match="the store denies access") as told:
            dataset[1]
        assert SECRET not in str(told.value)
        dataset.fetching.close()


ERRORS = (400, 403, 500, lambda handler: handler.reset())


def test_credentials_are_in_no_error_message_pickle_of_workers_or_file(
    packed: Path, tmp_path: Path
) -> None:
    headers = {"authorization": f"Bearer {SECRET}"}
    options = {"retry_timeout": 1, "client_options": {"default_headers": headers}}
    with serving(packed) as server:
        dataset = Dataset(server.url, cache_dir=tmp_path, storage_options=options)
        dataset[0]
        assert {sent["authorization"] for sent in server.headers} == {f"Bearer {SECRET}"}
        errors = []
        for fault in ERRORS:
            server.fault = lambda handler, fault=fault: fault
            with pytest.raises(StoreError) as raised:
                dataset[20]
            errors.append(str(raised.value))
        said = [repr(dataset), *errors, repr(pickle.dumps(dataset.for_workers()))]
        with Loader(dataset, batch_size=4, workers=0, transforms=[CROP]) as loader:
            said += [repr(loader), repr(loader.state_dict()), str(loader.statistics())]
        pid = dataset.fetching.pid
        said += [Path(f"/proc/{pid}/{what}").read_text() for what in ("cmdline", "environ")]
        dataset.fetching.close()
    assert not [text for text in said if SECRET in text]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("url", ["s3://bucket/x", "file:///x", "hf://datasets/me/birds"])
def test_options_that_a_store_does_not_have_are_named_without_their_values(
    tmp_path: Path, url: str
) -> None:
    with pytest.raises(StoreError, match=r"names in storage_options= \(no_such_key\)") as refused:
        Dataset(url, cache_dir=tmp_path, storage_options={"no_such_key": SECRET})
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("url", [f"https://me:{SECRET}@example.org/x", f"s3://b/x?sig={SECRET}"])
def test_credentials_in_a_url_are_refused_without_repeating_them(tmp_path: Path, url: str) -> None:
    for call in (Dataset, lambda url, **_: Loader(url, batch_size=4)):
        with pytest.raises(
            reader.ArgumentError, match="Give credentials in storage_options="
        ) as wrong:
            call(url, cache_dir=tmp_path)
        assert SECRET not in str(wrong.value)
