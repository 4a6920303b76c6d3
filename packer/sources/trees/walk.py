"""Walking folders, and which files are meant to be images, by name or first bytes.

Folders are walked sorted and through symbolic links, but never round a loop of them. Files that
are no images, such as notes, are ignored and named. Those that are meant to be images and cannot
be packed have to be rejected, or images would be lost without an error; so do files that may hold
labels or images and that nothing reads.
"""

import errno
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from packer.errors import BadImage
from packer.samples.records import Skipped
from reader.format.members import PICTURES

HIDDEN = "it is a hidden folder"
JUNK = "it belongs to the operating system or another program"
LOOP = "it is a symbolic link back to a folder that holds it (a loop)"
NOT_AN_IMAGE = "it is not an image, judged by its name and first bytes"
_UNREAD = (
    "it is an archive beside other files, which packer does not read: unpack it, or pack it alone"
)
_MAY_BE_DATA = "it may have labels or images, and packer does not read this format"

Identity = tuple[int, int]

_FACTS = {
    *(errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM)
}
_LITTER = {  # in lower case
    *(".ds_store", "icon\r", ".localized", ".apdisk", ".volumeicon.icns", ".directory"),
    *("thumbs.db", "ehthumbs.db", "desktop.ini", "picasa.ini", ".picasa.ini", ".nomedia"),
    *(".gitattributes", ".gitignore", ".gitkeep", "synoindex_media_info"),
}
_LITTER_BEGINS = ("._", ".nfs")  # no other litter is named as an image is
_LITTER_FOLDERS = {
    *(".ipynb_checkpoints", "__pycache__", ".git", ".svn", ".hg", ".cache", ".huggingface"),
    *(".idea", ".vscode", "__macosx", ".appledouble", ".spotlight-v100", ".trashes", ".fseventsd"),
    *(".temporaryitems", ".documentrevisions-v100", "$recycle.bin", "system volume information"),
    *("@eadir", "@recycle", "@recently-snapshot", "#recycle", "#snapshot", ".@__thumb"),
    *(".snapshot", ".thumbnails", "lost+found", ".nv-meta", ".venv", ".github", ".gitlab", ".dvc"),
    *(".tox", ".nox", ".eggs", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".devcontainer"),
}

_OTHER_IMAGES = frozenset(  # which cannot be packed
    {"avif", "heic", "heif", "jxl", "jp2", "j2k", "jpx", "jls", "svg", "psd", "tga", "exr", "hdr"}
    | {"pfm", "pam", "pcx", "qoi", "dds", "ico", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2"}
)
DELIMITERS = {".csv": ",", ".tsv": "\t"}  # what divides the columns of a file of that name
JSON_LINES = (".jsonl", ".ndjson")
TEXT_TABLES = (*DELIMITERS, *JSON_LINES)
PARQUET = ".parquet"
TABLES = (*TEXT_TABLES, ".json", PARQUET)
IMAGE_EXTENSIONS = frozenset(PICTURES) | _OTHER_IMAGES
_DATA = frozenset(  # arrays, tables, and archives
    {
        "npy",
        "npz",
        "mat",
        "h5",
        "hdf5",
        "pkl",
        "pickle",
        "p",
        "parquet",
        "arrow",
        "feather",
        "tfrecord",
    }
    | {"tfrecords", "lmdb", "mdb", "beton", "mds", "rec", "sqlite", "tar", "zip", "tgz", "gz"}
    | {"xls", "bz2", "xz", "zst", "7z", "rar", "nii", "dcm"}
)
_BEGINNINGS = (
    *(b"\xff\xd8", b"\x89PNG", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    *(b"P%c%c" % (kind, space) for kind in b"123456f" for space in b" \t\n\v\f\r"),
)
BEGINNING = 12  # bytes that tell
_PACKED = ("zip", "tar", "tgz")
_HDF5 = ("h5", "hdf5")
_WEIGHTS = re.compile(rb"model_weights|layer_names|keras_version")  # of Keras
_HEAD = 4096  # bytes that have these names


def is_named_as_image(name: str) -> bool:
    """Return whether a name ends as that of an image."""
    return name.rpartition(".")[2].lower() in IMAGE_EXTENSIONS


def is_litter(name: str) -> bool:
    """Return whether a file is a system's own: macOS leaves ``._x`` of ``x``, NFS ``.nfs1``."""
    return name.startswith(_LITTER_BEGINS) or name.lower() in _LITTER


def is_litter_folder(name: str) -> bool:
    """Return whether a folder holds nothing of a dataset's own."""
    return name.lower() in _LITTER_FOLDERS or name.startswith(".Trash-")


def names_an_image(name: str) -> bool:
    """Return whether a file is named as an image is, and is not litter."""
    return is_named_as_image(name) and not name.startswith(_LITTER_BEGINS)


def is_file_error(error: OSError) -> bool:
    """Return whether an error is the file's own, and not the disk's, which may pass.

    If a file were skipped for an error that passes, the next run would find another source.
    """
    return error.errno in _FACTS


def skipped(path: str, reason: str) -> Skipped:
    """Return `path` with the reason, unless it is litter, which needs none."""
    if is_litter(os.path.basename(path)):
        return Skipped(path, "it belongs to the operating system", ignored=True)
    return Skipped(path, reason)


def not_an_image(path: str, begin: Callable[[int], bytes]) -> Skipped | None:
    """Return what to report of a file that is not meant as an image; `begin` reads so much."""
    name = path.rpartition("/")[2]
    if names_an_image(name):
        return None
    if is_litter(name):
        return skipped(path, "")
    try:
        ext = name.rpartition(".")[2].lower()
        if ext in _DATA and not (ext in _HDF5 and _WEIGHTS.search(begin(_HEAD))):
            return Skipped(path, _UNREAD if ext in _PACKED else _MAY_BE_DATA)
        data = begin(BEGINNING)
    except BadImage:
        return None
    is_image = data.startswith(_BEGINNINGS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP")
    return None if is_image else Skipped(path, NOT_AN_IMAGE, ignored=True)


@dataclass
class Inside:
    """The sorted names of what a folder holds."""

    folders: list[str] = field(default_factory=list)  # no hidden ones, and no link that leads back
    skipped: dict[str, str] = field(default_factory=dict)  # the other folders, with the reason
    linked: dict[str, Identity] = field(default_factory=dict)  # folders that are links
    files: list[str] = field(default_factory=list)


def passed_over(path: str) -> tuple[str, str] | None:
    """Return the first folder on the way to a file that is not entered, and the reason."""
    folders = path.split("/")[:-1]
    for number, name in enumerate(folders, 1):
        if is_litter_folder(name):
            return "/".join(folders[:number]), JUNK
        if name.startswith(".") and name != "..":
            return "/".join(folders[:number]), HIDDEN
    return None


def not_entered(path: str, reason: str) -> Skipped:
    """Return what to report of a folder that is not entered."""
    return Skipped(path, reason, ignored=reason == JUNK, damaged=reason == LOOP)


def look(folder: str, above: frozenset[Identity] | None = None) -> Inside:
    """List a folder; `above`: the folders that hold it, None to look them up for a link."""
    found = Inside()
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if not _is_folder(entry):
                found.files.append(entry.name)
            elif entry.is_symlink() and _leads_back(entry, folder, above):
                found.skipped[entry.name] = LOOP
            elif is_litter_folder(entry.name):
                found.skipped[entry.name] = JUNK
            elif entry.name.startswith("."):
                found.skipped[entry.name] = HIDDEN
            else:
                found.folders.append(entry.name)
                if entry.is_symlink():
                    found.linked[entry.name] = identity(entry)
    return found


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself; the file's own stat names the reason


def _leads_back(link: "os.DirEntry[str]", folder: str, above: frozenset[Identity] | None) -> bool:
    if above is None:
        above = with_parents(Path(folder))
    return identity(link) in above or identity(link) == identity(folder)


def identity(folder: "str | os.PathLike[str]") -> Identity:
    """Return the identity of a folder, whatever its path."""
    status = os.stat(folder)
    return status.st_dev, status.st_ino


def with_parents(folder: Path) -> frozenset[Identity]:
    """Return the identities of a folder and all that hold it."""
    resolved = folder.resolve()
    return frozenset(map(identity, (resolved, *resolved.parents)))
