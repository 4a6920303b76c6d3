"""Sorts ImageNet's validation images, which are published without classes, into class folders.

Usage: imagenet_val.py ILSVRC2012_img_val.tar LABELS OUT.tar

LABELS is ILSVRC2012_devkit_t12.tar.gz as published, or Kaggle's LOC_val_solution.csv. OUT.tar has
the images as WNID/NAME.JPEG and the times of the first tar. Memory: one image.
"""

import csv
import os
import struct
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Element = tuple[int, bytes]  # a type and its data

_COMPRESSED, _MATRIX = 15, 14
_STRUCT, _CHAR = 2, 4
_NUMBERS = {1: "b", 2: "B", 3: "h", 4: "H", 5: "i", 6: "I", 7: "f", 9: "d", 12: "q", 13: "Q"}
_TEXTS = {1: "latin1", 2: "latin1", 4: "utf-16-le", 16: "utf-8", 17: "utf-16-le"}


def elements(data: bytes) -> Iterator[Element]:
    """The elements of a MAT file, level 5 (MathWorks, MAT-File Format, section 1), unpacked."""
    position = 0
    while position + 8 <= len(data):
        kind, size = struct.unpack_from("<II", data, position)
        if kind >> 16:  # small: size and type share four bytes, and the data follows in four
            yield kind & 0xFFFF, data[position + 4 : position + 4 + (kind >> 16)]
            position += 8
            continue
        content = data[position + 8 : position + 8 + size]
        position += 8 + size
        if kind == _COMPRESSED:
            yield from elements(zlib.decompress(content))
        else:
            position += -size % 8
            yield kind, content


def value(matrix: bytes) -> Any:
    """What a matrix holds: a list of dictionaries for a struct, a text, or a list of numbers."""
    flags, _, _, *rest = elements(matrix)
    kind = flags[1][0]
    if kind == _STRUCT:
        width = struct.unpack("<i", rest[0][1])[0]
        text = rest[1][1]
        names = [
            text[begin : begin + width].rstrip(b"\0").decode()
            for begin in range(0, len(text), width)
        ]
        values = [content for _, content in rest[2:]]
        return [
            dict(zip(names, values[begin : begin + len(names)], strict=True))
            for begin in range(0, len(values), len(names))
        ]
    if kind == _CHAR:
        return rest[0][1].decode(_TEXTS[rest[0][0]]) if rest else ""
    kind, numbers = rest[0]
    return [number for (number,) in struct.iter_unpack(f"<{_NUMBERS[kind]}", numbers)]


def synsets(mat: bytes) -> dict[int, str]:
    """ILSVRC2012_ID -> WNID, from meta.mat."""
    matrices = [content for kind, content in elements(mat[128:]) if kind == _MATRIX]
    found = {}
    for row in value(matrices[0]):
        (number,) = value(row["ILSVRC2012_ID"])
        found[int(number)] = value(row["WNID"])
    return found


def labels_of_devkit(path: Path) -> dict[str, str]:
    """Name of each image -> WNID, from the development kit."""
    with tarfile.open(path) as archive:
        files = {os.path.basename(member.name): member for member in archive}

        def read(name: str) -> bytes:
            file = archive.extractfile(files[name])
            assert file is not None
            return file.read()

        classes = synsets(read("meta.mat"))
        numbers = read("ILSVRC2012_validation_ground_truth.txt").split()
    return {
        f"ILSVRC2012_val_{image:08d}": classes[int(number)]
        for image, number in enumerate(numbers, 1)
    }


def labels_of_csv(path: Path) -> dict[str, str]:
    """Name of each image -> WNID, from Kaggle's list of boxes."""
    with open(path, newline="") as file:
        return {row["ImageId"]: row["PredictionString"].split()[0] for row in csv.DictReader(file)}


def sort_images(images: Path, labels: dict[str, str], out: Path) -> None:
    """Write the tar `out`; it has its name only when it is whole."""
    part = out.with_name(f"{out.name}.part")
    seen = set()
    with tarfile.open(images) as given, tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as new:
        while (member := given.next()) is not None:
            given.members.clear()  # type: ignore[attr-defined]  # tarfile keeps them all
            if member.isdir():
                continue
            name = os.path.basename(member.name)
            stem = os.path.splitext(name)[0]
            if stem not in labels:
                raise SystemExit(f"{images}: {member.name} has no class in the list.")
            seen.add(stem)
            info = tarfile.TarInfo(f"{labels[stem]}/{name}")
            info.size = member.size
            new.addfile(info, given.extractfile(member))
    if missing := sorted(labels.keys() - seen):
        part.unlink()
        raise SystemExit(f"{images} lacks {len(missing)} images, {missing[0]} is the first.")
    stamp = images.stat().st_mtime_ns
    os.utime(part, ns=(stamp, stamp))
    os.replace(part, out)


def main() -> None:
    """The command line."""
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    images, labels, out = map(Path, sys.argv[1:])
    read = labels_of_csv if labels.suffix == ".csv" else labels_of_devkit
    try:
        sort_images(images, read(labels), out)
    except (OSError, KeyError, ValueError, IndexError, tarfile.TarError, zlib.error) as error:
        raise SystemExit(f"{labels} or {images} is damaged: {error!r}") from error


if __name__ == "__main__":
    main()
