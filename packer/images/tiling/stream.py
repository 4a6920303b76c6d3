"""The segments around a JPEG's scan: as libjpeg reads them, and as it writes them (T.81, annex B).

Streams that libjpeg warns about are refused, and rare faults that it ignores silently, too.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packer.errors import Untileable
from packer.images.jpeg import JpegHeader, next_marker

APP0, APP1, APP14, COM = 0xE0, 0xE1, 0xEE, 0xFE
DHT, EOI, SOS, DQT, DRI = 0xC4, 0xD9, 0xDA, 0xDB, 0xDD
PROGRESSIVE = 0xC2  # the frame header of which T.81, annex G, tells

MOST_SIDE = 65500  # libjpeg's JPEG_MAX_DIMENSION
MOST_SCANS = 100  # a hostile progressive file has thousands
MOST_BLOCKS = 10  # of an MCU (T.81, B.2.3)

_JFIF = b"\1\1\0\0\1\0\1"  # version 1.1, no unit, and square pixels
_YCBCR, _GREY, _RGB, _CMYK, _YCCK = "YCbCr", "grey", "RGB", "CMYK", "YCCK"


@dataclass(frozen=True)
class Component:
    """A component of the frame (T.81, B.2.2)."""

    number: int  # its identifier
    across: int  # across, down: sampling factors
    down: int
    quantiser: int  # the number of its quantisation table
    target: int  # the number of both its Huffman tables where libjpeg writes it


@dataclass(frozen=True)
class Scan:
    """A scan (T.81, B.2.3)."""

    components: tuple[tuple[int, int, int], ...]  # place in the frame, tables (DC, AC)
    band: tuple[int, int, int, int]  # first and last coefficient, approximation's high and low
    restart_interval: int  # MCUs between two markers RSTn, 0 without
    specs: Mapping[int, bytes]  # by class and number (T.81, B.2.4.2): counts and symbols
    data: bytes  # up to the marker behind it


@dataclass(frozen=True)
class Stream:
    """A JPEG with Huffman codes: of one scan, or progressive."""

    height: int
    width: int
    components: tuple[Component, ...]  # in the order of the frame
    scans: tuple[Scan, ...]
    head: bytes  # what libjpeg writes before the frame header
    is_baseline: bool
    is_progressive: bool


@dataclass
class _Tables:
    quantisers: dict[int, tuple[int, ...]] = field(default_factory=dict)
    specs: dict[int, bytes] = field(default_factory=dict)
    kept: list[tuple[int, bytes]] = field(default_factory=list)  # markers that are not libjpeg's
    frame: bytes = b""
    restart_interval: int = 0


def read_stream(data: bytes, header: JpegHeader) -> Stream:
    """Take a JPEG apart; Untileable: it is of another kind, or not as it should be."""
    if header.process not in (0xC0, 0xC1, PROGRESSIVE):
        raise Untileable("it is neither sequential nor progressive with Huffman codes")
    tables = _Tables()
    *segments, (_, scan, _) = header.segments
    for marker, at, end in segments:
        _read_segment(tables, marker, data[at + 2 : end], header.process)
    if header.precision != 8 or len(header.sampling) not in (1, 3, 4):
        raise Untileable("it does not have 1, 3 or 4 components of 8 bits")
    if not (0 < header.height <= MOST_SIDE and 0 < header.width <= MOST_SIDE):
        raise Untileable("its header tells no possible size")
    jfif, space = _colours(tables, header)
    components = _components(tables, len(header.sampling), space)
    quantisers, is_baseline = _quantisers(tables, components)
    scans = tuple(_scans(data, scan, tables, header.process))
    head = b"\xff\xd8" + _metadata(tables.kept, jfif, space) + quantisers
    is_progressive, size = header.process == PROGRESSIVE, (header.height, header.width)
    return Stream(*size, components, scans, head, is_baseline, is_progressive)


def write_head(
    stream: Stream, specs: Mapping[int, bytes], restart_interval: int
) -> tuple[bytes, int]:
    """All that is before the scan, with these Huffman tables; and where the frame's height is."""
    components = stream.components
    frame = b"\x08" + stream.height.to_bytes(2, "big") + stream.width.to_bytes(2, "big")
    frame += bytes([len(components)])
    scan = bytes([len(components)])
    order: dict[int, None] = {}
    for component in components:
        across, down = component.across, component.down
        factors = 0x11 if len(components) == 1 else across << 4 | down
        frame += bytes([component.number, factors, component.quantiser])
        scan += bytes([component.number, component.target << 4 | component.target])
        order |= {component.target: None, 16 | component.target: None}
    parts = [
        stream.head,
        segment(0xC0 if stream.is_baseline else 0xC1, frame),
        *(segment(DHT, bytes([number]) + specs[number]) for number in order),
        segment(DRI, restart_interval.to_bytes(2, "big")),
        segment(SOS, scan + b"\0\x3f\0"),
    ]
    return b"".join(parts), len(stream.head) + 5


def segment(marker: int, body: bytes) -> bytes:
    """Return a marker segment (T.81, B.1.1.4)."""
    return bytes([0xFF, marker]) + (len(body) + 2).to_bytes(2, "big") + body


def _read_segment(tables: _Tables, marker: int, body: bytes, process: int) -> None:
    if marker == DQT:
        tables.quantisers.update(_read_quantisers(body))
    elif marker == DHT:
        tables.specs.update(_read_specs(body))
    elif marker == DRI and len(body) == 2:
        tables.restart_interval = int.from_bytes(body, "big")
    elif marker == process and not tables.frame:
        tables.frame = body
    elif APP0 <= marker <= APP0 + 15 or marker == COM:
        tables.kept.append((marker, body))
    else:
        raise Untileable(f"it has an odd marker segment (0x{marker:02X})")


def _read_quantisers(body: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    while body:
        form = struct.Struct(">64H" if body[0] >> 4 else "64B")
        if body[0] & 15 > 3 or len(body) <= form.size:
            raise Untileable("a quantisation table is damaged")
        yield body[0] & 15, form.unpack_from(body, 1)
        body = body[1 + form.size :]


def _read_specs(body: bytes) -> Iterator[tuple[int, bytes]]:
    while body:
        size = 17 + sum(body[1:17])
        if body[0] & ~0x13 or size > min(len(body), 17 + 256):
            raise Untileable("a Huffman table is damaged")
        yield body[0], body[1:size]
        body = body[size:]


def _colours(tables: _Tables, header: JpegHeader) -> tuple[bytes | None, str]:
    """Return the content of the last JFIF marker, and the colour space that libjpeg concludes."""
    jfif = adobe = None
    for marker, body in tables.kept:
        if marker == APP0 and len(body) >= 14 and body.startswith(b"JFIF\0"):
            jfif = body[5:12]
            if jfif[0] != 1:
                raise Untileable("its JFIF marker is of an unknown version")
        elif marker == APP14 and len(body) >= 12 and body.startswith(b"Adobe"):
            adobe = body[11]
    ids = tables.frame[6::3]
    match len(ids):
        case 1:
            return jfif, _GREY
        case 3 if jfif is not None or adobe == 1 or (adobe is None and ids != b"RGB"):
            return jfif, _YCBCR
        case 3 if not adobe:
            return jfif, _RGB
        case 4 if not adobe:
            return jfif, _CMYK
        case 4 if adobe == 2:
            return jfif, _YCCK
    raise Untileable("its Adobe marker tells no known colour space")


def _components(tables: _Tables, count: int, space: str) -> tuple[Component, ...]:
    found = []
    for place in range(count):
        number, factors, quantiser = tables.frame[6 + 3 * place : 9 + 3 * place]
        if quantiser not in tables.quantisers:
            raise Untileable("a quantisation table is missing")
        is_chroma = space in (_YCBCR, _YCCK) and place in (1, 2)
        found.append(Component(number, factors >> 4, factors & 15, quantiser, int(is_chroma)))
    if not all(1 <= factor <= 4 for one in found for factor in (one.across, one.down)):
        raise Untileable("its sampling factors are impossible")
    if count > 1 and sum(one.across * one.down for one in found) > MOST_BLOCKS:
        raise Untileable("its MCUs are too large")
    return tuple(found)


def _quantisers(tables: _Tables, components: Sequence[Component]) -> tuple[bytes, bool]:
    """The tables that are used, in their order; and whether they are those of a baseline frame."""
    parts: dict[int, bytes] = {}
    for number in dict.fromkeys(component.quantiser for component in components):
        values = tables.quantisers[number]
        is_wide = max(values) > 255
        content = struct.pack(">64H" if is_wide else "64B", *values)
        parts[number] = segment(DQT, bytes([is_wide << 4 | number]) + content)
    return b"".join(parts.values()), all(part[4] < 16 for part in parts.values())


def _metadata(kept: Sequence[tuple[int, bytes]], jfif: bytes | None, space: str) -> bytes:
    begins_with_exif = bool(kept) and kept[0][0] == APP1 and kept[0][1].startswith(b"Exif\0\0")
    writes_jfif = space in (_YCBCR, _GREY) and not begins_with_exif
    writes_adobe = space in (_RGB, _CMYK, _YCCK)
    parts = []
    if writes_jfif:
        parts.append(segment(APP0, b"JFIF\0" + (jfif or _JFIF) + b"\0\0"))
    if writes_adobe:
        transform = 2 if space == _YCCK else 0
        parts.append(segment(APP14, b"Adobe\0\x64\0\0\0\0" + bytes([transform])))
    for marker, body in kept:
        if writes_jfif and marker == APP0 and body.startswith(b"JFIF\0"):
            continue
        if writes_adobe and marker == APP14 and body.startswith(b"Adobe"):
            continue
        parts.append(segment(marker, body))
    return b"".join(parts)


def _scans(data: bytes, at: int, tables: _Tables, process: int) -> Iterator[Scan]:
    """Every scan, of which the first's header is at `at`; between them are only tables."""
    ids = tables.frame[6::3]
    marker, count = SOS, 0
    while marker != EOI:
        end = at + int.from_bytes(data[at : at + 2], "big")
        body = data[at + 2 : end]
        if marker == SOS:
            count += 1
            start, end = end, next_marker(data, end)
            if end == len(data):
                raise Untileable("its last scan is not followed by the end of the image")
            yield _scan(body, ids, tables, data[start:end])
        elif marker in (DHT, DRI):
            _read_segment(tables, marker, body, process)
        else:
            raise Untileable("its scan is not followed by the end of the image")
        if count > (MOST_SCANS if process == PROGRESSIVE else 1):
            raise Untileable("it has too many scans")
        if data[end : end + 1] != b"\xff" or end + 1 == len(data):
            raise Untileable("between its scans is what is not a marker")
        marker, at = data[end + 1], end + 2


def _scan(body: bytes, ids: bytes, tables: _Tables, data: bytes) -> Scan:
    count = body[0] if body else 0
    if len(body) != 4 + 2 * count or not count:
        raise Untileable("a scan's header is damaged")
    places = [ids.find(body[1 + 2 * n]) for n in range(count)]
    numbers = [(body[2 + 2 * n] >> 4, body[2 + 2 * n] & 15) for n in range(count)]
    if -1 in places or places != sorted(set(places)):
        raise Untileable("a scan's components are not those of the frame, in its order")
    return Scan(
        components=tuple((at, dc, ac) for at, (dc, ac) in zip(places, numbers, strict=True)),
        band=(body[-3], body[-2], body[-1] >> 4, body[-1] & 15),
        restart_interval=tables.restart_interval,
        specs=dict(tables.specs),
        data=data,
    )
