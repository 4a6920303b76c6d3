"""`packer export`: indexes for other tools; each tool has a module that writes its files."""

from pathlib import Path

from packer.inspect import dali, energon, wids
from packer.inspect.tool_files import Export
from packer.progress import Progress
from reader.format import Manifest


def export(
    dst: Path, tool: str, overwrite: bool, progress: Progress, out: Path | None = None
) -> list[str]:
    """Write what `tool` (dali, wids or energon) needs to read `dst`; the files' names.

    Args:
        dst: the dataset; of one that packer has packed, its indexes are enough.
        tool: its name.
        overwrite: replace files that are there with other content.
        progress: of it.
        out: where the files go, as they are to lie in `dst`; None: there.

    Raises:
        FormatError: `dst` is not a dataset.
        UnusableInput: a name cannot be told to the tool, or another file is in the way.
        PackingFailed: a file cannot be written.
        OSError: the disk fails.
    """
    writers = {"dali": dali.write, "energon": energon.write, "wids": wids.write}
    content = Manifest.load(dst)
    total = sum(shard.samples for shard in content.shards)
    with progress.phase("export", total, "samples") as advance:
        work = Export(dst, out or dst, content, overwrite, advance)
        writers[tool](work)
    return work.files
