"""Scans a source, describes it in a sentence, and plans its shards."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import NothingToPack, UnusableInput, WrongOption
from packer.images.encode import Policy
from packer.options.declared import Arrangement, SourceOptions
from packer.options.kinds import NUMERIC
from packer.plan.classes import (
    by_number,
    label_remarks,
    order_remark,
    refuse_disjoint,
    split_remarks,
)
from packer.plan.existing import ExistingSamples
from packer.plan.members import plan_members
from packer.plan.names import next_numbers
from packer.plan.plan import plan_shards, shard_bytes
from packer.plan.scan import Scanned, scan
from packer.plan.work import Origin, Work
from packer.progress import Progress
from packer.samples.labels import joined, of_items
from packer.samples.places import Spool
from packer.samples.table import SampleTable
from packer.sources.audit.ask import ask
from packer.sources.audit.outcome import Outcome
from packer.sources.evidence.evidence import refuse_evidence
from packer.sources.proposals.complete import commands_for
from packer.sources.readings.class_names import names_of_labels, names_of_masks
from packer.sources.readings.detect import read
from packer.sources.readings.mask_colors import find_mask_colors
from packer.sources.trees.find import tree_at
from packer.storage.dataset import Finished
from packer.storage.source import LocalSource
from packer.words import Message, have, option
from reader.format.members import PICTURES

_NAMED = 3  # classes


def prepare(
    given: LocalSource,
    options: SourceOptions,
    arranged: Arrangement,
    policy: Policy,
    progress: Progress,
    classes: Sequence[str] | None = None,  # in label order; NUMERIC; None: the source's own
    onto: Finished | None = None,  # a dataset whose samples are there already
    keys_of: Path | str | None = None,  # a dataset, for whose samples the source has members
) -> Work:
    """Scan a source and plan its shards; nothing is written.

    Raise UnusableInput, with the commands that keep all files, where it cannot be read as one.
    """
    if keys_of is not None:
        return plan_members(given, options, arranged, policy, progress, keys_of)
    try:
        return _prepare(given, options, arranged, policy, progress, classes, onto)
    except UnusableInput as error:
        if given.path and not isinstance(error, WrongOption):
            error.remedies = commands_for(given.path, options, error.message.commands, error.packs)
        raise


def _prepare(
    given: LocalSource,
    options: SourceOptions,
    arranged: Arrangement,
    policy: Policy,
    progress: Progress,
    classes: Sequence[str] | None,
    onto: Finished | None,
    chosen: SourceOptions | None = None,  # by the caller, where `options` were found
) -> Work:
    base, path = onto.content if onto else None, given.path
    reading = given.items if path is None else read(path, options)
    assert reading is not None
    reading = replace(reading, leftovers=(*reading.leftovers, *given.lacking))
    source = reading.open(None if classes == NUMERIC else classes)
    order = list(source.classes)
    if classes == NUMERIC:
        order = by_number(order, reading.what)
    whole = tree_at(path, options.ignore) if path and classes is None else None
    named = names_of_labels(whole, order) if order else None
    if base is not None and order:
        known = named.numbers_of(base.classes) if named else base.classes
        named = named if known != list(base.classes) else None
        order = list(dict.fromkeys((*known, *order)))
    if order != list(source.classes):  # opening may survey it anew
        source = reading.open(order)
    if source.files.late and source.files.late.keyed:
        _refuse_what_keys_decide(reading.what, onto, arranged.split)
    recorded = joined(base, "boxes", {**source.facts.boxes, **of_items(options)}, onto)
    origin = None
    if path is not None:
        root = source.facts.root
        origin = Origin.of(root if root is not None and root.exists() else path)
    existing = ExistingSamples(onto.folder, onto.content) if onto else None
    fixed = len(base.classes if base else () if classes == NUMERIC else classes or ())
    with Spool(given.spool) as made:
        scanned = scan(source, arranged, progress, existing, fixed, reading.leftovers, spool=made)
    sentence = summary(reading.what, scanned)
    unread: tuple[str, ...] = ()
    if path is not None:
        listing = scanned.listing
        if not source.classes:
            labels = set(np.unique(listing.labels).tolist())
            named = names_of_labels(whole, (), labels)
            if labels == {-1}:
                named = names_of_masks(whole, scanned.files, listing)
            named = named if not base or (named and named.of(()) == base.classes) else None
        if named:
            named.note(listing, getattr(source, "tree", None))
        unread, adopted = refuse_evidence(source, listing, path, options, sentence)
        if adopted is not None:
            how = arranged, policy, progress, classes, onto
            return _prepare(given, adopted, *how, chosen=options)
        seen = (source, scanned.files, listing, scanned.classes, options)
        is_divided = arranged.split is not None
        ask(Outcome(path, reading.kind, *seen, is_divided), chosen or options)
        colors, of_colors = find_mask_colors(source, scanned.files, listing)
        colors = joined(base, "mask_colors", colors, onto)
        scanned = replace(scanned, colors=colors, remarks=scanned.remarks + of_colors)
        if base is None and not (options.chooses_layout or options.ignore):
            refuse_disjoint(listing, scanned.classes, given.name, scanned.facts.outright)
        if named:
            remarks_of_names = (*scanned.remarks, named.remark)
            names = named.of(source.classes and scanned.classes)
            scanned = replace(scanned, classes=names, remarks=remarks_of_names)
            sentence = summary(reading.what, scanned)
    if origin is not None:
        origin.check()  # else it has gone while it was listed
    if given.version:
        version = version_of(given.version, classes)
        scanned = replace(scanned, fingerprint=scanned.fingerprint + version)
    listing = scanned.listing
    name = "" if path is None else given.name
    if not len(listing) and base is None:
        files = [(item.name, item.reason) for item in listing.skipped]
        what = f"{given.name}, read as {reading.what}, has no file to pack."
        root = scanned.facts.root if reading.columns else None
        raise NothingToPack(what, _hint(root, listing), files=files)
    plan = plan_shards(
        listing,
        arranged.shard_size,
        arranged.shard_samples,
        arranged.seed,
        arranged.image_bytes,
        next_numbers(base),
        shard_bytes(base),
    )
    if onto is not None:
        refuse_other_splits(str(onto), set(onto.content.splits), set(plan.splits))
    further = tuple(remarks(scanned, recorded)) + unread
    if base is None and not scanned.late:
        further += tuple(label_remarks(listing, scanned.classes))
        further += tuple(split_remarks(listing, scanned.classes))
        further += tuple(order_remark(scanned.classes, name)) if name and classes is None else ()
    before = frozenset(existing.rejected if existing else ())
    further = scanned.remarks + further
    words = further, sentence, before, name
    return Work(origin, scanned, plan, options, policy, base, *words, given.archive)


def version_of(listed: str, classes: Sequence[str] | None) -> str:
    """Return how the fingerprint of a source in a store ends: compared before it is fetched."""
    return xxhash.xxh3_128_hexdigest(repr((listed, classes and tuple(classes))).encode())


def _refuse_what_keys_decide(what: str, onto: Finished | None, split: object) -> None:
    if onto is not None:
        raise WrongOption(
            f"Items of {what} have their own keys, which are known only after all items have "
            f"been read. To add them to {onto}, use packer.Writer(..., append=True)."
        )
    if split is not None:
        raise WrongOption(
            option("split"),
            f" divides by keys, and items of {what} have their own keys, which are known only "
            'after all items have been read. Pass iter(dataset), or the splits as {"train": ..., '
            '"val": ...}, or items without keys.',
        )


def _hint(root: Path | None, listing: SampleTable) -> str:
    skipped = listing.skipped
    if root is not None and skipped and all(item.missing for item in skipped):
        return Message(
            f" None of the {len(skipped)} images that it names was found in {root}. Check ",
            option("root"),
            ", the folder of the images.",
        )
    kinds = ", ".join(f".{ext}" for ext in sorted(PICTURES))
    further = (
        " Pass the folder or archive that holds the images, or a table that names them. Images are "
        f"files that end in {kinds}."
    )
    return "" if listing.rejected else further


def refuse_other_splits(dst: str, existing: set[str], new: set[str]) -> None:
    """Raise where samples without a split would be beside named ones: few would read them."""
    if existing and not {bool(split) for split in new} <= {bool(split) for split in existing}:
        raise WrongOption(
            f"{dst} {_division(existing)}, and the source {_division(new)}. Append a source with "
            "the same splits, or choose another destination."
        )


def _division(splits: set[str]) -> str:
    names = ", ".join(sorted(splits - {""}))
    without = " and samples without a split" if "" in splits else ""
    return f"has the splits {names}{without}" if names else "is not divided into splits"


def summary(what: str, scanned: Scanned) -> str:
    """Return the sentence that `packer pack` begins with; `what` is the interpretation's."""
    listing, late = scanned.listing, scanned.late
    count = len(listing)
    by_split = {name: len(numbers) for name, numbers in listing.by_split().items()}
    lacking = {name: count - having for name, having in sorted(listing.members.items())}
    members = [
        f"{name} ({without} {'image' if without == 1 else 'images'} without)" if without else name
        for name, without in lacking.items()
    ]
    members += late.members if late else ()
    is_labelled = late is not None and late.labelled
    return sentence(what, count, scanned.classes, by_split, members, is_labelled)


def remarks(scanned: Scanned, recorded: Container[str]) -> Iterator[str]:
    facts, listing = scanned.facts, scanned.listing
    yield from facts.remarks
    members = listing.members
    for ext in facts.boxes if facts.only_boxes else ():
        if ext in recorded and ext in members:
            mark = "?" * (members[ext] < len(listing))
            yield f'Its boxes are read by fields=("image", reader.Boxes("{ext}{mark}")).'
    unlabelled = int((listing.labels < 0).sum())
    if scanned.late:
        return
    if unlabelled == len(listing) > 0:
        yield from facts.unlabelled()
    elif unlabelled:
        few = f"{unlabelled} of {len(listing)} samples {have(unlabelled)}"
        yield f"{few} no label: a Loader returns -1 for them."


def sentence(
    what: str,
    count: int,
    classes: Sequence[str],
    splits: Mapping[str, int],
    members: Sequence[str],
    labelled: bool,
) -> str:
    """Return the summary of a source: images, classes, images of each split, and members."""
    parts = [f"{count} {'image' if count == 1 else 'images'}"]
    if classes:
        names = ", ".join(classes[:_NAMED]) + ", ..." * (len(classes) > _NAMED)
        parts.append(f"{len(classes)} {'class' if len(classes) == 1 else 'classes'} ({names})")
    else:
        parts.append("labels that are numbers" if labelled else "no classes")
    if any(splits):
        each = (f"{name or 'without a split'} {number}" for name, number in splits.items())
        parts.append(f"splits {', '.join(each)}")
    if members:
        parts.append(f"members {', '.join(members)}")
    return f"Read as {what}: {'; '.join(parts)}."
