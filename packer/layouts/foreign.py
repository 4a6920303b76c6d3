"""Formats that other libraries read: what they are, and the lines of Python that pack them."""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packer.errors import UnusableInput
from packer.layouts.interpretation import Candidate
from packer.trees.tree import Tree

_LABELS = re.compile(r"labels?|y|targets?|classes", re.IGNORECASE)
_MAGIC = 16  # bytes


@dataclass(frozen=True)
class _Format:
    """A format, and the library that reads it, as pip calls it.

    Attributes:
        names: of its files, as a regular expression.
        lines: of Python; ``{path}`` is the file, ``{folder}`` where it lies.
        magic: what such a file may begin with.
    """

    what: str
    library: str
    names: str
    lines: str
    magic: tuple[bytes, ...] = ()


_SAMPLES = 'packer.pack(({{"image": s["image"], "label": s["label"]}} for s in data), "shards")'

_FORMATS = (
    _Format(
        "FFCV's format",
        "ffcv",
        r"\.beton$",
        "data = ffcv.Loader({path!r}, batch_size=1, num_workers=1)\n"
        'packer.pack(({{"image": x[0], "label": int(y[0])}} for x, y, *_ in data), "shards")',
    ),
    _Format(
        "a dataset of MosaicML Streaming (MDS)",
        "mosaicml-streaming",
        r"\.mds(\.zstd)?$",
        "data = streaming.StreamingDataset(local={folder!r}, batch_size=1)\n" + _SAMPLES,
    ),
    _Format(
        "a dataset of LitData",
        "litdata",
        r"^chunk-\d+-\d+\.(zstd\.)?bin$",
        "data = litdata.StreamingDataset({folder!r})\n"
        'last = lambda x: x.permute(1, 2, 0) if hasattr(x, "permute") else x  # JPEGs: (3, H, W)\n'
        'packer.pack(({{"image": last(s["image"]), "label": s["label"]}} for s in data), "shards")',
    ),
    _Format(
        "TFRecord",
        "tfrecord",
        r"\.tfrecords?\b|-\d{5}-of-\d{5}$",
        "data = tfrecord.tfrecord_loader({path!r}, None)  # the names of its fields differ\n"
        'packer.pack(({{"image": bytes(s["image/encoded"]), "label": '
        'int(s["image/class/label"][0])}} for s in data), "shards")',
    ),
    _Format(
        "a database (LMDB)",
        "lmdb",
        r"^data\.mdb$|\.lmdb$",
        "data = lmdb.open({folder!r}, readonly=True, lock=False).begin().cursor()\n"
        'packer.pack(({{"image": value}} for key, value in data), "shards")',
    ),
    _Format(
        "HDF5",
        "h5py",
        r"\.(h5|hdf5?|hdf)$",
        "data = h5py.File({path!r})  # the names in it: list(data)\n"
        'packer.pack(({{"image": x, "label": int(y)}} for x, y in zip(data["images"], '
        'data["labels"])), "shards")',
        (b"\x89HDF", b"MATLAB 7.3"),
    ),
    _Format(
        "numpy's arrays",
        "numpy",
        r"\.np[yz]$",
        "data = numpy.load({path!r})\n"
        'packer.pack(({{"image": x, "label": int(y)}} for x, y in zip({arrays})), "shards")',
        (b"\x93NUMPY",),
    ),
    _Format(
        "MATLAB's arrays",
        "scipy",
        r"\.mat$",
        "data = scipy.io.loadmat({path!r})  # the names in it: list(data)\n"
        'packer.pack(({{"image": x, "label": int(y)}} for x, y in zip(data["X"], '
        'data["y"].ravel())), "shards")',
    ),
    _Format(
        "MXNet's RecordIO",
        "mxnet",
        r"\.rec$",
        'data = mxnet.recordio.MXRecordIO({path!r}, "r")\n'
        'packer.pack(({{"image": image, "label": int(header.label)}} for header, image in '
        'map(mxnet.recordio.unpack, iter(data.read, None))), "shards")',
        (b"\x0a\x23\xd7\xce",),
    ),
)


def refuse_foreign(candidate: Candidate) -> None:
    """Raise, with the lines that pack it, where a candidate without images is of such a format."""
    path, tree = candidate.path, candidate.tree
    if not tree:
        with open(path, "rb") as file:
            begin = file.read(_MAGIC)
        for known in _FORMATS:
            if begin.startswith(known.magic):
                raise _advice(path, path, known)
    for file_path in _files(path, tree) if tree else [path]:
        for known in _FORMATS:
            if re.search(known.names, file_path.name):
                raise _advice(path, file_path, known)


def _files(root: Path, tree: Tree) -> Iterator[Path]:
    """Some names of each kind in each folder, if there is no image in any."""
    for folder, level in tree.walk() if not tree.shape.below("") else ():
        for names in level.examples.values():
            yield from (root / folder / name for name in names)


def _advice(source: Path, path: Path, known: _Format) -> UnusableInput:
    where = "" if path == source else f" ({path.name} and the like)"
    folder = path.parent if path.is_file() else path
    lines = known.lines.format(path=str(path), folder=str(folder), arrays=_arrays(path))
    module = re.match(r"data = (\w+)", lines)
    assert module is not None, "each begins so"
    indented = "\n    ".join([f"import {module[1]}, packer", *lines.split("\n")])
    return UnusableInput(
        f"{source} is {known.what}{where}, which {known.library} reads. In Python, these lines "
        f"pack what it gives:\n    {indented}"
    )


def _arrays(path: Path) -> str:
    """The images and the labels in an npz, by the names that it has for them."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
    except (OSError, zipfile.BadZipFile):
        return "data[0], data[1]" if path.suffix == ".npz" else "data, labels"
    labels = next((n for n in names if any(map(_LABELS.fullmatch, n.split("_")))), "labels")
    images = next((n for n in names if n != labels), "images")
    return f'data["{images}"], data["{labels}"]'
