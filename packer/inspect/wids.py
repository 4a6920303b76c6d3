"""A list of shards for ``wids.ShardListDataset``, from the wids package.

Format: JSON with ``wids_version`` 1 and a ``shardlist`` of ``url`` (relative to the file),
``nsamples`` and ``filesize``, as ``widsindex create`` writes it. wids 0.1 takes names from the
first 100 bytes of a member's header alone, whatever its other fields say.
"""

import json
import os
from pathlib import PurePosixPath

from packer.errors import UnusableInput
from packer.inspect.tool_files import Export
from reader.format import ShardEntry

_LONGEST = 100


def write(export: Export) -> None:
    """Write ``wids.json`` beside the tars of each split.

    Raises:
        UnusableInput: a name is longer than wids reads it.
    """
    for split in export.content.splits:
        shards = [shard for shard in export.content.shards if shard.split == split]
        entries = [
            {
                "url": PurePosixPath(shard.file).name,
                "nsamples": _samples(export, shard),
                "filesize": shard.bytes,
            }
            for shard in shards
        ]
        content = {"__kind__": "wids-shard-index-v1", "wids_version": 1, "shardlist": entries}
        name = PurePosixPath(shards[0].file).with_name("wids.json")
        export.write(name.as_posix(), (json.dumps(content, indent=2) + "\n").encode())


def _samples(export: Export, shard: ShardEntry) -> int:
    """How many samples wids will find in a shard."""
    count = 0
    for run in export.samples(shard):
        for member in run:
            if len(os.fsencode(member.name)) > _LONGEST:
                raise UnusableInput(
                    f"{shard.file}: wids reads names of at most {_LONGEST} bytes, and that of "
                    f"{member.name!r} is longer. Shorten the source's folder and file names."
                )
        count += 1
    return count
