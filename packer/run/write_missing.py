"""The remaining work of a run: the missing shards, or none if the dataset is up to date."""

import glob
import json
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from packer.errors import Rejected, UnusableInput
from packer.options.declared import PackOptions, RunOptions, by_name
from packer.plan.prepare import version_of
from packer.plan.work import RunGuard, Work, refuse_full_disk, shard_job, tars
from packer.progress import Progress
from packer.run.destination import Destination
from packer.samples.records import EmptyClass, Skipped
from packer.shards.builder import Rejections
from packer.shards.executors import run_in
from packer.shards.jobs import Unfinished, modules_for, run_jobs
from packer.shards.shard_writer import Written, remove_shard
from packer.storage.source import StoreSource
from packer.trees.walk import is_named_as_image
from packer.words import Placeholder, command, listed, option
from reader.format import Limits, Manifest, manifest
from reader.store.urls import is_url

_LOOKED_AT = 1000  # names, for whether there are JPEGs among them
_FORMER_PIXELS = 1 << 29  # the default limit of earlier versions, whose datasets are the same
_NAMED = 8  # rejected files, each in a command


def write_missing(
    work: Work,
    to: Destination,
    numbers: Sequence[int],
    guard: RunGuard,
    how: RunOptions,
    executor: Executor | None,
    progress: Progress,
    *,
    is_refused: bool = False,
) -> tuple[Written, int]:
    """Write those of the shards with these numbers that are missing; return how many.

    A run that `is_refused` cannot be committed: no shard goes into a store, as the mended source
    may make it another one.
    """
    paths = tars(work, to.folder)
    finished = to.finished([paths[number] for number in numbers])
    missing = [number for number in numbers if paths[number] not in finished]
    jobs = how.processes
    processes = min(jobs, max(len(missing), 1))
    refuse_full_disk(work, to.folder, to.at_a_time(missing, processes))
    for folder in {path.parent for path in paths}:
        folder.mkdir(exist_ok=True)
    written, unread = Written(), Unfinished()

    def take(shard: Written) -> None:
        written.add(shard)
        if not is_refused and (how.skips or not shard.rejected):  # else it is to be mended
            to.take(shard)

    for number in sorted({*numbers}.difference(missing)):
        take(Written.of(paths[number], work.plan.splits[number]))
    total, todo = (sum(len(work.plan.shard(n)) for n in some) for some in (numbers, missing))
    # The shards of the last round share the processes that have none.
    last = len(missing) % jobs if executor is None else 0
    threads = [1] * (len(missing) - last) + [-(-jobs // max(last, 1))] * last
    every = max(todo // _LOOKED_AT, 1)
    looked_at = (n for number in missing for n in work.plan.shard(number)[::every])
    names = (work.scanned.listing[n].name for n in looked_at)
    load = modules_for(work.options.policy, names, progress)
    with progress.phase("pack", total, "samples", total - todo) as advance:
        tasks = (
            shard_job(work, paths[n], work.plan.shard(n), several, not how.skips, guard)
            for n, several in zip(missing, threads, strict=True)
        )
        if executor is None:
            outcomes = run_jobs(tasks, processes, advance, load)
        else:
            outcomes = run_in(executor, tasks, jobs, advance)
        for outcome in outcomes:
            if isinstance(outcome, Unfinished):
                unread += outcome
            else:
                take(outcome)
                for file in outcome.entries if is_refused and not to.holds_all else ():
                    remove_shard(to.folder / file)
    to.wait(progress)
    rejected = sorted(all_rejected(work, written) + unread)
    if unread or (rejected and not how.skips):
        raise refusal(work, rejected, written=to.holds_all or not is_refused)
    return written, len(missing)


def all_rejected(work: Work, written: Written | None = None) -> Rejections:
    """Return what was rejected by the scan and in the shards that are written."""
    return sorted(work.scanned.listing.rejected + (written.rejected if written else []))


def stops_at_once(work: Work, files: Rejections) -> bool:
    """Return whether packing would be in vain: the source or the command has to be another."""
    return _are_many(work, files) or not all(item.damaged for item in _by_scan(work))


def refusal(work: Work, files: Rejections, written: bool) -> Rejected:
    """Return the error for rejected files: a few have a fault, or the source may be misread."""
    noun = "item" if work.scanned.facts.is_late else "file"
    faults = (item.damaged or item.lacks or item.repeats for item in _by_scan(work))
    if not _are_many(work, files) and all(faults):
        return Rejected(files, written, noun=noun, remedy=_mended(work, files))
    remedy = _mended(work, files) or _without_empty(work, files) or _without(work, files)
    return Rejected(
        files, written, damaged=False, noun=noun, remedy=remedy, source=work.name or "SRC"
    )


def _by_scan(work: Work) -> list[Skipped]:
    is_late = work.scanned.facts.is_late  # whose items are judged one by one
    return [item for item in work.scanned.listing.skipped if not (item.ignored or is_late)]


def _are_many(work: Work, files: Rejections) -> bool:
    listing = work.scanned.listing
    count = len(listing) + int(listing.member_counts.sum()) + len(_by_scan(work))
    return 2 * len(files) > count and not work.scanned.facts.is_late


def _mended(work: Work, files: Rejections) -> str:
    """Return what to do if all files lack a member that may be optional, or repeat an image."""
    lacking = {item.lacks for item in _by_scan(work) if item.lacks}
    faults = sum(bool(item.lacks) or item.repeats for item in _by_scan(work))
    given, words = work.options.source, list[str]()
    src = os.path.realpath(work.name)
    folders = {name: os.path.normpath(os.path.join(src, at)) for name, at in given.pairs.items()}
    for flag, values in (("--pair", folders), ("--member", given.members)):
        for name, value in values.items():
            words += [flag, f"{name}{'?' * (name in lacking)}={value}"]
    if faults < len(files) or (lacking and not lacking & {*folders, *given.members}):
        return ""
    if lacking:
        without = f"to pack images without {listed(sorted(lacking))}, too, type"
        return f"{without}: {command(work.name, *words)}\n"
    return "remove one of the records that name the same image, and pack again."


def _without_empty(work: Work, files: Rejections) -> str:
    """Return what to do if only folders of classes were rejected, which hold no image."""
    scanned = _by_scan(work)
    if len(scanned) < len(files) or not all(isinstance(item, EmptyClass) for item in scanned):
        return ""
    skipping = command(work.name, "--on-error", "skip")
    return (
        f"to leave out the classes without images, type: {skipping}\n"
        f"To keep them, name all classes with {option('classes', Placeholder('FILE'))}.\n"
    )


def _without(work: Work, files: Rejections) -> str:
    """Return the command that ignores a few rejected files that are not images, otherwise "".

    It is the end of a sentence. If the rejected images are in no list, the command ignores these.
    """
    if work.origin is None or not work.name:
        return ""
    src = work.origin.path if is_url(work.name) else Path(work.name)
    if not src.is_dir():  # the option requires a folder
        return ""
    paths: list[str] = []
    lists = work.scanned.facts.lists
    is_unlisted = 0 < len(lists) <= _NAMED and all(name.endswith("/") for name, _ in files)
    for name in lists if is_unlisted else [name for name, _ in files]:
        path = os.path.relpath(os.path.join(work.scanned.facts.root or src, name), src)
        can_hide = os.path.lexists(src / path) and os.pardir not in (path[:2], name[:2])
        if not can_hide or name.endswith("/") or is_named_as_image(name) or len(files) > _NAMED:
            return ""
        paths.append(path)
    globs = [*work.options.source.ignore, *map(glob.escape, paths)]
    ignoring = command(work.name, *(w for one in globs for w in ("--ignore", one)))
    if is_unlisted:
        return (
            f"if {listed(lists)} does not list its images: to ignore {listed(lists)}, type: "
            f"{ignoring}"
        )
    rejected, them = ("files do", "them") if files[1:] else ("file does", "it")
    reading = work.reading[:1].lower() + work.reading[1:]
    return (
        f"if the rejected {rejected} not belong to it, ignore {them}.\nWithout {them}, the source "
        f"is {reading}\nTo ignore {listed(paths, _NAMED)}, type: {ignoring}"
    )


def packed_from(
    src: StoreSource, to: Destination, options: PackOptions, classes: Sequence[str] | None
) -> Path | None:
    """Return the folder of `to.committed`, if what the store lists was packed; fetch nothing."""
    if (folder := to.committed) is None or not to.is_done:
        return None
    content = Manifest.load(folder)
    _refuse_other(to, content, options, content.source.endswith(version_of(src.version, classes)))
    return None if content.rejected else folder  # which ones is known from the files only


def packed_before(to: Destination, work: Work) -> Path | None:
    """Return the folder of `to.committed`, if an earlier run of the same command committed it."""
    if (folder := to.committed) is None:
        return None
    content, classes = Manifest.load(folder), work.scanned.classes
    is_same = (
        content.source == work.scanned.fingerprint
        and (not classes or content.classes == classes)
        and work.scanned.listing.newest_ns <= (folder / manifest.FILENAME).stat().st_mtime_ns
    )
    _refuse_other(to, content, work.options, is_same)
    return folder


def refuse_other_options(to: Destination, base: Path, options: PackOptions) -> None:
    """Raise if the dataset that is added to was packed with other options."""
    content = Manifest.load(base)
    content.check_images(to.name)
    if differing := _differing(content, options):
        raise UnusableInput(
            f"{to.name} was packed with other options: {differing}. To append to it, pass the "
            "same options (they are in dataset.json)."
        )


def _refuse_other(to: Destination, content: Manifest, options: PackOptions, is_same: bool) -> None:
    if differing := _differing(content, options):
        made, add = f"packed with other options: {differing}", ""
    elif not is_same:
        made = "packed with the same options from another source, or the source has changed since"
        add = f", pass {option('append', True)} to add new samples" if content.images else ""
    else:
        return
    raise UnusableInput(
        f"{to.name} already holds a dataset, {made}. Choose another destination{add}, or pass "
        f"{option('overwrite', True)} to replace it."
    )


def _differing(content: Manifest, options: PackOptions) -> str:
    """Name each option that is not as in a dataset, with both values; "" if all are the same."""
    old, now = by_name(content.options), by_name(options.dump())
    if (old.get("pixels"), now.get("pixels")) == (_FORMER_PIXELS, Limits.pixels):
        old["pixels"] = Limits.pixels
    return ", ".join(
        f"{name} ({json.dumps(old.get(name))} in the dataset, {json.dumps(now.get(name))} now)"
        for name in sorted(old.keys() | now.keys())
        if old.get(name) != now.get(name)
    )


def written_of(folder: Path) -> Written:
    """Return the shards of a dataset as if they had been written now."""
    written, content = Written(), Manifest.load(folder)
    for shard in content.shards:
        written.add(Written.of(folder / shard.file, shard.split))
    since = content.packed_since
    written.rejected = [file for file in written.rejected if file not in since]
    return written
