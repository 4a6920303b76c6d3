"""Whether a file is meant to be an image, by its name or its first bytes (pure).

What is not, such as notes beside the images, is ignored and named. What is meant to be an image and
is not one that can be packed has to be rejected, or images would be lost without an error; so has
what may hold labels or images where nothing looks into it.
"""

from reader.format.members import PICTURES

NOT_AN_IMAGE = "it is not an image, by its name and its first bytes"
MAY_BE_DATA = "it may hold labels or images, and nothing here reads it"

_OTHER_IMAGES = frozenset(  # which cannot be packed
    {"avif", "heic", "heif", "jxl", "jp2", "j2k", "jpx", "jls", "svg", "psd", "tga", "exr", "hdr"}
    | {"pfm", "pam", "pcx", "qoi", "dds", "ico", "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2"}
)
_DATA = frozenset(  # arrays, tables, and archives
    {"npy", "npz", "mat", "h5", "hdf5", "pkl", "pickle", "parquet", "arrow", "feather", "tfrecord"}
    | {"tfrecords", "lmdb", "mdb", "beton", "mds", "rec", "sqlite", "tar", "zip", "tgz", "gz"}
    | {"bz2", "xz", "zst", "7z", "rar", "nii", "dcm"}
)
_BEGINNINGS = (
    *(b"\xff\xd8", b"\x89PNG", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"),
    *(b"P%c%c" % (kind, space) for kind in b"123456f" for space in b" \t\n\v\f\r"),
)
BEGINNING = 12  # bytes that tell


def is_named_as_image(name: str) -> bool:
    """Whether a name ends as that of an image."""
    ext = name.rpartition(".")[2].lower()
    return ext in PICTURES or ext in _OTHER_IMAGES


def is_named_as_data(name: str) -> bool:
    """Whether a name ends as that of what may hold labels or images."""
    return name.rpartition(".")[2].lower() in _DATA


def begins_as_image(begin: bytes) -> bool:
    """Whether the first `BEGINNING` bytes of a file are those of an image that may be packed."""
    return begin.startswith(_BEGINNINGS) or (begin[:4] == b"RIFF" and begin[8:12] == b"WEBP")
