import json
import os
import re
import tracemalloc
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import xxhash
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from row_files import rows_of

from reader.format import BoxEncoding, FormatError, Manifest, ShardEntry
from reader.format.manifest import MAX_BYTES
from reader.format.sizes import SizeBounds

ENTRY = ShardEntry("shard-000000.tar", "", 3, 5120, "xxh3-128:00", 900, "xxh3-128:11")
TMP = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MANIFEST = Manifest(
    packer="1.0",
    options={"shard_size": 10**9, "shard_samples": None, "seed": 0},
    source="0123",
    classes=("cat", "狗"),
    fields=("cls", "jpg"),
    shards=(ENTRY, ShardEntry("val/shard-000000.tar", "val", 0, 1024, "a", 1, "b")),
    rejected=2,
)

utf8 = st.text(st.characters(exclude_categories=["Cs"]))
entries = st.builds(
    ShardEntry,
    split=st.from_regex(r"\A([a-z]{1,5})?\Z"),
    checksum=utf8,
    index_checksum=utf8,
    file=st.from_regex(r"\A([a-z]{1,5}/)?shard-[0-9]{6}\.tar\Z"),
    samples=st.integers(0, 2**40),
    bytes=st.integers(2**49, 2**60),
    index_bytes=st.integers(2**49, 2**60),
)
manifests = st.builds(
    Manifest,
    packer=utf8,
    source=utf8,
    options=st.dictionaries(utf8, st.none() | st.integers() | utf8),
    classes=st.lists(utf8).map(tuple),
    fields=st.lists(utf8).map(tuple),
    shards=st.lists(entries, max_size=4, unique_by=lambda entry: entry.file).map(tuple),
    rejected=st.integers(0, 2**40),
    boxes=st.dictionaries(
        utf8, st.builds(BoxEncoding, format=utf8, path=utf8, labels=st.none() | utf8)
    ),
    sizes=st.dictionaries(
        utf8,
        st.tuples(st.integers(1, 9), st.integers(1, 9)).map(lambda s: SizeBounds(s, (9, 9), s)),
    ),
    version=st.just(1),
)


def write(folder: Path, content: object) -> None:
    (folder / "dataset.json").write_text(json.dumps(content), "utf-8")


def content(**changes: Any) -> dict[str, Any]:
    """The content of MANIFEST with `changes`, and a checksum that agrees with them."""
    changed = json.loads(MANIFEST.dump()) | changes
    del changed["checksum"]
    return changed | {"checksum": checksum(changed)}


def checksum(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    return f"xxh3-128:{xxhash.xxh3_128_hexdigest(canonical)}"


@given(manifests)
@TMP
def test_a_manifest_reads_back_as_written(tmp_path: Path, manifest: Manifest) -> None:
    (tmp_path / "dataset.json").write_text(manifest.dump(), "utf-8")
    found = Manifest.load(tmp_path)
    assert found == manifest
    assert found.splits == tuple(dict.fromkeys(shard.split for shard in manifest.shards))


def test_what_a_later_packer_adds_is_ignored(tmp_path: Path) -> None:
    shards = [asdict(shard) | {"weather": "fair"} for shard in MANIFEST.shards]
    write(tmp_path, content(weather="fair", shards=shards))
    assert Manifest.load(tmp_path) == MANIFEST


def test_of_an_encoding_of_boxes_what_a_later_packer_adds_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, content(boxes={"json": {"format": "zigzag", "turned": 45}}))
    assert Manifest.load(tmp_path).boxes == {"json": BoxEncoding("zigzag")}
    assert "boxes" not in json.loads(MANIFEST.dump())  # as in earlier versions


SMALL, LARGE = SizeBounds((2, 3), (4, 3), (4, 3)), SizeBounds((5, 5), (5, 5), (5, 5))


def test_bounds_of_sizes_are_known_for_splits_that_all_have_them() -> None:
    assert "sizes" not in json.loads(MANIFEST.dump())  # as in earlier versions
    assert MANIFEST.size_bounds("val") is None
    full = replace(MANIFEST, shards=(ENTRY, replace(MANIFEST.shards[1], samples=1)))
    known = replace(full, sizes={"": SMALL, "val": LARGE})
    assert (known.size_bounds(""), known.size_bounds("val")) == (SMALL, LARGE)
    assert known.size_bounds(None) == SMALL | LARGE
    some = replace(full, sizes={"val": LARGE})
    assert (some.size_bounds("val"), some.size_bounds(None)) == (LARGE, None)
    assert replace(MANIFEST, sizes={"": SMALL}).size_bounds(None) == SMALL  # val has no sample


def test_a_class_name_that_is_no_utf8_reads_back_as_written(tmp_path: Path) -> None:
    manifest = replace(MANIFEST, classes=(os.fsdecode(b"caf\xe9"),))
    (tmp_path / "dataset.json").write_text(manifest.dump(), "utf-8")
    assert Manifest.load(tmp_path) == manifest


@pytest.mark.parametrize(("pair", "checksums"), rows_of(__file__, "shards_twice.rows"))
def test_two_shards_of_one_file_are_refused(tmp_path: Path, pair: str, checksums: str) -> None:
    names = eval(pair)
    two = zip(names, checksums, strict=True)
    shards = [asdict(ENTRY) | {"file": name, "checksum": checksum} for name, checksum in two]
    write(tmp_path, content(shards=[asdict(ENTRY), *shards]))
    with pytest.raises(FormatError, match=rf"lists the shard {names[1]!r} twice"):
        Manifest.load(tmp_path)


def test_different_tars_may_have_names_that_differ_in_case_or_by_an_escape(tmp_path: Path) -> None:
    names = ("a.tar", "A.tar", "%61.tar", "b/a.tar")
    shards = [asdict(ENTRY) | {"file": name, "checksum": name} for name in names]
    write(tmp_path, content(shards=shards))
    assert tuple(shard.file for shard in Manifest.load(tmp_path).shards) == names


def test_shards_of_more_samples_than_can_be_counted_are_refused(tmp_path: Path) -> None:
    most = {"bytes": 2**63 - 1, "samples": 2**54 - 1}
    shards = [asdict(ENTRY) | most | {"file": f"shard-{number:06d}.tar"} for number in range(600)]
    write(tmp_path, content(shards=shards))
    with pytest.raises(FormatError, match="more samples than can be counted"):
        Manifest.load(tmp_path)


def damaged(cells: Sequence[str]) -> dict[str, Any]:
    *where, changes = map(str.strip, cells)
    found: dict[str, Any] = eval(changes)
    return {"shards": [asdict(ENTRY) | found]} if where else found


DAMAGED = [damaged(cells) for cells in rows_of(__file__, "damaged_manifests.rows")]


@pytest.mark.parametrize("changes", DAMAGED, ids=str)
def test_what_is_damaged_under_a_right_checksum_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    found = content(**changes) if ... not in changes.values() else content()
    for name in (name for name, value in changes.items() if value is ...):
        del found[name], found["checksum"]
        found |= {"checksum": checksum(found)}
    write(tmp_path, found)
    with pytest.raises(FormatError, match="damaged"):
        Manifest.load(tmp_path)


SOUND = MANIFEST.dump().encode()


@pytest.mark.parametrize(("text", "reason"), rows_of(__file__, "no_manifest.rows"))
def test_what_is_no_manifest_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    found = eval(text)
    data = found if isinstance(found, bytes) else json.dumps(found).encode()
    (tmp_path / "dataset.json").write_bytes(data)
    with pytest.raises(FormatError, match=reason):
        Manifest.load(tmp_path)


def test_a_manifest_may_be_laid_out_anew(tmp_path: Path) -> None:
    write(tmp_path, dict(reversed(json.loads(MANIFEST.dump()).items())))
    assert Manifest.load(tmp_path) == MANIFEST


@given(st.integers(0, 5000), st.integers(0, 7))
@TMP
def test_a_flipped_bit_is_refused(tmp_path: Path, at: int, bit: int) -> None:
    data = bytearray(MANIFEST.dump().encode())
    data[at % len(data)] ^= 1 << bit
    (tmp_path / "dataset.json").write_bytes(data)
    try:
        # A hexadecimal digit of an escape may be upper case and mean the same.
        assert Manifest.load(tmp_path) == MANIFEST
        assert data.lower() == MANIFEST.dump().encode()
    except FormatError:
        pass


def test_a_manifest_that_is_missing_cannot_be_read_or_is_too_large_is_refused(
    tmp_path: Path,
) -> None:
    with pytest.raises(FormatError, match=r"missing does not exist"):
        Manifest.load(tmp_path / "missing")
    with pytest.raises(FormatError, match=r"is not a dataset: it has no dataset\.json"):
        Manifest.load(tmp_path)
    with open(tmp_path / "dataset.json", "wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(FormatError, match=f"has more than {MAX_BYTES} bytes"):
        Manifest.load(tmp_path)
    (tmp_path / "dataset.json").unlink()
    (tmp_path / "dataset.json").mkdir()
    with pytest.raises(FormatError, match="cannot be read"):
        Manifest.load(tmp_path)


def test_a_splits_folder_leads_to_its_dataset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dataset.json").write_text(MANIFEST.dump())
    for name in ("val", "other"):
        (tmp_path / name).mkdir()
    leads = re.escape(f"val is not a dataset, but a split of {tmp_path}. ") + '.*, "val"\\)'
    with pytest.raises(FormatError, match=leads):
        Manifest.load(tmp_path / "val")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match=leads):
        Manifest.load("val")
    with pytest.raises(FormatError, match="other is not a dataset: it has no"):
        Manifest.load("other")
    (tmp_path / "dataset.json").write_text("{")
    with pytest.raises(FormatError, match="val is not a dataset: it has no"):
        Manifest.load("val")


def test_a_small_manifest_takes_little_memory_to_read(tmp_path: Path) -> None:
    (tmp_path / "dataset.json").write_text(MANIFEST.dump())
    tracemalloc.start()
    try:
        Manifest.load(tmp_path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2**20
