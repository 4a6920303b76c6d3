"""The rows of tests/layouts, as folders, zips, tars and in a store; and the odd images."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from layouts import ROWS
from layouts.row import Row
from made_images import encode, make_image
from odd_images.test_jpegs import odd_jpegs
from odd_images.test_members import odd_members
from odd_images.test_others import odd_files

import packer
from freezing.material import ARCHIVES, Files, picture, write
from freezing.record import KEPT, USUAL, VERBATIM, Case

IMAGE = re.compile(r"\.(jpe?g|png|gif|bmp|webp|tiff?|ppm)$", re.IGNORECASE)


class Kind(NamedTuple):
    """A kind of source.

    Attributes:
        files: its tree.
        src: what is packed, below the tree.
        options: arguments of `packer.pack`; `root` is relative to the folder in which `src` lies,
            the folders of `pairs` to `src` itself.
    """

    files: Callable[[], Files]
    src: str = ""
    options: Mapping[str, Any] = {}

    @property
    def is_local(self) -> bool:
        """Whether options name folders of this machine."""
        return bool(self.options.keys() & {"root", "pairs"})


def pack(kind: Kind, archive: str, in_store: bool, tmp: Path) -> packer.PackReport:
    """Pack a source at its path or its URL, or an archive of its tree."""
    files = {f"src.{archive}": ARCHIVES[archive](kind.files())} if archive else kind.files()
    src = write(tmp / "src", files) / (f"src.{archive}" if archive else kind.src)
    given = VERBATIM | kind.options
    if "root" in given:
        given["root"] = src.parent / given["root"]
    if "pairs" in given:
        given["pairs"] = {name: src / path for name, path in given["pairs"].items()}
    if in_store:
        return packer.pack(src.as_uri(), tmp / "dst", **given, scratch=tmp / "scratch")
    return packer.pack(src, tmp / "dst", **given)


def files_of(row: Row) -> Files:
    found = {
        name: picture(name, number) if IMAGE.search(name) else b"{}"
        for number, name in enumerate(row.files.split())
    }
    texts = {n: c.encode() if isinstance(c, str) else c for n, c in row.contents.items()}
    return found | texts


def pack_odd(make: Callable[[], Files], options: Mapping[str, Any], tmp: Path) -> packer.PackReport:
    """Pack odd files in their order, a shard for each."""
    src = write(tmp / "src", make())
    return packer.pack(src, tmp / "dst", **USUAL, shuffle=False, shard_samples=1, **options)


def _numbered(odd: Callable[..., Mapping[str, bytes | None]]) -> Files:
    made = odd(make_image, encode).values()  # None where a program is missing
    return {f"{number:03d}.bin": data for number, data in enumerate(made) if data is not None}


def _members() -> Files:
    found: dict[str, bytes] = {}
    for number, (image, ext, data) in enumerate(odd_members(make_image, encode).values()):
        found |= {f"{number:03d}.jpg": image, f"{number:03d}.{ext}": data}
    return found


ODD = {"jpegs": partial(_numbered, odd_jpegs), "others": partial(_numbered, odd_files)}
HOW: Mapping[str, Mapping[str, Any]] = {
    "": {},
    " verbatim": KEPT,
    " shrunk": {"max_side": 40, "quality": 90},
    " raw": {"raw": (32, 32)},
}


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for row in ROWS:
        depth = {"class_depth": "all"} if row.options.get("class_depth") == -1 else {}
        kind = Kind(partial(files_of, row), row.src, {**row.options, **depth})
        found[f"row/{row.name}"] = partial(pack, kind, "", False)
        if not row.src and not kind.is_local:  # otherwise the archive is another source
            for ext in ("zip", "tar"):
                found[f"row in a {ext}/{row.name}"] = partial(pack, kind, ext, False)
        if not kind.is_local:
            found[f"row in a store/{row.name}"] = partial(pack, kind, "", True)
    for name, make in {**ODD, "members": _members}.items():
        found |= {f"odd/{name}{how}": partial(pack_odd, make, given) for how, given in HOW.items()}
    return found
