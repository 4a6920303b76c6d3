"""Files of other libraries, written by their formats' descriptions: a list of dicts is a file.

A whole number in a field of images is the seed of a PNG.
"""

import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from layouts.huggingface import image

_MAGIC = 0xCED7230A
_PAGE = 4096
_IMAGES = ("image", "encoded", "mask", "value")


def encoded(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return items with images in place of seeds."""
    return [{name: _value(name, value) for name, value in one.items()} for one in items]


def _value(name: str, value: Any) -> Any:
    if name.rpartition("/")[2] in _IMAGES and isinstance(value, int):
        return image(value)
    return value.encode() if isinstance(value, str) else value


def said(write: Callable[[Sequence[Any]], bytes]) -> Callable[[str], bytes]:
    """Return what makes a file of JSON."""
    return lambda text: write(encoded(json.loads(text)))


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = b""
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def message(*fields: tuple[int, int | bytes]) -> bytes:
    """Return a message of Protocol Buffers."""
    found = b""
    for number, value in fields:
        if isinstance(value, int):
            found += varint(number << 3) + varint(value)
        else:
            found += varint(number << 3 | 2) + varint(len(value)) + value
    return found


def crc(data: bytes) -> int:
    """Return the masked checksum of TFRecord, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def example(fields: Mapping[str, Any]) -> bytes:
    """Return a `tf.Example`."""
    features = []
    for name, value in fields.items():
        values = value if isinstance(value, list) else [value]
        if any(isinstance(one, bytes | str) for one in values):
            each = (one.encode() if isinstance(one, str) else one for one in values)
            kind, data = 1, message(*((1, one) for one in each))
        elif any(isinstance(one, float) for one in values):
            kind, data = 2, message((1, struct.pack(f"<{len(values)}f", *values)))
        else:
            kind, data = 3, message((1, b"".join(map(varint, values))))
        features.append((1, message((1, name.encode()), (2, message((kind, data))))))
    return message((1, message(*features)))


def tfrecord(items: Sequence[Mapping[str, Any]]) -> bytes:
    found = b""
    for fields in items:
        data = example(fields)
        length = struct.pack("<Q", len(data))
        found += length + struct.pack("<I", crc(length)) + data + struct.pack("<I", crc(data))
    return found


def mds(items: Sequence[Mapping[str, Any]], encodings: Mapping[str, str] | None = None) -> bytes:
    """Return a shard; bytes are ``bytes``, texts ``str``, numbers ``int`` without `encodings`."""
    kinds = encodings or {
        name: "int" if isinstance(value, int) else "bytes" for name, value in items[0].items()
    }
    names = sorted(kinds)
    sizes = [8 if kinds[name] == "int" else None for name in names]
    config = json.dumps(
        {
            "column_names": names,
            "column_encodings": [kinds[name] for name in names],
            "column_sizes": sizes,
        }
    ).encode()
    rows = []
    for item in items:
        data = [
            struct.pack("<q", item[name]) if kinds[name] == "int" else item[name] for name in names
        ]
        lengths = [len(one) for one, size in zip(data, sizes, strict=True) if size is None]
        rows.append(struct.pack(f"<{len(lengths)}I", *lengths) + b"".join(data))
    begin = 4 * (len(rows) + 2) + len(config)
    offsets = [begin + sum(map(len, rows[:number])) for number in range(len(rows) + 1)]
    head = struct.pack(f"<{len(rows) + 2}I", len(rows), *offsets)
    return head + config + b"".join(rows)


def recordio(items: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a file of records; a record that holds the magic number is in parts."""
    found, magic = b"", struct.pack("<I", _MAGIC)
    for number, item in enumerate(items):
        label = item["label"]
        many = label if isinstance(label, list) else []
        head = struct.pack("<IfQQ", len(many), 0 if many else label, item.get("id", number), 0)
        data = head + struct.pack(f"<{len(many)}f", *many) + item["image"]
        cuts = [at for at in range(0, len(data) - 3, 4) if data[at : at + 4] == magic]
        parts = [
            data[begin:end]
            for begin, end in zip([0, *(at + 4 for at in cuts)], [*cuts, len(data)], strict=True)
        ]
        for at, part in enumerate(parts):
            flag = 0 if len(parts) == 1 else 1 if at == 0 else 3 if at == len(parts) - 1 else 2
            found += magic + struct.pack("<I", flag << 29 | len(part)) + part
            found += bytes(-len(part) % 4)
    return found


def beton(items: Sequence[Mapping[str, Any]]) -> bytes:
    """Return FFCV's file of images (bytes of one, or pixels) and labels."""
    header = np.zeros(1, "<u2,<u2,<u4,<u8,<u8")
    fields = np.zeros(2, np.dtype([("type", "u1"), ("name", "u1", 16), ("rest", "u1", 1024)]))
    for field, kind, name in zip(fields, (2, 1), (b"image", b"label"), strict=True):
        field["type"] = kind
        field["name"][: len(name)] = list(name)
    pictures = np.dtype([("mode", "u1"), ("width", "<u2"), ("height", "<u2"), ("at", "<u8")])
    rows = np.zeros(len(items), np.dtype([("f0", pictures), ("f1", "<i8")], align=True))
    sizes, body = [], b""
    for number, item in enumerate(items):
        picture = item["image"]
        at = _PAGE + len(body)
        is_raw = not isinstance(picture, bytes)
        data = picture.tobytes() if is_raw else picture
        height, width = picture.shape[:2] if is_raw else (8, 8)
        rows[number] = (is_raw, width, height, at), item["label"]
        sizes.append((number, at, len(data)))
        body += data
    header[0] = 2, 2, _PAGE, len(items), _PAGE + len(body)
    head = header.tobytes() + fields.tobytes() + rows.tobytes()
    return head.ljust(_PAGE, b"\0") + body + np.array(sizes, "<u8").tobytes()


def lmdb(items: Sequence[Mapping[str, Any]]) -> bytes:
    """Return a database of keys and values; each leaf has three keys."""
    values = sorted((item["key"], item["value"]) for item in items)
    pages = [b"", b""]
    leaves = []
    for first in range(0, len(values), 3):
        leaf = len(pages)
        pages.append(b"")
        nodes = []
        for key, value in values[first : first + 3]:
            low, high, flags, data = len(value) & 0xFFFF, len(value) >> 16, 0, value
            if len(value) > 1000:
                flags, data = 1, struct.pack("<Q", len(pages))
                count = -(-(len(value) + 16) // _PAGE)
                own = struct.pack("<QHHI", len(pages), 0, 4, count) + value
                pages += [own.ljust(count * _PAGE, b"\0")] + [b""] * (count - 1)
            nodes.append(struct.pack("<HHHH", low, high, flags, len(key)) + key + data)
        pages[leaf] = _page(leaf, 2, nodes)
        leaves.append((leaf, values[first][0]))
    root = leaves[0][0]
    if len(leaves) > 1:
        root = len(pages)
        nodes = [
            struct.pack("<HHHH", leaf & 0xFFFF, leaf >> 16, 0, len(key) * bool(at)) + key * bool(at)
            for at, (leaf, key) in enumerate(leaves)
        ]
        pages.append(_page(root, 1, nodes))
    for number in range(2):
        free = struct.pack("<IHHQQQQQ", _PAGE, 0, 0, 0, 0, 0, 0, (1 << 64) - 1)
        main = struct.pack("<IHHQQQQQ", 0, 0, 1, 0, 0, 0, len(values), root)
        meta = struct.pack("<IIQQ", 0xBEEFC0DE, 1, 0, 1 << 20) + free + main
        meta += struct.pack("<QQ", len(pages) - 1, number)
        pages[number] = (struct.pack("<QHHHH", number, 0, 8, 0, 0) + meta).ljust(_PAGE, b"\0")
    return b"".join(pages)


def _page(number: int, flags: int, nodes: Sequence[bytes]) -> bytes:
    end, offsets, body = _PAGE, [], b""
    for node in nodes:
        node += bytes(len(node) % 2)
        end -= len(node)
        offsets.append(end)
        body = node + body
    head = struct.pack("<QHHHH", number, 0, flags, 16 + 2 * len(nodes), end)
    return (head + struct.pack(f"<{len(nodes)}H", *offsets)).ljust(end, b"\0") + body
