"""What a URL means: braces, one object, a prefix; where no list can be had, what is named."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from s3_server import S3Server
from store_server import StoreServer, serving

import packer
import reader
from packer import PackReport

Fetch = Callable[..., PackReport]


@pytest.fixture
def web(tmp_path: Path, packed: Path) -> Iterator[StoreServer]:
    """A server of files, which lists none: a dataset in the folder "ours"."""
    pytest.importorskip("obstore", reason="what is about stores needs shardfeed[remote]")
    shutil.copytree(packed, tmp_path / "web" / "ours")
    with serving(tmp_path / "web") as server:
        yield server


def test_braces_name_tars_that_are_packed_as_one_dataset(
    store: S3Server, packed: Path, fetch: Fetch, web: StoreServer, tmp_path: Path
) -> None:
    shutil.copytree(packed, store.folder / "wds")
    shutil.copytree(packed, store.folder / "wds" / "other")
    local = tmp_path / "local"
    local.mkdir()
    for number in (1, 2):
        shutil.copy(packed / f"shard-{number:06d}.tar", local)
    packer.pack(local, tmp_path / "expected", jobs=1, progress=False)
    expected = sorted(path.read_bytes() for path in (tmp_path / "expected").glob("*.tar"))
    for number, base in enumerate(["s3://bucket/wds", f"{web.url}/ours"]):
        dst = tmp_path / f"of-{number}"
        report = fetch(f"{base}/shard-{{000001..000002}}.tar", dst, shard_samples=None)
        assert report.samples == 20
        assert sorted(path.read_bytes() for path in dst.glob("*.tar")) == expected
    assert len(store.asked) == 2


def test_braces_in_folders_name_splits(store: S3Server, packed: Path, fetch: Fetch) -> None:
    for split in ("train", "val"):
        shutil.copytree(packed, store.folder / "wds" / split)
    report = fetch("s3://bucket/wds/{train,val}/shard-{000000..000001}.tar")
    assert report.splits == {"train": 20, "val": 20}


def test_missing_names_in_braces_are_named(store: S3Server, packed: Path, fetch: Fetch) -> None:
    shutil.copytree(packed, store.folder / "wds")
    with pytest.raises(packer.UnusableInput, match=r"1 of 3 .* s3://bucket/wds: shard-000004\.tar"):
        fetch("s3://bucket/wds/shard-{000002..000004}.tar")
    with pytest.raises(packer.UnusableInput, match="braces are allowed only after the name"):
        fetch("s3://bucket-{a,b}/x.tar")


def test_one_archive_is_fetched_alone_and_a_table_with_what_lies_beside_it(
    store: S3Server, raw: Path, fetch: Fetch, tmp_path: Path
) -> None:
    (store.folder / "zips").mkdir()
    shutil.make_archive(str(store.folder / "zips" / "all"), "zip", raw)
    (store.folder / "zips" / "more.zip").write_bytes(b"zip")
    assert fetch("s3://bucket/zips/all.zip", tmp_path / "a").samples == 39
    assert [name for name, _, _ in store.asked] == ["/zips/all.zip"]
    rows = [f"{path.relative_to(raw)},{path.parent.name}" for path in raw.glob("*/*.jpg")]
    (raw / "labels.csv").write_text("\n".join(["image,label", *rows[:30]]))
    report = fetch("s3://bucket/raw/labels.csv", tmp_path / "b", on_error="skip")
    assert report.samples == 30


def test_dataset_json_stands_for_a_list(web: StoreServer, fetch: Fetch, tmp_path: Path) -> None:
    assert fetch(f"{web.url}/ours").samples == 39
    assert fetch(f"{web.url}/ours/shard-000000.tar", tmp_path / "one").samples == 10


@pytest.mark.parametrize("place", ["", "/ours/nothing", "/ours/x.tar"])
def test_a_folder_that_is_not_listed_is_refused(web: StoreServer, fetch: Fetch, place: str) -> None:
    with pytest.raises(packer.UnusableInput, match="this server does not list files"):
        fetch(f"{web.url}{place}")


def test_hugging_face_gives_files_by_name(
    web: StoreServer, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", web.url)
    resolved = web.folder / "datasets" / "owner" / "name" / "resolve" / "main"
    shutil.copytree(web.folder / "ours", resolved / "data")
    assert fetch("hf://datasets/owner/name/data/shard-{000000..000003}.tar").samples == 39
    with pytest.raises(packer.UnusableInput, match="this server does not list files"):
        fetch("hf://datasets/owner/name")


def test_a_folder_by_its_url_is_one(fetch: Fetch, source: Path, is_packed: Any) -> None:
    pytest.importorskip("obstore", reason="what is about stores needs shardfeed[remote]")
    fetch(f"file://{source}")
    assert is_packed()
    with pytest.raises(reader.StoreError, match=f"the folder {source}/nope does not exist"):
        fetch(f"file://{source}/nope")
