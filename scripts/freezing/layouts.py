"""The rows of tests/layouts: packed as a person types it; scanned, in archives and in a store too.

And the odd images.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from layouts.images import is_image
from layouts.outcome import inside, lay_out
from layouts.packed import all_layouts
from layouts.row import Layout, Row
from layouts.scanned import ROWS
from odd_images.jpegs import odd_jpegs
from odd_images.others import odd_files
from odd_images.test_members import odd_members

import packer
from freezing.material import ARCHIVES, archived, dated, picture, write
from freezing.record import KEPT, USUAL, VERBATIM, Case
from freezing.runs import VERBATIM_COMMAND, command


def is_local(row: Row) -> bool:
    """Return whether options name folders of this machine."""
    return bool(row.options.keys() & {"root", "pairs"})


def pack(row: Row, archive: str, in_store: bool, tmp: Path) -> packer.PackReport:
    """Pack a source at its path or its URL, or an archive of its tree."""
    names = enumerate(row.files.split())
    files = {name: picture(name, n) if is_image(name) else b"{}" for n, name in names}
    files |= {n: c.encode() if isinstance(c, str) else c for n, c in row.contents.items()}
    src = write(tmp / "src", archived(files, archive)) / (f"src.{archive}" if archive else row.src)
    given = VERBATIM | row.options
    if given.get("class_depth") == -1:
        given["class_depth"] = "all"
    if "root" in given:
        given["root"] = src.parent / given["root"]
    if "pairs" in given:
        given["pairs"] = {name: src / path for name, path in given["pairs"].items()}
    if in_store:
        return packer.pack(src.as_uri(), tmp / "dst", **given, scratch=tmp / "scratch")
    return packer.pack(src, tmp / "dst", **given)


def pack_published(layout: Layout, tmp: Path) -> dict[str, Any]:
    lay_out(layout, tmp / "src")
    src = dated(tmp / "src") / layout.src
    with inside(tmp / "src"):  # options may name folders below it
        return command("pack", src, tmp / "dst", *VERBATIM_COMMAND, *layout.options)


def pack_odd(kind: str, options: Mapping[str, Any], tmp: Path) -> packer.PackReport:
    """Pack odd files in their order, a shard for each."""
    files: dict[str, bytes] = {}
    for number, made in enumerate(ODD[kind]().values()):
        if isinstance(made, tuple):
            image, ext, member = made
            files |= {f"{number:03d}.jpg": image, f"{number:03d}.{ext}": member}
        elif made is not None:  # as it is where a program is missing
            files[f"{number:03d}.bin"] = made
    src = write(tmp / "src", files)
    return packer.pack(src, tmp / "dst", **USUAL, shuffle=False, shard_samples=1, **options)


ODD: dict[str, Callable[[], Any]] = {
    "jpegs": odd_jpegs,
    "others": odd_files,
    "members": odd_members,
}
HOW: Mapping[str, Mapping[str, Any]] = {
    "": {},
    " verbatim": KEPT,
    " shrunk": {"max_side": 40, "quality": 90},
    " raw": {"raw": (32, 32)},
}


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {
        f"published/{name}": partial(pack_published, layout)
        for name, layout in all_layouts().items()
    }
    for row in ROWS:
        found[f"row/{row.name}"] = partial(pack, row, "", False)
        if not row.src and not is_local(row):  # otherwise the archive is another source
            for ext in ARCHIVES:
                found[f"row in a {ext}/{row.name}"] = partial(pack, row, ext, False)
        if not is_local(row):
            found[f"row in a store/{row.name}"] = partial(pack, row, "", True)
    for name in ODD:
        found |= {f"odd/{name}{how}": partial(pack_odd, name, given) for how, given in HOW.items()}
    return found
