"""All layouts of this folder, and the outcomes that are expected of them.

Each ``.rows`` file has its layouts with their outcomes, `notation` says how. Layouts that modules
make, in ``LAYOUTS``, are right where outcomes.txt does not say otherwise.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from layouts import notation
from layouts.making import archived
from layouts.row import Layout

_HERE = Path(__file__).parent
OUTCOMES = _HERE / "outcomes.txt"
_RIGHT = "right"


@cache
def group(name: str) -> tuple[notation.Lines, ...]:
    """Return the rows of a file: one that does not say its source has that of the one before."""
    found: list[notation.Lines] = []
    for row in notation.read(_HERE / f"{name}.rows"):
        found.append(row if row.fields or not found else row._replace(fields=found[-1].fields))
    return tuple(found)


@cache
def layouts(name: str) -> dict[str, Layout]:
    """Return the layouts of a group by name: of its file, and of its module."""
    if name == "archives":
        return {row.name: _in_archive(row.name) for row in group(name)}
    found = [notation.layout(row) for row in group(name)] if name in _groups() else []
    if (_HERE / f"{name}.py").exists():
        found += getattr(importlib.import_module(f"{__name__}.{name}"), "LAYOUTS", ())
    return {layout.name: layout for layout in found}


def _in_archive(name: str) -> Layout:
    """Return a layout as the archive that its name says: "archives: GROUP, LAYOUT, as ARCHIVE"."""
    named, _, archive = name.removeprefix("archives: ").rpartition(", as ")
    kind, _, _ = named.partition(", ")
    return archived(layouts(kind)[named.replace(", ", ": ", 1)], archive, name)


def _groups() -> list[str]:
    return sorted(path.stem for path in _HERE.glob("*.rows"))


def _modules() -> Iterator[str]:
    for module in pkgutil.iter_modules(__path__):
        yield module.name


def all_layouts() -> dict[str, Layout]:
    """Return all layouts by name."""
    found: dict[str, Layout] = {}
    for name in sorted({*_groups(), *_modules()}):
        for layout in layouts(name).values():
            if layout.name in found:
                raise ValueError(f"{layout.name} is the name of two layouts.")
            if missing := [name for name in layout.truth if _is_missing(name, layout)]:
                raise ValueError(f"{layout.name}: no file is at {missing}.")
            found[layout.name] = layout
    return found


def _is_missing(name: str, layout: Layout) -> bool:
    below = f"{layout.src}/" if layout.src else ""
    if any(isinstance(content, bytes) for content in layout.files.values()):
        return False  # it may lie in an archive
    return name not in layout.files and below + name not in layout.files


def expected() -> dict[str, str]:
    """Return the expected outcome of each layout, by name."""
    lines = OUTCOMES.read_text().splitlines()
    told = dict.fromkeys(all_layouts(), _RIGHT) | dict(line.split("\t") for line in lines)
    return told | {row.name: row.outcome for name in _groups() for row in group(name)}


def write(outcomes: dict[str, str]) -> None:
    """Replace the expected outcomes."""
    left = expected() | outcomes
    for name in _groups():
        file = _HERE / f"{name}.rows"
        file.write_text(
            re.sub(
                r"^== (.*): [^:\n]*$",
                lambda head: f"== {head[1]}: {left.pop(head[1])}",
                file.read_text("utf-8"),
                flags=re.MULTILINE,
            ),
            "utf-8",
        )
    lines = [f"{name}\t{said}\n" for name, said in sorted(left.items()) if said != _RIGHT]
    OUTCOMES.write_text("".join(lines))
