"""Refuses archives by split in which a file that nothing reads names the images there."""

from pathlib import Path

from packer.errors import UnusableInput
from packer.layouts.evidence import find_evidence
from packer.layouts.tars.parts import PartsSource
from packer.samples.records import Sample, Source
from packer.samples.table import SampleTable
from packer.trees.tree import Tree
from packer.trees.walk import NOT_AN_IMAGE
from packer.words import command


def refuse_evidence_in_parts(source: Source, listing: SampleTable, src: Path) -> None:
    """Raise UnusableInput, with the commands that unpack all, where annotations would be lost."""
    if not isinstance(source, PartsSource):
        return
    for split, part in source.parts:
        tree, within = getattr(part, "tree", None), f"{split}/"
        left = (item.name for item in listing.skipped if item.reason == NOT_AN_IMAGE)
        leftovers = [name.removeprefix(within) for name in left if name.startswith(within)]
        if not leftovers or not isinstance(tree, Tree):
            continue
        own = SampleTable()
        for record in part.scan():
            own.add(record, () if isinstance(record, Sample) else None)
        if found := find_evidence(tree, leftovers, own)[0]:
            one = found[0]
            where = tree.root / one.paths[0]
            named = one.reason or f"names {one.count:,} of the {len(own):,} images there"
            lines = "".join(f"\n    {line}" for line in one.lines)
            raise UnusableInput(
                f"{src}: a file that names the images is in no layout that packer reads, so its "
                f"annotations would be lost. {where} {named}{':' * bool(lines) or '.'}{lines}\n"
                f"{_advice(source)}"
            )


def _advice(source: PartsSource) -> str:
    trees = {split: getattr(part, "tree", None) for split, part in source.parts}
    unpack = [
        tree.unpack.replace("FOLDER", f"FOLDER/{split}")
        for split, tree in trees.items()
        if isinstance(tree, Tree) and tree.unpack
    ]
    if len(unpack) < len(trees):
        return "To ignore it, move it to another folder."
    each = "\n".join(f"  {line}" for line in unpack)
    return f"Unpack the archives, and pack the folder:\n{each}\n  {command('FOLDER')}"
