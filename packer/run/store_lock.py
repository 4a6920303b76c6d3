"""`.packing.json` in a store: says which run a place there belongs to, until it is committed.

Guarantees: of runs that begin at one place only one goes on, unless they are the same; another one
is refused before it has written or removed anything. What is there and is nobody's stays, unless
`overwrite` is given.

Assumption: in a store without conditional writes no two runs begin at the same moment.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from packer.errors import UnusableInput
from packer.run import log
from packer.run.log import JOURNAL
from packer.run.run import Run
from packer.shards.shard_writer import index_name
from packer.storage.store import Store
from reader.format import Manifest

if TYPE_CHECKING:
    from reader.store.listing import Listed


class StoreLock:
    """The claim of a run on its place in a store.

    Attributes:
        there: all objects, as they were when it was last looked.
        trusted: the tars among them that are whole, and what the run would write.
        is_new: nobody had begun there.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.there: Mapping[str, Listed] = {}
        self.trusted: frozenset[str] = frozenset()
        self.is_new = False

    def look(self) -> "Mapping[str, Listed]":
        """List the store anew."""
        self.there = self._store.list()
        return self.there

    def begin(self, run: Run, overwrite: bool, keep: Manifest | None) -> None:
        """Begin or continue a run; the arguments are those of `RunLog.hold`."""
        self.look()
        found = self._found()
        if overwrite and not (found and run.continues(found)):
            log.remove_dataset(self._store, {*run.splits, *(found.splits if found else ())})
            self.release()
            self.look()
            found = None
        if found is None:
            self._refuse_strangers(run, keep)
        elif not _is_same(run, found):
            raise log.not_this(self._store.name, found, run)
        text = json.dumps(asdict(found or run)).encode()
        is_written = self._store.create(JOURNAL, text)
        self.is_new = is_written and found is None
        if is_written:
            self._store.try_conditions(JOURNAL, text)
        self.look()
        found = self._found()
        if found is None or not _is_same(run, found):
            raise UnusableInput(
                f"{self._store.name}: another packer has just begun or finished there."
            )
        if self.is_new:
            try:
                self._refuse_strangers(run, keep)  # that have come meanwhile
            except UnusableInput:
                self.release()
                raise
        same = (file for file, digest in run.shards.items() if found.shards.get(file) == digest)
        self.trusted = frozenset(file for file in same if self.has(file))

    def has(self, file: str) -> bool:
        """Whether a shard was there as a whole when it was last looked: its index comes last."""
        return {file, index_name(file)} <= self.there.keys()

    def release(self) -> None:
        """Remove `.packing.json`."""
        self._store.remove(JOURNAL)

    def forget(self, source: str) -> None:
        """Remove what a crash right after the commit of `source` has left."""
        self.look()
        found = self._found()
        if found is not None and found.source == source:
            self.release()

    def _found(self) -> Run | None:
        """Return what `.packing.json` says."""
        text = self._store.read(JOURNAL) if JOURNAL in self.there else None
        return None if text is None else log.parsed(text)

    def _refuse_strangers(self, run: Run, keep: Manifest | None) -> None:
        found = log.dataset_names(self.there, run.splits)
        log.refuse_strangers(self._store.name, found, keep)


def _is_same(run: Run, found: Run) -> bool:
    """Whether the shards of both may be one dataset's: each is compared where it is there."""
    is_source = run.source == found.source or run.place == found.place
    return is_source and run.settings == found.settings
