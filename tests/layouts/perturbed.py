"""Published layouts as people leave them: renamed, wrapped, edited, and two in one folder.

In the root: ``PYTHONPATH=tests python -m layouts.perturbed [--count 2000] [--mixed 300]
[--seed 0] [--all] [NAME ...]``. Each outcome is judged by the truth of the layout, which changes
along.
Layouts that are wrong as they are published are left out, unless `--all` is given.
"""

import argparse
import csv
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple
from unicodedata import normalize

from layouts.images import is_image
from layouts.making import zipped as zip_of
from layouts.outcome import FAULTY, bytes_of, masks_of, outcome_of
from layouts.packed import all_layouts, expected
from layouts.row import Layout, Truth

_LITTER: dict[str, str | bytes] = {
    ".DS_Store": b"\x00\x00\x00\x01Bud1".ljust(64, b"\x00"),
    "README.md": "# A dataset\n\nDownloaded on Monday.\n",
    "LICENSE": "CC BY 4.0\n",
    "Thumbs.db": b"\xd0\xcf\x11\xe0".ljust(64, b"\x00"),
    "notes.txt": "remember to check these\n",
    "desktop.ini": "[.ShellClassInfo]\r\n",
    "download.sh": "#!/bin/sh\nwget https://example.com/a.zip\n",
    ".gitattributes": "*.jpg filter=lfs\n",
}
_RENAMED = {
    "images": ("imgs", "Images", "pictures", "JPEGImages", "img"),
    "Images": ("images", "imgs"),
    "labels": ("annotations", "Labels", "ann"),
    "annotations": ("labels", "Annotations", "anno"),
    "data": ("images", "files", "raw"),
    "train": ("training", "Train", "TRAIN"),
    "val": ("valid", "validation", "Val"),
    "valid": ("val", "validation"),
    "test": ("testing", "Test"),
    "validation": ("val", "valid"),
    "training": ("train", "Training"),
    "img": ("images",),
    "Annotations": ("xml", "annotations"),
    "items": ("images",),
}
_TEXTS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".xml", ".yaml", ".md", ".manifest", ".odgt")
_LISTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".manifest", ".odgt")


class Perturbed(NamedTuple):
    layout: Layout
    steps: tuple[str, ...]


class Unsuited(Exception):
    """This change means nothing to this layout."""


def _texts(layout: Layout, endings: Iterable[str]) -> list[str]:
    found = [
        path
        for path, content in layout.files.items()
        if isinstance(content, str) and content and path.lower().endswith(tuple(endings))
    ]
    if not found:
        raise Unsuited
    return found


def _with(layout: Layout, files: dict[str, str | bytes], truth: dict[str, Truth] | None = None):
    return layout._replace(files=files, truth=layout.truth if truth is None else truth)


def _moved(layout: Layout, move: Callable[[str], str], *, within: bool = False) -> Layout:
    """Rename paths; with `within`, the texts that name a path are rewritten, too."""
    below = f"{layout.src}/" if layout.src else ""
    paths = {path: move(path) for path in layout.files}
    if len(set(paths.values())) < len(paths) or any(
        path.startswith(f"{other}/") for path in paths.values() for other in paths.values()
    ):
        raise Unsuited

    def renamed(path: str) -> str:
        for file, start in ((below + path, below), (path, "")):
            if file in paths:
                return paths[file].removeprefix(start)
        return path  # of an image in an archive or in a table, which is as it was

    files: dict[str, str | bytes] = {}
    masks = masks_of(layout)
    known = {path for path in layout.truth if below + path in paths}
    for path, content in layout.files.items():
        if content == "" and is_image(path):
            # The picture stays that of its first path.
            content = bytes_of(path, content, masks)
        if within and isinstance(content, str):
            for old in sorted(known, key=len, reverse=True):
                content = content.replace(old, renamed(old))
        files[paths[path]] = content
    truth = {
        renamed(path): one._replace(files=tuple(map(renamed, one.files)))
        for path, one in layout.truth.items()
    }
    return _with(layout, files, truth)


def wrap(layout: Layout, draw: random.Random) -> Layout:
    """All lies in a folder."""
    folder = draw.choice(("download", "dataset", "archive (1)", "my data", "v1.0", "data"))
    if layout.src:
        raise Unsuited
    return _moved(layout, lambda path: f"{folder}/{path}")


def litter(layout: Layout, draw: random.Random) -> Layout:
    """Files of people and systems lie about."""
    folders = sorted({str(PurePosixPath(path).parent) for path in layout.files})
    files = dict(layout.files)
    for name in draw.sample(sorted(_LITTER), draw.randint(1, 3)):
        folder = draw.choice([".", *folders])
        files.setdefault(name if folder == "." else f"{folder}/{name}", _LITTER[name])
    if draw.random() < 0.3:
        files.setdefault("__MACOSX/._street.jpg", b"\x00\x05\x16\x07".ljust(64, b"\x00"))
    return _with(layout, files)


def rename(layout: Layout, draw: random.Random) -> Layout:
    """A folder has another usual name; lists may be unaware of it."""
    parts = {part for path in layout.files for part in PurePosixPath(path).parts[:-1]}
    known = sorted(parts & _RENAMED.keys())
    if not known or layout.src:
        raise Unsuited
    old = draw.choice(known)
    new = draw.choice(_RENAMED[old])

    def move(path: str) -> str:
        *folders, name = path.split("/")
        return "/".join([*(new if folder == old else folder for folder in folders), name])

    return _moved(layout, move, within=draw.random() < 0.5)


def upper(layout: Layout, draw: random.Random) -> Layout:
    """Extensions are in capitals; lists say the same, or not."""

    def move(path: str) -> str:
        if not is_image(path):
            return path
        stem, ending = path.rsplit(".", 1)
        return f"{stem}.{ending.upper()}"

    moved = _moved(layout, move)
    if draw.random() < 0.7:
        for ending in (".jpg", ".png"):
            files = {
                path: content.replace(ending, ending.upper())
                if isinstance(content, str)
                else content
                for path, content in moved.files.items()
            }
            if any(path.endswith(ending) for path in layout.files):
                moved = _with(moved, files)
    return moved


def drop_split(layout: Layout, draw: random.Random) -> Layout:
    """The images of one split were not downloaded."""
    splits = sorted({one.split for one in layout.truth.values()} - {""})
    if len(splits) < 2:
        raise Unsuited
    gone = draw.choice(splits)
    below = f"{layout.src}/" if layout.src else ""
    names = {path for path, one in layout.truth.items() if one.split == gone}
    if any(below + path not in layout.files for path in names):
        raise Unsuited
    files = {path: text for path, text in layout.files.items() if path not in names}
    files = {path: text for path, text in files.items() if path.removeprefix(below) not in names}
    truth = {
        path: one._replace(label=_as_on_disk(path, one.label))
        for path, one in layout.truth.items()
        if path not in names
    }
    return _with(layout, files, truth)


def _as_on_disk(path: str, label: frozenset[str]) -> frozenset[str]:
    """Return names of a class in the form of Unicode that its folder has: no other is left."""
    forms = {normalize("NFC", part): part for part in path.split("/")}
    return label | {forms[form] for form in map(partial(normalize, "NFC"), label) if form in forms}


def drop_image(layout: Layout, draw: random.Random) -> Layout:
    """One image is missing."""
    path = draw.choice(sorted(layout.truth))
    below = f"{layout.src}/" if layout.src else ""
    if len(layout.truth) < 3 or below + path not in layout.files:
        raise Unsuited
    name, split = PurePosixPath(path).name, layout.truth[path].split
    named = [text for file, text in layout.files.items() if file.endswith(_LISTS)]
    if any(isinstance(text, str) and f"\n{name}" in text for text in named) and any(
        PurePosixPath(other).name == name and one.split == split
        for other, one in layout.truth.items()
        if other != path
    ):
        raise Unsuited  # the table that named either of them then names the other one
    files = {name: text for name, text in layout.files.items() if name != below + path}
    return _with(layout, files, {n: one for n, one in layout.truth.items() if n != path})


def _retold(layout: Layout, endings: Iterable[str], change: Callable[[str, str], str | bytes]):
    """Change what files hold: `change` is given their path and their text."""
    texts = {path: str(layout.files[path]) for path in _texts(layout, endings)}
    return _with(layout, {**layout.files, **{p: change(p, text) for p, text in texts.items()}})


def separators(layout: Layout, draw: random.Random) -> Layout:
    """A CSV has semicolons or tabs."""
    delimiter = draw.choice(";\t")

    def divided(path: str, content: str) -> str:
        if "," not in content.split("\n", 1)[0]:
            raise Unsuited
        text = io.StringIO()
        rows = csv.reader(content.splitlines(keepends=True), skipinitialspace=True)
        csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
        return text.getvalue()

    return _retold(layout, (".csv",), divided)


def line_ends(layout: Layout, draw: random.Random) -> Layout:
    """Texts come from Windows."""
    return _retold(layout, _TEXTS, lambda _, text: text.replace("\r\n", "\n").replace("\n", "\r\n"))


def encodings(layout: Layout, draw: random.Random) -> Layout:
    """Texts begin with a mark, or are in UTF-16."""
    encoding = draw.choice(("utf-8-sig", "utf-8-sig", "utf-16"))
    return _retold(layout, _LISTS, lambda _, text: text.removeprefix("\ufeff").encode(encoding))


def reorder(layout: Layout, draw: random.Random) -> Layout:
    """The rows of a table are sorted otherwise."""

    def shuffled(path: str, content: str) -> str:
        lines = content.splitlines(keepends=True)
        head = lines[:1] if path.endswith(".csv") else []
        rows = lines[len(head) :]
        draw.shuffle(rows)
        return "".join([*head, *rows])

    return _retold(layout, (".csv", ".jsonl", ".ndjson", ".manifest", ".odgt"), shuffled)


def compact(layout: Layout, draw: random.Random) -> Layout:
    """JSON has no white space, or much."""
    indent = draw.choice((None, 4))
    return _retold(layout, (".json",), lambda _, text: json.dumps(json.loads(text), indent=indent))


def zipped(layout: Layout, draw: random.Random) -> Layout:
    """All lies in a zip."""
    if layout.src:
        raise Unsuited
    masks = masks_of(layout)
    held = zip_of({path: bytes_of(path, text, masks) for path, text in layout.files.items()})
    return layout._replace(files={"archive.zip": held}, src="archive.zip")


_STEPS = (
    wrap,
    litter,
    rename,
    upper,
    drop_split,
    drop_image,
    separators,
    line_ends,
    encodings,
    reorder,
    compact,
)


def perturbed(layout: Layout, draw: random.Random) -> Perturbed:
    """Change `layout` in one to three ways, of which the last may be that it is zipped."""
    steps: list[str] = []
    for change in draw.sample(_STEPS, draw.choice((2, 3, 4))):
        try:
            layout = change(layout, draw)
        except (Unsuited, ValueError):
            continue
        steps.append(change.__name__)
    if draw.random() < 0.15:
        try:
            layout = zipped(layout, draw)
            steps.append("zipped")
        except Unsuited:
            pass
    return Perturbed(layout, tuple(steps))


def mixed(first: Layout, second: Layout, draw: random.Random) -> Perturbed:
    """Put two layouts into one folder, side by side or among each other."""
    if first.src or second.src or first.options or second.options:
        raise Unsuited
    how = draw.choice(("side by side", "one within", "among each other"))
    if how != "among each other":
        second = _moved(second, lambda path: f"other/{path}")
    if how == "side by side":
        first = _moved(first, lambda path: f"some/{path}")
    if first.files.keys() & second.files.keys():
        raise Unsuited
    files = {
        path: bytes_of(path, text, masks_of(layout)) if is_image(path) else text
        for layout in (first, second)
        for path, text in layout.files.items()
    }
    name = f"{first.name} + {second.name}"
    made = Layout(name, first.source, files, {**first.truth, **second.truth})
    return Perturbed(made, (how,))


def made(count: int, mixtures: int, seed: int, layouts: list[Layout]) -> Iterable[Perturbed]:
    """Yield perturbed layouts, and then mixed ones; the same for the same arguments."""
    for number in range(count):
        draw = random.Random(f"{seed} perturbed {number}")
        one = perturbed(draw.choice(layouts), draw)
        if one.steps:
            yield one
    for number in range(mixtures):
        draw = random.Random(f"{seed} mixed {number}")
        for _ in range(20):
            try:
                yield mixed(*draw.sample(layouts, 2), draw)
            except Unsuited:
                continue
            break


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m layouts.perturbed")
    parser.add_argument("names", nargs="*", help="parts of names; default: all layouts")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--mixed", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="also of layouts that are wrong")
    given = parser.parse_args()
    known = expected()
    layouts = [
        layout
        for name, layout in sorted(all_layouts().items())
        if (given.all or known.get(name) not in FAULTY)
        and (not given.names or any(part in name for part in given.names))
    ]
    verdicts: Counter[tuple[str, str]] = Counter()
    for layout, steps in made(given.count, given.mixed, given.seed, layouts):
        outcome = outcome_of(layout)
        verdicts["mixed" if " + " in layout.name else "perturbed", outcome.verdict] += 1
        if outcome.verdict in FAULTY:
            print(f"\n== {layout.name}: {', '.join(steps)}: {outcome.verdict}")
            print("\n".join([*outcome.message.rstrip().splitlines()[:6], *outcome.faults[:3]]))
    for (kind, verdict), count in verdicts.most_common():
        print(f"{count:5} {kind}: {verdict}")


if __name__ == "__main__":
    main()
