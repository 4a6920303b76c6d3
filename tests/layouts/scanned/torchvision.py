"""The roots that torchvision.datasets downloads into: pytorch.org/vision/stable/datasets.html."""

import gzip
import io
import pickle
import struct

import numpy as np

from layouts.archives import tar
from layouts.row import Read, Row


def idx(values: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]") -> bytes:
    """An IDX file of bytes."""
    return struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape) + values.tobytes()


def _npz(**arrays: "np.ndarray") -> bytes:
    held = io.BytesIO()
    np.savez(held, **arrays)
    return held.getvalue()


def mnist(folder: str) -> dict[str, bytes]:
    """The files of MNIST in a folder, each unpacked beside its archive."""
    found = {}
    for split, rows in (("train", 2), ("t10k", 1)):
        images, labels = np.zeros((rows, 28, 28), np.uint8), np.arange(rows, dtype=np.uint8)
        for name, values in (("images-idx3", images), ("labels-idx1", labels)):
            path = f"{folder}/{split}-{name}-ubyte"
            found |= {path: idx(values), f"{path}.gz": gzip.compress(idx(values), mtime=0)}
    return found


def cifar(folder: str) -> dict[str, bytes]:
    """The files of CIFAR-10 in a folder."""
    rows = pickle.dumps({b"data": np.zeros((1, 3072), np.uint8), b"labels": [1]}, 4)
    names = (*(f"data_batch_{number}" for number in range(1, 6)), "test_batch")
    files = {f"{folder}/{name}": rows for name in names}
    meta = pickle.dumps({b"label_names": [b"cat", b"dog"]}, 4)
    return files | {f"{folder}/batches.meta": meta, f"{folder}/readme.html": b"x"}


DIGITS = Read(
    {"train/000000": "0", "train/000001": "1", "test/000000": "0"},
    {"train/000000": "train", "train/000001": "train", "test/000000": "test"},
    ignored=frozenset(
        f"{split}-{name}-ubyte.gz"
        for split in ("train", "t10k")
        for name in ("images-idx3", "labels-idx1")
    ),
    what="IDX",
)
CATS = Read(
    {f"data_batch_{n}/00000": "dog" for n in range(1, 6)} | {"test_batch/00000": "dog"},
    {f"data_batch_{n}/00000": "train" for n in range(1, 6)} | {"test_batch/00000": "test"},
    ignored=frozenset({"readme.html"}),
    classes=("cat", "dog"),
    what="CIFAR",
)

ROWS = [
    Row("MNIST(root)", "", DIGITS, contents=mnist("MNIST/raw")),
    Row(
        "MNIST(root) of an older torchvision",
        "MNIST/processed/training.pt MNIST/processed/test.pt",
        DIGITS._replace(ignored=DIGITS.ignored | {"../processed/"}),
        contents=mnist("MNIST/raw"),
    ),
    Row(
        "MedMNIST(root)",
        "",
        Read({f"{n:06}": str(n) for n in range(2)}, what="arrays"),
        contents={"pathmnist.npz": _npz(images=np.zeros((2, 4, 5), np.uint8), labels=np.arange(2))},
    ),
    Row("FashionMNIST(root)", "", DIGITS, contents=mnist("FashionMNIST/raw")),
    Row(
        "CIFAR10(root), beside its archive",
        "",
        CATS._replace(ignored=CATS.ignored | {"../cifar-10-python.tar.gz"}),
        contents=cifar("cifar-10-batches-py")
        | {"cifar-10-python.tar.gz": tar(cifar("cifar-10-batches-py"), "w:gz")},
    ),
    Row(
        "CIFAR-10's archive",
        "",
        CATS,
        contents={"c.tar.gz": tar(cifar("cifar-10-batches-py"), "w:gz")},
        src="c.tar.gz",
    ),
    Row(
        "several datasets in one root",
        "",
        r"holds MNIST \(IDX.*cifar-10-batches-py \(CIFAR.*packer pack \S*/MNIST DST",
        contents=mnist("MNIST/raw") | cifar("cifar-10-batches-py"),
    ),
    Row(
        "Food101(root), beside its archive",
        "food-101/images/waffles/1.jpg",
        Read(
            {"images/waffles/1": "waffles"},
            {"images/waffles/1": "train"},
            ignored=frozenset({"../food-101.tar.gz"}),
        ),
        contents={
            "food-101/meta/classes.txt": "waffles\n",
            "food-101/meta/train.txt": "waffles/1\n",
            "food-101/meta/test.txt": "",
            "food-101.tar.gz": tar({"food-101/images/waffles/1.jpg": ""}, "w:gz"),
        },
    ),
    Row(
        "an archive whose files do not lie beside it",
        "images/cat/1.jpg images/dog/2.jpg",
        Read({"cat/1": "cat", "dog/2": "dog"}, rejected=frozenset({"../labels.tar.gz"})),
        contents={"labels.tar.gz": tar({"images/cat/1.txt": "x"}, "w:gz")},
    ),
]
