"""A dataset of Python's as a source: anything with a length and items by number.

Label, key and members are known once a packing process reads an item; until then all are alike.
"""

import os
import random
import sys
import threading
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from packer.errors import BadImage, NothingToPack, UnusableInput, message_of
from packer.images.encode import AS_PNG, Policy
from packer.keys import escape
from packer.options.declared import PYTHON, SourceOptions
from packer.options.kinds import SPLIT_NAME
from packer.samples.labels import class_order
from packer.samples.records import Content, Facts, Late, Sample, Skipped
from packer.sources.interpretation import Interpretation
from packer.sources.scanners.python.carried import Carried
from packer.sources.scanners.python.items import Fields, Item
from packer.sources.scanners.python.known import is_map_style, know, parts_of
from packer.sources.scanners.python.probes import Probed, probe
from packer.sources.scanners.python.values import described

_TOO_LATE = (
    "names its split, but shards are planned before items are read: pass a dict of datasets, "
    '{"train": ..., "val": ...}, or iter(dataset), which is read in order'
)
_reading = threading.Lock()  # datasets are not made for several threads


@dataclass(frozen=True)
class DatasetSource:
    """The items of a dataset, or of one for each split."""

    carried: Carried  # a dataset for each split
    lengths: Mapping[str, int]  # of each split
    fields: Fields
    probed: Probed
    identity: str  # of the same dataset the same; never the same where that is not known

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order; empty where labels are numbers."""
        return self.fields.classes

    @property
    def facts(self) -> Facts:
        """How its items were read."""
        return Facts(tuple(self._remarks()))

    @property
    def late(self) -> Late:
        """Return what a few of the items have."""
        return Late(self.probed.keyed, self.probed.labelled, self.probed.members)

    @property
    def files(self) -> "DatasetSource":
        """The source that reads the samples: itself."""
        return self

    def with_spool(self, _: Path | None) -> "DatasetSource":
        """Return the source itself: a scan makes nothing for it."""
        return self

    def scan(self) -> Iterator[Sample | Skipped]:
        """Every item, by its number."""
        for split, length in self.lengths.items():
            begin = f"{split}/" if split else ""
            for number in range(length):
                name = f"{begin}{number:08d}"
                yield Sample(name, name, -1, self.probed.size, mtime_ns=0, split=split)

    def member_files(self, sample: Sample) -> Sequence[str]:
        """None: there are no files."""
        return ()

    def read(self, sample: Sample) -> Content:
        """Return the item, with the label and the key that it has."""
        split, _, number = sample.name.rpartition("/")
        seed = xxhash.xxh3_64_intdigest(sample.name.encode())
        draws = seed if self.probed.drawn else None
        item = read_item(self.carried.parts[split], int(number), self.fields, draws)
        if (item.key is None) is self.probed.keyed:
            raise BadImage(
                "some items have a key and others have none: give all items a key, or none"
            )
        name, key = sample.name, sample.key
        if item.key is not None:
            name, key = item.key, f"{split}/{escape(item.key)}" if split else escape(item.key)
        known = replace(sample, name=name, key=key, label=item.label, members=tuple(item.members))
        return Content(item.image, item.members, known)

    def _remarks(self) -> Iterator[str]:
        if self.probed.as_png:
            yield AS_PNG
        if not self.probed.drawn:
            return
        then = "and another run would draw other values, so an interrupted run cannot be continued"
        if self.probed.repeatable:
            then = "which is the same in every run"
        yield (
            "Items differ between two reads (random transforms): each is stored as in its "
            f"first read, {then}."
        )


@contextmanager
def drawn(number: int | None) -> Iterator[None]:
    """Seed random generators by `number`, if any; afterwards they go on where they were."""
    torch = sys.modules.get("torch")
    pythons, numpys = random.getstate(), np.random.get_state()
    torchs = None if torch is None else torch.get_rng_state()
    try:
        if number is not None:
            random.seed(number)
            np.random.seed(number % 2**32)
            if torch is not None:
                torch.default_generator.manual_seed(number % 2**63)
        yield
    finally:
        random.setstate(pythons)
        np.random.set_state(numpys)
        if torch is not None and torchs is not None:
            torch.set_rng_state(torchs)


def read_item(dataset: Any, number: int, fields: Fields, draws: int | None) -> Item:
    """Return what is stored for one item; `draws`: where random generators begin, None: go on."""
    with _reading, nullcontext() if draws is None else drawn(draws):
        try:
            value = dataset[number]
        except MemoryError:
            raise  # which says nothing of the item
        except Exception as error:  # whatever a dataset raises
            raise BadImage(
                f"reading it raises {type(error).__name__}: {message_of(error)}"
            ) from error
    item = fields.item(value)
    if item.split:
        raise BadImage(f"its field 'split' {_TOO_LATE}")
    return item


@contextmanager
def opened(
    dataset: Any, options: SourceOptions, policy: Policy, *, alone: bool, far: bool
) -> Iterator[Interpretation]:
    """Yield datasets as a source; `alone`: read in this process; `far`: sent to other machines."""
    image, label = options.image_column, options.label_column
    if options.split_column:
        raise UnusableInput(f"The field {options.split_column!r} {_TOO_LATE}.")
    parts = parts_of(dataset, image or "image")
    for split, part in parts.items():
        if split and not (isinstance(split, str) and SPLIT_NAME.fullmatch(split)):
            raise UnusableInput(f'{split!r} is not a name of a split, such as "train".')
        if not is_map_style(part):
            raise UnusableInput(
                f"The value of the split {split!r}, {described(part)}, has no __len__ and "
                "__getitem__. To pack an iterator, pass it as the source, and give each item a "
                'field "split".'
            )
    known = {split: know(part, image, label) for split, part in parts.items()}
    what = ", ".join(dict.fromkeys(one.what for one in known.values()))
    lengths = {split: len(one.dataset) for split, one in known.items()}
    if not sum(lengths.values()):
        raise NothingToPack(f"The source, {what}, has no items.", files=[])
    declared, *others = {one.classes for one in known.values()}
    if others:
        reason = "The splits have different classes. Pass all class names as classes=[...]."
        raise UnusableInput(reason)
    carried = Carried({split: one.dataset for split, one in known.items()}, what)
    first = next(iter(known.values()))
    splits, ends = list(lengths), list(accumulate(lengths.values()))

    def open_source(classes: Sequence[str] | None) -> DatasetSource:
        if classes is None and (doubt := next((k.doubt for k in known.values() if k.doubt), "")):
            raise UnusableInput(doubt)
        names = tuple(filter(None, declared))
        order = class_order(what, names, classes) if classes and names else names
        fields = Fields(
            first.image or image or "image",
            first.label or label,
            classes=order or tuple(classes or ()),
            declared=declared,
        )

        def read(number: int, draws: int | None) -> Item:
            part = bisect_right(ends, number)
            split, at = splits[part], number - ends[part] + lengths[splits[part]]
            return read_item(carried.parts[split], at, fields, draws)

        with drawn(None):  # the caller's own draws go on as if nothing had been read
            probed = probe(read, sum(lengths.values()), policy)
        facts = (what, lengths, fields, probed, [one.fingerprint for one in known.values()])
        identity = xxhash.xxh3_128_hexdigest(repr(facts).encode("utf-8", "surrogatepass"))
        if not probed.repeatable:
            identity = os.urandom(16).hex()
        return DatasetSource(carried, lengths, fields, probed, identity)

    try:
        if not alone:
            carried.pack_up(far=far)
        yield Interpretation(PYTHON, what, open_source)
    finally:
        carried.put_down()
