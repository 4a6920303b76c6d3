"""Whether an image in a shard is the one that its index describes."""

import zlib
from collections.abc import Iterator, Mapping

from packer.errors import BadImage
from packer.images.probe import probe
from reader.decode.bands import cut_bands
from reader.format import FORMATS, Limits
from reader.format.bands import bands_of
from reader.format.columns import Column
from reader.format.pictures import opened
from reader.format.tiles import table_of

CHANGED = "its bytes are not those that were packed"


def image_faults(columns: Mapping[str, Column], row: int, data: memoryview) -> Iterator[str]:
    """What is wrong with the image of a row, whose bytes are `data`, without decoding it."""
    if zlib.crc32(data) != columns["crc32"][row]:
        yield CHANGED
    if FORMATS[int(columns["format"][row])] == "raw":
        shape = [int(columns[name][row]) for name in ("height", "width", "channels")]
        if len(data) != shape[0] * shape[1] * shape[2]:
            yield f"{len(data)} bytes are not {' x '.join(map(str, shape))} values"
    table = table_of(columns, row) if "segment" in columns else None
    if table is not None:
        try:
            table.check(data, int(columns["height"][row]), int(columns["width"][row]))
        except ValueError as error:
            yield f"its segments do not lie where its index says ({error})"
    yield from band_faults(columns, row, data)


def band_faults(
    columns: Mapping[str, Column], row: int, data: memoryview, member: str = ""
) -> Iterator[str]:
    """What is wrong with the bands of a row's image or `member`, without inflating them."""
    table = bands_of(columns, row, member)
    if table is not None:
        try:
            table.check(data, int(columns["height"][row]), int(columns["width"][row]))
        except ValueError as error:
            yield f"its bands do not lie where its index says ({error})"


def contradictions(
    columns: Mapping[str, Column], row: int, data: bytes, limits: Limits
) -> Iterator[str]:
    """What an index, which may be damaged, says otherwise than the image of a row itself.

    That is decoded to know what it is: by libraries to which hostile bytes may do anything.
    """
    kind = FORMATS[int(columns["format"][row])]
    if kind == "raw":
        return
    try:
        info = probe(data, limits)
    except BadImage as error:
        yield str(error)
        return
    names = ("height", "width", "channels", "orientation")
    told = (kind, *(int(columns[name][row]) for name in names))
    if (info.format, *(getattr(info, name) for name in names)) != told:
        yield f"it is not what its index says, but {info}"
    elif (table := bands_of(columns, row)) is not None:
        try:
            box = 0, 0, info.height, info.width
            cut = cut_bands(table, len(data), info.height, info.width, box)
            values, _ = cut.values(lambda start, stop: memoryview(data)[start:stop])
            with opened(data, "PNG") as image:
                same = values.tobytes() == image.tobytes()
        except ValueError as error:
            yield f"a band of it does not decode ({error})"
        else:
            if not same:
                yield "its bands hold other pixels than the whole of it"
