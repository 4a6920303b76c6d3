"""Images, trees and archives for the cases: the same bytes on every machine and every day."""

import os
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from layouts import making
from made_images import encode, make_image
from PIL import Image
from png_chunks import SIGNATURE, chunk

Files = Mapping[str, bytes]

ARCHIVES = ("zip", "tar", "tar.gz")
WRITTEN = 1_600_000_000  # seconds: the time at which every source file was written
_GREY = bytes.fromhex(  # a JPEG of 24 x 16 pixels
    "ffd8ffe000104a46494600010100000100010000ffdb0043000d090a0b0a080d0b0a0b0e0e0d0f1320151312"
    "1213271c1e17202e2931302e292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a5152"
    "4fffc0000b080010001801011100ffc400160001010100000000000000000000000000050306ffc400181000"
    "0203000000000000000000000000000004052231ffda0008010100003f00c72b1f9519563f2a32ac7e5492b1"
    "f9518563f2a32ac7e54fffd9"
)


def jpeg(number: int) -> bytes:
    step = _GREY.index(b"\xff\xdb") + 5  # of the DC coefficients
    changed = _GREY[:step] + bytes([1 + number % 60]) + _GREY[step + 1 :]
    comment = b"\xff\xfe\0\x06%04d" % number
    return changed[:2] + comment + changed[2:]


def png(number: int, height: int = 16, width: int = 24) -> bytes:
    """Return a grey PNG whose rows are stored without compression."""
    row = bytes((number * 29 + column * 5) % 256 for column in range(width))
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 0, 0, 0, 0])
    stored = zlib.compress((b"\0" + row) * height, level=0)
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", stored) + chunk(b"IEND", b"")


def picture(name: str, number: int) -> bytes:
    """Return an image of 24 x 16 pixels in the format that the name's extension stands for."""
    ext = name.rpartition(".")[2].lower()
    if ext == "png":
        return png(number)
    if ext in ("jpg", "jpeg"):
        return jpeg(number)
    kind = Image.registered_extensions()[f".{ext}"]
    return encode(Image.new("RGB", (24, 16), (number * 40 % 256, 90, 30)), kind)


def images(names: str, first: int = 0) -> dict[str, bytes]:
    """Return an image for each name; no two are alike."""
    return {name: picture(name, first + number) for number, name in enumerate(names.split())}


def photos() -> dict[str, bytes]:
    """Return class folders of larger images, as the options of transcoding need them."""
    found = {}
    for number in range(12):
        made = make_image(number, 50 + 7 * (number % 5), 64 + 9 * (number % 4))
        name = f"class{number % 3}/image{number:03d}"
        if number % 4 == 3:
            found[f"{name}.png"] = encode(made, "PNG")
        else:
            found[f"{name}.jpg"] = encode(made, "JPEG", quality=90)
        if number % 5 == 0:
            found[f"{name}.json"] = b'{"number": %d}' % number
    found["class0/large.jpg"] = encode(make_image(20, 420, 360), "JPEG", quality=90)
    found["class0/large.mask.png"] = encode(make_image(21, 420, 360, "L"), "PNG")
    found["class1/large.png"] = encode(make_image(22, 200, 300), "PNG")
    found["class1/progressive.jpg"] = encode(make_image(23, 200, 300), "JPEG", progressive=True)
    found["class2/animated.gif"] = encode(make_image(24).quantize(64), "GIF")
    found["class2/again.jpg"] = found["class0/image000.jpg"]
    found["class2/damaged.jpg"] = found["class0/image000.jpg"][:300]
    found["class2/notes.txt"] = b"notes"
    return found


def npy(seed: int, *shape: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def write(root: Path, files: Files) -> Path:
    """Write a tree with fixed times; return its root."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return dated(root)


def dated(root: Path) -> Path:
    """Give everything below a folder, and the folder, its fixed time; return the folder."""
    for path in (root, *root.rglob("*")):
        os.utime(path, (WRITTEN, WRITTEN))
    return root


def archived(files: Files, kind: str) -> Files:
    """Return an archive of a tree; "": the tree."""
    if not kind:
        return files
    data = making.zipped(files) if kind == "zip" else making.tar(files, kind.removeprefix("tar."))
    return {f"src.{kind}": data}
