"""`packer repair`: makes damaged shards again from their source, and proves that they are the same.

A shard is repaired if, and only if, its tar and its index have the checksums of dataset.json.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from packer.errors import UnusableInput, cannot_write
from packer.files.atomic import sync_folder, write_file
from packer.files.hashed_file import measure
from packer.inspect.shard import Damage
from packer.inspect.verify import verify
from packer.isolated import Crashed, map_isolated
from packer.options.declared import PYTHON, PackOptions
from packer.plan.prepare import prepare
from packer.plan.work import ShardJob, Work, shard_job
from packer.progress import QUIET, Progress
from packer.shards.jobs import modules_for, pack_shard, single
from packer.shards.joined import write_joined
from packer.shards.shard_writer import index_of
from packer.sources.trees.tar_reader import Member, members
from packer.storage.dataset import Finished
from packer.storage.folder import ALL, open_lock, try_lock
from packer.storage.source import AnySource, LocalSource, open_source
from packer.words import option, typed
from reader.format import FormatError, Index, Manifest, ShardEntry, ShardfeedError, manifest
from reader.store.urls import is_url

IN_STORE = (
    "A dataset in a store cannot be repaired in place. Copy it to a folder, repair the copy, and "
    "upload the repaired files."
)
_FOLDER = ".repair-"  # what is made again is kept in it until it is proven
_MARK = ".made-by-packer-repair"  # in such a folder; locked while the run is at work


@dataclass
class RepairReport:
    dataset: str
    damages: list[Damage] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class _Damaged:
    """A shard to be made again; `keys` of its samples in their order, None: nothing has them."""

    entry: ShardEntry
    tar_sound: bool
    index_sound: bool
    keys: list[str] | None


def repair(
    dst: Path,
    src: AnySource,
    jobs: int,
    progress: Progress = QUIET,
    scratch: Path | None = None,
) -> RepairReport:
    began = time.monotonic()
    report = RepairReport(str(dst))
    content = _manifest(dst)
    _remove_leavings(dst)
    report.damages = verify(Finished(dst, dst), jobs, progress=progress).damages
    files = {damage.file for damage in report.damages}
    if manifest.FILENAME in files:
        write_file(dst / manifest.FILENAME, content.dump().encode())
        report.repaired.append(manifest.FILENAME)
    entries = [entry for entry in content.shards if files & {entry.file, entry.index}]
    if entries:
        with open_source(src, progress, scratch=scratch) as source:
            work = _work(dst, source, content, progress)
            differs = "files of the source, or jpegtran, have changed"
            # Of a source in a store, a version follows.
            if not content.source.startswith(work.scanned.fingerprint):
                differs = f"{source.name} has other names, sizes or labels than were packed"
            _repair_shards(dst, work, entries, jobs, report, progress, differs)
        src.forget()
    if manifest.JOINED in files and not report.failed:
        write_joined(dst, content)
        report.repaired.append(manifest.JOINED)
    report.seconds = time.monotonic() - began
    return report


@contextmanager
def _folder_in(dst: Path) -> Iterator[Path]:
    with (
        tempfile.TemporaryDirectory(prefix=_FOLDER, dir=dst) as name,
        open_lock(Path(name) / _MARK) as mark,
    ):
        try_lock(mark, ALL)
        yield Path(name)


def _remove_leavings(dst: Path) -> None:
    """Remove the folders of runs that were killed."""
    for folder in dst.glob(f"{_FOLDER}*"):
        if folder.is_symlink() or not (folder / _MARK).is_file():
            continue
        with open_lock(folder / _MARK) as mark:
            if try_lock(mark, ALL):
                shutil.rmtree(folder)


def _repair_shards(
    dst: Path,
    work: Work,
    entries: Sequence[ShardEntry],
    jobs: int,
    report: RepairReport,
    progress: Progress,
    differs: str,
) -> None:
    damaged = []
    for shard in (_look(dst, entry) for entry in entries):
        if shard.tar_sound and shard.index_sound:
            reason = "its bytes are those that were packed, but they are not valid"
            report.failed.append((shard.entry.file, reason))
        elif shard.keys is None and shard.entry.file not in work.plan.files:
            reason = "it was appended, and its samples are unknown: index and tar are both damaged"
            report.failed.append((shard.entry.file, reason))
        else:
            damaged.append(shard)
    wanted = {key for shard in damaged for key in shard.keys or ()}
    listing = enumerate(work.scanned.listing if wanted else ())
    numbers = {sample.key: number for number, sample in listing if sample.key in wanted}
    tasks: list[ShardJob] = []
    crashed: dict[Path, list[Crashed[ShardJob]]] = {}  # by the folders of their shards
    with _folder_in(dst) as folder:
        for place, shard in enumerate(damaged):
            path = folder / str(place) / Path(shard.entry.file).name
            path.parent.mkdir()
            tasks.append(shard_job(work, path, _samples(shard, work, numbers)))
        names = (sample.name for job in tasks for sample in job.samples)
        load = modules_for(work.policy, names, progress)
        total = sum(len(job.samples) for job in tasks)
        with progress.phase("repair", total, "samples") as advance:
            for result in map_isolated(pack_shard, tasks, jobs, advance, str, single, load):
                if isinstance(result, Crashed):
                    crashed.setdefault(result.item.path.parent, []).append(result)
        for shard, job in zip(damaged, tasks, strict=True):
            if not (crashes := crashed.get(job.path.parent)):
                _put_back(dst, shard, job.path, report, differs)
                continue
            reason = f"the process that rebuilt it ended ({crashes[0].cause})"
            if crashes[0].item.path != job.path:
                named = (f"{crash.item.samples[0].key!r} ({crash.cause})" for crash in crashes)
                reason = f"encoding the sample {', '.join(named)} ends the process"
            report.failed.append((shard.entry.file, reason))


def remedy(place: Path | str) -> str:
    if is_url(place):
        return IN_STORE
    try:
        _options_of(dst := Path(place), _manifest(dst))
    except ShardfeedError as error:
        return str(error)
    return (
        "To rebuild damaged shards from their source SRC, run: "
        f"{typed('repair', place, '--from', 'SRC')}"
    )


def _manifest(dst: Path) -> Manifest:
    try:
        return Manifest.load(dst)
    except FormatError as error:
        if not (dst / manifest.FILENAME).is_file():
            raise
        raise UnusableInput(
            f"{error} Only this file records the packing options, so `{typed('repair')}` cannot "
            "rebuild it. Restore it from a copy, or pack the source again with the same "
            "options and ",
            option("overwrite", True),
            ".",
        ) from error


def _options_of(dst: Path, content: Manifest) -> PackOptions:
    """Return the options to pack the shards of `dst` again; raise if this cannot be done."""
    if content.external:
        raise UnusableInput(
            f"{dst}: its tars were not packed by packer. Restore them from a copy. If only "
            f"indexes are damaged, remove these, and run `{typed('index', dst)}`."
        )
    if not content.images:
        raise UnusableInput(
            f"{dst} was packed with ",
            option("keys_of"),
            f", and `{typed('repair')}` does not rebuild it. Pack it again: ",
            typed("pack", "SRC", dst, "--keys-of", "DATASET", "--overwrite"),
        )
    try:
        options = PackOptions.load(content.options)
    except (TypeError, KeyError, ValueError) as error:
        raise UnusableInput(
            f"{dst} was packed by version {content.packer}, whose options this version does "
            "not support. Repair it with that version."
        ) from error
    if options.source.kind == PYTHON:
        raise UnusableInput(
            f"{dst} was packed from Python, and `{typed('repair')}` cannot run that program. Run "
            "it again with overwrite=True, or restore the damaged shards from a copy."
        )
    return options


def _work(dst: Path, src: LocalSource, content: Manifest, progress: Progress) -> Work:
    options = _options_of(dst, content)
    here = replace(src, version="")
    work = prepare(here, *options.planning, progress)
    if work.scanned.classes != content.classes:
        work = prepare(here, *options.planning, progress, content.classes)
    return work


def _samples(shard: _Damaged, work: Work, numbers: Mapping[str, int]) -> list[int]:
    held = [numbers[key] for key in shard.keys or () if key in numbers]
    files = work.plan.files
    if shard.index_sound or shard.entry.file not in files:
        return held
    planned = work.plan.shard(files.index(shard.entry.file)).tolist()
    # The plan also has what was rejected, which the index names; appended shards have another one.
    return planned if set(held) <= set(planned) else held


def _look(dst: Path, entry: ShardEntry) -> _Damaged:
    index_sound = _is(dst / entry.index, entry.index_bytes, entry.index_checksum)
    tar_sound = _is(dst / entry.file, entry.bytes, entry.checksum)
    keys = None
    if index_sound:
        index = Index(dst / entry.index, mapped=False)
        keys = [index.key(row) for row in range(len(index))]
    elif tar_sound:
        files = (item for item in members(dst / entry.file) if isinstance(item, Member))
        keys = list(dict.fromkeys(member.stem for member in files))
    return _Damaged(entry, tar_sound, index_sound, keys)


def _is(path: Path, size: int, checksum: str) -> bool:
    with suppress(OSError):
        return measure(path) == (size, checksum)
    return False


def _put_back(dst: Path, shard: _Damaged, made: Path, report: RepairReport, differs: str) -> None:
    entry = shard.entry
    same_index = _is(index_of(made), entry.index_bytes, entry.index_checksum)
    if not _is(made, entry.bytes, entry.checksum) or not (same_index or shard.index_sound):
        report.failed.append((entry.file, f"the rebuilt shard differs: {differs}"))
        return
    files = (shard.tar_sound, made, entry.file), (shard.index_sound, index_of(made), entry.index)
    try:
        for is_sound, path, name in files:
            if not is_sound:
                (dst / name).parent.mkdir(exist_ok=True)
                os.replace(path, dst / name)
                report.repaired.append(name)
        sync_folder((dst / entry.file).parent)
    except OSError as error:
        raise cannot_write(dst / entry.file, error) from error
