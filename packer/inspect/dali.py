"""Indexes for DALI's ``fn.readers.webdataset(paths, index_paths)``.

Format, version 1.2, as DALI's ``wds2idx`` writes it: a line ``v1.2 SAMPLES``, then a line for each
sample with ``EXT OFFSET SIZE NAME`` of each member, separated by single spaces.
"""

import os
import re

from packer.errors import UnusableInput
from packer.inspect.tool_files import Export

_SEPARATOR = re.compile(r"\s")


def write(export: Export) -> None:
    """Write ``X.idx`` beside each ``X.tar``.

    Raises:
        UnusableInput: a name has white space, which the format cannot express.
    """
    for shard in export.content.shards:
        lines = []
        for run in export.samples(shard):
            for member in run:
                if _SEPARATOR.search(member.name):
                    raise UnusableInput(
                        f"{shard.file}: the member {member.name!r} has white space in its name, "
                        "which DALI's index cannot express. Pack the dataset anew."
                    )
            lines.append(" ".join(f"{m.ext} {m.offset} {m.size} {m.name}" for m in run))
        text = "\n".join([f"v1.2 {len(lines)}", *lines]) + "\n"
        export.write(shard.file.removesuffix(".tar") + ".idx", os.fsencode(text))
