"""What is committed: by an earlier run, or now."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import EXAMPLES, NothingToPack, UnusableInput
from packer.options.declared import PackOptions, SourceOptions, by_name
from packer.plan.prepare import version_of
from packer.plan.scan import numbered
from packer.plan.work import Work
from packer.run.destination import Destination
from packer.run.refusals import all_rejected
from packer.run.report import manifest_of, repaired, without_labels
from packer.samples.labels import of_items
from packer.shards.builder import Rejections
from packer.shards.shard_writer import Written, index_of, refuse_repeated_keys, remove_shard
from packer.storage.dataset import Finished
from packer.words import Message, listed, option
from reader.format import Index, Limits, Manifest, manifest

_FORMER_PIXELS = 1 << 29  # the default limit of earlier versions, whose datasets are the same


def packed_from(
    version: str, to: Destination, options: PackOptions, classes: Sequence[str] | None
) -> Finished | None:
    """Return the dataset in `to`, if it was packed from this version of a source."""
    if not version or (found := to.committed) is None or not to.is_done:
        return None
    content, recorded = found.content, options.dump()
    source = content.options.get("source", {})
    is_same = content.source.endswith(version_of(version, classes))
    _refuse_other(found, {**recorded, "source": source}, is_same)
    # Which files were rejected, and what a source was found to need, only its files tell.
    return None if content.rejected or recorded["source"] != source else found


def packed_before(to: Destination, work: Work, recorded: Mapping[str, Any]) -> Finished | None:
    if (found := to.committed) is None:
        return None
    content, classes = found.content, work.scanned.classes
    is_same = (
        content.source == work.scanned.fingerprint
        and (not classes or content.classes == classes)
        and work.scanned.listing.newest_ns <= (found.folder / manifest.FILENAME).stat().st_mtime_ns
    )
    _refuse_other(found, recorded, is_same)
    return found


def refuse_other_options(
    base: Finished, recorded: Mapping[str, Any], only: Collection[str] = ()
) -> None:
    """Raise if the dataset that is added to was packed with other options, or `only` with these."""
    base.content.check_images(base.place)
    if differing := _differing(base.content, recorded, only):
        raise UnusableInput(
            f"{base} was packed with other options: {differing}. To append to it, pass the "
            "same options (they are in dataset.json)."
        )


def read_as(base: Finished, options: PackOptions) -> PackOptions:
    """Return the options, with the templates that read the source of `base` if they have none."""
    with suppress(TypeError, KeyError, ValueError):  # of another version, which is refused
        source = PackOptions.load(base.content.options).source
        if options.source == SourceOptions() and source.has_templates:
            return replace(options, source=source)
    return options


def _refuse_other(found: Finished, recorded: Mapping[str, Any], is_same: bool) -> None:
    if differing := _differing(found.content, recorded):
        made, add = f"packed with other options: {differing}", Message()
    elif not is_same:
        made = "packed with the same options from another source, or the source has changed since"
        adds = Message(", pass ", option("append", True), " to add new samples")
        add = adds if found.content.images else Message()
    else:
        return
    raise UnusableInput(
        f"{found} already holds a dataset, {made}. Choose another destination",
        add,
        ", or pass ",
        option("overwrite", True),
        " to replace it.",
    )


def _differing(content: Manifest, recorded: Mapping[str, Any], only: Collection[str] = ()) -> str:
    """Name each option that is not as in a dataset, with both values; "" if all are the same."""
    old, now = by_name(content.options), by_name(recorded)
    if (old.get("pixels"), now.get("pixels")) == (_FORMER_PIXELS, Limits.pixels):
        old["pixels"] = Limits.pixels
    return ", ".join(
        f"{name} ({json.dumps(old.get(name), ensure_ascii=False)} in the dataset, "
        f"{json.dumps(now.get(name), ensure_ascii=False)} now)"
        for name in sorted(only or old.keys() | now.keys())
        if old.get(name) != now.get(name)
    )


def written_of(dataset: Finished) -> Written:
    written, since = Written(), dataset.content.packed_since
    for shard in dataset.content.shards:
        written.add(Written.of(dataset.folder / shard.file, shard.split))
    written.rejected = [file for file in written.rejected if file not in since]
    return written


def content_of(work: Work, written: Written, folder: Path, recorded: Mapping[str, Any]) -> Manifest:
    """Return the manifest of the shards in `folder`; what is added has none without samples."""
    dropped = _without_empty(folder, written) if work.base else []  # each addition would add them
    rejected = all_rejected(work, written)
    if work.base is None and not any(entry.samples for entry in written.entries.values()):
        name = work.name or "The source"
        raise NothingToPack(f"{name} has no image. Nothing was committed.", files=rejected)
    if work.scanned.late and work.scanned.late.keyed:
        refuse_repeated_keys(folder, written.entries)
    return manifest_of(
        written,
        (written.entries[file] for file in work.plan.files if file in written.entries),
        work.base,
        work.policy,
        rejected=rejected,
        unindexed=work.scanned.listing.rejected + dropped,  # no index has them
        before=work.rejected_before,
        gone=repaired(work.rejected_before, _packed_files(work, rejected)),
        reading=work.reading,
        boxes={**work.scanned.facts.boxes, **of_items(work.options)},
        colors=work.scanned.colors,
        options=dict(recorded),
        source=work.scanned.fingerprint,
        classes=_classes(work, written),
        images=work.scanned.has_images,
    )


def _without_empty(folder: Path, written: Written) -> Rejections:
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
    if work.scanned.late:  # of other sources the scan has said it
        yield from without_labels(written.labels)
    elif len(rejected) > sum(item.repeats for item in work.scanned.listing.skipped):
        added = option("append" if work.scanned.has_images else "overwrite", True)
        again = "To add rejected files after you repair them, run the same command with "
        yield Message(again, added, ".")


def _packed_files(work: Work, rejected: Rejections) -> Iterator[str]:
    lost, files = {name for name, _ in rejected}, work.scanned.files
    for sample in work.scanned.listing if work.rejected_before else ():
        if sample.name not in lost:
            yield from (sample.name, *files.member_files(sample))


def _classes(work: Work, written: Written) -> tuple[str, ...]:
    """Return the class names; late sources may have numbers, which are known only now."""
    known = work.base.classes if work.base else ()
    if work.scanned.classes or not work.scanned.late:
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
