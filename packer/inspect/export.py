"""`packer export`: index files with which other tools read the unchanged tars.

``dali``: ``X.idx`` beside each ``X.tar``, format version 1.2 as DALI's ``wds2idx`` writes it.
``wids``: for ``wids.ShardListDataset``, as ``widsindex create`` writes it. wids 0.1 takes names
only from the first 100 bytes of a member's header, whatever is in its other fields.
``energon``: what ``energon prepare`` (Megatron-Energon) would make: ``X.tar.idx`` (uint64, where
each sample begins and where the last one ends), and in ``.nv-meta`` an SQLite index, and YAML files
in JSON, of which ``dataset.yaml`` may be changed.
"""

import json
import os
import re
import sqlite3
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

import numpy as np
import xxhash

from packer.errors import PackingFailed, UnusableInput, naming
from packer.files.atomic import remove_leavings, replacing, write_file
from packer.files.hashed_file import measure
from packer.inspect.dataset import members_of
from packer.progress import Advance, Progress
from packer.samples.records import Skipped
from packer.sources.trees.tar_reader import Member, members, samples
from packer.storage.dataset import Finished
from packer.words import many, option, typed
from reader.format import FORMATS, FormatError, Index, Manifest, ShardEntry, tar
from reader.format.checksum import checksum_of
from reader.store.urls import is_url

_SEPARATOR = re.compile(r"\s")  # in DALI's index
_LONGEST_OF_WIDS = 100  # bytes of a name
_ENERGON = "7.4.1"  # whose files these are
_FOLDER = ".nv-meta"

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


_MISREAD = {  # by the tool: what Hugging Face datasets does with its files
    "energon": "each .tar.idx as a tar, and fails",
    "wids": "each wids.json as data",
}


def export(
    dataset: Finished, tool: str, overwrite: bool, progress: Progress, out: Path | None = None
) -> tuple[list[str], list[str]]:
    """Write what `tool` needs to read a dataset, to `out` or beside the tars.

    Return the files' names, and in sentences which other tools misread them.
    """
    writers = {"dali": _write_dali, "energon": _write_energon, "wids": _write_wids}
    content, place = dataset.content, dataset.place
    content.check_images(dataset.place)
    if is_url(place) and content.external:
        raise UnusableInput(
            f"{place} was not packed by packer, so the export has to read its tars. Copy "
            "it to a folder, and export the copy."
        )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    total = sum(shard.samples for shard in content.shards)
    with progress.phase("export", total, "samples") as advance:
        work = _Export(dataset, out or dataset.folder, overwrite, advance)
        writers[tool](work)
    written = [work.out / name for name in work.files]
    remove_leavings({path.parent for path in written}, {path.name for path in written}.__contains__)
    remarks = _remarks(tool, content.splits, str(out or place))
    if resized := sum(work.resized.values()):
        remarks.append(
            f"{many(resized, 'image')} of another size than in the source: the numbers of boxes, "
            "polygons and points in the members count the source's pixels. `reader.Boxes` maps "
            "them, and other tools do not."
        )
    return work.files, remarks


def _remarks(tool: str, splits: Iterable[str], name: str) -> list[str]:
    if tool not in _MISREAD:
        return []
    files = {re.sub(r"\W", "_", split) or "train": f"{split}/*.tar".lstrip("/") for split in splits}
    return [
        f"Beside the tars, Hugging Face datasets reads {_MISREAD[tool]}. Name the tars: "
        f"load_dataset({name!r}, data_files={json.dumps(files, ensure_ascii=False)})"
    ]


@dataclass
class _Export:
    """One run: a dataset, and the `files` that were written for the tool to `out`."""

    dataset: Finished
    out: Path
    overwrite: bool
    advance: Advance
    files: list[str] = field(default_factory=list)
    resized: dict[str, int] = field(default_factory=dict)  # images, by shard

    def write(self, name: str, content: bytes) -> None:
        if self.lacks(name, (len(content), checksum_of(content))):
            path = self.out / name
            with naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, content)

    def lacks(self, name: str, content: tuple[int, str]) -> bool:
        """Return whether to write a file of this size and checksum; another one is not replaced."""
        self.files.append(name)
        path = self.out / name
        with naming(path):
            if self.overwrite or not path.exists():
                return True
            if measure(path) == content:
                return False
        raise UnusableInput(
            f"{path} exists with other content. Remove it, or pass ", option("overwrite", True), "."
        )

    @cached_property
    def splits(self) -> dict[str, list[ShardEntry]]:
        found: dict[str, list[ShardEntry]] = {}
        for shard in self.dataset.content.shards:
            found.setdefault(shard.split, []).append(shard)
        return found

    def samples(self, shard: ShardEntry) -> Iterator[list[Member]]:
        if self.dataset.content.external:
            found = samples(members(self.dataset.folder / shard.file))
            runs: Iterator[list[Member]] = (run for run in found if not isinstance(run, Skipped))
        else:
            index = self.dataset.index(shard)
            heights = index.columns.get("source_height", np.empty(0))
            self.resized[shard.file] = int(np.count_nonzero(heights))
            runs = _by_index(index)
        for run in runs:
            yield run
            self.advance(1)


def _by_index(index: Index) -> Iterator[list[Member]]:
    """Without reading the tar: a tar of ours is determined by its index."""
    for row in range(len(index)):
        key, run = index.key(row), []
        for ext, span in members_of(index, row).items():
            name = f"{key}.{ext}"
            start = span[0] - len(tar.header(name, 0))  # of one length for any size
            if start < 0:
                raise FormatError(
                    f"{index.path} is damaged: there is no room for a header before the "
                    f".{ext} of row {row}. Restore it from a copy, or pack the dataset again."
                )
            run.append(Member(name, start, *span))
        yield sorted(run, key=lambda member: member.offset)


def _write_dali(export: _Export) -> None:
    for shard in export.dataset.content.shards:
        lines = []
        for run in export.samples(shard):
            for member in run:
                if _SEPARATOR.search(member.name):
                    raise UnusableInput(
                        f"{shard.file}: the member {member.name!r} has white space in its "
                        "name, which DALI's index cannot express. Pack the source again with "
                        f"`{typed('pack')}`, which escapes it."
                    )
            lines.append(" ".join(f"{m.ext} {m.offset} {m.size} {m.name}" for m in run))
        text = "\n".join([f"v1.2 {len(lines)}", *lines]) + "\n"
        export.write(shard.file.removesuffix(".tar") + ".idx", os.fsencode(text))


def _write_wids(export: _Export) -> None:
    for shards in export.splits.values():
        entries = []
        for shard in shards:
            count = 0
            for count, run in enumerate(export.samples(shard), 1):  # noqa: B007
                for member in run:
                    if len(os.fsencode(member.name)) > _LONGEST_OF_WIDS:
                        raise UnusableInput(
                            f"{shard.file}: wids reads member names of at most "
                            f"{_LONGEST_OF_WIDS} bytes, and that of {member.name!r} is longer. "
                            "Shorten the source's folder and file names."
                        )
            url = PurePosixPath(shard.file).name
            entries.append({"url": url, "nsamples": count, "filesize": shard.bytes})
        content = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": entries}
        name = PurePosixPath(shards[0].file).with_name("wids.json")
        export.write(name.as_posix(), (json.dumps(content, indent=2) + "\n").encode())


def _write_energon(export: _Export) -> None:
    content = export.dataset.content
    counts: dict[str, int] = {}
    with _database(export, f"{_FOLDER}/index.sqlite") as database:
        database.executescript(_TABLES)
        for number, shard in enumerate(content.shards):
            runs = list(export.samples(shard))
            edges = [run[0].start for run in runs]
            edges.append(runs[-1][-1].offset + tar.padded(runs[-1][-1].size) if runs else 0)
            counts[shard.file] = len(runs)
            export.write(f"{shard.file}.idx", np.array(edges, "<u8").tobytes())
            try:
                for name in (shard.file, shard.split):
                    name.encode()
                _insert(database, number, export.dataset.folder / shard.file, runs, edges)
            except UnicodeEncodeError as error:
                raise UnusableInput(
                    f"{export.dataset.folder / shard.file}: energon's indexes require UTF-8, and "
                    f"the name {error.object!r} is not valid UTF-8. Rename the folder or the file."
                ) from error
        database.executescript(_INDEXES)
    splits = {
        split or "train": [shard.file for shard in shards]
        for split, shards in export.splits.items()
    }
    files: dict[str, object] = {
        ".info.json": {"energon_version": _ENERGON, "shard_counts": counts},
        "split.yaml": {"split_parts": {"train": [], "val": [], "test": []} | splits, "exclude": []},
    }
    if not (export.out / _FOLDER / "dataset.yaml").exists():  # it may have been changed
        files["dataset.yaml"] = _description(content)
    for name, value in files.items():
        text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
        export.write(f"{_FOLDER}/{name}", text.encode())
    identity = uuid.UUID(bytes=xxhash.xxh3_128_digest(content.dump().encode()))
    export.write(f"{_FOLDER}/index.uuid", str(identity).encode())


@contextmanager
def _database(export: _Export, name: str) -> Iterator[sqlite3.Connection]:
    path = export.out / name
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        try:
            with closing(sqlite3.connect(file.name)) as database:
                yield database
        except sqlite3.Error as error:
            raise PackingFailed(
                f"{path} cannot be written: {error}. Remove the cause, and run the same command "
                "again."
            ) from error
        export.lacks(name, measure(Path(file.name)))


def _insert(
    database: sqlite3.Connection, number: int, tar: Path, runs: list[list[Member]], edges: list[int]
) -> None:
    parts = ((number, row, m.ext, m.offset, m.size) for row, run in enumerate(runs) for m in run)
    with database:
        for row, run in enumerate(runs):
            values = number, run[0].stem, row, edges[row], edges[row + 1] - edges[row]
            try:
                database.execute("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", values)
            except sqlite3.IntegrityError as error:
                raise UnusableInput(
                    f"{tar}: an earlier sample has the key {run[0].stem!r}, too, and energon "
                    f"requires unique keys. Pack these tars with `{typed('pack')}`, which makes "
                    "keys unique, and export that dataset."
                ) from error
        database.executemany("INSERT INTO sample_parts VALUES (?, ?, ?, ?, ?)", parts)


def _description(content: Manifest) -> dict[str, object]:
    images = [ext for ext in content.fields if ext in FORMATS and ext != "raw"]
    kind, fields = "CrudeWebdataset", {}
    if images:
        kind, fields = "ImageWebdataset", {"field_map": {"image": ",".join(images)}}
        if "cls" in content.fields:
            kind = "ImageClassificationWebdataset"
            fields["field_map"]["label"] = "cls"
    return {"__module__": "megatron.energon", "__class__": kind, **fields}
