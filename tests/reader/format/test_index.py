import json
import os
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import Write
from numpy.typing import NDArray
from row_files import rows_of
from safetensors import safe_open
from safetensors.numpy import load_file

from reader.format import FORMATS, FormatError, Index
from reader.format.safetensors import serialize

Columns = dict[str, NDArray[Any]]
METADATA = {
    "format": "shardfeed-index",
    "version": "1",
    "tar_bytes": "10240",
    "tar_checksum": "xxh3-128:0123",
    "rejected": json.dumps([["cat/b.jpg", "it is empty"]]),
    "untiled": json.dumps([["cat/a.jpg", "it has four channels"]]),
}


def lists(values: list[bytes]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A list column and its bounds."""
    ends = accumulate(map(len, values), initial=0)
    return np.frombuffer(b"".join(values), "u1"), np.array(list(ends), "<u8")


def columns(**changes: NDArray[Any] | list[int]) -> Columns:
    """A sound index of three rows, with a class for two of them, and one of them tiled."""
    key, key_offset = lists([b"cat/a", "猫".encode(), b"dog"])
    name, name_offset = lists([b"cat/a.jpg", b"\xe7\x8c\xab.png", b"dog\xff"])
    sound: Columns = {
        "offset": np.array([512, 2048, 4096], "<u8"),
        "size": np.array([100, 700, 5000], "<u8"),
        "label": np.array([0, 1, -1], "<i8"),
        "height": np.array([60, 50, 2**31 - 1], "<u4"),
        "width": np.array([80, 90, 1], "<u4"),
        "format": np.array([0, 1, 5], "u1"),
        "channels": np.array([3, 4, 1], "u1"),
        "orientation": np.array([1, 6, 8], "u1"),
        "crc32": np.array([0, 1, 2**32 - 1], "<u4"),
        "key": key,
        "key_offset": key_offset,
        "name": name,
        "name_offset": name_offset,
        "cls.offset": np.array([1536, 3584, 0], "<u8"),
        "cls.size": np.array([1, 1, 0], "<u8"),
        "segment": np.array([10, 20, 30], "<u2"),
        "segment_offset": np.array([0, 3, 3, 3], "<u8"),
        "scan_offset": np.array([40, 0, 0], "<u4"),
        "frame_offset": np.array([20, 0, 0], "<u4"),
        "restart_interval": np.array([4, 0, 0], "<u2"),
        "mcu_height": np.array([16, 0, 0], "u1"),
        "mcu_width": np.array([16, 0, 0], "u1"),
    }
    for column, values in changes.items():
        sound[column] = np.array(values, sound[column].dtype)
    return sound


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(columns(), version="2")`: an index file with these columns and this metadata."""

    def to_file(columns: Columns, **metadata: Any) -> Path:
        path = tmp_path / "shard.safetensors"
        found = {name: value for name, value in (METADATA | metadata).items() if value is not ...}
        path.write_bytes(serialize(columns, found))
        return path

    return to_file


def raw(header: object, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def test_an_index_knows_tiled_images_and_has_no_other_members(write: Write) -> None:
    index = Index(write(columns()))
    assert index.untiled == [("cat/a.jpg", "it has four channels")]
    assert index.tiled
    assert index.span("jpg", 0) == (512, 100)
    assert index.span("png", 0) is index.span("json", 0) is None


def test_the_order_in_which_columns_were_made_changes_nothing() -> None:
    backwards = dict(reversed(columns().items()))
    assert serialize(backwards, METADATA) == serialize(columns(), METADATA)


def test_the_library_of_safetensors_sees_the_same(write: Write) -> None:
    path = write(columns())
    index, theirs = Index(path), load_file(path)
    assert set(theirs) == set(index.columns)
    for name, column in theirs.items():
        assert column.dtype == index.columns[name].dtype
        np.testing.assert_array_equal(column, index.columns[name])
    for name, column in index.columns.items():
        assert (column.flags.aligned, column.flags.writeable) == (True, False), name
    with safe_open(path, "numpy") as file:
        assert file.metadata() == index.metadata == METADATA


def test_columns_of_tiles_are_not_needed_and_unknown_ones_are_no_hindrance(write: Write) -> None:
    of_tiles = ("segment", "scan", "frame", "restart", "mcu")
    plain = {name: one for name, one in columns().items() if not name.startswith(of_tiles)}
    assert not Index(write(plain)).tiled
    assert len(Index(write(columns() | {"of_the_future": np.arange(5, dtype="<u4")}))) == 3


OUTSIDE = [(10241, 0), (10240, 1), (0, 10241), (5000, 5241), (2**64 - 1, 2), (1, 2**64 - 1)]


@pytest.mark.parametrize("prefix", ["", "cls."])
@pytest.mark.parametrize(("offset", "size"), [*OUTSIDE, (2**63, 2**63)])
def test_a_row_outside_the_tar_is_refused_and_may_end_with_it(
    write: Write, prefix: str, offset: int, size: int
) -> None:
    changed = columns(**{f"{prefix}offset": [512, offset, 512], f"{prefix}size": [1, size, 1]})
    with pytest.raises(FormatError, match=r"row 1 .* is outside its tar"):
        Index(write(changed))
    changed = columns(offset=[512, 10240, 240], size=[1, 0, 10000])
    assert Index(write(changed)).span("tiff", 2) == (240, 10000)


@pytest.mark.parametrize("name", columns())
def test_a_column_that_is_missing_or_of_another_type_or_length_is_refused(
    write: Write, name: str
) -> None:
    column = columns()[name]
    others = {f"column {name} is n": [column.astype("<i8" if name != "label" else "<u8")]}
    if name not in ("key", "name", "segment"):
        lengths = [np.resize(column, len(column) + change) for change in (-1, 1)]
        others[r"has \d rows, not \d|do not tile"] = lengths
    for reason, values in others.items():
        for value in values:
            with pytest.raises(FormatError, match=reason):
                Index(write(columns() | {name: value}))
    if name != "segment":
        with pytest.raises(FormatError, match=f"no column {name}"):
            Index(write({other: value for other, value in columns().items() if other != name}))


@pytest.mark.parametrize("name", ["key_offset", "name_offset", "segment_offset"])
@pytest.mark.parametrize("damage", ["begin", "end", "beyond", "back", "huge"])
def test_bounds_that_do_not_tile_their_column_are_refused(
    write: Write, name: str, damage: str
) -> None:
    bounds = columns()[name].tolist()
    bounds = {
        "begin": [1, *bounds[1:]],
        "end": [*bounds[:3], bounds[3] - 1],
        "beyond": [*bounds[:3], bounds[3] + 1],
        "back": [0, 3, 1, bounds[3]],
        "huge": [0, 2**64 - 1, *bounds[2:]],
    }[damage]
    with pytest.raises(FormatError, match=f"bounds in {name} do not tile"):
        Index(write(columns(**{name: bounds})))


IMPOSSIBLE = {
    "channels": (0, 5),
    "orientation": (0, 9),
    "height": (0, 2**31),
    "width": (0, 2**32 - 1),
    "label": (-2, 2**28, 2**63 - 1, -(2**63)),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, found in IMPOSSIBLE.items() for value in found]
)
def test_an_image_that_cannot_be_is_refused(write: Write, name: str, value: int) -> None:
    with pytest.raises(FormatError, match=f"row 1 has the {name} {value}, but .* are allowed"):
        Index(write(columns(**{name: [1, value, 1]})))
    with pytest.raises(FormatError, match="image format"):
        Index(write(columns(format=[0, 0, len(FORMATS)])))


@pytest.mark.parametrize(
    ("classes", "most"), [(1, 0), (3, 2), (2_000_000, 1_999_999), (0, 1_000_000)]
)
def test_a_label_is_below_the_number_of_class_names_or_at_most_a_million_without_any(
    write: Write, classes: int, most: int
) -> None:
    path = write(columns(label=[-1, 0, most]))
    assert Index(path, classes=classes).columns["label"].tolist() == [-1, 0, most]
    path = write(columns(label=[-1, most + 1, 0]))
    with pytest.raises(FormatError, match=f"row 1 has the label {most + 1}, but -1 to {most} "):
        Index(path, classes=classes)


@pytest.mark.parametrize(("metadata", "reason"), rows_of(__file__, "index_metadata.rows"))
def test_metadata_that_does_not_fit_is_refused(write: Write, metadata: str, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        Index(write(columns(), **eval(f"{{{metadata}}}")))


@pytest.mark.parametrize("entry", [*chain(*rows_of(__file__, "index_columns.rows"))])
def test_a_damaged_entry_of_the_header_is_refused(tmp_path: Path, entry: str) -> None:
    header = {"__metadata__": METADATA, "offset": eval(entry)}
    (tmp_path / "index").write_bytes(raw(header, bytes(4)))
    with pytest.raises(FormatError, match="its header is damaged"):
        Index(tmp_path / "index")


@pytest.mark.parametrize("data", [*chain(*rows_of(__file__, "no_index.rows"))])
def test_what_is_no_index_is_refused(tmp_path: Path, data: str) -> None:
    (tmp_path / "index").write_bytes(eval(data))
    with pytest.raises(FormatError, match="index"):
        Index(tmp_path / "index")


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(FormatError, match="cannot be read"):
            Index(path)


def test_an_index_that_was_read_stays_as_it_was(write: Write) -> None:
    path = write(columns())
    mapped, read = Index(path), Index(path, mapped=False)
    assert set(read.columns) == set(mapped.columns)
    assert all((read.columns[name] == mapped.columns[name]).all() for name in read.columns)
    assert (read.metadata, bytes(mapped.content)) == (mapped.metadata, read.content)
    keys = [read.key(row) for row in range(len(read))]
    os.truncate(path, 8)
    assert [read.key(row) for row in range(len(read))] == keys
    assert (read.is_whole, mapped.is_whole) == (True, False)


def test_an_index_cut_short_is_refused(write: Write) -> None:
    path = write(columns())
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            Index(path)


@pytest.mark.parametrize(
    "text", ["", "{", "3", "null", "[1]", '[["a"]]', '[["a", "b", "c"]]', None, ...]
)
def test_a_damaged_list_of_files_is_refused(write: Write, text: str | None) -> None:
    with pytest.raises(FormatError):
        _ = Index(write(columns(), rejected=text)).rejected
    with pytest.raises(FormatError):
        _ = Index(write(columns(), untiled=text)).untiled


def test_a_key_that_is_no_utf8_is_refused(write: Write) -> None:
    key = np.append(np.uint8(0xFF), columns()["key"][1:])
    with pytest.raises(FormatError):
        Index(write(columns(key=key))).key(0)
