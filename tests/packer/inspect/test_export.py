"""The index files for other tools, against what their own programs would find in the tars."""

import json
import shutil
import sqlite3
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_packer import call_packer
from finished import export
from packing import run_pack

from packer.errors import UnusableInput
from packer.inspect.index import index
from packer.progress import Progress
from reader.format import FormatError, Index, Manifest
from reader.format.safetensors import serialize

QUIET = Progress(quiet=True)
SHARDS = ("train/shard-000000.tar", "val/shard-000000.tar")


def samples_in(path: Path) -> Iterator[tuple[str, int, list[tuple[str, int, int, str]]]]:
    """Key, start and (extension, offset, size, name) of the members, by Python's tarfile."""
    found: dict[str, tuple[int, list[tuple[str, int, int, str]]]] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            folder, slash, base = member.name.rpartition("/")
            stem, _, ext = base.partition(".")
            _, parts = found.setdefault(folder + slash + stem, (member.offset, []))
            parts.append((ext, member.offset_data, member.size, member.name))
    yield from ((key, start, parts) for key, (start, parts) in found.items())


@pytest.fixture
def short(tmp_path: Path, items: list[Any], write_dataset: Callable[..., Path]) -> Path:
    """A dataset without the sample whose name is long."""
    shards = {SHARDS[0]: items[:2], SHARDS[1]: items[2:3]}
    return write_dataset(tmp_path / "short", shards, classes=2)


def test_dali_s_index_has_a_line_for_each_sample(with_sidecars: Path) -> None:
    export(with_sidecars, "dali", False, QUIET)
    for file in SHARDS:
        lines = (with_sidecars / file).with_suffix(".idx").read_text("utf-8").splitlines()
        expected = [
            " ".join(f"{ext} {offset} {size} {name}" for ext, offset, size, name in parts)
            for _, _, parts in samples_in(with_sidecars / file)
        ]
        assert lines == [f"v1.2 {len(expected)}", *expected]


@pytest.mark.parametrize("tool", ["dali", "wids", "energon"])
def test_an_index_that_is_cut_short_meanwhile_is_exported_as_it_was_read(
    short: Path, tmp_path: Path, tool: str, cut_meanwhile: Callable[[Path], Progress]
) -> None:
    copy = shutil.copytree(short, tmp_path / "copy")
    files = export(short, tool, False, QUIET)
    cutting = cut_meanwhile(copy / Manifest.load(copy).shards[0].index)
    assert export(copy, tool, False, cutting) == files
    same = [name for name in files if (copy / name).read_bytes() == (short / name).read_bytes()]
    assert same == files


def test_white_space_in_a_name_is_refused_for_dali(tmp_path: Path, items: list[Any]) -> None:
    image = tmp_path / "with space.jpg"
    image.write_bytes(items[0].image)
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        archive.add(image, "with space.jpg")
    index(tmp_path, 1)
    with pytest.raises(UnusableInput, match=r"'with space\.jpg' has white space"):
        export(tmp_path, "dali", False, QUIET)


def test_wids_has_a_list_of_shards_for_each_split(short: Path) -> None:
    assert export(short, "wids", False, QUIET) == ["train/wids.json", "val/wids.json"]
    for file, count in zip(SHARDS, (2, 1), strict=True):
        content = json.loads((short / file).with_name("wids.json").read_text())
        (shard,) = content["shardlist"]
        assert content["wids_version"] == 1
        size = (short / file).stat().st_size
        assert shard == {"url": "shard-000000.tar", "nsamples": count, "filesize": size}


def test_a_name_that_wids_would_cut_is_refused(with_sidecars: Path) -> None:
    with pytest.raises(UnusableInput, match="at most 100 bytes"):
        export(with_sidecars, "wids", False, QUIET)


def test_energon_s_database_has_every_sample_and_part(with_sidecars: Path) -> None:
    export(with_sidecars, "energon", False, QUIET)
    samples, parts = [], []
    for number, file in enumerate(SHARDS):
        found = list(samples_in(with_sidecars / file))
        end = (with_sidecars / file).stat().st_size - 1024
        edges = [start for _, start, _ in found] + [end]
        assert np.fromfile(with_sidecars / f"{file}.idx", "<u8").tolist() == edges
        for row, (key, start, members) in enumerate(found):
            samples.append((number, key, row, start, edges[row + 1] - start))
            parts += [(number, row, ext, offset, size) for ext, offset, size, _ in members]
    database = sqlite3.connect(with_sidecars / ".nv-meta" / "index.sqlite")
    assert database.execute("SELECT * FROM samples").fetchall() == samples
    assert database.execute("SELECT * FROM sample_parts").fetchall() == parts
    database.close()


@pytest.mark.parametrize("name", ["a\udcff.jpg", "a.jpg"])
def test_names_for_energon_must_be_utf8(tmp_path: Path, items: list[Any], name: str) -> None:
    folder = tmp_path / ("split" if "\udcff" in name else "split\udcff")
    folder.mkdir()
    image = tmp_path / "image.jpg"
    image.write_bytes(items[0].image)
    with tarfile.open(folder / "x.tar", "w", encoding="utf-8") as archive:
        archive.add(image, name)
    index(tmp_path, 1)
    with pytest.raises(UnusableInput, match=r"require UTF-8, and the name .* is not valid"):
        export(tmp_path, "energon", False, QUIET)


def test_energon_s_descriptions_name_shards_splits_and_fields(with_sidecars: Path) -> None:
    manifest = Manifest.load(with_sidecars)
    files = export(with_sidecars, "energon", False, QUIET)
    folder = with_sidecars / ".nv-meta"
    assert {path.name for path in folder.iterdir()} == {
        *(".info.json", "dataset.yaml", "index.sqlite", "index.uuid", "split.yaml")
    }
    assert set(files) >= {f"{file}.idx" for file in SHARDS}
    counts = json.loads((folder / ".info.json").read_text())["shard_counts"]
    assert counts == {shard.file: shard.samples for shard in manifest.shards}
    splits = json.loads((folder / "split.yaml").read_text())["split_parts"]
    assert splits == {"train": [SHARDS[0]], "val": [SHARDS[1]], "test": []}


@pytest.mark.parametrize("tool", ["dali", "wids", "energon"])
def test_what_was_exported_is_a_source_as_before(short: Path, tmp_path: Path, tool: str) -> None:
    done = call_packer("pack", short, tmp_path / "plain")
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ignored")]
    names = ", ".join(name.replace(".tar", ".safetensors") for name in SHARDS)
    assert line == f"ignored: 3 files: it is an index (dataset.json, {names})"
    export(short, tool, False, QUIET)
    report = run_pack(short, tmp_path / "again")
    assert (report.splits, report.rejected) == ({"train": 2, "val": 1}, [])
    ignored = {name.rstrip("/") for name, _ in report.ignored}
    assert (".nv-meta" in ignored) == (tool == "energon")


def test_tars_made_elsewhere_are_exported_as_they_are(packed: Path, tmp_path: Path) -> None:
    for path in packed.glob("*.tar"):
        with tarfile.open(path) as old, tarfile.open(tmp_path / path.name, "w") as new:
            for member in old:
                member.pax_headers = {"comment": "a record that ours would not have"}
                new.addfile(member, old.extractfile(member))
    index(tmp_path, 1)
    export(tmp_path, "dali", False, QUIET)
    export(tmp_path, "energon", False, QUIET)
    for path in tmp_path.glob("*.tar"):
        found = list(samples_in(path))
        assert np.fromfile(f"{path}.idx", "<u8").tolist()[:-1] == [start for _, start, _ in found]
        first = path.with_suffix(".idx").read_text().splitlines()[1].split(" ")
        assert first[1] == str(found[0][2][0][1])


def test_a_key_of_two_tars_is_refused_for_energon(tmp_path: Path, items: list[Any]) -> None:
    image = tmp_path / "x.jpg"
    image.write_bytes(items[0].image)
    tars = tmp_path / "tars"
    tars.mkdir()
    for name in ("train-000.tar", "train-001.tar"):
        with tarfile.open(tars / name, "w") as archive:
            archive.add(image, "x.jpg")
    index(tars, 1)
    with pytest.raises(UnusableInput, match=r"train-001\.tar: .* the key 'x', too.*`packer pack`"):
        export(tars, "energon", False, QUIET)
    call_packer("pack", tars, tmp_path / "packed", code=0)
    assert export(tmp_path / "packed", "energon", False, QUIET)


@pytest.mark.parametrize("tool", ["dali", "wids", "energon"])
def test_an_index_that_leaves_no_room_for_a_header_is_refused(short: Path, tool: str) -> None:
    path = (short / SHARDS[0]).with_suffix(".safetensors")
    index = Index(path)
    columns = {name: column.copy() for name, column in index.columns.items()}
    columns["offset"][0] = 5
    path.write_bytes(serialize(columns, index.metadata))
    with pytest.raises(FormatError, match="no room for a header before the"):
        export(short, tool, False, QUIET)


@pytest.mark.parametrize("tool", ["dali", "wids", "energon"])
def test_exporting_again_changes_nothing_and_strangers_are_kept(short: Path, tool: str) -> None:
    killed = (".nv-meta/.index.sqlite.tmp-1", ".nv-meta/.index.sqlite.tmp-1-journal")
    for name in (*killed, "train/.wids.json.tmp-1"):
        if (tool == "energon") == (name in killed) and tool != "dali":
            (short / name).parent.mkdir(exist_ok=True)
            (short / name).touch()
    files = export(short, tool, False, QUIET)
    assert not [path for path in short.rglob(".*") if ".tmp-" in path.name]
    before = {name: (short / name).read_bytes() for name in files}
    again = export(short, tool, False, QUIET)
    assert {name: (short / name).read_bytes() for name in before} == before
    (short / again[0]).write_bytes(b"mine")
    with pytest.raises(UnusableInput, match="exists with other content"):
        export(short, tool, False, QUIET)
    assert (short / again[0]).read_bytes() == b"mine"
    export(short, tool, True, QUIET)
    assert (short / again[0]).read_bytes() == before[again[0]]
    assert not list(short.glob(".export-*"))


def test_a_description_for_energon_that_was_changed_is_kept(short: Path) -> None:
    export(short, "energon", False, QUIET)
    (short / ".nv-meta" / "dataset.yaml").write_text("mine")
    export(short, "energon", True, QUIET)
    assert (short / ".nv-meta" / "dataset.yaml").read_text() == "mine"


@pytest.mark.parametrize("out", [(), ("--out", "elsewhere")])
def test_the_command_names_the_files_and_how_hugging_face_datasets_reads_the_tars(
    short: Path, tmp_path: Path, out: tuple[str, ...]
) -> None:
    folder = tmp_path / out[1] if out else short
    done = call_packer("export", short, "--to", "energon", *out[:1], *[folder] * bool(out))
    named, *remarks = done.stdout.splitlines()
    assert named.startswith(f"{folder}: 7 files for energon: train/shard-000000.tar.idx, ")
    assert remarks == [
        "Beside the tars, Hugging Face datasets reads each .tar.idx as a tar, and fails. Name the "
        f"tars: load_dataset('{folder}', "
        'data_files={"train": "train/*.tar", "val": "val/*.tar"})'
    ]
    call_packer("export", short, "--to", "nobody", code=2)


def test_the_command_names_the_tars_where_other_tools_would_read_its_files_as_data(
    short: Path,
) -> None:
    call = f"load_dataset('{short}', " + 'data_files={"train": "train/*.tar", "val": "val/*.tar"})'
    remarks = {
        tool: call_packer("export", short, "--to", tool).stdout.splitlines()[1:]
        for tool in ("wids", "dali")
    }
    said = "Beside the tars, Hugging Face datasets reads each wids.json as data. Name the tars: "
    assert remarks == {"wids": [said + call], "dali": []}
