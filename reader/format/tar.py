"""USTAR headers (POSIX.1-1988, with PAX records of POSIX.1-2001 for names that do not fit).

It has only what a deterministic writer needs: regular files, mode 0644, no times and no owners.
"""

import struct

BLOCK = 512
END = bytes(2 * BLOCK)  # an archive ends with two zero blocks

MAX_MEMBER = 8**11 - 1  # eleven octal digits
_NAME, _PREFIX = 100, 155

_OWNER = b"0000644\0" + b"0000000\0" + b"0000000\0"  # mode, user and group
_TIME = b"00000000000\0"
_MAGIC = b"ustar\00000" + bytes(64) + b"0000000\0" + b"0000000\0"  # no names, no device
_SUM = sum(_OWNER + _TIME + _MAGIC + b" " * 8)  # in all checksums, which count as spaces
_HEADER = struct.Struct("100s24s12s12s8s1s100x88s155s12x")


def header(name: str, size: int) -> bytes:
    """Return the block before a member's data, or at least three with a PAX record."""
    raw = name.encode("utf-8")
    fits = _split(raw)
    if fits is not None:
        return _block(fits[0], fits[1], size, b"0")
    record = _pax_record(b"path", raw)
    pax = _block(b"pax/" + raw[: _NAME - 4].rsplit(b"/", 1)[0], b"", len(record), b"x")
    return pax + record + padding(len(record)) + _block(raw[:_NAME], b"", size, b"0")


def padding(size: int) -> bytes:
    return bytes(-size % BLOCK)


def padded(size: int) -> int:
    return size + -size % BLOCK


def _split(name: bytes) -> tuple[bytes, bytes] | None:
    """Return (name, prefix) for USTAR; None if they do not fit."""
    if len(name) <= _NAME:
        return name, b""
    if len(name) > _PREFIX + 1 + _NAME:
        return None
    slash = name.find(b"/", max(1, len(name) - _NAME - 1))
    if slash < 0 or slash > _PREFIX or slash == len(name) - 1:
        return None
    return name[slash + 1 :], name[:slash]


def _block(name: bytes, prefix: bytes, size: int, kind: bytes) -> bytes:
    if size > MAX_MEMBER:
        raise ValueError(f"a member of {size} bytes does not fit a tar header (8 GiB at most)")
    octal = b"%011o" % size
    checksum = b"%06o\0 " % (_SUM + sum(name) + sum(prefix) + sum(octal) + kind[0])
    return _HEADER.pack(name, _OWNER, octal, _TIME, checksum, kind, _MAGIC, prefix)


def _pax_record(keyword: bytes, value: bytes) -> bytes:
    """Return a line ``LENGTH KEYWORD=VALUE``, where LENGTH counts itself."""
    body = len(keyword) + len(value) + 3
    length = body + len(str(body))
    if len(str(length)) > len(str(body)):
        length += 1
    return b"%d %b=%b\n" % (length, keyword, value)
