"""Parquet manifests, and what every use of Parquet relies on."""

import contextlib
import datetime
import decimal
import os
import random
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from packer.errors import BadImage, PackingFailed, ShardfeedError, UnusableInput
from packer.samples.records import Sample, Skipped, Source
from packer.sources.tables.parquet import ParquetTable
from packer.sources.tables.table import Record

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Opened = Callable[..., Any]
Scanned = Callable[..., Any]


@pytest.fixture
def write(images: Path) -> Callable[..., Path]:
    """`write({"path": [...]}, row_group_size=2)`: a Parquet file beside the images."""

    def to_file(columns: dict[str, Any], **options: Any) -> Path:
        path = images / "list.parquet"
        pq.write_table(pa.table(columns), path, **options)
        return path

    return to_file


def test_a_parquet_manifest_gives_paths_labels_splits_and_json(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    jpegs: list[bytes],
) -> None:
    path = write(
        {
            "file_name": [f"{number}.jpg" for number in range(5)],
            "label": ["dog", "cat", None, "dog", "cat"],
            "split": ["train", "val", "train", "train", None],
            "score": [0.5, float("nan"), None, 1.0, float("inf")],
            "tags": [["a"], [], None, ["b", "c"], ["d"]],
        },
        row_group_size=2,
    )
    source = opened(path)
    samples, skipped = scanned(source)
    assert not skipped
    assert source.classes == ("cat", "dog")
    found = [(s.name, s.label, s.split, s.block) for s in samples.values()]
    assert found == [
        ("0.jpg", 1, "train", 0),
        ("1.jpg", 0, "val", 0),
        ("2.jpg", -1, "train", 1),
        ("3.jpg", 1, "train", 1),
        ("4.jpg", 0, "", 2),
    ]
    assert [source.files.read(sample).image for sample in samples.values()] == jpegs[:5]
    assert [json_of(source, sample) for sample in samples.values()] == [
        {"score": 0.5, "tags": ["a"]},
        {"score": None, "tags": []},
        {"score": None, "tags": None},
        {"score": 1.0, "tags": ["b", "c"]},
        {"score": None, "tags": ["d"]},
    ]


def test_bools_are_two_classes_as_in_text(
    write: Callable[..., Path], opened: Callable[..., Any], scanned: Scanned
) -> None:
    source = opened(write({"path": ["0.jpg", "1.jpg", "2.jpg"], "label": [True, False, None]}))
    assert source.classes == ("False", "True")
    assert [sample.label for sample in scanned(source)[0].values()] == [1, 0, -1]


def test_numbers_that_pandas_made_floats_are_labels(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    path = write({"path": ["0.jpg", "1.jpg"], "label": [3.0, float("nan")]})
    assert [sample.label for sample in scanned(opened(path))[0].values()] == [3, -1]


def test_values_that_json_lacks_are_written_as_text(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    path = write(
        {
            "path": ["0.jpg"],
            "day": [datetime.date(2026, 1, 2)],
            "time": [datetime.datetime(2026, 1, 2, 3, 4, 5)],
            "price": [decimal.Decimal("1.10")],
            "inner": [{"day": datetime.date(2026, 1, 2)}],
        }
    )
    source = opened(path)
    assert json_of(source, scanned(source)[0]["0.jpg"]) == {
        "day": "2026-01-02",
        "time": "2026-01-02T03:04:05",
        "price": "1.10",
        "inner": {"day": "2026-01-02"},
    }


def test_a_row_with_a_missing_file_or_no_path_is_named(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    path = write({"path": ["0.jpg", "no.jpg", None, "a\0.jpg", "1.jpg"]}, row_group_size=2)
    samples, skipped = scanned(opened(path))
    assert list(samples) == ["0.jpg", "1.jpg"]
    assert list(skipped) == [f"list.parquet: row {row}" for row in (1, 2, 3)]
    assert "No such file" in skipped["list.parquet: row 1"]


def test_what_rows_said_when_they_were_scanned_is_packed(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    path = write({"path": ["0.jpg"], "x": [1]})
    source = opened(path)
    samples, _ = scanned(source)
    path.unlink()
    assert source.files.read(samples["0.jpg"]).members == {"json": b'{"x":1}'}


def test_a_file_of_images_that_changed_stops_packing(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, jpegs: list[bytes]
) -> None:
    path = write({"image": [{"bytes": jpegs[0], "path": None}], "x": [1]})
    source = opened(path)
    (sample,) = scanned(source)[0].values()
    os.utime(path, ns=(0, 0))
    with pytest.raises(PackingFailed, match=r"list\.parquet changed"):
        source.files.read(sample)


def test_what_is_no_parquet_is_refused(images: Path, opened: Opened) -> None:
    for content in (b"", b"PAR1", b"PAR1" + bytes(100) + b"\xff\xff\xff\xffPAR1", b"PAR1" * 10):
        (images / "list.parquet").write_bytes(content)
        with pytest.raises(UnusableInput, match=r"list\.parquet is not a valid Parquet file"):
            opened(images / "list.parquet")


def read_with_limit(path: Path, most: int) -> list[Record | Skipped]:
    return list(replace(ParquetTable.open(path.parent, [path]), most=most).records())


def test_a_row_group_that_inflates_too_far_is_refused_unread(write: Callable[..., Path]) -> None:
    path = write(
        {"path": ["0.jpg", "1.jpg"], "x": [b"", bytes(5_000_000)]},
        row_group_size=1,
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    assert path.stat().st_size < 10_000
    record, skipped = read_with_limit(path, 1_000_000)
    assert isinstance(record, Record)
    assert isinstance(skipped, Skipped)
    assert skipped.name == "list.parquet: row group 1"
    assert "takes more than" in skipped.reason


def test_one_value_that_a_dictionary_repeats_too_often_is_refused(
    write: Callable[..., Path],
) -> None:
    path = write({"image": pa.array([b"x" * 10_000] * 3000, pa.binary())}, compression="zstd")
    assert path.stat().st_size < 50_000
    (skipped,) = read_with_limit(path, 1_000_000)
    assert isinstance(skipped, Skipped)
    assert skipped.name == "list.parquet: row group 0"
    assert "takes more than" in skipped.reason


def end_at_the_second_row(records: Iterator[Record]) -> Iterator[str]:
    for record in records:
        if record.fields["path"] == "1.jpg":
            os.kill(os.getpid(), signal.SIGABRT)
        yield record.where


def test_a_row_group_that_ends_the_process_is_named_and_the_others_are_read(
    write: Callable[..., Path],
) -> None:
    """As Arrow does where a damaged file takes it by surprise."""
    path = write({"path": ["0.jpg", "1.jpg", "2.jpg"]}, row_group_size=1)
    table = ParquetTable.open(path.parent, [path])
    first, ended, last = table.through(end_at_the_second_row)
    assert (first, last) == ("list.parquet: row 0", "list.parquet: row 2")
    assert ended.name == "list.parquet: row group 1"
    assert ended.reason == "reading it ends the process (Aborted (signal 6))"


def test_damaged_files_give_samples_or_a_sentence(
    images: Path, write: Callable[..., Path], opened: Opened
) -> None:
    def read_all(source: Source) -> None:
        for item in source.scan():
            if isinstance(item, Sample):
                with contextlib.suppress(BadImage):
                    source.files.read(item)

    rng = random.Random(0)
    columns = {
        "image": [{"bytes": bytes([row]) * 200, "path": f"{row}.jpg"} for row in range(12)],
        "label": list(range(12)),
        "text": ["é"] * 12,
    }
    data = write(columns, row_group_size=4).read_bytes()
    for _ in range(6):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 1, 5])):
            damaged[rng.randrange(len(data))] = rng.randrange(256)
        (images / "damaged.parquet").write_bytes(damaged[: rng.choice([len(data), None])])
        with contextlib.suppress(ShardfeedError):
            read_all(opened(images / "damaged.parquet"))
