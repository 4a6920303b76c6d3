"""`.packing.json` in a store: says which run a place there belongs to, until it is committed.

Guarantees: of runs that begin at one place only one goes on, unless they are the same; another one
is refused before it has written or removed anything. What is there and is nobody's stays, unless it
is told to overwrite.

Assumption: in a store without conditional writes no two runs begin at the same moment.
"""

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING

from packer.errors import UnusableInput
from packer.run import log
from packer.run.run import Run
from packer.shards.shard_writer import index_name
from packer.storage.store import Uploads
from packer.words import option
from reader.format import Manifest, manifest

if TYPE_CHECKING:
    from reader.remote.listing import Listed
    from reader.remote.writable import WritableStore

_SHARD = re.compile(r"(?:([^/]+)/)?shard-\d{6,}\.(?:tar|safetensors)")


class Claim:
    """What a run may count on in the store.

    Attributes:
        there: all objects, as they were when it was last looked.
        trusted: the tars among them that are whole, and what the run would write.
        is_new: nobody had begun there.
    """

    def __init__(self, store: "WritableStore", uploads: Uploads) -> None:
        self._store, self._uploads = store, uploads
        self.there: Mapping[str, Listed] = {}
        self.trusted: frozenset[str] = frozenset()
        self.is_new = False

    def look(self) -> "Mapping[str, Listed]":
        """List the store anew.

        Raises:
            StoreError: it does not list it.
        """
        self.there = self._uploads.do(self._store.names())
        return self.there

    def begin(self, run: Run, overwrite: bool, keep: Manifest | None, old: Iterable[str]) -> None:
        """Begin or continue a run.

        Args:
            run: what is to be packed.
            overwrite: remove what is there, unless it is of this run.
            keep: the dataset that is there and is added to.
            old: splits of the dataset that is removed.

        Raises:
            UnusableInput: something else is there, or is being packed.
            StoreError: the store refuses.
        """
        self.look()
        found = self._found()
        if overwrite and not (found and run.continues(found)):
            self._remove_all({*run.splits, *(found.splits if found else ()), *old})
            found = None
        if found is None:
            self._refuse_strangers(run, keep)
        elif not _is_same(run, found):
            raise log.not_this(self._store.url, found, run)
        self.is_new = self._say(found or run) and found is None
        self.look()
        found = self._found()
        if found is None or not _is_same(run, found):
            raise UnusableInput(
                f"{self._store.url}: another packer has just begun or finished there."
            )
        if self.is_new:
            try:
                self._refuse_strangers(run, keep)  # that have come meanwhile
            except UnusableInput:
                self.give_up()
                raise
        same = (file for file, digest in run.shards.items() if found.shards.get(file) == digest)
        self.trusted = frozenset(file for file in same if self.has(file))

    def has(self, file: str) -> bool:
        """Whether a shard was there as a whole when it was last looked: its index comes last."""
        return {file, index_name(file)} <= self.there.keys()

    def give_up(self) -> None:
        """Remove `.packing.json`."""
        self._uploads.do(self._store.remove(log.JOURNAL))

    def forget(self, source: str) -> None:
        """Remove what a crash right after the commit of `source` has left."""
        self.look()
        found = self._found()
        if found is not None and found.source == source:
            self.give_up()

    def _say(self, run: Run) -> bool:
        """Write `.packing.json`; False if it is there. Finds out what conditions are worth."""
        text = json.dumps(asdict(run)).encode()
        if not self._uploads.do(self._store.create(log.JOURNAL, text)):
            return False
        if self._uploads.do(self._store.create(log.JOURNAL, text)):  # which it has to refuse
            self._store.heeds_conditions = False
        return True

    def _found(self) -> Run | None:
        """What `.packing.json` says."""
        from reader.remote.failures import Missing

        if log.JOURNAL in self.there:
            with suppress(Missing):  # removed meanwhile
                return log.parsed(self._uploads.do(self._store.whole(log.JOURNAL)))
        return None

    def _refuse_strangers(self, run: Run, keep: Manifest | None) -> None:
        known: set[str] = set()
        if keep is not None:
            known = {file for shard in keep.shards for file in (shard.file, shard.index)}
            known.add(manifest.FILENAME)
        others = (name for name in self._ours(run.splits) if name not in known)
        if name := next(others, None):
            raise UnusableInput(
                f"{self._store.url} already holds {name}, which this run did not write. Choose "
                f"another destination, or give {option('overwrite', True)} to replace the dataset "
                "there."
            )

    def _remove_all(self, splits: Iterable[str]) -> None:
        """dataset.json goes first, so that nobody reads what is half removed; the claim last."""
        for name in self._ours(splits):
            self._uploads.do(self._store.remove(name))
        self.give_up()
        self.look()

    def _ours(self, splits: Iterable[str]) -> list[str]:
        """dataset.json, then every shard beside it and in the folders of the splits."""
        known = {"", *splits}
        matches = ((name, _SHARD.fullmatch(name)) for name in sorted(self.there))
        shards = [name for name, match in matches if match and (match[1] or "") in known]
        return [manifest.FILENAME] * (manifest.FILENAME in self.there) + shards


def _is_same(run: Run, found: Run) -> bool:
    """Whether the shards of both may be one dataset's: each is compared where it is there."""
    is_source = run.source == found.source or run.place == found.place
    return is_source and run.settings == found.settings
