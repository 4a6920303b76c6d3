"""What other libraries read: refused with the lines of Python that pack it."""

from layouts.matlab import mat
from layouts.row import Read, Row

ROWS = [
    # docs.ffcv.io/writing_datasets.html
    Row(
        "FFCV", "train.beton", r"FFCV's format.*ffcv\.Loader\('\S*train\.beton'", src="train.beton"
    ),
    # docs.mosaicml.com/projects/streaming: dataset format
    Row(
        "MosaicML Streaming",
        "mds/train/index.json mds/train/shard.00000.mds mds/val/shard.00000.mds",
        r"MDS.*StreamingDataset\(local='\S*mds/train'",
    ),
    # lightning.ai/docs/litdata
    Row("LitData", "index.json chunk-0-0.bin", r"LitData.*StreamingDataset\('\S*src'"),
    # tensorflow.org/datasets: dataset_info.json beside NAME-SPLIT.tfrecord-00000-of-00001
    Row(
        "TFRecord of TensorFlow Datasets",
        "mnist/3.0.1/dataset_info.json mnist/3.0.1/features.json "
        "mnist/3.0.1/mnist-train.tfrecord-00000-of-00001",
        r"TFRecord.*tfrecord_loader",
    ),
    Row("TFRecord of ImageNet", "train-00000-of-01024 validation-00000-of-00128", "TFRecord"),
    # github.com/fyu/lsun: a folder for each LMDB
    Row("LMDB", "church_train_lmdb/data.mdb church_train_lmdb/lock.mdb", r"LMDB.*lmdb\.open"),
    # github.com/basveeling/pcam
    Row("HDF5", "camelyonpatch_level_2_split_train_x.h5", r"HDF5.*h5py\.File"),
    # medmnist.com: pathmnist.npz
    Row("numpy", "pathmnist.npz", r"numpy's arrays.*numpy\.load", src="pathmnist.npz"),
    # ufldl.stanford.edu/housenumbers: format 2
    Row(
        "SVHN",
        "",
        r"train_32x32\.mat: X has \(2, 1\) of float64, which are no images",
        contents={"train_32x32.mat": mat(X=[1, 2], y=[1])},
    ),
    Row(
        "EMNIST in MATLAB's form",
        "",
        r"EMNIST.*scipy\.io\.loadmat\('\S*emnist-letters\.mat'",
        contents={"emnist-letters.mat": mat(dataset=[1, 2])},
    ),
    Row(
        "MATLAB 7.3",
        "",
        r"HDF5.*h5py\.File",
        contents={"x.mat": b"MATLAB 7.3 MAT-file, Platform"},
        src="x.mat",
    ),
    # mxnet.apache.org: im2rec
    Row("RecordIO", "train.rec train.idx train.lst", "RecordIO"),
    Row(
        "class folders with arrays and an archive beside them",
        "cat/1.jpg dog/2.jpg README.md features.npz masks.zip",
        Read(
            {"cat/1": "cat", "dog/2": "dog"},
            ignored=frozenset({"README.md"}),
            rejected=frozenset({"features.npz", "masks.zip"}),
        ),
    ),
]
