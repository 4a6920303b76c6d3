"""Plans a dataset without images: members for the samples of another one, in its shards."""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from packer.errors import BadImage, UnusableInput
from packer.images.encode import Policy
from packer.options.declared import Arrangement, SourceOptions
from packer.plan.names import shard_name
from packer.plan.plan import Plan, spans_of
from packer.plan.scan import Scanned
from packer.plan.work import Origin, Work
from packer.progress import Progress
from packer.samples.places import Files, Spool
from packer.samples.records import Facts, Sample, Skipped
from packer.samples.table import SampleTable
from packer.sources.members.files import members_of_files
from packer.sources.members.known import KnownSamples, Members
from packer.sources.members.rows import members_of_rows, table_at
from packer.sources.trees.find import tree_at
from packer.storage.dataset import finished
from packer.storage.source import LocalSource
from packer.words import Message, many, option
from reader.format import Manifest

_SHOWN = 3


def plan_members(
    given: LocalSource,
    options: SourceOptions,
    arranged: Arrangement,
    policy: Policy,
    progress: Progress,
    keys_of: Path | str,
) -> Work:
    """Scan the members in `given` for the samples of the dataset `keys_of`, and plan its shards."""
    with finished(keys_of, progress) as dataset:
        known = KnownSamples(dataset.folder, str(dataset))
    path = given.path
    assert path is not None  # the option requires one
    origin = Origin.of(path)
    tree = tree_at(path, options.ignore)
    table = table_at(path, tree)
    members: Iterable[Members | Skipped]
    if table is not None:
        members, what = members_of_rows(table, options, known, path), "a table of members"
        files = Files(path.parent if tree is None else path)
    elif tree is not None:
        members, what = members_of_files(tree, known), f"files of members{tree.form}"
        files = tree.files
    else:
        raise UnusableInput(
            f"{given.name} is neither a table (.csv, .tsv, .json, .jsonl, .parquet, .arrow) nor a "
            "folder, zip or tar of files named by key, which ",
            option("keys_of"),
            " requires.",
        )
    listing, numbers = SampleTable(), array("q")
    listing.skipped += given.lacking
    with Spool(given.spool) as made, progress.phase("scan", None, "files") as advance:
        for found in _joined(members, known, arranged.most_bytes, given.name, numbers):
            advance(1)
            listing.add(found, None if isinstance(found, Skipped) else made.keep(found.places))
        files = replace(files, spool=made.finish(), identity=known.identity)
    origin.check()
    content, fingerprint = known.content, listing.fingerprint() + known.identity
    scanned = Scanned(Facts(), files, listing, (), fingerprint, has_images=False)
    plan = Plan(
        np.argsort(np.frombuffer(numbers, np.int64)),
        np.cumsum([0, *(shard.samples for shard in content.shards)]),
        spans_of(listing),
        tuple(_files(content)),
        tuple(shard.split for shard in content.shards),
    )
    total = len(listing)
    having = ", ".join(f"{ext} ({n})" for ext, n in sorted(listing.members.items()))
    reading = f"Read as {what} for {many(total, 'sample')} of another dataset: {having}."
    without = int((listing.member_counts == 0).sum())
    remarks = (f"{many(without, 'sample')} of {known.name} without any member.",) * bool(without)
    return Work(
        *(origin, scanned, plan, options, policy),
        remarks=remarks,
        reading=reading,
        name=given.name,
        archive=given.archive,
    )


def _joined(
    members: Iterable[Members | Skipped],
    known: KnownSamples,
    most: int,  # bytes of a sample
    what: str,  # the members come from, for a person
    numbers: "array[int]",  # of the samples as they come, which this appends
) -> Iterator[Sample | Skipped]:
    """Yield each sample of the dataset once, those with members first, and what belongs to none."""
    taken = np.zeros(len(known), np.bool_)
    lacking: list[str] = []
    for found in members:
        if isinstance(found, Skipped):
            yield found
            continue
        try:
            number = known.find(found.name)
            if found.size > most:
                raise BadImage(
                    f"its members have {found.size} bytes; {most} are the most (",
                    option("max_bytes"),
                    ")",
                )
            if taken[number]:
                raise BadImage("an earlier one is for the same sample")
        except BadImage as error:
            lacking += [found.name] * (len(lacking) < _SHOWN)
            reason = Message(f"{found.name!r}: ", error.message)
            yield from (Skipped(where, reason, damaged=True) for where in found.where)
            continue
        taken[number] = True
        numbers.append(number)
        sample, places = known[number], found.places
        yield replace(
            sample,
            size=found.size,
            mtime_ns=found.mtime_ns,
            members=tuple(places),
            places=[*sample.places, *places.values()],
        )
    if not taken.any():
        keys = ", ".join(repr(known.key(n)) for n in range(min(_SHOWN, len(known))))
        raise UnusableInput(
            f"{what} names no sample of {known.name}: it has "
            f"{', '.join(map(repr, lacking)) or 'no members'}, and keys there are {keys}."
        )
    for number in np.flatnonzero(~taken).tolist():
        numbers.append(number)
        yield known[number]


def _files(content: Manifest) -> Iterator[str]:
    numbers = Counter[str]()
    for shard in content.shards:
        yield shard_name(shard.split, numbers[shard.split])
        numbers[shard.split] += 1
