"""dataset.json of what a run has written, and the remarks on it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, UnusableInput
from packer.plan.scan import numbered
from packer.plan.work import Work
from packer.run.refusals import all_rejected
from packer.run.report import manifest_of, repaired, without_labels
from packer.samples.labels import of_items
from packer.shards.builder import Rejections
from packer.shards.shard_writer import Written, index_of, refuse_repeated_keys, remove_shard
from packer.words import listed, option
from reader.format import Index, Manifest


def content_of(
    work: Work,
    written: Written,
    folder: Path,
    recorded: Mapping[str, Any],
    dropped: Rejections | None = None,
) -> Manifest:
    """Return the manifest of the shards in `folder`; `dropped` is what had shards of its own."""
    rejected = all_rejected(work, written)
    if work.base is None and not any(entry.samples for entry in written.entries.values()):
        name = work.name or "The source"
        raise NothingToPack(f"{name} has no image. Nothing was committed.", rejected)
    if work.scanned.facts.is_keyed:
        refuse_repeated_keys(folder, written.entries)
    return manifest_of(
        written,
        (written.entries[file] for file in work.plan.files if file in written.entries),
        work.base,
        work.policy,
        rejected=rejected,
        unindexed=work.scanned.listing.rejected + (dropped or []),  # no index has them
        before=work.rejected_before,
        gone=repaired(work.rejected_before, _packed_files(work, rejected)),
        reading=work.reading,
        boxes={**work.scanned.facts.boxes, **of_items(work.options)},
        colors=work.scanned.facts.mask_colors,
        options=dict(recorded),
        source=work.scanned.fingerprint,
        classes=_classes(work, written),
        images=work.scanned.facts.has_images,
    )


def without_empty(folder: Path, written: Written) -> Rejections:
    """Remove shards without samples; return their rejections."""
    rejected: Rejections = []
    for file in [file for file, entry in written.entries.items() if not entry.samples]:
        rejected += Index(index_of(folder / file), mapped=False).rejected
        remove_shard(folder / file)
        del written.entries[file]
    return rejected


def remarks_on(work: Work, written: Written, rejected: Rejections) -> Iterator[str]:
    """Yield sentences on lost classes, on labels, and on how rejected files are added."""
    known = len(work.base.classes) if work.base else 0
    labels = {*np.unique(work.scanned.listing.labels).tolist()}.difference(written.labels)
    if lost := [work.scanned.classes[label] for label in sorted(labels) if label >= known]:
        sentence = "These classes have no images; they keep their numbers"
        yield f"{sentence}: {listed(lost, EXAMPLES)}."
    if work.scanned.facts.is_late:  # of other sources the scan has said it
        yield from without_labels(written.labels)
    elif len(rejected) > sum(item.repeats for item in work.scanned.listing.skipped):
        added = option("append" if work.scanned.facts.has_images else "overwrite", True)
        yield f"To add rejected files after you repair them, run the same command with {added}."


def _packed_files(work: Work, rejected: Rejections) -> Iterator[str]:
    """Yield the files of the samples that are packed now."""
    lost, files = {name for name, _ in rejected}, work.scanned.files
    for sample in work.scanned.listing if work.rejected_before else ():
        if sample.name not in lost:
            yield from (sample.name, *files.member_files(sample))


def _classes(work: Work, written: Written) -> tuple[str, ...]:
    """Return the class names; late sources may have numbers, which are known only now."""
    known = work.base.classes if work.base else ()
    if work.scanned.classes or not work.scanned.facts.is_late:
        return work.scanned.classes
    names = numbered(written.labels)
    if len(names) <= len(known):
        return known
    if known != names[: len(known)]:
        raise UnusableInput(
            f"The largest label is {len(names) - 1}, and {len(known)} classes have names. Pass "
            "the names of all classes as classes=[...]."
        )
    return names
