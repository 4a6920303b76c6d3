"""Arrays that hold many images: npz, mat, HDF5, binary files, CSV of pixels."""

import io
import pickle
from collections.abc import Mapping, Sequence

import numpy as np

from layouts.making import hdf5, images, lines, mat, named, npz, of
from layouts.row import Layout


def _npy(values: object) -> bytes:
    held = io.BytesIO()
    np.save(held, np.asarray(values))
    return held.getvalue()


def _array(
    name: str,
    source: str,
    files: dict[str, str | bytes],
    src: str,
    labels: Mapping[str, Sequence[str]] | None = None,
) -> Layout:
    """Return a layout whose images are no files, with their classes in each split.

    Without `labels`, no dataset of it has the first file as a sample.
    """
    truth = {next(iter(files)): of("a label")}
    if labels is not None:
        truth = {
            f"{split}/{number:06}": of(*filter(None, [label]), split=split)
            for split, each in labels.items()
            for number, label in enumerate(each)
        }
    return Layout(name, source, files, truth, src)


def _fer2013() -> Layout:
    rows = ["emotion,pixels,Usage"]
    for n in range(6):
        pixels = " ".join(str((n * 37 + k) % 256) for k in range(48 * 48))
        rows.append(f'{n % 3},"{pixels}",{("Training", "PublicTest", "PrivateTest")[n % 3]}')
    return _array(
        "FER2013, a CSV of pixels",
        "torchvision.datasets.FER2013",
        {"fer2013/fer2013.csv": lines(rows)},
        "fer2013",
    )


def _fer2013_file() -> Layout:
    row = _fer2013()
    return row._replace(name="FER2013, the CSV itself", src="fer2013/fer2013.csv")


def _digits() -> Layout:
    rows = ["label," + ",".join(f"pixel{n}" for n in range(784))]
    rows += [f"{n}," + ",".join(str((n + k) % 256) for k in range(784)) for n in range(6)]
    test = [rows[0].removeprefix("label,")] + [row.split(",", 1)[1] for row in rows[1:]]
    return _array(
        "Digit Recognizer, a column for each pixel",
        "https://www.kaggle.com/c/digit-recognizer/data",
        {
            "digits/train.csv": lines(rows),
            "digits/test.csv": lines(test),
            "digits/sample_submission.csv": lines(["ImageId,Label", "1,0", "2,0"]),
        },
        "digits",
    )


_HIRAGANA = "おきすつなはまやれを"


def _kmnist() -> Layout:
    pixels = np.arange(6 * 28 * 28, dtype=np.uint8).reshape(6, 28, 28)
    return _array(
        "KMNIST, npz",
        "https://github.com/rois-codh/kmnist",
        {
            "kmnist/kmnist-train-imgs.npz": npz(arr_0=pixels),
            "kmnist/kmnist-train-labels.npz": npz(arr_0=np.arange(6)),
            "kmnist/kmnist-test-imgs.npz": npz(arr_0=pixels),
            "kmnist/kmnist-test-labels.npz": npz(arr_0=np.arange(6)),
            "kmnist/kmnist_classmap.csv": lines(
                ["index,codepoint,char"]
                + [f"{n},U+{ord(char):X},{char}" for n, char in enumerate(_HIRAGANA)]
            ),
        },
        "kmnist",
        {"train": _HIRAGANA[:6], "test": _HIRAGANA[:6]},
    )


def _kmnist_npy() -> Layout:
    pixels = np.arange(6 * 28 * 28, dtype=np.uint8).reshape(6, 28, 28)
    return _array(
        "arrays of NumPy, x_train.npy beside y_train.npy",
        "https://numpy.org/doc/stable/reference/generated/numpy.save.html",
        {"arrays/x_train.npy": _npy(pixels), "arrays/y_train.npy": _npy(np.arange(6))},
        "arrays",
        {"train": "012345"},
    )


def _medmnist() -> Layout:
    pixels = np.arange(4 * 28 * 28 * 3, dtype=np.uint8).reshape(4, 28, 28, 3)
    marks = np.array([[0], [1], [2], [1]])
    arrays = {f"{split}_images": pixels for split in ("train", "val", "test")}
    arrays |= {f"{split}_labels": marks for split in ("train", "val", "test")}
    return _array(
        "MedMNIST, one npz",
        "https://medmnist.com; medmnist.dataset",
        {"medmnist/pathmnist.npz": npz(**arrays)},
        "medmnist/pathmnist.npz",
        dict.fromkeys(("train", "val", "test"), "0121"),
    )


def _medmnist_flags() -> Layout:
    pixels = np.arange(3 * 28 * 28, dtype=np.uint8).reshape(3, 28, 28)
    marks = np.array([[1, 0, 1], [0, 0, 0], [0, 1, 1]], np.uint8)
    row = _array(
        "MedMNIST, several labels",
        "https://medmnist.com; medmnist.dataset.ChestMNIST",
        {"medmnist/chestmnist.npz": npz(train_images=pixels, train_labels=marks)},
        "medmnist",
    )
    labels = (["0", "2"], [], ["1", "2"])
    truth = {f"train/{n:06}": of(split="train", labels=each) for n, each in enumerate(labels)}
    return row._replace(truth=truth)


def _svhn_mat() -> Layout:
    pixels = np.arange(32 * 32 * 3 * 4, dtype=np.uint8).reshape(32, 32, 3, 4)
    data = mat(X=pixels, y=np.array([[1], [9], [10], [2]]))
    return _array(
        "SVHN, cropped digits",
        "torchvision.datasets.SVHN",
        {"svhn/train_32x32.mat": data, "svhn/test_32x32.mat": data},
        "svhn",
        {"train": "1902", "test": "1902"},
    )


def _svhn_full() -> Layout:
    truth = {f"train/{n}.png": of(split="train", holds=[str(n)]) for n in range(1, 5)}
    truth |= {f"test/{n}.png": of(split="test", holds=[str(n)]) for n in range(1, 5)}
    files = images(f"svhn/{path}" for path in truth)
    files |= {f"svhn/{split}/digitStruct.mat": hdf5() for split in ("train", "test")}
    files |= {f"svhn/{split}/see_bboxes.m": "% see\n" for split in ("train", "test")}
    return Layout(
        "SVHN, full numbers with digitStruct.mat",
        "http://ufldl.stanford.edu/housenumbers/",
        files,
        truth,
        "svhn",
    )


def _stl10() -> Layout:
    return _array(
        "STL-10, binary",
        "torchvision.datasets.STL10",
        {
            "stl10_binary/train_X.bin": bytes(96 * 96 * 3 * 2),
            "stl10_binary/train_y.bin": b"\1\2",
            "stl10_binary/test_X.bin": bytes(96 * 96 * 3 * 2),
            "stl10_binary/test_y.bin": b"\3\4",
            "stl10_binary/unlabeled_X.bin": bytes(96 * 96 * 3),
            "stl10_binary/class_names.txt": "airplane\nbird\ncar\ncat\n",
            "stl10_binary/fold_indices.txt": "0 1\n",
        },
        "stl10_binary",
        {"train": ["airplane", "bird"], "test": ["car", "cat"], "unlabeled": [""]},
    )


def _pcam() -> Layout:
    return _array(
        "PCam, HDF5",
        "torchvision.datasets.PCAM",
        {
            f"pcam/camelyonpatch_level_2_split_{split}_{kind}.h5": hdf5()
            for split in ("train", "valid", "test")
            for kind in ("x", "y")
        }
        | {"pcam/camelyonpatch_level_2_split_train_meta.csv": ",tumor_patch\n0,True\n"},
        "pcam",
    )


def _cinic() -> Layout:
    truth = {
        f"{split}/{name}/cifar10-{split}-{n}.png": of(
            name, split="val" if split == "valid" else split
        )
        for split in ("train", "valid", "test")
        for name in ("airplane", "ship")
        for n in range(2)
    }
    files = images(f"CINIC-10/{path}" for path in truth)
    files["CINIC-10/README.md"] = "# CINIC-10\n"
    files["CINIC-10/imagenet-contributors.csv"] = (
        "cinic_set,class,image_num,synset\ntrain,airplane,1,n02691156\n"
    )
    files["CINIC-10/synsets-to-cifar-10-classes.txt"] = "airplane n02691156\n"
    return Layout(
        "CINIC-10", "https://datashare.ed.ac.uk/handle/10283/3192", files, truth, "CINIC-10"
    )


def _usps() -> Layout:
    rows = [f"{n + 1} " + " ".join(f"{k}:-0.{k % 9}1" for k in range(1, 257)) for n in range(4)]
    return _array(
        "USPS, numbers in LIBSVM's form",
        "torchvision.datasets.USPS",
        {"usps/usps": lines(rows), "usps/usps.t": lines(rows)},
        "usps",
    )


def _semeion() -> Layout:
    rows = [
        " ".join("1.0000" if (n + k) % 2 else "0.0000" for k in range(256))
        + " "
        + " ".join(str(int(k == n)) for k in range(10))
        for n in range(4)
    ]
    return _array(
        "Semeion, numbers in a text",
        "torchvision.datasets.SEMEION",
        {"semeion/semeion.data": lines(rows)},
        "semeion",
    )


def _small_norb() -> Layout:
    magic = b"\x55\x4c\x3d\x1e" + (4).to_bytes(4, "little")
    top = "smallnorb-5x46789x9x18x6x2x96x96-training-"
    return _array(
        "small NORB, binary matrices",
        "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/; tfds smallnorb",
        {f"norb/{top}{kind}.mat": magic + bytes(64) for kind in ("dat", "cat", "info")},
        "norb",
    )


def _pickled() -> Layout:
    data = {"images": np.zeros((2, 8, 8, 3), np.uint8), "labels": [0, 1]}
    return _array(
        "miniImageNet, pickled",
        "https://github.com/yaoyao-liu/mini-imagenet-tools",
        {
            f"mini/mini-imagenet-cache-{s}.pkl": pickle.dumps(data, 4)
            for s in ("train", "val", "test")
        },
        "mini",
    )


def _mini_csv() -> Layout:
    wnids = {"train": "n01532829", "val": "n01855672", "test": "n01930112"}
    truth, files = {}, {}
    for split, wnid in wnids.items():
        rows = ["filename,label"]
        for n in range(1, 4):
            name = f"{wnid}0000000{n}.jpg"
            truth[f"images/{name}"] = of(wnid, split=split)
            rows.append(f"{name},{wnid}")
        files[f"mini/{split}.csv"] = lines(rows)
    return Layout(
        "miniImageNet, a table for each split",
        "https://github.com/twitter-research/meta-learning-lstm/tree/master/data/miniImagenet",
        files | images(f"mini/{path}" for path in truth),
        truth,
        "mini",
    )


def _omniglot() -> Layout:
    truth = {
        f"images_background/{alphabet}/character0{c}/0{c}0{n}_0{n}.png": of(
            f"{alphabet}/character0{c}"
        )
        for alphabet in ("Futurama", "Greek")
        for c in (1, 2)
        for n in (1, 2, 3)
    }
    files = images(f"omniglot/{path}" for path in truth)
    files["omniglot/strokes_background.zip"] = b"PK\5\6" + bytes(18)
    return Layout("Omniglot", "torchvision.datasets.Omniglot", files, truth, "omniglot")


def _emnist() -> Layout:
    return _array(
        "EMNIST in MATLAB's form",
        "https://www.nist.gov/itl/products-and-services/emnist-dataset",
        {
            f"matlab/emnist-{kind}.mat": mat(
                dataset=np.array(
                    [(np.zeros((2, 784), np.uint8), np.array([[1], [2]]))],
                    [("images", "O"), ("labels", "O")],
                )
            )
            for kind in ("balanced", "letters")
        },
        "matlab",
    )


def _folder_beside_npz() -> Layout:
    truth = {f"{name}/{n}.png": of(name) for name in ("cat", "dog") for n in range(3)}
    files = images(f"animals/{path}" for path in truth)
    files["animals/features.npz"] = npz(features=np.zeros((6, 4)))
    return Layout(
        "class folders beside features in an npz",
        "https://numpy.org/doc/stable/reference/generated/numpy.savez.html",
        files,
        truth,
        "animals",
    )


LAYOUTS = named(
    "arrays",
    [
        _fer2013(),
        _fer2013_file(),
        _digits(),
        _kmnist(),
        _kmnist_npy(),
        _medmnist(),
        _medmnist_flags(),
        _svhn_mat(),
        _svhn_full(),
        _stl10(),
        _pcam(),
        _cinic(),
        _usps(),
        _semeion(),
        _small_norb(),
        _pickled(),
        _mini_csv(),
        _omniglot(),
        _emnist(),
        _folder_beside_npz(),
    ],
)
