"""Files that are compressed as a whole, told by their first bytes."""

from pathlib import Path

_UNPACK = {
    b"\x1f\x8b": "gunzip -k",
    b"BZh": "bunzip2 -k",
    b"\xfd7zXZ": "unxz -k",
    b"\x28\xb5\x2f\xfd": "zstd -d",
}
_MAGIC = max(map(len, _UNPACK))


def beginning(path: Path) -> bytes:
    """The first bytes of a file, which tell what it is."""
    with open(path, "rb") as file:
        return file.read(_MAGIC)


def is_gzip(path: Path) -> bool:
    """Whether a file is compressed by gzip."""
    return beginning(path).startswith(b"\x1f\x8b")


def unpacks(path: Path) -> str | None:
    """The command that unpacks a file which is compressed as a whole; None for any other."""
    begin = beginning(path)
    return next((_UNPACK[magic] for magic in _UNPACK if begin.startswith(magic)), None)
