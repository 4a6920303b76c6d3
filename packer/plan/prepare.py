"""What is to be done: the source scanned and its shards planned, with nothing written yet."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import xxhash

from packer.errors import NothingToPack, UnusableInput
from packer.layouts.detect import read
from packer.layouts.interpretation import Reading
from packer.options.declared import PackOptions
from packer.plan.existing import ExistingSamples
from packer.plan.plan import plan_shards
from packer.plan.scan import scan
from packer.plan.source_summary import doubts, remarks, summary
from packer.plan.work import Origin, Work
from packer.progress import Progress
from packer.samples.labels import joined, of_items
from packer.samples.places import Spool
from packer.samples.records import Facts
from packer.storage.source import LocalSource
from packer.trees.folder import NO_FILE
from packer.words import option
from reader.format import Manifest


def prepare(
    src: Path | LocalSource | Reading,
    options: PackOptions,
    progress: Progress,
    classes: Sequence[str] | None = None,
    onto: Path | None = None,
    *,
    spool: Path,
) -> Work:
    """Scan `src` and plan its shards; nothing is written.

    Args:
        src: the folder, archive or table to be packed; or what is understood already.
        options: what shapes the shards.
        progress: where to show how far it is.
        classes: class names in label order, None for the source's own order.
        onto: a dataset whose samples are there already.
        spool: folder for what the scan makes for samples.
    """
    base = None if onto is None else Manifest.load(onto)
    given = LocalSource.at(src) if isinstance(src, Path) else src
    reading = _reading(given, options) if isinstance(given, LocalSource) else given
    source = reading.open(classes)
    if base is not None and source.classes:
        known = set(base.classes)
        added = [name for name in source.classes if name not in known]
        source = reading.open([*base.classes, *added])
    if source.facts.is_keyed:
        _refuse_what_keys_decide(reading.what, onto, options.split)
    boxes = {**source.facts.boxes, **of_items(options.source)}
    recorded = joined(base, boxes, onto)
    origin = None
    if isinstance(given, LocalSource):
        root = source.facts.root
        origin = Origin.of(root if root is not None and root.exists() else given.path)
    there = None if onto is None or base is None else ExistingSamples(onto, base)
    fixed = len(base.classes if base else classes or ())
    with Spool(spool) as made:
        scanned = scan(source, options, progress, there, fixed, reading.beside, spool=made)
    if origin is not None:
        origin.check()  # else it has gone while it was listed
    if isinstance(given, LocalSource) and given.version:
        version = version_of(given.version, classes)
        scanned = replace(scanned, fingerprint=scanned.fingerprint + version)
    listing = scanned.listing
    if not len(listing) and base is None:
        files = [(item.name, item.reason) for item in listing.skipped]
        name = given.name if isinstance(given, LocalSource) else given.what
        what = f"{name}, read as {reading.what}, holds no file to pack."
        raise NothingToPack(f"{what}{_hint(scanned.facts, files)}", files)
    plan = plan_shards(
        listing,
        options.shard_size,
        options.shard_samples,
        options.seed,
        options.raw_bytes,
        next_numbers(base),
        sum(shard.bytes for shard in base.shards) if base else 0,
    )
    if onto is not None and base is not None:
        refuse_other_splits(onto, set(base.splits), set(plan.splits))
    further = tuple(remarks(scanned.facts, listing, recorded))
    if base is None and not scanned.facts.is_late:
        further += tuple(doubts(listing, scanned.classes))
    sentence = summary(reading.what, listing, scanned.classes, scanned.facts)
    before = there.rejected if there else frozenset()
    return Work(origin, scanned, plan, options, base, scanned.remarks + further, sentence, before)


def version_of(listed: str, classes: Sequence[str] | None) -> str:
    """Return how the fingerprint of a source in a store ends: compared before it is fetched."""
    return xxhash.xxh3_128_hexdigest(repr((listed, classes and tuple(classes))).encode())


def _reading(given: LocalSource, options: PackOptions) -> Reading:
    reading = read(given.path, options.source)
    return replace(reading, beside=(*reading.beside, *given.lacking))


def _refuse_what_keys_decide(what: str, onto: Path | None, split: object) -> None:
    """Raise where shards depend on keys that are known only when items are read."""
    if onto is not None:
        raise UnusableInput(
            f"Items of {what} have keys of their own, and which of them are in {onto} only "
            "reading all of them tells. Add them by packer.Writer(..., append=True)."
        )
    if split is not None:
        raise UnusableInput(
            f"Items of {what} have keys of their own, by which {option('split')} divides, and only "
            "reading all of them tells these. Give iter(dataset), which is read in turn and "
            "divided by "
            'the keys, or the splits as {"train": ..., "val": ...}; items without keys are divided '
            "by their numbers."
        )


def _hint(facts: Facts, files: Sequence[tuple[str, str]]) -> str:
    """Return what the reasons why there is nothing to pack may have in common."""
    missing = sum(reason.endswith(NO_FILE) for _, reason in files)
    if "columns" in facts.heeds and missing and missing == len(files):
        return (
            f" None of the {missing} images that it names was found below {facts.root}; does "
            f"{option('root')} name their folder?"
        )
    return ""


def refuse_other_splits(dst: Path, there: set[str], new: set[str]) -> None:
    """Raise where samples without a split would lie beside named ones: few would read them."""
    if there and not {bool(split) for split in new} <= {bool(split) for split in there}:
        raise UnusableInput(
            f"{dst} {_told(there)}, and what is to be added {_told(new)}. Append what is divided "
            "in the same way, or choose another destination."
        )


def _told(splits: set[str]) -> str:
    names = ", ".join(sorted(splits - {""}))
    without = " and samples without a split" if "" in splits else ""
    return f"has the splits {names}{without}" if names else "is not divided into splits"


def next_numbers(base: Manifest | None) -> dict[str, int]:
    """Return the number that the next shard of each split gets."""
    numbers: dict[str, int] = {}
    for shard in base.shards if base else ():
        number = int(re.findall(r"\d+", Path(shard.file).stem)[-1])
        numbers[shard.split] = max(numbers.get(shard.split, 0), number + 1)
    return numbers
