import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from packer.errors import UnusableInput
from packer.sources.scanners.arrays.named import MAX_BYTES

Write = Callable[..., Path]
RunPack = Callable[..., Any]
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (4, 20, 30, 3), np.uint8)
LABELS = np.array([[2], [0], [1], [2]])


def npy(array: object) -> bytes:
    held = io.BytesIO()
    np.save(held, np.asarray(array))
    return held.getvalue()


def npz(**arrays: object) -> bytes:
    held = io.BytesIO()
    np.savez_compressed(held, **{name: np.asarray(array) for name, array in arrays.items()})
    return held.getvalue()


def mat(**arrays: Any) -> bytes:
    held = io.BytesIO()
    pytest.importorskip("scipy.io").savemat(held, arrays, do_compression=True)
    return held.getvalue()


def stl(images: np.ndarray) -> bytes:
    return images.transpose(0, 3, 2, 1).tobytes()


STL = RNG.integers(0, 256, (3, 96, 96, 3), np.uint8)
SVHN = RNG.integers(0, 256, (4, 32, 32, 3), np.uint8)
FOLDERS = {
    "medmnist": lambda: ({"m.npz": npz(train_images=PIXELS, train_labels=LABELS)}, PIXELS, LABELS),
    "in Fortran's order": lambda: (
        {"x.npy": npy(np.asfortranarray(PIXELS)), "y.npy": npy(LABELS.ravel())},
        PIXELS,
        LABELS,
    ),
    "gray": lambda: (
        {"train-imgs.npz": npz(arr_0=PIXELS[..., 0]), "train-labels.npz": npz(arr_0=LABELS)},
        PIXELS[..., :1],
        LABELS,
    ),
    "svhn": lambda: (
        {"train_32x32.mat": mat(X=np.moveaxis(SVHN, 0, -1), y=np.array([[10], [1], [9], [3]]))},
        SVHN,
        [0, 1, 9, 3],
    ),
    "stl10": lambda: (
        {
            "train_X.bin": stl(STL),
            "train_y.bin": b"\2\3\1",
            "class_names.txt": b"airplane\nbird\ncar\n",
        },
        STL,
        [1, 2, 0],
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_pixel_and_label_comes_back(
    name: str,
    tmp_path: Path,
    write_files: Write,
    run_pack: RunPack,
    samples_of: Callable[[Path], list[Any]],
) -> None:
    files, images, labels = FOLDERS[name]()
    run_pack(write_files(tmp_path / "src", files), tmp_path / "dst")
    samples = sorted(samples_of(tmp_path / "dst"), key=lambda sample: sample.key)
    assert [sample.label for sample in samples] == np.ravel(labels).tolist()
    for sample, image in zip(samples, images, strict=True):
        assert sample.kind == "raw"
        assert sample.data == image.tobytes()


def lying(array: bytes, shape: str) -> bytes:
    """Return a .npy that says another shape, in a header of the same length."""
    size = struct.unpack("<H", array[8:10])[0]
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".ljust(size)
    return array[:10] + header.encode() + array[10 + size :]


SOUND = npy(PIXELS)
WRONG = {
    "cut short": (SOUND[:-1], "it says that it holds"),
    "longer": (SOUND + b"\0", "it says that it holds"),
    "a shape of no end": (lying(SOUND, f"({2**40}, 20, 30, 3)"), "it says that it holds"),
    "fewer": (lying(SOUND, "(3, 20, 30, 3)"), "it says that it holds"),
    "a shape that does not end": (lying(SOUND, "(((("), "which numpy reads"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_array_that_is_not_what_it_says_is_refused(
    name: str, tmp_path: Path, write_files: Write, run_pack: RunPack
) -> None:
    data, reason = WRONG[name]
    src = write_files(tmp_path / "src", {"x.npy": data, "y.npy": npy(LABELS)})
    with pytest.raises(UnusableInput, match=reason) as refused:
        run_pack(src, tmp_path / "dst")
    assert "x.npy" in str(refused.value)


def test_an_array_that_would_fill_the_memory_is_not_read(
    tmp_path: Path, write_files: Write, run_pack: RunPack
) -> None:
    head = lying(SOUND, f"({MAX_BYTES // 600}, 20, 30, 3)")[: len(SOUND) - PIXELS.size]
    src = write_files(tmp_path / "src", {"x.npy": head, "y.npy": npy(LABELS)})
    with (src / "x.npy").open("r+b") as file:
        file.truncate(len(head) + MAX_BYTES // 600 * 1800)  # a hole, which takes no space
    with pytest.raises(UnusableInput, match=f"at most {MAX_BYTES} are read"):
        run_pack(src, tmp_path / "dst")


def test_an_archive_that_says_more_than_it_could_hold_is_refused(
    tmp_path: Path, write_files: Write, run_pack: RunPack
) -> None:
    src = write_files(tmp_path / "src", {"train.npz": npz(x=PIXELS, y=LABELS)})
    data = bytearray((src / "train.npz").read_bytes())
    (at,) = (data.rfind(b"PK\1\2", 0, data.rfind(b"y.npy")),)
    with zipfile.ZipFile(src / "train.npz") as archive:
        compressed = archive.getinfo("y.npy").compress_size
    data[at + 24 : at + 28] = struct.pack("<I", compressed * 2000)
    (src / "train.npz").write_bytes(data)
    with pytest.raises(UnusableInput, match=r"train.npz: y .*cannot unpack"):
        run_pack(src, tmp_path / "dst")


def test_labels_that_are_a_pickle_are_not_loaded(
    tmp_path: Path, write_files: Write, run_pack: RunPack
) -> None:
    src = write_files(tmp_path / "src", {"x.npy": npy(PIXELS), "y.npy": npy([{}] * 4)})
    with pytest.raises(UnusableInput, match="it says that it holds"):
        run_pack(src, tmp_path / "dst")


@pytest.mark.parametrize("labels", [b"\0\3\1", b"\1\2\4"])
def test_labels_without_a_class_are_refused(
    labels: bytes, tmp_path: Path, write_files: Write, run_pack: RunPack
) -> None:
    files = FOLDERS["stl10"]()[0] | {"train_y.bin": labels}
    with pytest.raises(UnusableInput, match="there are 3 classes"):
        run_pack(write_files(tmp_path / "src", files), tmp_path / "dst")
