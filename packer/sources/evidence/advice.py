"""Messages about texts that annotate images: their content, and the commands to use."""

import glob
import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.evidence.described import described
from packer.sources.evidence.scanned import Reading
from packer.sources.tables.texts import Evidence
from packer.sources.trees.tree import Tree
from packer.words import Message, command, many

_SHOWN = 5  # files


def glob_of(tree: Tree, paths: Sequence[str]) -> str:
    """Return the glob of files of one extension in a folder."""
    if len(paths) == 1:
        return glob.escape(paths[0])
    folder, name = os.path.split(paths[0])
    if os.path.dirname(paths[1]) != folder:
        above = {os.path.basename(os.path.dirname(path)) for path in paths}
        return "/".join(
            ["**", *map(glob.escape, above if len(above) == 1 else ()), glob.escape(name)]
        )
    level = tree.level(folder)
    is_all = folder and not level.folders and level.files == len(paths)
    return os.path.join(glob.escape(folder), "**" if is_all else f"*{os.path.splitext(name)[1]}")


def relative(tree: Tree, pattern: str, src: Path) -> str:
    """Return a glob relative to the source."""
    return os.path.relpath(tree.root / pattern, src)


def refusal(
    found: Sequence[Evidence],
    tree: Tree,
    src: Path,
    options: SourceOptions,
    images: int,
    ways: Sequence[Reading],
    summary: str,
) -> UnusableInput:
    """Return the error that names the texts, and the commands that read, ignore or convert them."""
    each, one_or_all = [], "them" if found[1:] or found[0].paths[1:] else "it"
    for one in found[:_SHOWN]:
        path = relative(tree, one.paths[0], src)
        further = f" and {many(len(one.paths) - 1, 'file')} beside it" if one.paths[1:] else ""
        names = "name" if further else "names"
        count = f"{'at least ' * one.is_cut}{one.count:,} of the {images:,} images"
        lines = "".join(f"\n    {line}" for line in one.lines)
        if one.reason:
            further, names, count = "", one.reason, ""
        end = f":{lines}" if lines else "." if one.reason else ", by the files' own names."
        each.append(f"{path}{further} {names} {count}".rstrip() + end)
    more = f"\nand {many(len(found) - _SHOWN, 'more file')}" if len(found) > _SHOWN else ""
    text = (
        "a file that names the images is in no layout that packer reads, so its annotations "
        f"would be lost. {chr(10).join(each)}{more}"
    )
    globs = [
        *options.ignore,
        *dict.fromkeys(relative(tree, glob_of(tree, one.paths), src) for one in found),
    ]
    if any(pattern.startswith("..") for pattern in globs):
        return UnusableInput(
            f"{src}: {text}\nTo ignore {one_or_all}, move {one_or_all} out of {tree.root}."
        )
    text += f"\nWithout {one_or_all}, the source is {summary[:1].lower()}{summary[1:]}"
    for way in ways:
        meaning = described(way.words)
        begin = f"\nTo read {one_or_all} ({meaning[:1].lower()}{meaning[1:]}), type: "
        text += Message(begin, command(src, *way.words))
    return UnusableInput(
        f"{src}: ",
        text,
        f"\nTo ignore {one_or_all}, type: ",
        command(src, *(word for glob in globs for word in ("--ignore", glob))),
        f"\nTo convert {one_or_all}, write a CSV beside the images: a header such as "
        f"{found[0].table}, and one line for each image.",
        _by_pandas(tree.root / found[0].paths[0]),
    )


def _by_pandas(path: Path) -> str:
    """Return how a spreadsheet becomes a CSV; "" for any other file."""
    if path.suffix.lower() not in (".xlsx", ".ods"):
        return ""
    code = (
        f"import pandas; pandas.read_excel({str(path)!r}).to_csv({str(path.with_suffix('.csv'))!r}"
    )
    return f" pandas does it: python -c {shlex.quote(f'{code}, index=False)')}"
