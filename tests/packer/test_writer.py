"""`packer.Writer`, and iterables: committed by leaving the block without an error alone."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packing import files_of
from PIL import Image

import packer
import reader


def pixels(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 256, (9, 12, 3), np.uint8)


def rows(count: int, **more: Any) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"image": pixels(number), "label": number % 3, **more}


def write(dst: Path, samples: Any, **options: Any) -> packer.PackReport:
    with packer.Writer(dst, **{"progress": False, "jobs": 2, **options}) as writer:
        for sample in samples:
            assert writer.report is None
            writer.write(sample)
    assert writer.report is not None
    return writer.report


def test_a_loop_keeps_its_order_for_any_number_of_threads(tmp_path: Path) -> None:
    report = write(tmp_path / "one", rows(20), jobs=1, shard_samples=8)
    assert (report.samples, report.classes, report.shards) == (20, 3, 3)
    assert report.reading == "Read as samples of a loop: 20 images; 3 classes (0, 1, 2)."
    write(tmp_path / "two", rows(20), jobs=3, shard_samples=8)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")
    packed = reader.Dataset(tmp_path / "one")
    assert packed.keys[:2] == ["00000000", "00000001"]
    assert packed.targets == [number % 3 for number in range(20)]
    for number in range(20):
        assert np.array_equal(packed[number][0], pixels(number))


def test_an_array_may_be_used_again_as_soon_as_it_is_written(dst: Path) -> None:
    image, picture = np.zeros((9, 12, 3), np.uint8), Image.new("L", (4, 4))
    with packer.Writer(dst, progress=False) as writer:
        for number in range(20):
            image[:] = number
            picture.paste(number, (0, 0, 4, 4))
            writer.write({"image": image if number % 2 else picture})
    packed = reader.Dataset(dst)
    assert [int(packed[number][0].max()) for number in range(20)] == list(range(20))


def test_shards_end_before_they_are_larger_than_asked_for(dst: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
    sample = {"image": noise, "label": 1, "key": "k" * 120 + "/x", "json": {}}
    samples = ({**sample, "key": f"{sample['key']}{n}"} for n in range(40))
    write(dst, samples, shard_size=100_000)
    sizes = [path.stat().st_size for path in sorted((dst).glob("*.tar"))]
    assert len(sizes) > 3
    assert max(sizes) <= 100_000 < max(sizes) + sizes[0] // 7


def test_a_loop_that_raises_leaves_nothing(dst: Path) -> None:
    def loop() -> Iterator[dict[str, Any]]:
        for number, row in enumerate(rows(20)):
            yield {**row, "split": "ab"[number % 2]}
        assert list((dst / "a").glob("*.tar"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(dst, loop(), shard_samples=3)
    assert not (dst).exists()


def test_a_loop_that_raises_leaves_what_was_there_before(dst: Path) -> None:
    write(dst, rows(5, split="train"))
    (dst / "notes.txt").write_text("mine")
    before = files_of(dst)

    def broken() -> Iterator[dict[str, Any]]:
        yield from rows(30, split="train")
        yield from rows(30, split="val")
        raise ValueError("the loop's own")

    with pytest.raises(ValueError, match="the loop's own"):
        packer.pack(broken(), dst, append=True, progress=False)
    assert files_of(dst) == before
    assert not (dst / "val").exists()


def test_nothing_but_leaving_the_block_commits(dst: Path) -> None:
    with packer.Writer(dst, progress=False, shard_samples=2) as writer:
        for row in rows(30):
            writer.write(row)
            assert not (dst / "dataset.json").exists()
    assert (dst / "dataset.json").exists()
    with pytest.raises(packer.UnusableInput, match="inside the with block"):
        writer.write(pixels(0))
    with pytest.raises(packer.UnusableInput, match="used only once"), writer:
        pass
    assert not {"close", "finish", "commit"}.intersection(dir(writer))


KILLED = """
import os, signal, sys
import numpy as np, packer
options = {"progress": False, "shard_samples": 2, "append": len(sys.argv) > 2}
with packer.Writer(sys.argv[1], **options) as writer:
    for number in range(40):
        split = {"split": "late"} if len(sys.argv) == 2 and number > 20 else {}
        writer.write({"image": np.full((4, 4), number, np.uint8), **split})
    os.kill(os.getpid(), signal.SIGKILL)
"""


def in_a_process(script: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run a program of somebody's."""
    environment = os.environ | {"PYTHONPATH": str(Path(packer.__file__).parents[1])}
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


def kill(*arguments: object) -> None:
    assert in_a_process(KILLED, *arguments).returncode == -9


def test_what_a_killed_writer_left_is_discarded_by_the_next(tmp_path: Path, source: Path) -> None:
    write(tmp_path / "whole", rows(5))
    kill(tmp_path / "dst")
    shutil.copytree(tmp_path / "dst", tmp_path / "other")
    assert list((tmp_path / "dst" / "late").glob("*.tar"))
    write(tmp_path / "dst", rows(5))
    assert files_of(tmp_path / "whole") == files_of(tmp_path / "dst")
    kill(tmp_path / "dst", "append")
    assert list((tmp_path / "dst").glob("shard-000001.tar"))
    assert packer.pack(source, tmp_path / "other", jpeg="verbatim", progress=False).samples > 0
    write(tmp_path / "dst", rows(5), append=True)
    assert len(reader.Dataset(tmp_path / "dst")) == 10


def test_a_dataset_that_is_there_is_added_to_or_replaced_if_that_is_asked_for(dst: Path) -> None:
    write(dst, [(pixels(0), "b")], classes=["b", "a"])
    what_to_do = r"holds a dataset .dataset.json.. Pass append=True .*overwrite=True"
    with pytest.raises(packer.UnusableInput, match=what_to_do):
        write(dst, rows(1))
    write(dst, [(pixels(1), "a"), (pixels(2), "c")], classes=["c", "a"], append=True)
    packed = reader.Dataset(dst)
    assert (packed.classes, packed.targets) == (["b", "a", "c"], [0, 1, 2])
    assert list(packed.keys) == ["00000000", "00000001", "00000002"]
    with pytest.raises(packer.UnusableInput, match=r"with other options: quality \(null in "):
        write(dst, rows(1), append=True, quality=50)
    write(dst, rows(4), overwrite=True)
    assert len(reader.Dataset(dst)) == 4


def test_classes_that_are_numbers_grow(dst: Path) -> None:
    write(dst, [(pixels(0), 1)])
    write(dst, [(pixels(1), 4)], append=True)
    assert reader.Dataset(dst).classes == list("01234")
    with pytest.raises(packer.UnusableInput, match=r"5 classes are numbers, and 2 names are"):
        write(dst, [(pixels(1), 1)], append=True, classes=["a", "b"])


def test_keys_are_unique_also_among_those_that_are_there(tmp_path: Path) -> None:
    write(tmp_path / "dst", [{"image": pixels(0), "key": "a/b.c"}])
    assert list(reader.Dataset(tmp_path / "dst").keys) == ["a/b%2Ec"]
    with pytest.raises(packer.Rejected, match=r"its key, 'a/b\.c', is that of another sample"):
        write(tmp_path / "dst", [{"image": pixels(1), "key": "a/b.c"}], append=True)
    samples = [{"image": pixels(n), "key": key} for n, key in enumerate("aab")]
    report = write(tmp_path / "other", samples, on_error="skip")
    assert (report.samples, len(report.rejected)) == (2, 1)
    for key in ("", "/a", "../a", "a//b", "a\0", 3):
        with pytest.raises(packer.Rejected, match="its key"):
            write(tmp_path / "bad", [{"image": pixels(0), "key": key}])


def test_each_sample_names_its_split_or_shares_divide_them(tmp_path: Path) -> None:
    samples = [{**row, "split": name} for row, name in zip(rows(6), "aabaab", strict=True)]
    assert write(tmp_path / "own", samples).splits == {"a": 4, "b": 2}
    shares = write(tmp_path / "shares", rows(60), split={"x": 0.5, "y": 0.5}).splits
    assert set(shares) == {"x", "y"}
    with pytest.raises(packer.Rejected, match="it names its split, and split= divides"):
        write(tmp_path / "both", samples, split={"x": 1.0})
    with pytest.raises(packer.UnusableInput, match="has the splits a, b, and the source is"):
        write(tmp_path / "own", rows(1), append=True)
    more = write(tmp_path / "own", [{"image": pixels(0), "split": "c"}], append=True)
    assert more.splits == {"a": 4, "b": 2, "c": 1}


def test_a_users_own_shard_in_the_folder_of_a_split_stops_the_loop(tmp_path: Path) -> None:
    (tmp_path / "dst" / "val").mkdir(parents=True)
    (tmp_path / "dst" / "val" / "shard-000000.tar").write_text("mine")
    with pytest.raises(packer.UnusableInput, match=r"already holds val/shard-000000.tar"):
        write(tmp_path / "dst", [*rows(30, split="a"), *rows(30, split="val")], shard_samples=2)
    assert [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")] == [
        *("dst", "dst/val", "dst/val/shard-000000.tar")
    ]


def test_a_shard_that_cannot_be_written_ends_a_loop_for_good(dst: Path) -> None:
    def samples() -> Iterator[Any]:
        yield {"image": pixels(0), "split": "train"}
        (dst / "val").write_text("in the way")
        yield {"image": pixels(1), "split": "val"}

    with pytest.raises(packer.PackingFailed, match=r"Nothing was committed. .* again"):
        write(dst, samples())


def test_a_sample_that_is_not_sound_stops_the_loop_or_is_named(tmp_path: Path) -> None:
    samples = [pixels(0), b"nothing", pixels(1), None, pixels(2)]
    with pytest.raises(packer.Rejected, match="00000001: it is not an image of a known format"):
        write(tmp_path / "dst", samples)
    assert not (tmp_path / "dst").exists()
    report = write(tmp_path / "dst", samples, on_error="skip")
    assert report.samples == 3
    assert sorted(name for name, _ in report.rejected) == ["00000001", "00000003"]
    with pytest.raises(packer.NothingToPack, match="Nothing was written"):
        write(tmp_path / "void", [b"nothing"], on_error="skip")


def test_an_error_that_is_caught_in_the_loop_commits_nothing_all_the_same(dst: Path) -> None:
    def forgiving() -> None:
        with packer.Writer(dst, progress=False) as writer:
            for sample in (pixels(0), 3, pixels(1)):
                with suppress(packer.Rejected):
                    writer.write(sample)

    with pytest.raises(packer.Rejected, match="its image is an int"):
        forgiving()
    assert not (dst).exists()


def test_an_iterable_is_packed_in_turn_and_says_that_it_cannot_be_continued(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    report = packer.pack(rows(12), tmp_path / "dst", shard_samples=5)
    assert "pack: 12 samples" in capfd.readouterr().err
    assert report.reading == "Read as a generator, in turn: 12 images; 3 classes (0, 1, 2)."
    assert report.remarks[0].endswith("an interrupted run cannot be continued.")
    write(tmp_path / "written", rows(12), shard_samples=5)
    one, other = (files_of(tmp_path / name) for name in ("dst", "written"))
    one_json, other_json = (json.loads(files.pop("dataset.json")) for files in (one, other))
    assert one == other
    assert one_json["shards"] == other_json["shards"]
    for source in (5, object()):
        with pytest.raises(packer.UnusableInput, match="neither a path nor a dataset with __len__"):
            packer.pack(source, tmp_path / "other")


def test_a_fork_of_the_process_neither_writes_nor_commits(dst: Path) -> None:
    script = """
    import os, sys, warnings
    import numpy as np, packer
    warnings.simplefilter("ignore")
    with packer.Writer(sys.argv[1], progress=False) as writer:
        writer.write(np.zeros((4, 4), np.uint8))
        if (child := os.fork()) == 0:
            try:
                writer.write(np.zeros((4, 4), np.uint8))
            except packer.UnusableInput as error:
                print(error, flush=True)
        else:
            os.waitpid(child, 0)
            assert not os.path.exists(sys.argv[1] + "/dataset.json")
            writer.write(np.zeros((4, 4), np.uint8))
    if not child:
        os._exit(0)
    print(writer.report.samples)
    """
    done = in_a_process(script, dst)
    told, count = done.stdout.splitlines()
    assert told == "Call write() inside the with block of the Writer, in the same process."
    assert count == "2", done.stderr
