"""Each odd PNG, GIF, WebP, TIFF, BMP and PPM of docs/odd-images.md, made."""

import struct
import zlib
from typing import Any

import numpy as np
from made_images import encode, make_image
from PIL import Image, TiffImagePlugin
from png_chunks import SIGNATURE, chunk, with_damaged_data

HUGE = 60_000  # pixels, along each side


def png(
    size: tuple[int, int], depth: int, colour: int, rows: bytes, *before: bytes, interlaced: int = 0
) -> bytes:
    """A PNG of these compressed rows, with chunks before them; `size` is (height, width)."""
    header = struct.pack(">IIBBBBB", size[1], size[0], depth, colour, 0, 0, interlaced)
    body = [chunk(b"IHDR", header), *before, chunk(b"IDAT", rows), chunk(b"IEND", b"")]
    return SIGNATURE + b"".join(body)


def without(name: bytes, data: bytes) -> bytes:
    """A PNG without its chunks of this name."""
    kept, at = SIGNATURE, len(SIGNATURE)
    while at < len(data):
        end = at + 12 + struct.unpack_from(">I", data, at)[0]
        kept += b"" if data[at + 4 : at + 8] == name else data[at:end]
        at = end
    return kept


def bomb(megabytes: int) -> bytes:
    """So many megabytes of zeros, compressed."""
    compressor = zlib.compressobj(9)
    zeros = bytes(1 << 20)
    return b"".join(compressor.compress(zeros) for _ in range(megabytes)) + compressor.flush()


def rows_of(pixels: Any) -> bytes:
    """The compressed rows of a PNG, unfiltered."""
    return zlib.compress(b"".join(b"\0" + row.tobytes() for row in pixels))


def interlaced(grey: Any) -> bytes:
    """The compressed seven passes of Adam7."""
    steps = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4)]
    steps += [(2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    passes = [grey[top::down, left::right] for top, left, down, right in steps]
    return zlib.compress(b"".join(b"\0" + row.tobytes() for part in passes for row in part))


def tiff_of(
    size: tuple[int, int],
    bits: int,
    strip: bytes,
    *,
    sign: int = 1,
    alpha: int | None = None,
    order: str = "<",
) -> bytes:
    """A grey TIFF of one strip.

    Args:
        size: (height, width).
        sign: 1 for numbers without one, 2 for those with one, 3 for floats.
        alpha: 1 for a second value of each pixel that it is multiplied by, 2 if it is not.
        order: "<" or ">".
    """
    count = 1 if alpha is None else 2
    tags = [(256, size[1]), (257, size[0]), (258, bits | bits << 16 if count == 2 else bits)]
    tags += [(259, 1), (262, 1), (273, 0), (277, count), (278, size[0]), (279, len(strip))]
    tags += [(338, alpha)] * (count - 1) + [(339, sign | sign << 16 if count == 2 else sign)]
    start = 8 + 2 + 12 * len(tags) + 4
    found = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, 8)
    found += struct.pack(f"{order}H", len(tags))
    for tag, value in tags:
        shorts = count if tag in (258, 339) else 1
        kind = "HHII" if tag in (273, 279) or shorts == 2 else "HHIHxx"
        number = start if tag == 273 else value
        found += struct.pack(order + kind, tag, 4 if tag in (273, 279) else 3, shorts, number)
    return found + bytes(4) + strip


def packed_12(grey: Any) -> bytes:
    """Rows of 12 bits a value, an even number of them."""
    first, second = grey[:, ::2].astype(int), grey[:, 1::2].astype(int)
    parts = first >> 4, (first & 15) << 4 | second >> 8, second & 255
    return bytes(np.stack(parts, axis=-1).astype(np.uint8))


def with_tiff_sides(data: bytes, side: int) -> bytes:
    """A little-endian TIFF whose ImageWidth and ImageLength are `side`."""
    changed = bytearray(data)
    (at,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, at)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        if struct.unpack_from("<H", data, entry)[0] in (256, 257):
            struct.pack_into("<HII", changed, entry + 2, 4, 1, side)
    return bytes(changed)


def odd_files() -> dict[str, bytes]:
    """Return the bytes by the name in the table."""
    image, second = make_image(7, 60, 80), make_image(8, 60, 80)
    grey = image.convert("L")
    alpha = image.convert("RGBA")
    alpha.putalpha(grey)
    palette, bits = image.quantize(16), image.convert("1")
    deep = np.random.default_rng(0).integers(0, 2**16, (60, 80, 4), dtype=np.uint16)
    big_endian = deep.astype(">u2")
    size = (60, 80)
    turned = Image.Exif()
    turned[0x0112] = 6
    found: dict[str, bytes] = {}

    plain = encode(image, "PNG")
    head, rest = plain[:33], plain[33:]
    black = rows_of(np.zeros((60, 240), np.uint8))
    found["PNG, 16 bits, grey"] = encode(Image.fromarray(deep[..., 0]), "PNG")
    found["PNG, 16 bits, RGB"] = png(size, 16, 2, rows_of(big_endian[..., :3]))
    found["PNG, 16 bits, grey with alpha"] = png(size, 16, 4, rows_of(big_endian[..., :2]))
    found["PNG, 16 bits, RGBA"] = png(size, 16, 6, rows_of(big_endian))
    found["PNG, one bit"] = encode(bits, "PNG")
    found["PNG, RGBA"] = encode(alpha, "PNG")
    found["PNG, palette of 4 bits"] = encode(palette, "PNG", bits=4)
    found["PNG, palette with transparency"] = encode(
        palette, "PNG", transparency=bytes(range(0, 256, 16))
    )
    indices = rows_of(np.asarray(palette))
    found["PNG, palette missing"] = png(size, 8, 3, indices)
    found["PNG, interlaced"] = png(size, 8, 0, interlaced(np.asarray(grey)), interlaced=1)
    found["PNG, EXIF orientation 6"] = encode(image, "PNG", exif=turned)
    xmp = b'<x tiff:Orientation="6"/>'
    exif = turned.tobytes()
    profile = f"\nexif\n{len(exif):8}\n{exif.hex()}\n".encode()
    in_xmp = chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp)
    found["PNG, orientation 6 in XMP"] = head + in_xmp + rest
    found["PNG, orientation 6 in XMP behind its pixels"] = plain[:-12] + in_xmp + plain[-12:]
    found["PNG, orientation 6 in a raw profile"] = (
        head + chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(profile)) + rest
    )
    found["PNG, EXIF of 70 KB, orientation 6"] = encode(image, "PNG", exif=exif + bytes(70_000))
    found["APNG"] = encode(image, "PNG", save_all=True, append_images=[second])
    found["APNG whose picture is not a frame of it"] = encode(
        image, "PNG", save_all=True, default_image=True, append_images=[second, grey.convert("RGB")]
    )
    for name, start in (("zTXt", b"a\0\0"), ("iCCP", b"a\0\0"), ("iTXt", b"a\0\1\0\0\0")):
        extra = chunk(name.encode(), start + bomb(2))
        found[f"PNG, a bomb in {name}"] = png(size, 8, 2, black, extra)
    found["PNG, more pixels than its header says"] = png(size, 8, 2, bomb(10))
    found["PNG, fewer rows than its header says"] = png(
        size, 8, 2, rows_of(np.zeros((30, 240), np.uint8))
    )
    found["PNG, damaged data under right checksums"] = with_damaged_data(plain)
    found["APNG without its frames' headers"] = without(b"fcTL", found["APNG"])
    found["PNG, 60,000 x 60,000 pixels"] = png((HUGE, HUGE), 8, 2, bomb(1))
    found["PNG, width 0"] = png((60, 0), 8, 2, black)
    found["PNG, cut short"] = plain[: len(plain) * 2 // 3]
    found["PNG, without IEND"] = plain[:-12]
    found["PNG, bytes after IEND"] = plain + b"appended"
    found["PNG, wrong checksum of a chunk"] = head + chunk(b"tEXt", b"a\0b")[:-1] + b"\0" + rest
    found["PNG, unknown critical chunk"] = head + chunk(b"ABCD", b"abc") + rest
    found["PNG, a chunk longer than the file"] = head + b"\x7f\xff\xff\xfftEXta" + rest

    still = encode(image.quantize(64), "GIF")
    moving = encode(
        image.quantize(64), "GIF", save_all=True, append_images=[second.quantize(64)] * 2
    )
    frame = still.index(b"\x2c\0\0\0\0\x50\0")
    found["GIF, animated"] = moving
    found["GIF, transparent"] = encode(image.quantize(64), "GIF", transparency=3)
    found["GIF, interlaced"] = encode(image.quantize(64), "GIF", interlace=1)
    found["GIF, canvas larger than its frame"] = still[:6] + struct.pack("<HH", 90, 70) + still[10:]
    found["GIF, cut short in its first frame"] = still[: len(still) // 2]
    found["GIF, cut short in a later frame"] = moving[: len(moving) * 2 // 3]
    found["GIF, canvas of 65,535 x 65,535 pixels"] = still[:6] + b"\xff" * 4 + still[10:]
    found["GIF, frame of 65,535 x 65,535 pixels"] = (
        still[: frame + 5] + b"\xff" * 4 + still[frame + 9 :]
    )

    webp = encode(image, "WEBP")
    wide = encode(alpha, "WEBP")
    found["WebP, lossless"] = encode(image, "WEBP", lossless=True)
    found["WebP, alpha"] = wide
    found["WebP, animated"] = encode(image, "WEBP", save_all=True, append_images=[second])
    found["WebP, EXIF orientation 6"] = encode(image, "WEBP", exif=turned)
    found["WebP, orientation 6 in XMP"] = encode(image, "WEBP", xmp=xmp)
    found["WebP, cut short"] = webp[: len(webp) * 2 // 3]
    found["WebP, bytes after its end"] = webp + b"appended"
    found["WebP, canvas of 16,383 x 16,383 pixels"] = (
        wide[:24] + b"\xfe\x3f\0\xfe\x3f\0" + wide[30:]
    )

    tiff = encode(image, "TIFF")
    for name in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg"):
        found[f"TIFF, {name}"] = encode(image, "TIFF", compression=name)
    found["TIFF, CMYK"] = encode(image.convert("CMYK"), "TIFF")
    lab = image.convert("LAB")
    found["TIFF, CIE L*a*b*"] = encode(lab, "TIFF", icc_profile=None)  # which has today's date
    found["TIFF, 16 bits, grey"] = encode(Image.fromarray(deep[..., 0]), "TIFF")
    high = deep[..., 0]
    found["TIFF, 12 bits, grey"] = tiff_of(size, 12, packed_12(high >> 4))
    found["TIFF, 16 bits, grey, big-endian"] = tiff_of(
        size, 16, big_endian[..., 0].tobytes(), order=">"
    )
    found["TIFF, 32 bits, grey"] = tiff_of(size, 32, (high.astype("<u4") << 16).tobytes())
    found["TIFF, 16 bits, signed"] = tiff_of(size, 16, high.tobytes(), sign=2)
    found["TIFF, 32 bits, signed"] = tiff_of(
        size, 32, (high.astype("<i4") - 2**15).tobytes(), sign=2
    )
    found["TIFF, 10 bits, grey"] = tiff_of(size, 10, bytes(60 * 100))
    found["TIFF, 14 bits, grey"] = tiff_of(size, 14, bytes(60 * 140))
    found["TIFF, 64-bit floats"] = tiff_of(size, 64, high.astype("<f8").tobytes(), sign=3)
    pairs = bytes(np.stack([np.asarray(grey), np.asarray(grey)], axis=-1))
    found["TIFF, grey with alpha"] = tiff_of(size, 8, pairs, alpha=2)
    found["TIFF, grey multiplied by its alpha"] = tiff_of(size, 8, pairs, alpha=1)
    found["TIFF, 32-bit floats"] = encode(grey.convert("F"), "TIFF")
    found["TIFF, fax"] = encode(bits, "TIFF", compression="group4")
    found["TIFF, several pages"] = encode(image, "TIFF", save_all=True, append_images=[second])
    found["TIFF, orientation 6"] = encode(image, "TIFF", exif=turned)
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[700] = xmp
    found["TIFF, orientation 6 in XMP"] = encode(image, "TIFF", tiffinfo=tags)
    found["TIFF, cut short"] = tiff[: len(tiff) * 2 // 3]
    found["TIFF, 60,000 x 60,000 pixels"] = with_tiff_sides(tiff, HUGE)

    bmp = encode(image, "BMP")
    found["BMP, palette"] = encode(palette, "BMP")
    found["BMP, from top to bottom"] = bmp[:22] + struct.pack("<i", -60) + bmp[26:]
    found["BMP, cut short"] = bmp[: len(bmp) * 2 // 3]
    found["BMP, 60,000 x 60,000 pixels"] = bmp[:18] + struct.pack("<ii", HUGE, HUGE) + bmp[26:]

    ppm = encode(image, "PPM")
    found["PGM, 16 bits"] = b"P5 80 60 65535\n" + big_endian[..., 0].tobytes()
    found["PPM, 16 bits"] = b"P6 80 60 65535\n" + big_endian[..., :3].tobytes()
    found["PGM, 10 bits"] = b"P5 80 60 1023\n" + (big_endian[..., 0] >> 6).astype(">u2").tobytes()
    found["PGM, 4 bits"] = b"P5 80 60 15\n" + bytes(np.asarray(grey) >> 4)
    found["PPM, 10 bits"] = b"P6 80 60 1023\n" + (big_endian[..., :3] >> 6).astype(">u2").tobytes()
    found["PFM"] = encode(grey.convert("F"), "PPM")
    found["PPM, in words"] = b"P3 80 60 255\n" + b" ".join(
        b"%d" % value for value in np.asarray(image).ravel().tolist()
    )
    found["PPM, cut short"] = ppm[: len(ppm) * 2 // 3]
    found["PPM, 60,000 x 60,000 pixels"] = b"P6 60000 60000 255\n" + bytes(100)
    found["PAM"] = b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n\0\0\0"
    return found
