"""Why a run is refused: files that are rejected, and columns of the JSON that no sample has.

The error for rejected files says what is at fault, and the command that packs without them.
"""

import glob
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

from packer.errors import BadImage, Rejected, UnusableInput
from packer.files.hashed_file import read_span
from packer.images.probe import TOO_LARGE
from packer.plan.work import Work
from packer.samples.records import Skipped
from packer.shards.builder import Rejections
from packer.shards.shard_writer import Written, index_of
from packer.sources.proposals.complete import commands_for
from packer.sources.trees.walk import names_an_image
from packer.words import Message, Placeholder, command, listed, many, option, typed
from reader.format import Index
from reader.format.fields import values_at
from reader.format.files import open_regular
from reader.store.urls import is_url

_NAMED = 8  # rejected files, each in a command
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".zip")
_FIRST = 256  # samples, evenly spread: most sources have each field in one of them
_KNOWN = 12  # fields of the JSON, in a sentence


def all_rejected(work: Work, written: Written | None = None) -> Rejections:
    return sorted(work.scanned.listing.rejected + (written.rejected if written else []))


def stops_at_once(work: Work, files: Rejections) -> bool:
    """Return whether packing would be in vain: the source or the command has to be another."""
    return _are_many(work, files) or not all(item.damaged for item in _by_scan(work))


def refusal(work: Work, files: Rejections, written: bool) -> Rejected:
    """Return the error for rejected files: a few have a fault, or the source may be misread."""
    noun = "item" if work.scanned.late else "file"
    if work.name and (pixels := _pixels(files)):
        words = ("--max-pixels", str(pixels), *["--overwrite"] * written)  # shards of other limits
        larger = Message("to pack them, type: ", command(work.name, *words))
        has_others = len(files) < len(work.scanned.listing)
        return damaged(files, written, noun, larger, work.name, has_others=has_others)
    faults = (item.damaged or item.lacks or item.repeats for item in _by_scan(work))
    if not _are_many(work, files) and all(faults):
        return damaged(files, written, noun, _mended(work, files), work.name)
    nothing, them, kept = _nothing(files, written, noun)
    remedy = _mended(work, files) or _without_empty(work, files) or _without(work, files)
    usual = (
        f"if the rejected {noun}{' does' if them == 'it' else 's do'} not belong to it, move "
        f"{them} to another folder and pack again{kept}."
    )
    text = Message(
        f"{nothing} If the source is interpreted wrongly: ",
        typed("pack", "--explain", work.name or "SRC"),
        " prints how it is read, and ",
        option("kind"),
        " chooses another layout. Otherwise, ",
        remedy or usual,
    )
    if work.name and not is_url(work.name):
        text += commands_for(Path(work.name), work.options, remedy.commands)
    return Rejected(text, files=files, noun=noun)


def _pixels(files: Rejections) -> int:
    """Return the pixels of the largest image if all files were rejected for that; else 0."""
    found = [TOO_LARGE.match(str(reason)) for _, reason in files]
    sizes = [int(match[1]) * int(match[2]) for match in found if match]
    return max(sizes, default=0) if len(sizes) == len(files) else 0


def damaged(
    files: Rejections,
    written: bool,
    noun: str = "file",
    remedy: str = "",
    source: str = "",
    *,
    has_others: bool = True,
) -> Rejected:
    """Return the error for files with a fault; `source` is as on a command line, "" for none.

    `has_others`: whether there are files without a fault.
    """
    nothing, them, kept = _nothing(files, written, noun)
    skip = Message("Or pass ", option("on_error", "skip"), f" to leave {them} out.")
    if source:
        skip = Message(f"Or leave {them} out: ", command(source, "--on-error", "skip"))
    first, *more = Message(remedy or f"repair or remove {them} and pack again{kept}.").parts
    sentence = Message(f"{str(first)[0].upper()}{str(first)[1:]}", *more)
    if not has_others:
        return Rejected(nothing, " ", sentence, files=files, noun=noun)
    between = "" if sentence.endswith("\n") else "\n" if sentence.commands else " "
    return Rejected(nothing, " ", sentence, between, skip, files=files, noun=noun)


def _nothing(files: Rejections, written: bool, noun: str) -> tuple[str, str, str]:
    """Return that nothing is committed, the pronoun of the files, and what is kept."""
    count, them = f"{len(files)} {noun}s were", "them"
    if len(files) == 1:
        count, them = f"1 {noun} was", "it"
    kept = "; finished shards that are still right are kept" if written else ""
    nothing = f"Nothing was {'committed' if written else 'packed'}, because {count} rejected."
    return nothing, them, kept


def _by_scan(work: Work) -> list[Skipped]:
    late = work.scanned.late  # whose items are judged one by one
    return [item for item in work.scanned.listing.skipped if not (item.ignored or late)]


def _are_many(work: Work, files: Rejections) -> bool:
    listing = work.scanned.listing
    count = len(listing) + int(listing.member_counts.sum()) + len(_by_scan(work))
    return 2 * len(files) > count and not work.scanned.late


def _mended(work: Work, files: Rejections) -> Message:
    """Return what to do if all files lack a member that may be optional, or repeat an image."""
    lacking = {item.lacks for item in _by_scan(work) if item.lacks}
    faults = sum(bool(item.lacks) or item.repeats for item in _by_scan(work))
    given, words = work.options, list[str]()
    src = os.path.realpath(work.name)
    folders = {name: os.path.normpath(os.path.join(src, at)) for name, at in given.pairs.items()}
    for flag, values in (("--pair", folders), ("--member", given.members)):
        for name, value in values.items():
            words += [flag, f"{name}{'?' * (name in lacking)}={value}"]
    if faults < len(files) or (lacking and not lacking & {*folders, *given.members}):
        return Message()
    if lacking:
        without = f"to pack images without {listed(sorted(lacking))}, too, type"
        return Message(f"{without}: ", command(work.name, *words), "\n")
    return Message("remove one of the records that name the same image, and pack again.")


def _without_empty(work: Work, files: Rejections) -> Message:
    """Return what to do if only folders of classes were rejected, which hold no image."""
    scanned = _by_scan(work)
    if len(scanned) < len(files) or not all(item.class_name for item in scanned):
        return Message()
    return Message(
        "to leave out the classes without images, type: ",
        command(work.name, "--on-error", "skip"),
        "\nTo keep them, name all classes with ",
        option("classes", Placeholder("FILE")),
        ".\n",
    )


def _without(work: Work, files: Rejections) -> Message:
    """Return the command that ignores a few rejected files that are not images, if there is one.

    It is the end of a sentence. If the rejected images are in no list, the command ignores these.
    """
    if work.origin is None or not work.name:
        return Message()
    src = work.origin.path if is_url(work.name) else Path(work.name)
    if not src.is_dir():  # the option requires a folder
        return Message()
    paths: list[str] = []
    lists = work.scanned.facts.lists
    is_unlisted = 0 < len(lists) <= _NAMED and all(name.endswith("/") for name, _ in files)
    names = lists if is_unlisted else [name for name, _ in files]
    listing = work.scanned.listing
    are_beside = len(listing) <= _NAMED and all(name.endswith(_ARCHIVES) for name in names)
    if are_beside:  # the images are, and what has most is in the archives
        names = [listing.name_of(number) for number in range(len(listing))]
    for name in names:
        path = os.path.relpath(os.path.join(work.scanned.facts.root or src, name), src)
        can_hide = os.path.lexists(src / path) and os.pardir not in (path[:2], name[:2])
        if not can_hide or name.endswith("/") or len(files) > _NAMED:
            return Message()
        if path not in paths:
            paths.append(path)
    globs = [*work.options.ignore, *map(glob.escape, paths)]
    ignoring = command(work.name, *(w for one in globs for w in ("--ignore", one)))
    if is_unlisted:
        all_lists, strays = listed(lists), _strays(src, work, files)
        words = [word for one in (*work.options.ignore, *strays) for word in ("--ignore", one)]
        what = f"if {all_lists} does not list its images: to ignore {all_lists}, type: "
        if not strays:
            return Message(what, ignoring)
        first = command(work.name, *words)
        return Message(
            "to ignore images that no list names, type: ", first, f"\nOr, {what}", ignoring
        )
    if are_beside:
        what = f"to pack what is in archives, without {listed(paths, _NAMED)}, type: "
        return Message(what, ignoring)
    rejected, them = ("files do", "them") if files[1:] else ("file does", "it")
    reading = work.reading[:1].lower() + work.reading[1:]
    return Message(
        f"if the rejected {rejected} not belong to it, ignore {them}.\nWithout {them}, the source "
        f"is {reading}\nTo ignore {listed(paths, _NAMED)}, type: ",
        ignoring,
    )


def _strays(src: Path, work: Work, files: Rejections) -> list[str]:
    """Return globs of the images in folders of which no list names one; none if there are many."""
    found: list[str] = []
    for name, _ in files:
        folder = os.path.normpath(os.path.join(work.scanned.facts.root or src, name.lstrip("/")))
        path = os.path.relpath(folder, src)
        if path != os.curdir:
            found.append(f"{glob.escape(path)}/**")
        else:
            found += map(glob.escape, filter(names_an_image, sorted(os.listdir(src))))
    return found if len(found) <= _NAMED and not any(map(_leads_out, found)) else []


def _leads_out(path: str) -> bool:
    return path.startswith(os.pardir)


def refuse_unknown_columns(columns: Iterable[str], contents: Iterable[Any]) -> None:
    """Raise if no JSON among `contents` has one of `columns`; read them until all are found."""
    missing, known, count = [*columns], dict[str, None](), 0
    for content in contents if missing else ():
        count += 1
        try:
            found = dict(values_at(content, missing))
        except ValueError as error:
            raise UnusableInput(
                option("columns", ",".join(missing)),
                f": {error}. Name fields below it, such as size.0 or size.width.",
            ) from error
        missing = [path for path in missing if path not in found]
        if not missing:
            return
        known.update(dict.fromkeys(_paths(content)))
    if missing:
        near = get_close_matches(missing[0], known, 3) or [*known]
        has = f"they have {listed(near, _KNOWN)}" if near else "they have no JSON"
        raise UnusableInput(
            option("columns", ",".join(missing)),
            f": none of {many(count, 'sample')} has {missing[0]!r} in its JSON; {has}. Nothing was "
            "committed.",
        )


def json_of_source(work: Work) -> Iterator[Any]:
    """Yield the JSON of some samples of a source, then of the others; None where there is none."""
    samples, files = work.scanned.listing, work.scanned.files
    count, step = len(samples), len(samples) // _FIRST + 1
    for number in chain(range(0, count, step), (n for n in range(count) if n % step)):
        content = None
        with suppress(BadImage, KeyError, ValueError, OSError):
            content = json.loads(files.read(samples[number]).members["json"])
        yield content


def json_of_shards(folder: Path, tars: Iterable[str]) -> Iterator[Any]:
    for name in tars:
        index = Index(index_of(folder / name), mapped=False)
        with open(open_regular(folder / name), "rb", buffering=0) as file:
            for row in range(len(index)):
                span = index.span("json", row)
                yield json.loads(read_span(file.fileno(), *span)) if span else None


def _paths(content: Any, before: str = "") -> Iterator[str]:
    for name, value in content.items() if isinstance(content, Mapping) else ():
        yield f"{before}{name}"
        yield from _paths(value, f"{before}{name}.")
