"""The splits of files by their names."""

import pytest

from packer.sources.containers.splits import splits_of_files


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        ("train-00000-of-00001 validation-00000-of-00001", "train validation"),
        ("mnist-train.tfrecord-00000-of-00001 mnist-test.tfrecord-00000-of-00001", "train test"),
        ("ld_train00-1338.tfrec ld_train01-1338.tfrec ld_test00-5.tfrec", "train train test"),
        ("train/a.tfrecord valid/a.tfrecord", "train valid"),
        ("church_train_lmdb/data.mdb church_val_lmdb/data.mdb", "train val"),
        ("train.rec", "train"),
        ("a.rec b.rec", " "),
        ("flowers/train/00-192.tfrec flowers/val/00-192.tfrec", "train val"),
        ("train_1.beton train_2.beton val.beton", "train train val"),
    ],
)
def test_splits_are_found(names: str, splits: str) -> None:
    assert list(splits_of_files(names.split()).values()) == splits.split(" ")
