"""All layouts of this folder, and the outcomes that are expected of them."""

import importlib
import pkgutil
from pathlib import Path

import published
from published.row import Layout

OUTCOMES = Path(__file__).with_name("outcomes.txt")


def all_layouts() -> dict[str, Layout]:
    """Return the layouts of each module that has `LAYOUTS`, by name."""
    found: dict[str, Layout] = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(published.__path__)):
        if module.startswith(("test_", "__main__")):
            continue
        for layout in getattr(importlib.import_module(f"published.{module}"), "LAYOUTS", ()):
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
    if not OUTCOMES.exists():
        return {}
    lines = OUTCOMES.read_text().splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


def write(outcomes: dict[str, str]) -> None:
    """Replace the expected outcomes."""
    lines = [f"{name}\t{outcome}\n" for name, outcome in sorted(outcomes.items())]
    OUTCOMES.write_text("".join(lines))
