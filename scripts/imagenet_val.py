"""Sorts ImageNet's validation images, which are published without classes, into class folders.

Usage: imagenet_val.py ILSVRC2012_img_val.tar LABELS OUT.tar

LABELS is ILSVRC2012_devkit_t12.tar.gz as published, or Kaggle's LOC_val_solution.csv. OUT.tar has
the images as WNID/NAME.JPEG and the times of the first tar. Memory: one image.
"""

import csv
import os
import sys
import tarfile
import zlib
from pathlib import Path

from packer.errors import UnusableInput
from packer.sources.scanners.arrays.matlab import load_matlab


def labels_of_devkit(path: Path) -> dict[str, str]:
    with tarfile.open(path) as archive:
        files = {Path(one.name).name: archive.extractfile(one) for one in archive if one.isfile()}
        synsets = files["meta.mat"].read()
        truth = files["ILSVRC2012_validation_ground_truth.txt"].read().split()
    found = load_matlab(synsets, f"{path}: meta.mat")["synsets"]
    classes = {int(one["ILSVRC2012_ID"].flat[0]): str(one["WNID"]) for one in found}
    return {f"ILSVRC2012_val_{n:08d}": classes[int(label)] for n, label in enumerate(truth, 1)}


def labels_of_csv(path: Path) -> dict[str, str]:
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


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    images, labels, out = map(Path, sys.argv[1:])
    read = labels_of_csv if labels.suffix == ".csv" else labels_of_devkit
    try:
        sort_images(images, read(labels), out)
    except (OSError, LookupError, ValueError, UnusableInput, tarfile.TarError, zlib.error) as error:
        raise SystemExit(f"{labels} or {images} is damaged: {error!r}") from error
