"""Messages about texts that annotate images: their content, and the commands to use."""

import glob
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from packer.errors import UnusableInput
from packer.layouts.detect import read
from packer.layouts.templates.proposed import proposed
from packer.layouts.texts import Evidence, text_of
from packer.options.declared import SourceOptions
from packer.samples.records import Sample
from packer.trees.outright import by_templates, without
from packer.trees.tree import Tree
from packer.words import command, many

_WHOLE = 1 << 26  # bytes of a file for which a template is proposed
_SHOWN = 5  # files


def _readings(
    found: Sequence[Evidence],
    tree: Tree,
    src: Path,
    options: SourceOptions,
    outright: Sequence[str],
) -> dict[str, list[str]]:
    """Return the options that read the files and reject nothing, by the use of the folders."""
    lists = [word for one in options.labels for word in ("--labels", one)]
    texts = {one.paths[0]: _whole(tree, one) or "" for one in found}
    sums = _sums_of_others(texts)
    for path in sums:
        lists += ["--ignore", glob.escape(relative(tree, path, src))]
    stems = [Path(path).stem for path in texts if path not in sums]
    for one in found:
        text, path = texts[one.paths[0]], relative(tree, one.paths[0], src)
        if one.paths[0] in sums:
            continue
        if not text or not (form := proposed(path, text, one.has, stems)):
            return {}
        lists += ["--labels", form]
    given = "".join(lists)
    folders = outright or by_templates(options.images, options.members)
    replaced = []
    for role, noun in (("label", "classes"), ("split", "splits")):  # the lists have their own
        if f"{{{role}" in given and f"{{{role}" in "".join(folders):
            folders = without(role, folders)
            replaced.append(noun)
    ways = {f" in place of the {' and '.join(replaced)} of folders" if replaced else "": folders}
    if "{label" in "".join(folders):
        flat = without("label", folders)
        ways = {" beside the classes of folders": folders, ", and folders mean nothing": flat}
    each = {meaning: [*way, *lists] for meaning, way in ways.items()}
    return {meaning: words for meaning, words in each.items() if _packs_all(words, src, options)}


def _whole(tree: Tree, one: Evidence) -> str | None:
    """Return the text of a file that is none of several; None if there is none."""
    try:
        found = text_of(tree.whole(one.paths[0], _WHOLE)) if not one.paths[1:] else None
    except UnusableInput:
        return None
    return found.decode("utf-8", "replace") if found else None


def _sums_of_others(texts: Mapping[str, str]) -> list[str]:
    """Return the lists that have the lines of all others and, but for comments, no further ones."""
    counts = Counter(line for text in texts.values() for line in {*text.splitlines()})
    lines = {path: {*text.splitlines()} for path, text in texts.items() if len(texts) > 2}
    common = {line for line, count in counts.items() if count > 1}
    return [
        path
        for path, own in lines.items()
        if common and all(line in own for line in counts)
        if {line for line in own if not line.startswith("#")} == common
    ][:1]


def _packs_all(words: Sequence[str], src: Path, options: SourceOptions) -> bool:
    """Return whether the source, read by the templates in `words`, has no rejected file."""
    given: dict[str, list[str]] = {"--images": [], "--member": [], "--labels": [], "--ignore": []}
    for flag, text in zip(words[::2], words[1::2], strict=True):
        given[flag].append(text)
    chosen = replace(
        options,
        kind=None,
        class_depth=None,
        pairs={},
        images=tuple(given["--images"]),
        members=dict(one.split("=", 1) for one in given["--member"]),
        labels=tuple(given["--labels"]),
        ignore=(*options.ignore, *given["--ignore"]),
    )
    try:
        records = read(src, chosen).open(None).scan()
        return all(isinstance(record, Sample) or record.ignored for record in records)
    except UnusableInput:
        return False


def _glob(tree: Tree, paths: Sequence[str]) -> str:
    """Return the glob of files of one extension in a folder."""
    if len(paths) == 1:
        return glob.escape(paths[0])
    folder, name = os.path.split(paths[0])
    if os.path.dirname(paths[1]) != folder:
        return f"**/{glob.escape(os.path.basename(folder))}/{glob.escape(name)}"
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
    outright: Sequence[str],
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
        *dict.fromkeys(relative(tree, _glob(tree, one.paths), src) for one in found),
    ]
    if any(pattern.startswith("..") for pattern in globs):
        return UnusableInput(
            f"{src}: {text}\nTo ignore {one_or_all}, move {one_or_all} out of {tree.root}."
        )
    text += f"\nWithout {one_or_all}, the source is {summary[:1].lower()}{summary[1:]}"
    for meaning, way in _readings(found, tree, src, options, outright).items():
        text += f"\nTo read {one_or_all}{meaning}, type: {command(src, *way)}"
    ignoring = command(src, *(word for glob in globs for word in ("--ignore", glob)))
    return UnusableInput(
        f"{src}: {text}\nTo ignore {one_or_all}, type: {ignoring}\nTo convert {one_or_all}, "
        "write a CSV beside the images: a header such as file,label,split, and one line for "
        f"each image.{_by_pandas(tree.root / found[0].paths[0])}"
    )


def _by_pandas(path: Path) -> str:
    """Return how a spreadsheet becomes a CSV; "" for any other file."""
    if path.suffix.lower() not in (".xlsx", ".ods"):
        return ""
    code = (
        f"import pandas; pandas.read_excel({str(path)!r}).to_csv({str(path.with_suffix('.csv'))!r}"
    )
    return f" pandas does it: python -c {shlex.quote(f'{code}, index=False)')}"
