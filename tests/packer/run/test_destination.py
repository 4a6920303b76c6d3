"""A dataset in a store is what it would be in a folder, whatever happens on the way."""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_packer import call_packer
from made_images import make_folder
from packing import files_of
from s3_server import S3Server

import packer
import reader
from packer import PackReport

Upload = Callable[..., PackReport]


@pytest.mark.parametrize("lost", [False, True], ids=["scratch is kept", "scratch is lost"])
@pytest.mark.parametrize(
    "at", [4, pytest.param(1, marks=pytest.mark.slow), pytest.param(9, marks=pytest.mark.slow)]
)
def test_a_run_that_is_cut_off_continues_and_uploads_nothing_anew(
    store: S3Server, upload: Upload, packed: Path, tmp_path: Path, at: int, lost: bool
) -> None:
    cut_off(store, at + 1, only_writes=True)  # what says which run it is comes first
    with pytest.raises(packer.ShardfeedError, match="the store denies access"):
        upload()
    assert "dataset.json" not in store.objects("shards")
    store.fault = lambda handler: None
    if lost:
        shutil.rmtree(tmp_path / "scratch")
    before = {name for name in store.written if name.endswith(".safetensors")}
    report = upload()
    assert report.shards_written <= 4 - (len(before) if lost else 0)
    assert store.objects("shards") == files_of(packed)
    assert max(n for name, n in store.written.items() if not name.endswith(".json")) == 1


def test_a_folder_by_its_url_is_made(upload: Upload, packed: Path, tmp_path: Path) -> None:
    upload(dst=f"file://{tmp_path}/not%20there/shards", storage_options=None)
    assert files_of(tmp_path / "not there" / "shards") == files_of(packed)
    (tmp_path / "file").touch()
    with pytest.raises(reader.StoreError, match="/file/shards: the folder cannot be created"):
        upload(dst=f"file://{tmp_path}/file/shards", storage_options=None)


def test_a_lost_answer_is_no_failure(store: S3Server, upload: Upload, packed: Path) -> None:
    lost: set[str] = set()

    def once(name: str) -> bool:
        return name not in lost and lost.add(name) is None

    store.lost = once
    upload()
    assert store.objects("shards") == files_of(packed)
    assert set(store.written.values()) == {1}
    assert len(lost) == 10  # four shards, dataset.json and what says which run it is


def settled(store: S3Server) -> dict[str, bytes]:
    """Its objects when what a run that ended had sent has come to its end, too."""
    before = None
    while before != (now := store.objects("shards")):
        before = now
        time.sleep(0.3)
    return now


def test_another_run_is_refused_by_name(store: S3Server, upload: Upload, tmp_path: Path) -> None:
    store.fault = lambda handler: 403 if handler.path.endswith("2.tar") else None
    with pytest.raises(packer.PackingFailed, match="run the same command again to continue"):
        upload()
    store.fault = lambda handler: None
    before = settled(store)
    other = tmp_path / "other"
    with pytest.raises(packer.UnusableInput, match=r"s3://.* unfinished run with other options"):
        upload(shard_samples=5, scratch=other)
    assert store.objects("shards") == before
    assert not list(other.iterdir())
    upload()
    with pytest.raises(packer.UnusableInput, match=r"s3://bucket/shards already holds a dataset"):
        upload(shard_samples=5)


def test_what_nobody_of_ours_has_written_stays(store: S3Server, upload: Upload) -> None:
    (store.folder / "shards").mkdir()
    (store.folder / "shards" / "shard-000001.tar").write_bytes(b"mine")
    with pytest.raises(packer.UnusableInput, match=r"already holds shard-000001\.tar"):
        upload()
    assert store.objects("shards") == {"shard-000001.tar": b"mine"}


def test_a_shard_that_another_wrote_meanwhile_stays(store: S3Server, upload: Upload) -> None:
    def write(handler: Any) -> None:
        if handler.command == "PUT" and handler.path.endswith("1.tar"):
            (store.folder / "shards" / "shard-000001.tar").write_bytes(b"theirs")

    store.fault = write
    with pytest.raises(packer.UnusableInput, match=r"shard-000001\.tar already exists"):
        upload()
    assert store.objects("shards")["shard-000001.tar"] == b"theirs"


def test_overwrite_removes_only_the_dataset(store: S3Server, upload: Upload, packed: Path) -> None:
    upload(shard_samples=3)
    (store.folder / "shards" / "notes.txt").write_text("mine")
    upload(overwrite=True)
    assert store.objects("shards") == files_of(packed) | {"notes.txt": b"mine"}


@pytest.mark.parametrize("lost", [False, True], ids=["scratch is kept", "scratch is lost"])
@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_an_overwrite_that_is_cut_off_at_any_request_is_finished_by_the_same_command(
    store: S3Server, upload: Upload, tmp_path: Path, stride: int, lost: bool
) -> None:
    images = make_folder(tmp_path / "images", classes=2, images=3)
    upload(images, shard_samples=2, split={"train": 0.5, "val": 0.5})
    before = shutil.copytree(store.folder / "shards", tmp_path / "before")
    upload(images, shard_samples=2, overwrite=True)
    after = store.objects("shards")
    for at in count(0, stride):
        shutil.rmtree(store.folder / "shards")
        shutil.copytree(before, store.folder / "shards")
        cut_off(store, at)
        with suppress(packer.ShardfeedError):
            upload(images, shard_samples=2, overwrite=True)
            break
        store.fault = lambda handler: None
        if lost:
            shutil.rmtree(tmp_path / "scratch", ignore_errors=True)
        upload(images, shard_samples=2, overwrite=True)
        assert store.objects("shards") == after, at
    assert at > 20


def test_indexes_that_a_kill_has_cut_short_in_the_scratch_folder_are_fetched_again(
    store: S3Server, upload: Upload, packed: Path, tmp_path: Path
) -> None:
    store.fault = lambda handler: 403 if handler.path.endswith("dataset.json") else None
    with pytest.raises(packer.ShardfeedError):
        upload()
    store.fault = lambda handler: None
    for size, index in enumerate(sorted((tmp_path / "scratch").rglob("*.safetensors"))):
        index.write_bytes(index.read_bytes()[: 100 * size])
    assert upload().shards_written == 0
    assert store.objects("shards") == files_of(packed)


@pytest.mark.parametrize("what", ["other options", "other splits", "no dataset", "a loop"])
def test_an_append_that_is_refused_names_the_url_and_leaves_nothing_here(
    store: S3Server, upload: Upload, source: Path, tmp_path: Path, what: str
) -> None:
    if what != "no dataset":
        upload()
    before = store.objects("shards") if what != "no dataset" else {}
    given: dict[str, Any] = {"seed": 1} if what == "other options" else {}
    if what == "a loop":
        given = {"src": iter([1]), "quality": 9}
    if what == "other splits":
        shutil.copytree(source, tmp_path / "divided" / "train")
        given = {"src": tmp_path / "divided"}
    with pytest.raises(packer.ShardfeedError, match="s3://bucket/shards") as refused:
        upload(append=True, **given)
    assert str(tmp_path / "scratch") not in str(refused.value)
    assert not list((tmp_path / "scratch").glob("*"))
    assert what == "no dataset" or store.objects("shards") == before


def test_a_store_that_ignores_conditions_is_said_and_nothing_is_replaced_in_it(
    store: S3Server, upload: Upload, packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store.heeds_conditions = False
    upload(progress=True)
    assert "does not support conditional writes" in capsys.readouterr().err
    assert store.objects("shards") == files_of(packed)
    with pytest.raises(packer.UnusableInput, match="already holds a dataset"):
        upload(shard_samples=5)
    assert store.objects("shards") == files_of(packed)


@pytest.mark.parametrize("is_found_by", ["the scan", "its pixels"])
def test_what_is_rejected_is_uploaded_when_it_is_mended(
    store: S3Server, upload: Upload, tmp_path: Path, is_found_by: str
) -> None:
    images = make_folder(tmp_path / "images", classes=1, images=6)
    bad = images / "class0" / "image003.jpg"
    good = bad.read_bytes()
    bad.write_bytes(b"" if is_found_by == "the scan" else good[:300])
    with pytest.raises(packer.Rejected, match=r"image003\.jpg"):
        upload(images, kind="folder", shard_samples=2)
    tars = sum(name.endswith(".tar") for name in store.objects("shards"))
    assert tars == (0 if is_found_by == "the scan" else 2)
    bad.write_bytes(good)
    assert upload(images, kind="folder", shard_samples=2).shards_written == 3 - tars
    assert set(store.written.values()) == {1}


def test_a_writer_uploads_in_the_end_or_leaves_nothing(store: S3Server, tmp_path: Path) -> None:
    options = {"scratch": tmp_path / "scratch", "storage_options": store.options}
    pixels = np.zeros((16, 16, 3), np.uint8)
    with suppress(KeyError), packer.Writer("s3://bucket/w", progress=False, **options) as writer:
        writer.write({"image": pixels, "label": 1})
        raise KeyError
    assert store.objects() == {}
    with packer.Writer("s3://bucket/w", progress=False, **options) as writer:
        for number in range(5):
            writer.write({"image": pixels + number, "label": number, "split": "ab"[number % 2]})
    assert sorted(store.objects("w")) == [
        *("a/shard-000000.safetensors", "a/shard-000000.tar"),
        *("b/shard-000000.safetensors", "b/shard-000000.tar", "dataset.json"),
    ]
    assert not list((tmp_path / "scratch").iterdir())
    cached = reader.Dataset(
        "s3://bucket/w", "b", cache_dir=tmp_path / "cache", storage_options=store.options
    )
    assert len(cached) == 2
    cached.fetching.close()


def test_parts_on_machines_that_share_no_disk_are_joined_by_a_command_without_part(
    store: S3Server, source: Path, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    command = ["pack", source, "s3://bucket/shards", "--shard-samples", 10, "--jobs", 1]
    for part in ("1/2", "2/2"):
        scratch = tmp_path / part.replace("/", "-")
        done = call_packer(*command, "--scratch", scratch, "--part", part, "--json", code=0)
    assert '"missing": 0' in done.stdout
    done = call_packer(*command, "--scratch", tmp_path / "joined")
    assert "(0 written now)" in done.stdout, done.stderr
    assert store.objects("shards") == files_of(packed)
    assert set(store.written.values()) == {1}


@pytest.mark.parametrize(
    ("dst", "options", "told"),
    [
        ("s3://bucket/x", {"scratch": None}, r"give scratch="),
        ("https://example.org/x", {}, r"can be written to s3://, gs://, az:// and file://"),
        ("ftp://example.org/x", {}, r"ftp:// is not supported"),
        ("folder", {}, r"scratch= requires a source or a destination in a store"),
        ("s3://bucket/x", {"storage_options": {"no_such": "S3CR3T"}}, r"\(no_such\)"),
        ("s3://bucket/x", {"storage_options": ["S3CR3T"]}, r"storage_options must be a dict"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_a_sentence(
    upload: Upload, dst: str, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(packer.ShardfeedError, match=told) as raised:
        upload(dst=dst, **options)
    assert "S3CR3T" not in str(raised.value)


def cut_off(store: S3Server, after: int, *, only_writes: bool = False) -> None:
    """Have the store deny access after so many requests."""
    left = [after]

    def cut(handler: Any) -> int | None:
        left[0] -= not only_writes or handler.command == "PUT"
        return 403 if left[0] < 0 else None

    store.fault = cut


def test_a_dataset_in_a_store_has_the_bytes_of_one_in_a_folder_and_dataset_json_comes_last(
    store: S3Server, upload: Upload, packed: Path, tmp_path: Path
) -> None:
    report = upload()
    assert (report.dataset, report.samples, report.shards_written) == ("s3://bucket/shards", 39, 4)
    assert store.objects("shards") == files_of(packed)
    assert not list((tmp_path / "scratch").iterdir())
    order = [name for name in store.written if not name.endswith(".packing.json")]
    assert order[-1] == "shards/dataset.json"
    for name in order[:-1]:
        if name.endswith(".safetensors"):
            assert order.index(name.replace("safetensors", "tar")) < order.index(name)
    assert upload().shards_written == 0
    assert set(store.written.values()) == {1}
