"""The forms that are known: those of ``forms.yaml``, in their order."""

from functools import cache
from pathlib import Path

import yaml

from packer.sources.readings.exports.form import Form
from packer.sources.readings.exports.readers import READERS
from packer.sources.trees.tree import Tree

_BEGINNING = 1 << 16  # bytes that are looked at


@cache
def forms() -> tuple[Form, ...]:
    """Return all forms."""
    entries = yaml.safe_load(Path(__file__).with_name("forms.yaml").read_text("utf-8"))
    return tuple(Form(**{**entry, "reader": READERS[entry.get("reader", "")]}) for entry in entries)


@cache
def suffixes() -> tuple[str, ...]:
    """Return the last extensions of files that may be of a form."""
    names = (name for form in forms() for name in form.suffixes.split())
    return tuple(dict.fromkeys(f".{name.rpartition('.')[2]}" for name in names))


def form_of(tree: Tree, path: str) -> Form | None:
    """Return the form of a file, by its beginning; of several, the first one."""
    name, beginning = path.rpartition("/")[2], tree.head(path, _BEGINNING)
    return next((form for form in forms() if form.fits(name, beginning)), None)
