"""Plans a dataset without images: members for the samples of another one, in its shards."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from packer.errors import UnusableInput
from packer.images.encode import Policy
from packer.options.declared import Arrangement, SourceOptions
from packer.plan.names import shard_name
from packer.plan.plan import Plan, spans_of
from packer.plan.scan import scan
from packer.plan.work import Origin, Work
from packer.progress import Progress
from packer.samples.places import Files, Spool
from packer.sources.scanners.keyed.files import members_of_files
from packer.sources.scanners.keyed.samples import KnownSamples
from packer.sources.scanners.keyed.source import KeyedSource
from packer.sources.scanners.keyed.table import Rows, table_at
from packer.sources.trees.find import tree_at
from packer.storage.dataset import finished
from packer.storage.source import LocalSource
from packer.words import many, option
from reader.format import Manifest


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
    most = arranged.most_bytes
    if table is not None:
        rows = Rows.of(table, options, known, path)
        folder, what = getattr(table, "folder", path.parent), "a table of members"
        source = KeyedSource(known, rows, Files(folder), most, given.name)
    elif tree is not None:
        files, what = members_of_files(tree, known), f"files of members{tree.form}"
        source = KeyedSource(known, files, tree.files, most, given.name)
    else:
        raise UnusableInput(
            f"{given.name} is neither a table (.csv, .tsv, .json, .jsonl, .parquet, .arrow) nor a "
            f"folder, zip or tar of files named by key, which {option('keys_of')} requires."
        )
    with Spool(given.spool) as made:
        scanned = scan(source, arranged, progress, leftovers=given.lacking, spool=made)
    origin.check()
    listing, content = scanned.listing, known.content
    plan = Plan(
        source.order,
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
    how = options, policy
    return Work(origin, scanned, plan, *how, remarks=remarks, reading=reading, name=given.name)


def _files(content: Manifest) -> Iterator[str]:
    numbers = Counter[str]()
    for shard in content.shards:
        yield shard_name(shard.split, numbers[shard.split])
        numbers[shard.split] += 1
