"""PNGs in bands: what stays the same, and what is refused."""

import io
import struct
import zlib
from itertools import pairwise

import numpy as np
import png_chunks
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_images import encode, make_image, turned
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from packer.errors import Unbandable
from packer.images import banding
from packer.images.banding import band

MODES = ("L", "LA", "RGB", "RGBA", "P")


def decoded(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def chunks_of(data: bytes) -> list[tuple[bytes, bytes]]:
    found, at = [], 8
    while at < len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        assert data[at : at + 12 + length] == png_chunks.chunk(name, body)
        found.append((name, body))
        at += 12 + length
    return found


def idat(data: bytes) -> bytes:
    return b"".join(body for name, body in chunks_of(data) if name == b"IDAT")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(1, 1), (63, 7), (64, 80), (65, 1), (200, 90)])
def test_every_value_stays_and_every_band_inflates_by_itself(
    monkeypatch: pytest.MonkeyPatch, mode: str, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(banding, "MAX_GROWTH", 9)
    data = encode(make_image(1, *size, mode), "PNG")
    banded, table = band(data)
    before, after = decoded(data), decoded(banded)
    assert (before.mode, before.tobytes()) == (after.mode, after.tobytes())
    assert before.getpalette() == after.getpalette()
    rows = zlib.decompress(idat(banded))
    starts = table.starts(size[0], len(banded))
    parts = [zlib.decompressobj(-15).decompress(banded[a:b]) for a, b in pairwise(starts)]
    assert b"".join(parts) == rows
    stride = len(rows) // size[0]
    assert [len(part) // stride for part in parts[:-1]] == [table.rows] * (len(parts) - 1)


def test_all_other_chunks_stay_in_their_order() -> None:
    info = PngInfo()
    info.add_text("Title", "boats", zip=True)
    info.add_itxt("Author", "Åse")
    exif = turned(6)
    made = encode(
        make_image(2, 90, 90), "PNG", pnginfo=info, icc_profile=b"profile" * 9, dpi=(72, 72),
        exif=exif, transparency=(1, 2, 3)
    )  # fmt: skip
    data = made[:-12] + png_chunks.chunk(b"tIME", bytes(7)) + made[-12:]
    banded, _ = band(data)
    before = [chunk for chunk in chunks_of(data) if chunk[0] != b"IDAT"]
    after = chunks_of(banded)
    assert [chunk for chunk in after if chunk[0] != b"IDAT"] == before
    names = [name for name, _ in after]
    assert names.count(b"IDAT") == 1
    assert names.index(b"IDAT") == next(
        i for i, (name, _) in enumerate(chunks_of(data)) if name == b"IDAT"
    )
    assert dict(decoded(banded).getexif()) == {0x0112: 6}


def test_what_lies_behind_the_end_stays() -> None:
    data = encode(make_image(3, 90, 90), "PNG")
    assert band(data + b"more")[0] == band(data)[0] + b"more"


def test_an_interlaced_png_is_stored_without() -> None:
    pixels = np.asarray(make_image(4, 66, 70))
    data = interlaced(pixels)
    banded, _ = band(data)
    assert np.array_equal(np.asarray(decoded(data)), pixels)
    assert np.array_equal(np.asarray(decoded(banded)), pixels)
    assert banded[28] == 0


def interlaced(pixels: np.ndarray) -> bytes:
    """Adam7, without filters (ISO/IEC 15948, 8.2)."""
    height, width, _ = pixels.shape
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2),
              (1, 0, 2, 1)]  # fmt: skip
    rows = b"".join(
        b"\0" + row.tobytes() for top, left, down, across in passes
        for row in pixels[top::down, left::across]
    )  # fmt: skip
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 1)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return png_chunks.SIGNATURE + b"".join(png_chunks.chunk(*chunk) for chunk in chunks)


def test_masks_of_few_values_do_not_grow() -> None:
    values = np.zeros((300, 200), np.uint8)
    values[40:200, 30:90] = 7
    values[100:250, 80:160] = 21
    data = encode(Image.fromarray(values), "PNG")
    assert len(band(data)[0]) <= len(data) + 512  # which are the blocks of a tar


def test_a_png_that_would_grow_too_much_is_refused() -> None:
    zeros = encode(Image.fromarray(np.zeros((40_000, 40), np.uint8)), "PNG")
    with pytest.raises(Unbandable, match="more than 10% more bytes"):
        band(zeros)


def test_what_is_no_plain_png_of_8_bits_is_refused() -> None:
    frames = [make_image(seed, 80, 80) for seed in (1, 2)]
    animated = encode(frames[0], "PNG", save_all=True, append_images=frames[1:])
    with pytest.raises(Unbandable, match="animation"):
        band(animated)
    with pytest.raises(Unbandable, match="1 bits"):
        band(encode(make_image(1, 80, 80, "1"), "PNG"))
    sound = encode(make_image(1, 80, 80, "P"), "PNG")
    start = sound.index(b"PLTE") - 4
    length = int.from_bytes(sound[start : start + 4], "big")
    without = sound[:start] + sound[start + 12 + length :]
    two = sound[:start] + png_chunks.chunk(b"PLTE", bytes(6)) + sound[start + 12 + length :]
    for palette in (without, two):
        with pytest.raises(Unbandable, match="not in its palette"):
            band(palette)
    with pytest.raises(Unbandable, match="no end"):
        band(sound[:-12])


@given(st.data())
def test_a_band_keeps_the_filter_that_deflates_best(data: st.DataObject) -> None:
    height, width = data.draw(st.integers(1, 140)), data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    kind = data.draw(st.sampled_from(["noise", "columns", "rows", "flat"]))
    values = {
        "noise": rng.integers(0, 256, (height, width)),
        "columns": np.repeat(rng.integers(0, 256, (1, width)), height, axis=0),
        "rows": np.repeat(rng.integers(0, 256, (height, 1)), width, axis=1),
        "flat": np.zeros((height, width)),
    }[kind].astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(values).save(file, "PNG")
    try:
        banded, _ = band(file.getvalue())
    except Unbandable:
        return
    assert np.array_equal(np.asarray(decoded(banded)), values)
