"""A folder with the files that the pages' blocks of code use."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from layouts.making import tar
from made_images import encode, make_image
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

    def write(name: str, content: bytes | str) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    for split, count in (("train", 10), ("val", 4)):
        for number in range(count):
            for label, name in enumerate(("cat", "dog")):
                seed = 100 * label + number
                photo, tiny = (
                    encode(make_image(seed), "JPEG"),
                    encode(make_image(seed, 32, 32), "PNG"),
                )
                write(f"images/{split}/{name}/{split}{number}.jpg", photo)
                write(f"tiny/{split}/{name}/{number}.png", tiny)
            photo = encode(make_image(number), "JPEG")
            write(f"photos/{split}/{number}.jpg", photo)
            folder = "train_images" if split == "train" else "test_images"
            write(f"competition/{folder}/{split}{number}.jpg", photo)
            mask = encode(Image.new("L", (80, 60), number % 3), "PNG")
            write(f"masks/{split}/{number}.png", mask)
            write(f"captioned/{split}/{number}.jpg", photo)
            write(f"captioned/{split}/{number}.txt", f"Waves and noise, number {number}.")
            write(f"coco/{split}2017/{number:012d}.jpg", photo)
            write(f"yolo/images/{split}/{number}.jpg", photo)
            write(f"voc/JPEGImages/{split}{number}.jpg", photo)
            write(f"voc/Annotations/{split}{number}.xml", VOC)
            if number:
                write(f"yolo/labels/{split}/{number}.txt", "1 0.3125 0.375 0.375 0.333333\n")
        names = "".join(f"{split}{number}\n" for number in range(count))
        write(f"voc/ImageSets/Main/{split}.txt", names)
        write(f"coco/annotations/instances_{split}2017.json", json.dumps(coco(count)))
    write("yolo/data.yaml", YOLO)
    labels = [f"train{number}.jpg,{'scab rust' if number % 2 else 'rust'}" for number in range(9)]
    write("competition/train.csv", "\n".join(["image,labels", *labels, "train9.jpg,scab", ""]))
    write_cifar(root / "cifar-10-python.tar.gz")
    run_pack(root / "images", root / "shards")
    return root


def write_cifar(path: Path) -> None:
    """Write an archive in the form of CIFAR-10's, with 20 images in each batch."""
    names = [b"kind%d" % number for number in range(10)]
    files = {"readme.html": b"<html></html>"}
    files["batches.meta"] = pickle.dumps({b"label_names": names, b"num_vis": 3072}, 2)
    for seed, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        pixels = np.random.default_rng(seed).integers(0, 256, (20, 3072), np.uint8)
        batch = {b"batch_label": name.encode(), b"labels": [*range(10)] * 2, b"data": pixels}
        batch[b"filenames"] = [b"image_%d.png" % number for number in range(20)]
        files[name] = pickle.dumps(batch, 2)
    folder = {f"cifar-10-batches-py/{name}": content for name, content in files.items()}
    path.write_bytes(tar(folder, "gz"))


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
