"""The rows of tests/layouts, as folders, zips, tars and in a store; and the odd images."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from layouts import ROWS
from layouts.row import Row
from made_images import encode, make_image
from odd_images.test_jpegs import odd_jpegs
from odd_images.test_members import odd_members
from odd_images.test_others import odd_files

import packer
from freezing.material import picture, tar_of, write, zip_of
from freezing.record import Case, Record, record, without_fingerprint

IMAGE = re.compile(r"\.(jpe?g|png|gif|bmp|webp|tiff?|ppm)$", re.IGNORECASE)
USUAL: dict[str, Any] = {"jobs": 1, "progress": False, "on_error": "skip"}
VERBATIM: dict[str, Any] = {**USUAL, "jpeg": "verbatim", "png": "verbatim"}


def files_of(row: Row) -> dict[str, bytes]:
    """Return the files of a layout by their paths."""
    found = {
        name: picture(name, number) if IMAGE.search(name) else b"{}"
        for number, name in enumerate(row.files.split())
    }
    texts = {n: c.encode() if isinstance(c, str) else c for n, c in row.contents.items()}
    return found | texts


def arguments(options: Mapping[str, Any], src: Path) -> dict[str, Any]:
    """Return the arguments of `packer.pack` for the options of a row, whose paths are relative."""
    found = dict(options)
    if found.get("class_depth") == -1:
        found["class_depth"] = "all"
    if "root" in found:
        found["root"] = src.parent / found["root"]
    if "pairs" in found:
        found["pairs"] = {name: src / path for name, path in found["pairs"].items()}
    return found


def pack_row(row: Row, tmp: Path) -> Record:
    """Pack a row from its folder or file."""
    src = write(tmp / "src", files_of(row)) / row.src
    options = VERBATIM | arguments(row.options, src)
    return record(tmp / "dst", lambda: packer.pack(src, tmp / "dst", **options))


def pack_archived(archive: Callable[[Any], bytes], ext: str, row: Row, tmp: Path) -> Record:
    """Pack a row from an archive of its folder."""
    name = f"src.{ext}"
    src = write(tmp / "archives", {name: archive(files_of(row))}) / name
    options = VERBATIM | arguments(row.options, src)
    return record(tmp / "dst", lambda: packer.pack(src, tmp / "dst", **options))


def pack_stored(row: Row, tmp: Path) -> Record:
    """Pack a row from its URL."""
    url = (write(tmp / "src", files_of(row)) / row.src).as_uri()
    options = VERBATIM | {"scratch": tmp / "scratch"} | arguments(row.options, tmp)
    found = record(tmp / "dst", lambda: packer.pack(url, tmp / "dst", **options))
    return without_fingerprint(found)


def pack_odd(
    make: Callable[[], Mapping[str, bytes]], options: Mapping[str, Any], tmp: Path
) -> Record:
    """Pack odd files in their order, a shard for each."""
    src = write(tmp / "src", make())
    given = {**USUAL, "shuffle": False, "shard_samples": 1, **options}
    return record(tmp / "dst", lambda: packer.pack(src, tmp / "dst", **given))


def _jpegs() -> dict[str, bytes]:
    made = odd_jpegs(make_image, encode).values()  # None where a program is missing
    return {f"{number:03d}.bin": data for number, data in enumerate(made) if data is not None}


def _others() -> dict[str, bytes]:
    made = odd_files(make_image, encode).values()
    return {f"{number:03d}.bin": data for number, data in enumerate(made)}


def _members() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for number, (image, ext, data) in enumerate(odd_members(make_image, encode).values()):
        found |= {f"{number:03d}.jpg": image, f"{number:03d}.{ext}": data}
    return found


def cases() -> dict[str, Case]:
    """Return the cases by name."""
    found: dict[str, Case] = {}
    for row in ROWS:
        found[f"row/{row.name}"] = partial(pack_row, row)
        relative = row.options.keys() & {"root", "pairs"}
        if not row.src and not relative:  # otherwise the archive is another source
            found[f"row in a zip/{row.name}"] = partial(pack_archived, zip_of, "zip", row)
            found[f"row in a tar/{row.name}"] = partial(pack_archived, tar_of, "tar", row)
        if not relative:  # which name folders of this machine
            found[f"row in a store/{row.name}"] = partial(pack_stored, row)
    kept: dict[str, Any] = {"jpeg": "verbatim", "png": "verbatim"}
    small: dict[str, Any] = {"max_side": 40, "quality": 90}
    for name, make in {"jpegs": _jpegs, "others": _others, "members": _members}.items():
        for how, options in {"": {}, " verbatim": kept, " shrunk": small}.items():
            found[f"odd/{name}{how}"] = partial(pack_odd, make, options)
        found[f"odd/{name} raw"] = partial(pack_odd, make, {"raw": (32, 32)})
    return found
