"""Short forms of `Truth`."""

from layouts.row import Truth

OR = " || "  # between texts of `holds`, and names in `labels`, of which one is enough


def labelled(*names: str, split: str = "", holds: tuple[str, ...] = ()) -> Truth:
    """Of an image with one class, which may have any of these names; "": or none."""
    return Truth(frozenset(names), split=split, holds=holds)


def plain(split: str = "", *holds: str, files: tuple[str, ...] = ()) -> Truth:
    """Of an image without classes, whose members hold these texts and files."""
    return Truth(split=split, holds=holds, files=files)


def box(x: float, y: float, width: float, height: float) -> str:
    """A box in pixels: where a dataset declares boxes, its image must have this one."""
    return f"box {x:g} {y:g} {width:g} {height:g}"
