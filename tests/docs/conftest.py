"""A folder with the files that the pages' blocks of code use."""

import io
import json
import pickle
import shutil
import tarfile
from pathlib import Path

import numpy as np
import pytest
from made_images import make_image
from packing import run_pack
from PIL import Image

ROOT = Path(__file__).parents[2]

YOLO = "path: .\ntrain: images/train\nval: images/val\nnames:\n  0: cat\n  1: dog\n"
VOC = (
    "<annotation><object><name>dog</name><difficult>0</difficult><bndbox><xmin>11</xmin>"
    "<ymin>12</ymin><xmax>40</xmax><ymax>33</ymax></bndbox></object></annotation>"
)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sources of each kind, and `shards`, packed from `images`."""
    root = tmp_path_factory.mktemp("pages")

    def write(name: str, number: int, height: int = 60, width: int = 80) -> Path:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make_image(number, height, width).save(path)
        return path

    for split, count in (("train", 10), ("val", 4)):
        for number in range(count):
            for label, name in enumerate(("cat", "dog")):
                write(f"images/{split}/{name}/{split}{number}.jpg", 100 * label + number)
                write(f"tiny/{split}/{name}/{number}.png", 100 * label + number, 32, 32)
            write(f"photos/{split}/{number}.jpg", number)
            folder = "train_images" if split == "train" else "test_images"
            write(f"competition/{folder}/{split}{number}.jpg", number)
            mask = Image.new("L", (80, 60), number % 3)
            (root / "masks" / split).mkdir(parents=True, exist_ok=True)
            mask.save(root / "masks" / split / f"{number}.png")
            captioned = write(f"captioned/{split}/{number}.jpg", number)
            captioned.with_suffix(".txt").write_text(f"Waves and noise, number {number}.")
            write(f"coco/{split}2017/{number:012d}.jpg", number)
            write(f"yolo/images/{split}/{number}.jpg", number)
            write(f"voc/JPEGImages/{split}{number}.jpg", number)
            annotation = root / "voc" / "Annotations" / f"{split}{number}.xml"
            annotation.parent.mkdir(exist_ok=True)
            annotation.write_text(VOC)
            if number:
                labels = root / "yolo" / "labels" / split / f"{number}.txt"
                labels.parent.mkdir(parents=True, exist_ok=True)
                labels.write_text("1 0.3125 0.375 0.375 0.333333\n")
        path = root / "voc" / "ImageSets" / "Main" / f"{split}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{split}{number}\n" for number in range(count)))
        path = root / "coco" / "annotations" / f"instances_{split}2017.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(coco(count)))
    (root / "yolo" / "data.yaml").write_text(YOLO)
    labels = [f"train{number}.jpg,{'scab rust' if number % 2 else 'rust'}" for number in range(9)]
    rows = ["image,labels", *labels, "train9.jpg,scab", ""]
    (root / "competition" / "train.csv").write_text("\n".join(rows))
    write_cifar(root / "cifar-10-python.tar.gz")
    run_pack(root / "images", root / "shards")
    return root


def write_cifar(path: Path) -> None:
    """Write an archive in the form of CIFAR-10's, with 20 images in each batch."""
    names = [b"kind%d" % number for number in range(10)]
    meta = {b"label_names": names, b"num_vis": 3072}
    files = {"readme.html": b"<html></html>", "batches.meta": pickle.dumps(meta, 2)}
    for seed, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        pixels = np.random.default_rng(seed).integers(0, 256, (20, 3072), np.uint8)
        batch = {b"batch_label": name.encode(), b"labels": [*range(10)] * 2, b"data": pixels}
        batch[b"filenames"] = [b"image_%d.png" % number for number in range(20)]
        files[name] = pickle.dumps(batch, 2)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def coco(images: int) -> dict[str, object]:
    """Return an annotation file: a box in each image but the first."""
    box = {"bbox": [10, 12.5, 30, 20], "iscrowd": 0, "area": 600}
    return {
        "images": [
            {"id": number, "file_name": f"{number:012d}.jpg", "height": 60, "width": 80}
            for number in range(images)
        ],
        "annotations": [
            {"id": number, "image_id": number, "category_id": 18, **box}
            for number in range(1, images)
        ],
        "categories": [{"id": 17, "name": "cat"}, {"id": 18, "name": "dog"}],
    }


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the content of `prepared`, and the repository's docs and scripts."""
    place = tmp_path / "here"
    shutil.copytree(prepared / "shards", place / "shards")
    for path in (*prepared.iterdir(), ROOT / "docs", ROOT / "scripts"):
        if path.name != "shards":
            (place / path.name).symlink_to(path)
    monkeypatch.chdir(place)
    return place
