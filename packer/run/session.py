"""A dataset that a loop writes: held until it is committed or discarded."""

import os
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import Any

import xxhash
from PIL import Image

from packer.errors import BadImage, NothingToPack, UnusableInput, cannot_write
from packer.images.encode import AS_PNG, grows_as_png
from packer.keys import KeySet, escape, hashes_of, split_of
from packer.options.declared import PackOptions, RunOptions
from packer.options.kinds import NUMERIC
from packer.plan.prepare import refuse_other_splits, sentence
from packer.plan.scan import is_numbered, numbered
from packer.progress import Progress
from packer.run.committed import refuse_other_options
from packer.run.destination import Destination
from packer.run.refusals import damaged, json_of_shards, refuse_unknown_columns
from packer.run.report import PackReport, finish, manifest_of, without_labels
from packer.run.run import Run
from packer.samples.labels import joined, of_items
from packer.samples.records import Content, Sample
from packer.shards.builder import Rejections, ShardStream
from packer.shards.jobs import modules_for
from packer.sources.scanners.python.items import Fields, Item
from packer.storage.dataset import Finished
from packer.words import option
from reader.format import FORMATS, Manifest

_JPEG = b"\xff\xd8"
_SHAPING = ("jpeg", "png", "max_side", "quality", "raw", "columns")


class Session:
    """A Writer at work: it holds the destination until it commits or discards."""

    def __init__(
        self,
        to: Destination,
        options: PackOptions,
        how: RunOptions,
        progress: Progress,
        *,
        what: str = "samples of a loop",
        declared: tuple[str, ...] = (),
        remarks: tuple[str, ...] = (),
    ) -> None:
        """Hold `to`; `declared` is what the samples' own numbers stand for, if not `classes`."""
        self.process = os.getpid()
        self._began = time.monotonic()
        self._to, self._options, self._how, self._progress = to, options, how, progress
        self._policy = options.policy
        self._what, self._remarks = what, remarks
        self._folder = folder = to.folder
        self._failure: BaseException | None = None
        self._made = [path for path in (folder, *folder.parents) if not path.exists()][::-1]
        dataset = self._open_base() if how.append else None
        self._base = dataset.content if dataset else None
        self._fields = self._item_fields(declared)
        indexes = dataset.indexes() if dataset else ()
        keys = [key for _, index in indexes for key in index.values_of("key")]
        self._keys = KeySet([hashes_of(keys)])
        self._next = 1 + max((int(key) for key in keys if key.isdigit()), default=-1)
        self._has_keys: bool | None = None
        self._warned = self._has_jpeg = False
        self._run = replace(Run.asked(to.name, options, how.classes), pushed=True)
        self._splits: list[str] = []
        self._stack = ExitStack()
        try:
            enter = self._stack.enter_context
            enter(to.hold(self._run, how.overwrite, self._base, progress.note))
            self._advance = enter(progress.phase("pack", None, "samples"))
            self._stream = ShardStream(
                *(folder, self._policy, how.jobs, self._base),
                *(self._begin_split, self._reject),
                shard_size=options.shard_size,
                shard_samples=options.shard_samples,
            )
            enter(closing(self._stream))
        except BaseException:
            self._stack.close()
            self._remove_folders()
            raise

    def write_all(self, samples: Iterable[Any]) -> PackReport:
        try:
            for sample in samples:
                self.write(sample)
        except BaseException:
            self.discard()
            raise
        return self.commit()

    def write(self, sample: Any) -> None:
        """Take a sample; a failure is raised again by all that comes after it."""
        if self._failure is not None:
            raise self._failure
        try:
            self._write(sample)
        except BaseException as error:
            self._failure = error
            raise

    def _write(self, sample: Any) -> None:
        name = f"{self._next:08d}"
        self._next += 1
        self._advance(1)
        try:
            item = self._fields.item(sample)
            name = self._name(item, name)
            split = self._split(item, name)
        except BadImage as error:
            self._stream.refuse(name, error)
            return
        image, policy = item.image, self._policy
        is_jpeg = isinstance(image, bytes) and image.startswith(_JPEG)
        if (is_jpeg or policy.makes_jpegs) and not self._has_jpeg:
            self._has_jpeg = True
            modules_for(policy, ("x.jpg",), self._progress)  # which says that it compiles
        image = image.copy() if isinstance(image, Image.Image) else image
        if not self._warned and grows_as_png(image, policy):
            self._warned = True
            self._progress.note(AS_PNG)
        known = Sample(name, escape(name), item.label, 0, 0, tuple(item.members), split)
        self._stream.add(known, Content(image, item.members))

    def commit(self) -> PackReport:
        """Finish the shards and write dataset.json; what goes wrong discards all."""
        try:
            if self._failure is not None:
                raise self._failure
            self._stream.finish()
            written = self._stream.written
            report = finish(
                self._to,
                self._manifest(),
                written,
                self._began,
                self._progress,
                remarks=[*self._remarks, *without_labels(written.labels)],
                shards_written=len(written.entries),
                rejected=self._rejected,
            )
        except BaseException:
            self.discard()
            raise
        self._stack.close()
        return report

    def discard(self) -> None:
        self._stream.close()
        with suppress(OSError):  # what is left is discarded by the next run
            self._to.discard(self._splits, self._base)
        self._stack.close()
        self._remove_folders()

    def _remove_folders(self) -> None:
        for folder in reversed(self._made):
            with suppress(OSError):  # somebody else has put something there
                folder.rmdir()

    def _open_base(self) -> Finished:
        base = self._to.base()
        refuse_other_options(base, self._options.dump(), _SHAPING)
        joined(base.content, "boxes", of_items(self._options.source), base)
        return base

    def _item_fields(self, declared: tuple[str, ...]) -> Fields:
        """Return how items are read: classes of the dataset keep their numbers."""
        source, given = self._options.source, tuple(self._how.classes or ())
        known = self._base.classes if self._base else ()
        if self._how.classes == NUMERIC:
            raise UnusableInput(
                option("classes", NUMERIC),
                " requires a source whose classes are known before it is packed. Pass the names "
                "in label order.",
            )
        names = () if is_numbered(known) else known
        if given and not names and len(given) < len(known):
            raise UnusableInput(
                f"The {len(known)} classes are numbers, and {len(given)} names are passed. "
                "Pass one name for each class."
            )
        return Fields(
            source.image_column or "image",
            source.label_column,
            source.split_column,
            classes=(*names, *(name for name in given if name not in names)),
            declared=declared or given,
        )

    def _begin_split(self, split: str) -> None:
        if self._base is not None:
            refuse_other_splits(self._to.name, set(self._base.splits), {split})
        if not split:
            return
        path = self._folder / split
        self._to.add_split(self._run, split, self._base)
        self._splits.append(split)
        try:
            path.mkdir()
            self._made.append(path)
        except FileExistsError:
            pass
        except OSError as error:
            raise cannot_write(path, error, kept=False) from error

    def _name(self, item: Item, number: str) -> str:
        if self._has_keys not in (None, item.key is not None):
            raise BadImage("it has a key or none, unlike those before it: give all of them one")
        self._has_keys = item.key is not None
        if item.key is None:
            return number
        if not self._keys.add(escape(item.key)):
            raise BadImage(f"its key, {item.key!r}, is that of another sample")
        return item.key

    def _split(self, item: Item, name: str) -> str:
        shares = self._options.split
        if shares is None:
            return item.split
        if item.split:
            raise BadImage("it names its split, and split= divides the samples: leave one out")
        return split_of(escape(name), shares)

    def _reject(self, name: str, error: BadImage) -> None:
        if self._how.on_error == "stop":
            raise damaged([(name, error.message)], written=False, noun="item")

    @property
    def _rejected(self) -> Rejections:
        """Return all rejections; the last ones may be in no shard's index."""
        return self._stream.written.rejected + self._stream.rejected

    def _manifest(self) -> Manifest:
        written, base = self._stream.written, self._base
        splits: Counter[str] = Counter()
        for entry in written.entries.values():
            splits[entry.split] += entry.samples
        count = splits.total()
        if not count and base is None:
            raise NothingToPack(f"Nothing was written to {self._to.name}.", files=self._rejected)
        if base is None:
            contents = json_of_shards(self._folder, written.entries)
            refuse_unknown_columns(self._options.columns, contents)
        known = base.classes if base else ()
        classes = self._fields.classes or max(known, numbered(written.labels), key=len)
        members = sorted(written.fields.difference(FORMATS, ("cls",)))
        checksums = "".join(entry.checksum for entry in written.entries.values())
        return manifest_of(
            written,
            written.entries.values(),
            base,
            self._policy,
            rejected=self._rejected,
            unindexed=self._stream.rejected,
            reading=sentence(self._what, count, classes, splits, members, False),
            boxes=of_items(self._options.source),
            colors={},
            options=base.options if base else self._options.dump(),
            source=xxhash.xxh3_128_hexdigest(f"{base.source if base else ''}{checksums}".encode()),
            classes=classes,
        )
