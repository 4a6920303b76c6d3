"""All layouts of this folder, and the outcomes that are expected of them.

Each ``.rows`` file has its layouts with their outcomes, `notation` says how.
"""

import re
from functools import cache
from pathlib import Path

from layouts import notation
from layouts.making import archived
from layouts.row import Layout

_HERE = Path(__file__).parent


@cache
def group(name: str) -> tuple[notation.Lines, ...]:
    """Return the rows of a file: one that does not say its source has that of the one before."""
    found: list[notation.Lines] = []
    for row in notation.read(_HERE / f"{name}.rows"):
        found.append(row if row.fields or not found else row._replace(fields=found[-1].fields))
    return tuple(found)


@cache
def layouts(name: str) -> dict[str, Layout]:
    """Return the layouts of a group by name."""
    return {row.name: _layout(name, row) for row in group(name)}


def _layout(name: str, row: notation.Lines) -> Layout:
    if name == "archives":
        return _in_archive(row.name)
    return _changed(row) if "of" in row.fields else notation.layout(row)


def _in_archive(name: str) -> Layout:
    """Return a layout as the archive that its name says: "archives: GROUP, LAYOUT, as ARCHIVE"."""
    named, _, archive = name.removeprefix("archives: ").rpartition(", as ")
    kind, _, _ = named.partition(", ")
    return archived(layouts(kind)[named.replace(", ", ": ", 1)], archive, name)


def _changed(row: notation.Lines) -> Layout:
    """Return the layout that a row changes: ``- PATH`` takes a file away, other lines add one."""
    name = row.fields["of"]
    base = layouts(name.partition(": ")[0])[name]
    lines = [line for line in row.files if not line.startswith("- ")]
    fields = {"from": base.source, "src": base.src}
    added = notation.layout(row._replace(fields=fields, files=tuple(lines)))
    removed = [line.removeprefix("- ") for line in row.files if line.startswith("- ")]
    gone = {path for path, _, _ in notation.each(removed)}
    files = {path: text for path, text in base.files.items() if _below(base, path) not in gone}
    files |= {path: text for path, text in added.files.items() if text or path not in files}
    truth = {path: fact for path, fact in base.truth.items() if path not in gone}
    return added._replace(files=files, truth=truth | dict(added.truth))


def _below(layout: Layout, path: str) -> str:
    """Return a path below what is packed; one that lies elsewhere begins with a slash."""
    top = f"{layout.src}/" if layout.src else ""
    return path.removeprefix(top) if path.startswith(top) else f"/{path}"


def _groups() -> list[str]:
    return sorted(path.stem for path in _HERE.glob("*.rows"))


def all_layouts() -> dict[str, Layout]:
    """Return all layouts by name."""
    found: dict[str, Layout] = {}
    for name in _groups():
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
    return {row.name: row.outcome for name in _groups() for row in group(name)}


def write(outcomes: dict[str, str]) -> None:
    """Replace the expected outcomes."""
    left = expected() | outcomes
    for name in _groups():
        file = _HERE / f"{name}.rows"
        file.write_text(
            re.sub(
                r"^== (.*): [^:\n]*$",
                lambda head: f"== {head[1]}: {left[head[1]]}",
                file.read_text("utf-8"),
                flags=re.MULTILINE,
            ),
            "utf-8",
        )
