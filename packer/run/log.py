"""The log of an unfinished run, ``.packing.json``, in its destination folder and in a store.

It records the run, so that only the same command continues it: a line of JSON, and a
further one whenever the source was mended before the run went on. Where it replaces a dataset, the
log has the splits of that before anything is removed. It is there from the first byte
written until dataset.json is committed, and is locked by the process that packs.

Guarantees of the one in a store: of runs that begin at one place only one goes on, unless they are
the same; another one is refused before it has written or removed anything. Files that belong
to no run stay, unless `overwrite` is given.

Assumption: in a store without conditional writes no two runs begin at the same moment.
"""

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packer.errors import UnusableInput, naming
from packer.files.atomic import sync_folder, write_all
from packer.plan.names import SHARD
from packer.run.run import Run
from packer.shards.shard_writer import index_name
from packer.storage.folder import Folder
from packer.storage.store import Store
from packer.words import Message, option
from reader.format import FormatError, Manifest, manifest, mistaken

if TYPE_CHECKING:
    from reader.store.transport import Listed

JOURNAL = mistaken.JOURNAL

Note = Callable[[str], None]


def is_in_dataset(name: str) -> bool:
    return name in (manifest.FILENAME, manifest.JOINED) or SHARD.fullmatch(name) is not None


def read(file: Any) -> Run | None:
    with naming(Path(file.name)):
        file.seek(0)
        return Run.parsed(file.readall())


def append(file: Any, run: Run) -> None:
    """Write a line; the one before holds until this one is complete."""
    with naming(Path(file.name)):
        file.seek(0, os.SEEK_END)
        write_all(file.fileno(), b"\n" + _dumped(run) + b"\n")
        os.fsync(file.fileno())
        sync_folder(Path(file.name).parent)


def logged(store: Store, listed: Collection[str]) -> Run | None:
    text = store.read(JOURNAL) if JOURNAL in listed else None
    return None if text is None else Run.parsed(text)


def claim(
    store: Store, run: Run, overwrite: bool, keep: Manifest | None
) -> "tuple[Run, Mapping[str, Listed], bool]":
    """Begin or continue a run in a store; return it, what is listed, and whether it is new there.

    A store has neither locks nor appends: the log is an object that one run creates. A list without
    it has no shard of a run either.
    """
    listed = store.list()
    found = logged(store, listed)
    if overwrite and not (found and run.continues(found)):
        removal, there = removal_of(store, run, found), listed.get(JOURNAL)
        if not store.replace(JOURNAL, _dumped(removal), there.tag if there else None):
            raise _raced(store)
        remove_files(store, removal.splits)
        store.remove(JOURNAL)
        listed, found = store.list(), None
    if found is None:
        refuse_strangers(store, run.splits, keep, names=listed)
    elif not run.joins(found):
        raise run.refusal(store.name, found)
    text = _dumped(found or run)
    is_written = store.create(JOURNAL, text)
    is_new = is_written and found is None
    if is_written:
        store.try_conditions(JOURNAL, text)
    listed = store.list()
    found = logged(store, listed)
    if found is None or not run.joins(found):
        raise _raced(store)
    if is_new:
        try:  # others may have come meanwhile
            refuse_strangers(store, run.splits, keep, names=listed)
        except UnusableInput:
            store.remove(JOURNAL)
            raise
    return found, listed, is_new


def _dumped(run: Run) -> bytes:
    return json.dumps(asdict(run)).encode()


def _raced(store: Store) -> UnusableInput:
    return UnusableInput(
        f"{store.name}: another packer has just begun or finished at this URL. Run the same "
        "command again."
    )


def kept_files(keep: Manifest | None) -> set[str]:
    if keep is None:
        return set()
    shards = (name for shard in keep.shards for name in (shard.file, shard.index))
    return {manifest.FILENAME, *[manifest.JOINED] * keep.joined, *shards}


def refuse_strangers(
    storage: Folder | Store,
    splits: Iterable[str],
    keep: Manifest | None,
    tars: Iterable[str] = (),
    names: Iterable[str] | None = None,
) -> None:
    """Raise if a file of a dataset is neither kept nor of the shards `tars`.

    `names` are listed, where that has been done.
    """
    names, place = storage.list({"", *splits}) if names is None else names, storage.name
    known = kept_files(keep).union(*((tar, index_name(tar), manifest.JOINED) for tar in tars))
    strangers = (name for name in _dataset_names(names, splits) if name not in known)
    if (stranger := next(strangers, None)) is None:
        return
    append, overwrite = option("append", True), option("overwrite", True)
    if stranger == manifest.FILENAME:
        text = (
            "{} already holds a dataset (dataset.json). Pass {} to add to it or {} to replace it, "
            "or choose another destination."
        )
        raise UnusableInput(Message.of(text, place, append, overwrite))
    raise UnusableInput(
        f"{place} already holds {stranger}, which this run did not write. Choose another "
        "destination, or pass ",
        overwrite,
        " to replace the dataset; the same source and options give the same bytes.",
    )


def removal_of(storage: Folder | Store, run: Run, found: Run | None) -> Run:
    """Return what to log before `run` replaces a dataset and what is `found`.

    dataset.json goes first, so that nobody reads the half; then only the log has its splits.
    """
    splits = {*run.splits, *(found.splits if found else ())}
    with suppress(FormatError, OSError):
        if (text := storage.read(manifest.FILENAME)) is not None:
            splits.update(Manifest.parse(text, manifest.FILENAME).splits)
    return replace(run, splits=sorted(splits), shards={}, replaces=True)


def remove_files(
    storage: Folder | Store, splits: Iterable[str], spared: Collection[str] = ()
) -> None:
    for name in _dataset_names(storage.list({"", *splits}), splits):
        if name not in spared:
            storage.remove(name)


def _dataset_names(names: Iterable[str], splits: Iterable[str]) -> list[str]:
    known, names = {"", *splits}, set(names)
    matches = ((name, SHARD.fullmatch(name)) for name in sorted(names))
    shards = [name for name, match in matches if match and (match[1] or "") in known]
    return [name for name in (manifest.FILENAME, manifest.JOINED) if name in names] + shards
