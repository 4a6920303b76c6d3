"""Formats that other libraries read: those of ``foreign.yaml``, with the Python that packs them."""

import re
import shlex
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

import yaml

from packer.errors import UnusableInput
from packer.sources.interpretation import Candidate
from packer.sources.trees.tree import Tree

_LABELS = re.compile(r"labels?|y|targets?|classes", re.IGNORECASE)
_MAGIC = 16  # bytes
_OUTSIDE = (
    "It is read from a folder that holds such files and no images: unpack the archive, or pass the "
    "folder or the file."
)


def refuse_foreign(candidate: Candidate) -> None:
    """Raise, with the lines that pack it, where a candidate without images is of such a format."""
    path, tree = candidate.path, candidate.tree
    formats = _formats()
    if not tree:
        with open(path, "rb") as file:
            begin = file.read(_MAGIC)
        for known in formats:
            if begin.startswith(tuple(one.encode("latin-1") for one in known.get("magic", ()))):
                raise _advice(path, path, known)
    for file_path in _files(path, tree) if tree else [path]:
        for known in formats:
            if re.search(known["names"], file_path.name):
                raise _advice(path, file_path, known)


@cache
def _formats() -> Sequence[Mapping[str, Any]]:
    return yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def _files(root: Path, tree: Tree) -> Iterator[Path]:
    """Some names of each kind in each folder, if there is no image in any."""
    for folder, level in tree.walk() if not tree.shape.below("") else ():
        for names in level.examples.values():
            yield from (root / folder / name for name in names)


def _advice(source: Path, path: Path, known: Mapping[str, Any]) -> UnusableInput:
    where = "" if path == source else f" ({path.name} and the like)"
    folder = path.parent if path.is_file() else path
    if "lines" not in known:
        first = Template(known.get("first", "")).substitute(folder=shlex.quote(str(folder)))
        how = f"Decompress it first: {first}" if first else _OUTSIDE
        return UnusableInput(f"{source} is {known['what']}{where}. {how}")
    lines = Template(known["lines"]).substitute(
        path=repr(str(path)),
        source=repr(str(source)),
        paths=_paths(source, path),
        arrays=_arrays(path),
    )
    indented = "\n    ".join([f"import {known['library']}, packer", *lines.splitlines()])
    return UnusableInput(
        f"{source} is {known['what']}{where}, which {known['library']} reads. To pack its "
        f"samples, run these lines in Python:\n    {indented}"
    )


def _paths(source: Path, path: Path) -> str:
    """Return Python for the paths of all files like one of a source."""
    if path == source:
        return f"[{str(path)!r}]"
    return f"sorted(pathlib.Path({str(source)!r}).rglob({f'*{path.suffix}'!r}))"


def _arrays(path: Path) -> str:
    """Return the images and the labels in an npz, by the names that it has for them."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
    except (OSError, zipfile.BadZipFile):
        names = []
    labels = next((n for n in names if any(map(_LABELS.fullmatch, n.split("_")))), "")
    images = next((n for n in names if n != labels), "images")
    if labels:
        each = f'x, y in zip(data["{images}"], data["{labels}"])'
        return f'{{"image": x, "label": y.item()}} for data in each for {each}'
    data = "data" if path.suffix == ".npy" else f'data["{images}"]'
    return f'{{"image": x}} for data in each for x in {data}'
