"""From a source to the list of what is to be packed: splits assigned, repeats skipped."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage, WrongOption
from packer.keys import split_of
from packer.options.declared import Arrangement
from packer.plan.existing import Digests, ExistingSamples, column, digest
from packer.plan.moved import refuse_moved, refuse_shifted
from packer.plan.stratify import stratify
from packer.progress import Advance, Progress
from packer.samples.outside import made_in
from packer.samples.places import Spool
from packer.samples.records import Facts, Late, Reader, Sample, Skipped, Source
from packer.samples.table import SampleTable
from packer.words import Message, many, option
from reader.format import MaskColors


@dataclass(frozen=True)
class Scanned:
    facts: Facts
    files: Reader  # reads the samples
    listing: SampleTable
    classes: tuple[str, ...]  # class names in label order
    fingerprint: str  # of everything the source holds, also of what is packed already
    remarks: tuple[str, ...] = ()  # on objects, on samples that are there already, on the splits
    colors: Mapping[str, MaskColors] = field(default_factory=dict)  # of classes in masks, by ext
    has_images: bool = True  # False: they are in the dataset whose samples the members are for

    @property
    def late(self) -> Late | None:
        """What a few items have; None if labels, keys and members of all are known."""
        return self.files.late


def scan(
    source: Source,
    arranged: Arrangement,
    progress: Progress,
    existing: ExistingSamples | None = None,
    fixed: int = 0,  # so many classes keep their numbers though no sample is theirs
    leftovers: Iterable[Skipped] = (),  # files that belong to no sample
    *,
    spool: Spool,
) -> Scanned:
    listing = SampleTable()
    listing.skipped += leftovers
    keys = bytearray()
    own_splits = set()
    reaching: list[int] = []  # objects outside of each image that has some
    facts, is_late = source.facts, source.files.late is not None
    with progress.phase("scan", None, "items" if is_late else "files") as advance:
        for record in source.scan():
            advance(1)
            if isinstance(record, Skipped):
                listing.add(record)
            elif record.size > arranged.most_bytes:
                listing.skipped += _too_large(source.files, record, arranged.most_bytes)
            else:
                keys += digest(record.key.encode())
                for made, file in made_in(record.places):
                    listing.skipped += [
                        Skipped(f"{file or record.name}: {place}", reason, damaged=True)
                        for place, reason in made.left_out
                    ]
                    reaching += [made.reaching] if made.reaching else ()
                if arranged.split is not None:
                    own_splits.add(record.split)
                    if not arranged.stratify and record.split in ("", *arranged.split):
                        record = replace(record, split=split_of(record.key, arranged.split))
                listing.add(record, spool.keep(record.places) if record.places else None)
    files = source.files.with_spool(spool.finish())
    _check_splits(own_splits, arranged.split or {})
    classes = _without_empty(listing, source.classes, fixed)
    digests = column(keys)
    listing, kept = _without_repeats(
        listing, digests, "its key, {sample.key!r}, is that of {first.name!r}"
    )
    contradicting: Sequence[str] = ()
    if arranged.dedupe:
        with progress.phase("compare", len(listing), "files") as advance:
            contents = _contents(listing, files, advance)
        reason = " its bytes are equal to those of {first.name!r}"
        differ = partial(_differing, files=files, classes=classes)
        listing, different = _without_repeats(listing, contents, reason, differ, ignored=True)
        kept = kept[different]
        contradicting = _contradicting(listing.skipped)
    fingerprint = listing.fingerprint() + files.identity
    names = classes or numbered(listing.labels.tolist())
    remarks = (*_outside(reaching), *contradicting)
    shares = (arranged.split or {}) if arranged.stratify else {}
    if existing is not None and len(existing.digests):
        if not is_late:
            own = digests[kept]
            remarks += tuple(existing.differences(listing, own, digests, names, shares))
            refuse_shifted(existing.numbered(listing, own), listing, files)
        skipped = listing.skipped
        listing = listing.take(np.flatnonzero(~np.isin(digests[kept], existing.digests)))
        listing.skipped = skipped
        names = classes or numbered(listing.labels.tolist())
        if not is_late and len(listing):
            is_other = not np.isin(digests[kept], existing.digests).any()
            refuse_moved(existing.gone(digests), listing, files, is_other=is_other)
    if shares:
        remarks += stratify(listing, shares, names, existing)
    return Scanned(facts, files, listing, names, fingerprint, remarks)


def _outside(reaching: Sequence[int]) -> Iterator[str]:
    if reaching:
        count, images = sum(reaching), many(len(reaching), "image")
        what = "1 object of 1 image reaches" if count == 1 else f"{count} objects of {images} reach"
        them = "it" if len(reaching) == 1 else "them"
        yield f"{what} outside of {them}; the reader clips what it reads."


def _check_splits(own: set[str], wanted: Mapping[str, float]) -> None:
    divided = own & {"", *wanted}  # samples without a split, or those of the first one
    if own and divided not in ({""}, {next(iter(wanted), "")}):
        named = ", ".join(sorted(own - {""}))
        raise WrongOption(
            f"The source already has splits: {named}. Remove ",
            option("split"),
            ", or pack each split separately.",
        )


def _without_empty(listing: SampleTable, classes: tuple[str, ...], fixed: int) -> tuple[str, ...]:
    """Return the classes without those whose folder gave no sample; the others move up.

    The first ones are `fixed`: an empty folder of these is no fault.
    """
    known = frozenset(classes[:fixed])
    listing.skipped = [
        replace(item, ignored=True) if item.class_name in known else item
        for item in listing.skipped
    ]
    empty = {item.class_name for item in listing.skipped} - {""}
    if not empty:
        return classes
    kept = np.array([number < fixed or name not in empty for number, name in enumerate(classes)])
    kept[listing.labels[listing.labels >= 0]] = True  # another part of the source has samples
    listing.relabel(np.cumsum(kept) - 1)
    return tuple(name for name, stays in zip(classes, kept.tolist(), strict=True) if stays)


def _too_large(reader: Reader, sample: Sample, most: int) -> list[Skipped]:
    size = f"it and its members have {sample.size} bytes; {most} are the most ("
    reason = Message(size, option("max_bytes"), ")")
    belongs = f"it belongs to {sample.name!r}, which is too large"
    reasons = [(sample.name, reason), *((file, belongs) for file in reader.member_files(sample))]
    return [Skipped(name, why, damaged=True) for name, why in reasons]


def _without_repeats(
    listing: SampleTable,
    digests: Digests,
    reason: str,
    differ: Callable[[Sample, Sample], str] = lambda one, first: "",
    *,
    ignored: bool = False,
) -> tuple[SampleTable, NDArray[np.int64]]:
    """Return the first samples of each digest, and their numbers; others are named.

    `differ` returns in what a sample contradicts the first one, "" for nothing.
    """
    _, firsts, group = np.unique(digests, return_index=True, return_inverse=True)
    first = firsts[group]
    numbers = np.arange(len(listing))
    repeats = np.flatnonzero(first != numbers)
    if not len(repeats):
        return listing, numbers
    kept = np.flatnonzero(first == numbers)
    result = listing.take(kept)
    pairs = ((listing[at], listing[int(first[at])]) for at in repeats.tolist())
    result.skipped = listing.skipped + [
        _repeat(one, reason.format(sample=one, first=other), differ(one, other), ignored=ignored)
        for one, other in pairs
    ]
    return result, kept


def _repeat(one: Sample, reason: str, difference: str, *, ignored: bool) -> Skipped:
    text = f"{reason}, but {difference}" if difference else reason
    return Skipped(one.name, text, ignored, contradicts=bool(difference))


def _differing(one: Sample, first: Sample, files: Reader, classes: Sequence[str]) -> str:
    """Return in what an image differs from another of the same bytes: class, split, members."""
    labels = [
        repr(classes[label]) if 0 <= label < len(classes) else str(label) if label >= 0 else "none"
        for label in (one.label, first.label)
    ]
    found = [f"its class is {labels[0]}, not {labels[1]}"] * (one.label != first.label)
    found += [f"its split is {one.split!r}, not {first.split!r}"] * (one.split != first.split)
    with suppress(BadImage):  # packing will name it
        members = [files.read(sample).members if sample.members else {} for sample in (one, first)]
        names = sorted(members[0].keys() | members[1].keys())
        others = [name for name in names if members[0].get(name) != members[1].get(name)]
        found += [f"it has another {', '.join(others)}"] * bool(others)
    return ", and ".join(found)


def _contradicting(skipped: Sequence[Skipped]) -> tuple[str, ...]:
    """Return a remark on the copies that contradict the image that is packed."""
    found = [item for item in skipped if item.contradicts]
    if not found:
        return ()
    shown = f"{found[0].name}: {found[0].reason.strip()}"
    one = f"{len(found):,} skipped copies contradict" if found[1:] else "A skipped copy contradicts"
    return (f"{one} the image that is packed instead. {shown}.",)


def _contents(listing: SampleTable, files: Reader, advance: Advance) -> Digests:
    """Return a digest of each image; one whose size nothing shares is not read."""
    _, group, counts = np.unique(listing.sizes, return_inverse=True, return_counts=True)
    read = (counts[group] > 1) | bool(listing.member_counts.any())
    digests = bytearray()
    for number, sample in enumerate(listing):
        image: Any = sample.key.encode()
        with suppress(BadImage):  # packing will name it
            image = files.read(sample).image if read[number] else image
        digests += digest(image if isinstance(image, bytes) else image.tobytes())
        advance(1)
    return column(digests)


def numbered(labels: Iterable[int]) -> tuple[str, ...]:
    return tuple(map(str, range(max(labels, default=-1) + 1)))


def is_numbered(classes: Sequence[str]) -> bool:
    return tuple(classes) == numbered(range(len(classes)))
