"""The files that ``energon prepare`` (Megatron-Energon) would make.

``X.tar.idx`` beside each tar: uint64, little-endian, where each sample begins and where the last
one ends. In ``.nv-meta``: ``index.sqlite`` with the tables ``samples`` and ``sample_parts``,
``.info.json`` with the samples of each shard, ``split.yaml``, and a ``dataset.yaml`` that describes
image classification and may be changed. JSON is YAML, and needs no further library.
"""

import json
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import PackingFailed, UnusableInput
from packer.inspect.tool_files import Export
from packer.sources.archive.tar_reader import Member
from reader.format import FORMATS, tar

_FOLDER = ".nv-meta"
_VERSION = "7.4.1"  # whose files these are

_TABLES = """
CREATE TABLE samples (
    tar_file_id INTEGER NOT NULL,
    sample_key TEXT NOT NULL UNIQUE,
    sample_index INTEGER NOT NULL,
    byte_offset INTEGER,
    byte_size INTEGER
);
CREATE TABLE sample_parts (
    tar_file_id INTEGER,
    sample_index INTEGER,
    part_name TEXT,
    content_byte_offset INTEGER,
    content_byte_size INTEGER
);
"""
_INDEXES = """
CREATE INDEX idx_samples_by_tar_and_idx ON samples(tar_file_id, sample_index);
CREATE INDEX idx_sample_parts_seq
    ON sample_parts(tar_file_id, sample_index, content_byte_offset);
CREATE INDEX idx_sample_parts_full ON sample_parts(
    tar_file_id, sample_index, part_name, content_byte_offset, content_byte_size
);
"""


def write(export: Export) -> None:
    """Write the indexes beside the tars, and ``.nv-meta``.

    Raises:
        UnusableInput: a name is not UTF-8, which the formats cannot express.
    """
    content = export.content
    counts: dict[str, int] = {}
    for old in export.out.glob(f"{_FOLDER}-*"):
        shutil.rmtree(old)  # of a run that was killed
    with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}-", dir=export.out) as folder:
        path = Path(folder) / "index.sqlite"
        with _database(path) as database:
            database.executescript(_TABLES)
            for number, shard in enumerate(content.shards):
                runs = list(export.samples(shard))
                edges = [run[0].start for run in runs]
                edges.append(_end(runs[-1]) if runs else 0)
                counts[shard.file] = len(runs)
                export.write(f"{shard.file}.idx", np.array(edges, "<u8").tobytes())
                try:
                    for name in (shard.file, shard.split):
                        name.encode()
                    _insert(database, number, runs, edges)
                except UnicodeEncodeError as error:
                    raise UnusableInput(
                        f"{export.folder / shard.file}: energon's indexes hold UTF-8 alone, and "
                        f"the name {error.object!r} is none. Give it another name."
                    ) from error
            database.executescript(_INDEXES)
        export.place(f"{_FOLDER}/index.sqlite", path)
    info = {"energon_version": _VERSION, "shard_counts": counts}
    splits = {
        split or "train": [shard.file for shard in content.shards if shard.split == split]
        for split in content.splits
    }
    identity = uuid.UUID(bytes=xxhash.xxh3_128_digest(content.dump().encode()))
    files: dict[str, object] = {
        ".info.json": info,
        "split.yaml": {"split_parts": {"train": [], "val": [], "test": []} | splits, "exclude": []},
    }
    if not (export.out / _FOLDER / "dataset.yaml").exists():  # it may have been changed
        files["dataset.yaml"] = _description(export)
    for name, value in files.items():
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        export.write(f"{_FOLDER}/{name}", text.encode())
    export.write(f"{_FOLDER}/index.uuid", str(identity).encode())


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """A new database.

    Raises:
        PackingFailed: it cannot be written.
    """
    try:
        with closing(sqlite3.connect(path)) as database:
            yield database
    except sqlite3.Error as error:
        raise PackingFailed(
            f"{path} cannot be written: {error}. Once the cause is gone, run the same command "
            "again."
        ) from error


def _insert(
    database: sqlite3.Connection, number: int, runs: list[list[Member]], edges: list[int]
) -> None:
    """The rows of one shard, whose samples begin and end at `edges`."""

    def rows() -> Iterator[tuple[int, str, int, int, int]]:
        for row, run in enumerate(runs):
            yield number, run[0].stem, row, edges[row], edges[row + 1] - edges[row]

    def parts() -> Iterator[tuple[int, int, str, int, int]]:
        for row, run in enumerate(runs):
            for member in run:
                yield number, row, member.ext, member.offset, member.size

    with database:
        database.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", rows())
        database.executemany("INSERT INTO sample_parts VALUES (?, ?, ?, ?, ?)", parts())


def _end(run: list[Member]) -> int:
    return run[-1].offset + tar.padded(run[-1].size)


def _description(export: Export) -> dict[str, object]:
    """What the members mean to energon."""
    images = [ext for ext in export.content.fields if ext in FORMATS and ext != "raw"]
    if not images:
        return {"__module__": "megatron.energon", "__class__": "CrudeWebdataset"}
    fields = {"image": ",".join(images)}
    if "cls" not in export.content.fields:
        return {
            "__module__": "megatron.energon",
            "__class__": "ImageWebdataset",
            "field_map": fields,
        }
    return {
        "__module__": "megatron.energon",
        "__class__": "ImageClassificationWebdataset",
        "field_map": fields | {"label": "cls"},
    }
