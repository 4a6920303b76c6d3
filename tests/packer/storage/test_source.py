"""What lies in a store is packed as what lies in a folder, fetched once, whatever happens."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from s3_server import S3Server, bucket

import packer
from packer import PackReport

Fetch = Callable[..., PackReport]


def fetched(store: S3Server) -> list[str]:
    return [name for name, _, _ in store.asked]


def test_a_folder_in_a_store_is_packed_to_the_bytes_of_a_folder_and_nothing_stays(
    store: S3Server, raw: Path, fetch: Fetch, packed: Path, is_packed: Any, tmp_path: Path
) -> None:
    report = fetch()
    assert (report.samples, report.classes) == (39, 3)
    assert is_packed()
    there, here = (
        json.loads((folder / "dataset.json").read_text())
        for folder in (tmp_path / "shards", packed)
    )
    assert there["source"].startswith(here["source"])
    assert {name for name in here if here[name] != there[name]} == {"source", "checksum"}
    assert sorted(fetched(store)) == sorted(f"/raw/{name}" for name in store.objects("raw"))
    assert not list((tmp_path / "scratch").iterdir())


def test_what_is_packed_is_not_fetched_again(store: S3Server, raw: Path, fetch: Fetch) -> None:
    fetch()
    store.asked.clear()
    report = fetch()
    assert (report.samples, report.shards_written) == (39, 0)
    assert "Nothing was fetched" in report.remarks[0]
    with pytest.raises(packer.UnusableInput, match="packed with other options: seed"):
        fetch(seed=3)
    with pytest.raises(packer.UnusableInput, match="another source, or the source has changed"):
        fetch(classes=["class2", "class1", "class0"])
    assert not store.asked


@pytest.mark.parametrize("at", [1, pytest.param(38, marks=pytest.mark.slow)])
def test_a_run_that_is_cut_off_fetches_only_what_is_missing(
    store: S3Server,
    raw: Path,
    fetch: Fetch,
    is_packed: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    at: int,
) -> None:
    left = [at]

    def cut(handler: Any) -> int | None:
        left[0] -= "list-type" not in handler.path
        return 403 if left[0] < 0 else None

    store.fault = cut
    with pytest.raises(packer.ShardfeedError, match=r"s3://bucket/raw/class.* denies access"):
        fetch()
    kept = len(list((tmp_path / "scratch").glob("raw-*/raw/*/*")))
    store.fault = lambda handler: None
    fetch(progress=True)
    assert f"({39 - kept} of 39 objects; {kept} are already fetched)" in capsys.readouterr().err
    assert is_packed()
    assert not list((tmp_path / "scratch").iterdir())


def test_another_machine_goes_on(raw: Path, fetch: Fetch, is_packed: Any, tmp_path: Path) -> None:
    broken = raw / "class2" / "image012.jpg"
    content = broken.read_bytes()
    broken.write_bytes(b"no image")
    with pytest.raises(packer.Rejected):
        fetch()
    broken.write_bytes(content)
    assert fetch(scratch=tmp_path / "other").shards_written < 4
    assert is_packed()


def test_a_command_that_is_killed_while_it_fetches_goes_on(
    store: S3Server,
    raw: Path,
    start_packer: Callable[..., "subprocess.Popen[str]"],
    is_packed: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    command = ["pack", "s3://bucket/raw", tmp_path / "shards", "--scratch", tmp_path / "scratch"]
    command += ["--jobs", "1", "--shard-samples", "10", "--jpeg", "tiled"]
    is_served = threading.Semaphore(20)

    def stall(handler: Any) -> Callable[[Any], None] | None:
        is_list = "list-type" in handler.path
        return None if is_list or is_served.acquire(blocking=False) else store.stall

    store.fault = stall
    with start_packer(*command) as process:
        while len(list((tmp_path / "scratch").glob("*/raw/*/*"))) < 20:
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    store.fault = lambda handler: None
    done = call_packer(*command)
    assert "19 of 39 objects; 20 are already fetched" in done.stderr
    assert is_packed()
    assert not list((tmp_path / "scratch").iterdir())


def test_a_notebook_whose_event_loop_runs_may_pack_too(raw: Path, fetch: Fetch) -> None:
    async def cell() -> int:
        return fetch().samples

    assert asyncio.run(cell()) == 39


@pytest.mark.parametrize("change", ["replaced by as many bytes", "removed"])
def test_what_changes_between_two_runs_on_any_machine_is_fetched_and_packed_anew(
    store: S3Server, raw: Path, fetch: Fetch, tmp_path: Path, change: str
) -> None:
    broken, other = raw / "class2" / "image012.jpg", raw / "class0" / "image000.jpg"
    content, status = broken.read_bytes(), other.stat()
    broken.write_bytes(b"no image")
    with pytest.raises(packer.Rejected):
        fetch()
    if change == "removed":
        other.unlink()
    else:
        altered = bytearray(other.read_bytes())
        altered[-3] ^= 1
        other.write_bytes(altered)
        os.utime(other, ns=(status.st_mtime_ns, status.st_mtime_ns))  # in the same second
    broken.write_bytes(content)
    store.asked.clear()
    report = fetch()
    assert len(store.asked) == (1 if change == "removed" else 2)
    assert report.samples == (38 if change == "removed" else 39)
    local = tmp_path / "local"
    packer.pack(raw, local, shard_samples=10, jobs=1, progress=False)
    for tar in local.glob("*.tar"):
        assert (tmp_path / "shards" / tar.name).read_bytes() == tar.read_bytes()


def test_a_replaced_object_is_an_error(store: S3Server, fetch: Fetch, tmp_path: Path) -> None:
    big = store.folder / "raw" / "images.zip"
    big.parent.mkdir()
    big.write_bytes(bytes(9 << 20))

    def replace(handler: Any) -> None:
        if handler.headers.get("Range", "").startswith("bytes=0-"):
            big.write_bytes(b"x" * (9 << 20))

    store.fault = replace
    with pytest.raises(packer.ShardfeedError, match=r"raw/images\.zip: it was replaced since it"):
        fetch("s3://bucket/raw/images.zip")
    assert not list((tmp_path / "scratch").glob("*/raw/*"))


def test_source_and_destination_may_be_stores_with_credentials_of_their_own(
    store: S3Server, raw: Path, fetch: Fetch, is_packed: Any, tmp_path: Path
) -> None:
    with bucket(tmp_path / "theirs") as other:
        own = {"storage_options": other.options, "source_storage_options": store.options}
        fetch(dst="s3://bucket/shards", **own)
        assert is_packed(other.folder / "shards")
    assert not store.written
    assert not list((tmp_path / "scratch").iterdir())


def test_a_dataset_of_ours_is_repacked(store: S3Server, packed: Path, fetch: Fetch) -> None:
    shutil.copytree(packed, store.folder / "ours")
    report = fetch("s3://bucket/ours/", shuffle=False)
    assert (report.samples, report.classes) == (39, 3)
    with pytest.raises(packer.UnusableInput, match=r"s3://bucket/ours/x is inside s3://bucket/o"):
        fetch("s3://bucket/ours", "s3://bucket/ours/x")


def test_names_that_no_folder_can_have_are_named(store: S3Server, raw: Path, fetch: Fetch) -> None:
    marker = raw / "class0" / ("n" * 200)
    marker.mkdir()
    store.listed_besides = {"raw/class0": 0, "raw/class1": 5, f"raw/{'x' * 300}.jpg": 3}
    with pytest.raises(packer.Rejected) as refused:
        fetch()
    reasons = dict(refused.value.files)
    assert "a file cannot also be a folder" in reasons["class1"]
    assert "more than 255 bytes" in reasons["x" * 300 + ".jpg"]
    report = fetch(on_error="skip")
    assert report.samples == 39
    assert ("class0/", "it only marks a folder") in report.ignored
    assert {name for name, _ in report.rejected} == set(reasons)


def test_odd_names_that_files_can_have_are_packed(raw: Path, fetch: Fetch) -> None:
    odd = ["a b.jpg", "100%.jpg", "x#y.jpg", "ü.jpg", "p%2fq.jpg", "c\\d.jpg", "q&a.jpg"]
    for number, name in enumerate(odd):
        shutil.copy(raw / "class0" / f"image{number:03d}.jpg", raw / "class0" / name)
    report = fetch()
    assert report.samples == 39 + len(odd)


def test_a_copy_too_large_for_the_disk_is_refused(store: S3Server, raw: Path, fetch: Fetch) -> None:
    store.listed_besides = {"raw/class0/huge.jpg": 1 << 60}
    with pytest.raises(packer.UnusableInput, match=r"to be fetched, and the disk of .*B free"):
        fetch()
    assert not store.asked


def test_errors_hide_credentials(store: S3Server, raw: Path, fetch: Fetch, tmp_path: Path) -> None:
    (store.folder / "empty").mkdir()
    (store.folder / "empty" / "notes.txt").write_text("nothing")
    options = store.options | {"access_key_id": "AKIA1", "secret_access_key": "hush"}
    with pytest.raises(packer.UnusableInput) as refused:
        fetch("s3://bucket/empty", storage_options=options)
    assert "s3://bucket/empty" in str(refused.value)
    assert str(tmp_path) not in str(refused.value)
    assert "hush" not in str(refused.value)
    with pytest.raises(packer.UnusableInput, match="s3://bucket/nowhere does not exist"):
        fetch("s3://bucket/nowhere")
    with pytest.raises(packer.UnusableInput, match="give scratch="):
        packer.pack("s3://bucket/raw", tmp_path / "x", storage_options=store.options)
    with pytest.raises(packer.UnusableInput, match="pack the folder that has all files"):
        fetch(root=tmp_path)


def test_the_command_explains_plans_and_packs_parts_from_one_copy(
    store: S3Server, raw: Path, is_packed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    options = ["--scratch", scratch, "--jobs", "1"]
    shape = ["--shard-samples", "10", "--jpeg", "tiled"]
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    url, dst = "s3://bucket/raw", tmp_path / "shards"

    def run(*arguments: Any) -> Any:
        return call_packer("pack", url, *arguments)

    explained = run("--explain", *options)
    assert "class class0, JPEG" in explained.stdout
    assert "39 of 39 objects" in explained.stderr
    assert "fetch: 0.1 of 0.1 MB" in explained.stderr
    assert f"fetched files stay in {scratch}" in explained.stderr
    assert "4 shards" in run(dst, "--dry-run", *options, *shape).stdout
    for part in ("1/2", "2/2"):
        assert run(dst, "--part", part, *options, *shape).returncode == 0
    assert run(dst, *options, *shape).returncode == 0
    assert len(store.asked) == 39
    assert is_packed()
    assert not list(scratch.iterdir())
