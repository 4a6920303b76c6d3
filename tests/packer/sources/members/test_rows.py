"""Members for the samples of a dataset, from tables and from files, packed in its shards."""

import io
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from called_packer import call_packer
from PIL import Image

import packer
from packer import NothingToPack, Rejected, UnusableInput
from reader import Dataset
from reader.format import Index, Manifest

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def keys(packed: Path) -> list[str]:
    return list(Dataset(packed).keys)


def joined(packed: Path, src: Path, **options: Any) -> Dataset:
    """The dataset with the members of `src`, packed beside it."""
    dst = src.parent / f"{src.name}-extra"
    packer.pack(src, dst, keys_of=packed, jobs=1, progress=False, **options)
    return Dataset(packed, join=dst)


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def files(root: Path, contents: Mapping[str, bytes]) -> Path:
    for name, data in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def test_rows_of_parquet_become_arrays_and_json(
    packed: Path, keys: list[str], tmp_path: Path
) -> None:
    rows = list(reversed(keys))
    columns = {
        "__key__": rows,
        "Embedding 1": pa.array([[n, 0.5] for n in range(len(rows))], pa.list_(pa.float32())),
        "codes": pa.array([[n, -n, 3] for n in range(len(rows))], pa.list_(pa.int16(), 3)),
        "tokens": [list(range(n % 3)) for n in range(len(rows))],  # of several lengths
        "caption": [f"a photo of {key}" for key in rows],
        "more": [{"score": n / 2} for n in range(len(rows))],
    }
    pq.write_table(pa.table(columns), tmp_path / "table.parquet", row_group_size=7)
    dataset = joined(packed, tmp_path / "table.parquet")
    for number, key in enumerate(keys):
        row = rows.index(key)
        array = np.load(io.BytesIO(dataset.read(number, "embedding_1.npy")))
        assert (array.dtype, array.tolist()) == (np.float32, [row, 0.5])
        array = np.load(io.BytesIO(dataset.read(number, "codes.npy")))
        assert (array.dtype, array.tolist()) == (np.int16, [row, -row, 3])
        assert json.loads(dataset.read(number, "json")) == {
            "tokens": list(range(row % 3)),
            "caption": f"a photo of {key}",
            "more": {"score": row / 2},
        }


@pytest.mark.parametrize(
    ("column", "suffix"),
    [
        *(("key", ".csv"), ("file_name", ".jsonl"), ("id", ".json")),
        *(("file_name", ".arrow"), ("id", ".csv")),
    ],
)
def test_rows_name_samples_by_key_or_by_image_name(
    packed: Path, keys: list[str], tmp_path: Path, column: str, suffix: str
) -> None:
    ending = ".jpg" if column == "file_name" else ""
    rows = [{"other": "x", column: f"{key}{ending}", "text": key.upper()} for key in keys]
    path = tmp_path / f"table{suffix}"
    if suffix == ".csv":
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        path.write_text("\n".join(lines))
    elif suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    elif suffix == ".json":
        path.write_text(json.dumps(rows, indent=1))
    else:
        table = pa.Table.from_pylist(rows)
        with pa.ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table)
    dataset = joined(packed, path)
    for number, key in enumerate(keys):
        assert json.loads(dataset.read(number, "json")) == {"other": "x", "text": key.upper()}


def test_a_folder_of_parquet_is_one_table(packed: Path, keys: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for number, part in enumerate((keys[:20], keys[20:])):
        table = pa.table({"key": part, "n": [keys.index(key) for key in part]})
        pq.write_table(table, folder / f"{number}.parquet")
    dataset = joined(packed, folder)
    assert [json.loads(dataset.read(n, "json")) for n in range(39)] == [{"n": n} for n in range(39)]


@pytest.mark.parametrize("form", ["folder", "zip", "tar"])
def test_files_are_named_by_key_or_by_image_name(
    packed: Path, keys: list[str], tmp_path: Path, form: str
) -> None:
    size = Dataset(packed).columns("height", "width")
    masks = {
        key: np.full((height, width), number, np.uint8)
        for number, (key, height, width) in enumerate(zip(keys, *size.values(), strict=True))
    }
    contents = {f"{key}.jpg.npy": npy(np.arange(3)) for key in keys[:5]}
    for key, mask in masks.items():
        Image.fromarray(mask).save(file := io.BytesIO(), "PNG")
        contents[f"{key}.mask.png"] = file.getvalue()
    source = files(tmp_path / "files", contents)
    if form != "folder":
        folder, source = source, tmp_path / f"files.{form}"
        shutil.make_archive(str(folder), form, folder)
    dataset = joined(packed, source)
    assert dataset.extensions[-2:] == ("mask.png", "npy")
    for number, key in enumerate(keys):
        with Image.open(io.BytesIO(dataset.read(number, "mask.png"))) as mask:
            assert np.array_equal(np.asarray(mask), masks[key])
    assert dataset.read(4, "npy") == npy(np.arange(3))


def test_shards_splits_and_order_are_those_of_the_dataset(source: Path, tmp_path: Path) -> None:
    base, extra = tmp_path / "shards", tmp_path / "extra"
    options: dict[str, Any] = {"shard_samples": 4, "jobs": 1, "progress": False}
    packer.pack(source, base, split={"train": 0.7, "val": 0.3}, **options)
    key = Dataset(base).keys[0]
    report = packer.pack(
        files(tmp_path / "files", {f"{key}.txt": b"x"}), extra, keys_of=base, jobs=1, progress=False
    )
    assert "38 samples of" in " ".join(report.remarks)
    ours, theirs = Manifest.load(extra), Manifest.load(base)
    assert not ours.images
    for own, other in zip(ours.shards, theirs.shards, strict=True):
        assert (own.file, own.split, own.samples) == (other.file, other.split, other.samples)
        indexes = [Index(place / own.index) for place in (extra, base)]
        assert indexes[0].values_of("key") == indexes[1].values_of("key")
    assert Dataset(base, "val", join=extra).extensions[-1] == "txt"
    for command in (["verify", extra, "--decode"], ["info", extra]):
        assert call_packer(*command).returncode == 0
    assert call_packer("extract", extra, tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / f"{key}.txt").read_bytes() == b"x"


@pytest.fixture
def table(keys: list[str], tmp_path: Path) -> Path:
    """A table in which three rows fit no sample, or one that another row fits."""
    rows = [*keys[:10], "nowhere", keys[3], f"{keys[3]}.jpg"]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["key,n", *(f"{key},{n}" for n, key in enumerate(rows))]))
    return path


def test_rows_without_a_sample_are_rejected_each_by_name(
    packed: Path, table: Path, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"keys_of": packed, "jobs": 1, "progress": False}
    with pytest.raises(Rejected) as caught:
        packer.pack(table, tmp_path / "extra", **options)
    assert [name for name, _ in caught.value.files] == [f"table.csv:{n}" for n in (12, 13, 14)]
    report = packer.pack(table, tmp_path / "extra", on_error="skip", **options)
    assert report.rejected[0] == (
        "table.csv:12",
        f"'nowhere': {packed} has no sample with this key or image name",
    )
    assert all("same sample" in reason for _, reason in report.rejected[1:])
    assert Manifest.load(tmp_path / "extra").rejected == 3


def test_a_member_that_does_not_decode_leaves_its_sample_without(
    packed: Path, keys: list[str], tmp_path: Path
) -> None:
    Image.new("L", (3, 3)).save(small := io.BytesIO(), "PNG")
    bad = {f"{keys[0]}.json": b"{", f"{keys[1]}.npy": b"x", f"{keys[2]}.m.png": small.getvalue()}
    source = files(tmp_path / "files", {**bad, f"{keys[3]}.txt": b"x"})
    report = packer.pack(
        *(source, tmp_path / "extra"), keys_of=packed, on_error="skip", jobs=1, progress=False
    )
    reasons = dict(report.rejected)
    for number, text in enumerate(("does not decode", "does not decode", "is 3 x 3 pixels")):
        assert text in reasons[f"{keys[number]}.jpg"]
    dataset = Dataset(packed, join=tmp_path / "extra")
    assert dataset.extensions[-1:] == ("txt",)
    assert dataset.read(3, "txt") == b"x"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_parts_and_continued_runs_write_the_same_bytes(
    packed: Path, keys: list[str], tmp_path: Path, files_of: Callable[[Path], Any], jobs: int
) -> None:
    source = files(tmp_path / "files", {f"{key}.txt": key.encode() for key in keys})
    words = [source, "--keys-of", packed, "--quiet", "--jobs", jobs]

    def pack(dst: str, *more: object) -> None:
        assert call_packer("pack", words[0], tmp_path / dst, *words[1:], *more).returncode == 0

    pack("whole")
    for part in ("1/2", "2/2"):
        pack("parts", "--part", part)
    pack("parts")
    pack("continued", "--part", "1/2")
    pack("continued")
    whole = files_of(tmp_path / "whole")
    assert files_of(tmp_path / "parts") == files_of(tmp_path / "continued") == whole
    pack("whole")  # nothing is left to do
    assert files_of(tmp_path / "whole") == whole


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"shard_size": "1GB"}, "Remove shard_size="),
        ({"shuffle": False}, "Remove shuffle="),
        ({"append": True}, "Remove append="),
        ({"stratify": True}, "Remove stratify="),
        ({"kind": "folder"}, "Remove kind="),
    ],
)
def test_options_that_the_dataset_decides_are_refused(
    packed: Path, tmp_path: Path, options: dict[str, Any], text: str
) -> None:
    with pytest.raises(UnusableInput, match=text):
        packer.pack(tmp_path, tmp_path / "extra", keys_of=packed, progress=False, **options)


def test_sources_that_name_no_sample_are_refused(
    packed: Path, keys: list[str], tmp_path: Path
) -> None:
    csv, text = tmp_path / "t.csv", tmp_path / "t.txt"
    csv.write_text("key\nx\n")
    text.write_text("x")
    source = files(tmp_path / "files", {"x.npy": npy(3)})
    columns = files(tmp_path / "columns", {"t.csv": b"a,b\nx,y\n"}) / "t.csv"
    for src, reason in (
        (csv, f"its column 'key' has 'x', and the first key there is {keys[0]!r}"),
        (text, "is neither a table"),
        (source, "names no sample"),
        (columns, "has no column of keys"),
        ([1, 2], "requires a path"),
    ):
        with pytest.raises((UnusableInput, NothingToPack), match="(?i)" + reason):
            packer.pack(src, tmp_path / "extra", keys_of=packed, progress=False)
    with pytest.raises(UnusableInput, match="Choose another destination"):
        packer.pack(csv, packed, keys_of=packed, overwrite=True, progress=False)


def test_other_commands_refuse_a_dataset_without_images(
    packed: Path, keys: list[str], tmp_path: Path
) -> None:
    extra = tmp_path / "extra"
    source = files(tmp_path / "files", {f"{keys[0]}.txt": b"x"})
    packer.pack(source, extra, keys_of=packed, jobs=1, progress=False)
    page = tmp_path / "page.html"
    for command in (
        ["export", extra, "--to", "wids"],
        ["bench", extra],
        ["plan", extra, "--nodes", 1],
        ["report", extra, "-o", page],
        ["pack", packed, tmp_path / "more", "--keys-of", extra],
    ):
        done = call_packer(*command)
        assert done.returncode == 2
        assert f"{extra} has no images" in done.stderr.replace("\n", " ")
        assert "Pass DATASET instead" in done.stderr.replace("\n", " ")
    (extra / "shard-000000.tar").write_bytes(b"")
    done = call_packer("repair", extra, "--from", source)
    assert done.returncode == 2
    assert f"packer pack SRC {extra} --keys-of DATASET --overwrite" in done.stderr


def test_a_dataset_that_was_packed_in_another_order_makes_its_members_stale(
    source: Path, tmp_path: Path
) -> None:
    base, extra = tmp_path / "base", tmp_path / "extra"
    packer.pack(source, base, shard_samples=10, jobs=1, progress=False)
    rows = {"key": list(Dataset(base).keys), "n": list(range(len(Dataset(base))))}
    pq.write_table(pa.table(rows), tmp_path / "table.parquet")
    again = {"keys_of": base, "jobs": 1, "progress": False}
    packer.pack(tmp_path / "table.parquet", extra, **again)
    assert packer.pack(tmp_path / "table.parquet", extra, **again).shards_written == 0
    packer.pack(source, base, shard_samples=10, seed=1, overwrite=True, jobs=1, progress=False)
    with pytest.raises(UnusableInput, match="the source has changed since") as refused:
        packer.pack(tmp_path / "table.parquet", extra, **again)
    assert "append" not in str(refused.value)


def test_an_empty_cell_is_no_member_and_an_array_with_one_is_rejected(
    packed: Path, keys: list[str], tmp_path: Path
) -> None:
    def table(first: Any) -> Path:
        arrays = pa.array([first, *([[1.0, 2.0]] * (len(keys) - 1))], pa.list_(pa.float32()))
        pq.write_table(pa.table({"key": keys, "e": arrays}), tmp_path / "table.parquet")
        return tmp_path / "table.parquet"

    with pytest.raises(Rejected):
        joined(packed, table([1.0, None]))
    report = packer.pack(
        table([1.0, None]),
        tmp_path / "skipped",
        keys_of=packed,
        on_error="skip",
        jobs=1,
        progress=False,
    )
    assert ["a value is null" in reason for _, reason in report.rejected] == [True]
    packer.pack(table(None), tmp_path / "dst", keys_of=packed, jobs=1, progress=False)
    dataset = Dataset(packed, join=tmp_path / "dst")
    spans = [shard.index.span("e.npy", row) for shard, row in map(dataset.locate, range(3))]
    assert [span is None for span in spans] == [True, False, False]
