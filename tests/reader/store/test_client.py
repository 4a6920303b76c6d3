"""What a store may do to who reads it: each fault is passed over, or told in a sentence."""

import asyncio
import contextlib
import functools
import http.server
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from row_files import rows_of
from store_faults import FAULTS, whole_file
from store_server import LAST_MODIFIED, StoreServer, serving

import reader
from reader import Dataset, StoreError
from reader.format import Manifest
from reader.store import limits
from reader.store.client import Store

pytestmark = pytest.mark.usefixtures("needs_store")


Opened = Callable[..., Dataset]
QUICK = {"client_options": {"read_timeout": "300ms"}}  # to see a stall; asked again for long
HASTY = {"retry_timeout": 1, "client_options": {"read_timeout": "2s"}}


def at_shards(server: StoreServer, fault: Any, times: int) -> None:
    """Let requests for shards meet a fault, so many times."""
    left = [times]

    def choose(handler: Any) -> Any:
        if not handler.path.endswith(".tar") or not left[0]:
            return None
        left[0] -= 1
        return fault

    server.fault = choose


# The others fail a request in the same way, as tests of `http` and `ranges` have it.
PASSING = {name: FAULTS[name] for name in ("reset", "body cut short", "500", "wrong bytes")}


@pytest.mark.parametrize("fault", PASSING.values(), ids=list(PASSING))
def test_what_fails_in_passing_is_asked_again(
    packed: Path, server: StoreServer, opened: Opened, fault: Any
) -> None:
    dataset = opened(storage_options=QUICK)
    at_shards(server, fault, 2)
    assert (dataset[0][0] == Dataset(packed)[0][0]).all()


@pytest.mark.parametrize(("fault", "told"), rows_of(__file__, "lasting_faults.rows"))
def test_what_does_not_pass_is_an_error_that_names_sample_shard_and_reason(
    server: StoreServer, opened: Opened, fault: str, told: str
) -> None:
    dataset = opened(storage_options=HASTY)
    at_shards(server, eval(fault, {"FAULTS": {**FAULTS, "whole file": whole_file}}), 10**6)
    with pytest.raises(StoreError, match=rf"At sample 'class\d/.*' of shard-000000.tar: .*{told}"):
        dataset[0]


def test_a_store_that_is_gone_for_a_while_is_waited_for(
    packed: Path, server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    dataset[0]
    server.fault = FAULTS["reset"]
    threading.Timer(1.0, lambda: setattr(server, "fault", lambda _: None)).start()
    assert (dataset[1][0] == Dataset(packed)[1][0]).all()


def test_a_shard_that_is_not_there_is_told_of_its_samples(
    server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    at_shards(server, 404, 10**6)
    with pytest.raises(reader.SampleError, match=r"shard-000000\.tar is not in the store"):
        dataset[0]


def test_what_is_no_dataset_or_no_place_is_told_at_once(
    server: StoreServer, opened: Opened, tmp_path: Path
) -> None:
    server.fault = lambda _: 404
    with pytest.raises(reader.FormatError, match=r"is not a dataset: it has no dataset\.json"):
        opened()
    server.fault = lambda _: 403
    with pytest.raises(StoreError, match=r"dataset\.json: the store denies access"):
        opened()
    server.fault = lambda _: 501
    with pytest.raises(StoreError, match=r"dataset\.json: the store answers with status 501\."):
        opened()
    with pytest.raises(StoreError, match=r"dataset\.json: its host name does not resolve, also"):
        Dataset("http://nowhere.invalid/x", cache_dir=tmp_path, storage_options=HASTY)


@pytest.mark.parametrize("code", ["NoSuchBucket", "ContainerNotFound"])
def test_a_bucket_that_is_not_there_is_told_as_that(
    server: StoreServer, tmp_path: Path, code: str
) -> None:
    text = f"<Error><Code>{code}</Code></Error>".encode()
    server.fault = lambda _: lambda handler: handler.answer(404, text)
    options = {"endpoint": server.url, "region": "here", "skip_signature": True}
    with pytest.raises(StoreError, match=r"s3://typo/x: the bucket or container does not exist\."):
        Dataset("s3://typo/x", cache_dir=tmp_path, storage_options=options)


def test_a_folder_by_its_url_is_named_where_it_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"the folder {tmp_path}/no ne does not exist"):
        Dataset(f"file://{tmp_path}/no%20ne", cache_dir=tmp_path)
    with pytest.raises(reader.ArgumentError, match=r"three slashes, as in file:///tmp/x\."):
        Dataset("file://tmp/x", cache_dir=tmp_path)


def test_an_index_that_is_not_the_one_of_the_dataset_is_told(
    server: StoreServer, opened: Opened
) -> None:
    server.fault = lambda handler: (
        (lambda handler: handler.serve(lambda content: content[::-1]))
        if handler.path.endswith("1.safetensors")
        else None
    )
    with pytest.raises(reader.FormatError, match=r"shard-000001\.safetensors is not the index"):
        opened()


@pytest.mark.parametrize("more", [1, -1])
def test_an_index_of_other_samples_than_dataset_json_says_is_refused_when_it_is_read(
    server: StoreServer, opened: Opened, packed_copy: Path, more: int
) -> None:
    manifest = Manifest.load(packed_copy)
    shards = (replace(manifest.shards[0], samples=10 + more), *manifest.shards[1:])
    (packed_copy / "dataset.json").write_text(replace(manifest, shards=shards).dump())
    server.folder = packed_copy
    said = rf"{server.url}/shard-000000\.tar: its index has 10 samples, .* records {10 + more}"
    with pytest.raises(reader.FormatError, match=said):
        opened()[0]


def test_a_store_may_tell_a_weak_version_or_none(
    packed: Path, server: StoreServer, opened: Opened
) -> None:
    """A server's If-Match never matches a weak one."""
    for tag in ("W/{}", None):
        server.tag = tag
        dataset = opened(cache_dir=server.folder.parent / f"of {tag is None}")
        assert (dataset[0][0] == Dataset(packed)[0][0]).all()
        assert (dataset[1][0] == Dataset(packed)[1][0]).all()


def announce(size: int, seconds: float = 0.0) -> Callable[[Any], None]:
    """Answer with a head of that size, and a byte each so many seconds without an end."""

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(size))
        handler.send_header("Last-Modified", LAST_MODIFIED)
        handler.end_headers()
        handler.close_connection = True
        with contextlib.suppress(OSError):
            while not handler.server.closing.wait(seconds):
                handler.wfile.write(b" ")
                handler.wfile.flush()

    return answer


def test_an_answer_that_comes_too_slowly_is_given_up(
    server: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fault = lambda _: announce(100_000, seconds=0.02)
    monkeypatch.setattr(limits, "GRACE", 0.1)
    monkeypatch.setattr(limits, "RATE", 10**6)
    store = Store(server.url, {"retry_timeout": 0.1}, None)
    with pytest.raises(StoreError, match=r"sends too slowly \(100,000 bytes are not .* in the ca"):
        asyncio.run(store.whole("dataset.json"))


@pytest.mark.parametrize("name", ["dataset.json", "shard-000001.safetensors"])
def test_an_answer_of_too_many_bytes_is_refused_before_they_are_read(
    server: StoreServer, opened: Opened, name: str
) -> None:
    server.fault = lambda handler: announce(1 << 50) if handler.path.endswith(name) else None
    with pytest.raises(StoreError, match=rf"{name}: it has 1,125,899,906,842,624 bytes, but at"):
        opened()


def test_a_server_without_ranges_is_told_from_one_that_is_not_there(
    packed: Path, tmp_path: Path
) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=packed)
    handler.func.log_message = lambda *_: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as plain:
        threading.Thread(target=plain.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{plain.server_address[1]}"
        dataset = Dataset(url, cache_dir=tmp_path)
        with pytest.raises(StoreError, match=r"support range requests.*`python -m http\.server`"):
            dataset[0]
        dataset.fetching.close()
        with pytest.raises(reader.FormatError, match=r"it has no dataset\.json"):
            Dataset(f"{url}/other", cache_dir=tmp_path)
        plain.shutdown()
    with pytest.raises(StoreError, match=r"no connection to the server .* Check the URL"):
        Dataset(url, cache_dir=tmp_path, storage_options=HASTY)


def test_a_shard_that_is_shorter_than_it_was_is_told_as_replaced(
    server: StoreServer, opened: Opened, packed_copy: Path
) -> None:
    dataset = opened()
    server.folder = packed_copy
    (packed_copy / "shard-000000.tar").write_bytes(bytes(1024))
    at_shards(server, 416, 10**6)
    with pytest.raises(StoreError, match=r"it was replaced since .* Open the dataset again"):
        dataset[0]


def test_what_a_server_does_not_tell_is_named(server: StoreServer, opened: Opened) -> None:
    server.fault = lambda _: lambda handler: handler.answer(200, b"", {"Transfer-Encoding": "x"})
    with pytest.raises(StoreError, match="the server sends no Content-Length header"):
        opened()


def test_a_certificate_that_is_not_accepted_is_told_with_what_to_do(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = {"cache_dir": tmp_path / "cache", "storage_options": HASTY}

    def opened(*, is_of_a_server: bool) -> Dataset:
        make_certificate(key, certificate, is_of_a_server=is_of_a_server)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = running.enter_context(serving(packed, context))
        dataset = Dataset(server.url, **options)
        running.callback(dataset.fetching.close)
        return dataset

    with contextlib.ExitStack() as running:
        with pytest.raises(StoreError, match=r"not accepted \(UnknownIssuer\).* SSL_CERT_FILE"):
            opened(is_of_a_server=True)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with pytest.raises(StoreError, match=r"not accepted \(CaUsedAsEndEntity\)"):
            opened(is_of_a_server=False)
        dataset = opened(is_of_a_server=True)
        assert (dataset[0][0] == Dataset(packed)[0][0]).all()


def make_certificate(key: Path, certificate: Path, *, is_of_a_server: bool) -> None:
    """One that its own key has signed, for a server or for an authority."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    of = ["-subj", "/CN=tests", "-addext", "subjectAltName=IP:127.0.0.1"]
    of += ["-addext", "basicConstraints=critical,CA:FALSE"] if is_of_a_server else []
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *of, *files], check=True, capture_output=True)
