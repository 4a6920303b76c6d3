"""Each odd JPEG of docs/odd-images.md, made."""

import shutil
import struct
import subprocess
from collections.abc import Sequence

import numpy as np
from lossless_jpeg import lossless
from made_images import encode, make_image
from PIL import Image

SOI, EOI = b"\xff\xd8", b"\xff\xd9"
APP2, DHT, DQT, SOF, SOS = 0xE2, 0xC4, 0xDB, 0xC0, 0xDA


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


class Jpeg:
    """A JPEG taken apart: the segments before its first scan, as (marker, body), and the scan."""

    def __init__(self, data: bytes) -> None:
        self.segments: list[tuple[int, bytes]] = []
        at = 2
        while not self.segments or self.segments[-1][0] != SOS:
            marker, length = struct.unpack_from(">xBH", data, at)
            self.segments.append((marker, data[at + 4 : at + 2 + length]))
            at += 2 + length
        self.scan = data[at:]

    def body(self, marker: int) -> bytes:
        return next(body for m, body in self.segments if m == marker)

    def with_body(self, marker: int, body: bytes, new: int | None = None) -> bytes:
        """The file with another body, and maybe another marker, in place of those of `marker`."""
        return self.joined(
            [(new or m, body) if m == marker else (m, old) for m, old in self.segments]
        )

    def without(self, marker: int) -> bytes:
        return self.joined([entry for entry in self.segments if entry[0] != marker])

    def before(self, marker: int, junk: bytes) -> bytes:
        """The file with `junk` in front of the first `marker`."""
        at = [m for m, _ in self.segments].index(marker)
        parts = [segment(*entry) for entry in self.segments]
        return b"".join([SOI, *parts[:at], junk, *parts[at:], self.scan])

    def joined(self, segments: Sequence[tuple[int, bytes]], scan: bytes | None = None) -> bytes:
        content = b"".join(segment(*entry) for entry in segments)
        return SOI + content + (self.scan if scan is None else scan)

    def sized(self, height: int, width: int) -> bytes:
        body = self.body(SOF)
        return self.with_body(SOF, body[:1] + struct.pack(">HH", height, width) + body[5:])

    def markers(self) -> list[int]:
        """Where the restart markers are in the scan."""
        scan = np.frombuffer(self.scan, np.uint8)
        return np.flatnonzero((scan[:-1] == 0xFF) & (scan[1:] >> 3 == 0xD0 >> 3)).tolist()


def with_program(data: bytes, *command: str) -> bytes | None:
    """What a program of libjpeg-turbo makes of `data`; None where it is not installed."""
    if shutil.which(command[0]) is None:
        return None
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout


def odd_jpegs() -> dict[str, bytes | None]:
    """Return the bytes by name; None where the machine lacks the program that makes it."""
    image = make_image(7, 120, 160)
    grey = image.convert("L")
    file = encode(image, "JPEG", quality=90)
    photo = Jpeg(file)
    progressive = encode(image, "JPEG", quality=90, progressive=True)
    restarting = Jpeg(encode(image, "JPEG", quality=90, restart_marker_blocks=8))
    ppm = encode(image, "PPM")
    odd: dict[str, bytes | None] = {}

    odd["arithmetic coding"] = with_program(file, "jpegtran", "-arithmetic")
    odd["arithmetic coding, progressive"] = with_program(
        file, "jpegtran", "-arithmetic", "-progressive"
    )
    flat = Jpeg(encode(Image.new("L", (48, 32), 128), "JPEG"))  # every coefficient is 0
    odd["12 bits a sample"] = flat.with_body(SOF, b"\x0c" + flat.body(SOF)[1:], 0xC1)
    odd["lossless (SOF3)"] = lossless(np.asarray(grey.resize((48, 32))))
    odd["lossless (SOF3), cut short"] = odd["lossless (SOF3)"][:-300]
    odd["differential (SOF5)"] = photo.with_body(SOF, photo.body(SOF), 0xC5)
    odd["progressive"] = progressive
    odd["grey"] = encode(grey, "JPEG")
    body = Jpeg(odd["grey"]).body(SOF)
    odd["grey with sampling 2x2"] = Jpeg(odd["grey"]).with_body(SOF, body[:7] + b"\x22" + body[8:])
    odd["one pixel"] = encode(make_image(1, 1, 1), "JPEG")

    cmyk = encode(make_image(7, 120, 160, "CMYK"), "JPEG", quality=90)
    odd["CMYK, inverted by Adobe's marker"] = cmyk
    odd["CMYK without Adobe's marker"] = Jpeg(cmyk).without(0xEE)
    adobe = Jpeg(cmyk).body(0xEE)
    odd["YCCK (Adobe transform 2)"] = Jpeg(cmyk).with_body(0xEE, adobe[:-1] + b"\2")
    odd["RGB (Adobe transform 0)"] = encode(image, "JPEG", quality=90, keep_rgb=True)
    ids = Jpeg(odd["RGB (Adobe transform 0)"])
    odd["RGB by its component numbers only"] = ids.without(0xEE)

    for factors in ("3x1,1x1,1x1", "4x1,1x1,1x1", "1x2,1x1,1x1", "1x4,1x1,1x1", "2x1,1x1,2x1"):
        odd[f"sampling {factors}"] = with_program(
            ppm, "cjpeg", "-quality", "90", "-sample", factors
        )
    odd["sampling 1x1,2x2,2x2 (luma subsampled)"] = with_program(
        ppm, "cjpeg", "-quality", "90", "-sample", "1x1,2x2,2x2"
    )
    sampling = bytearray(photo.body(SOF))
    sampling[7], sampling[10] = 0x31, 0x21
    odd["sampling 3x1,2x1,1x1 (fractional)"] = photo.with_body(SOF, bytes(sampling))
    tables = [body for marker, body in photo.segments if marker == DQT]
    wide = [bytes([0x10 | t[0]]) + b"".join(struct.pack(">H", q) for q in t[1:]) for t in tables]
    rest = [entry for entry in photo.segments if entry[0] not in (DQT, SOF)]
    odd["16-bit quantisation tables"] = photo.joined(
        [*((DQT, table) for table in wide), (0xC1, photo.body(SOF)), *rest]
    )

    odd["cut short within its scan"] = file[: len(file) * 2 // 3]
    odd["progressive, cut short"] = progressive[: len(progressive) * 2 // 3]
    odd["cut short within its header"] = file[:200]
    odd["cut short, but with an EOI"] = file[: len(file) * 2 // 3] + EOI
    odd["no EOI"] = file[:-2]
    scans = progressive.split(segment(SOS, b"")[:2])
    odd["progressive without its last scans"] = (b"\xff\xda".join(scans[:4])) + EOI
    odd["progressive without scans of colour"] = (b"\xff\xda".join(scans[:2])) + EOI
    third = len(photo.scan) // 3
    zeros = photo.scan[:third] + bytes(200) + photo.scan[third + 200 :]
    odd["zeros in its scan"] = photo.joined(photo.segments, zeros)

    marks = restarting.markers()
    scan = bytearray(restarting.scan)
    scan[marks[4] + 1], scan[marks[6] + 1] = scan[marks[6] + 1], scan[marks[4] + 1]
    odd["restart markers out of order"] = restarting.joined(restarting.segments, bytes(scan))
    scan = bytearray(restarting.scan)
    del scan[marks[5] : marks[5] + 2]
    odd["a restart marker missing"] = restarting.joined(restarting.segments, bytes(scan))
    scan = bytearray(restarting.scan)
    del scan[marks[3] : marks[5]]
    odd["restart segments missing"] = restarting.joined(restarting.segments, bytes(scan))
    scan = bytearray(restarting.scan)
    scan[marks[5] + 1] = 0xC7
    odd["a restart marker damaged"] = restarting.joined(restarting.segments, bytes(scan))
    odd["restart markers, sound"] = restarting.joined(restarting.segments)

    odd["bytes before a marker"] = photo.before(SOF, b"junk")
    odd["fill bytes 0xFF before a marker"] = photo.before(SOF, b"\xff" * 9)
    odd["bytes after EOI"] = file + b"appended by a camera"
    odd["bytes before SOI"] = b"\0\0" + file
    odd["a segment of length 0"] = photo.before(SOF, b"\xff\xe5\0\0")
    odd["a segment of length 1"] = photo.before(SOF, b"\xff\xe5\0\1")
    odd["a segment longer than the file"] = photo.before(SOF, b"\xff\xe5\xff\xff")
    odd["a segment with a wrong length"] = photo.before(SOF, b"\xff\xe5\0\x10abc")
    odd["a comment of length 2"] = photo.before(SOF, b"\xff\xfe\0\2")

    odd["a JFIF segment cut short"] = photo.before(DQT, segment(0xE0, b"JFIF\0"))
    odd["an Adobe segment cut short"] = photo.before(DQT, segment(0xEE, b"Adobe"))
    odd["an ICC segment cut short"] = photo.before(DQT, segment(APP2, b"ICC_PROFILE\0"))
    odd["a marker TEM"] = photo.before(DQT, b"\xff\x01")

    odd["no Huffman tables (a frame of MJPEG)"] = Jpeg(encode(image, "JPEG", quality=90)).without(
        DHT
    )
    odd["no quantisation tables"] = photo.without(DQT)
    odd["no frame header"] = photo.without(SOF)
    odd["two frame headers"] = photo.before(SOF, segment(SOF, photo.body(SOF)))
    odd["two frame headers of different sizes"] = photo.before(
        SOF, segment(SOF, Jpeg(encode(make_image(1, 16, 16), "JPEG")).body(SOF))
    )
    odd["65,500 x 65,500 pixels in 2 KB"] = (photo.sized(65_500, 65_500) + bytes(2048))[:2046] + EOI
    odd["height 0, set by DNL"] = photo.sized(0, 160)[:-2] + segment(0xDC, b"\0\x78") + EOI
    odd["width 0"] = photo.sized(120, 0)
    odd["more rows in its header than in its scan"] = photo.sized(240, 160)
    odd["fewer rows in its header than in its scan"] = photo.sized(64, 160)

    exif = Image.Exif()
    exif[0x0112] = 6
    blob = exif.tobytes()
    thumbnail = encode(make_image(2, 20, 30), "JPEG")
    odd["a thumbnail in EXIF"] = encode(image, "JPEG", quality=90, exif=blob + thumbnail)
    second = make_image(8, 120, 160)
    odd["MPO (several pictures)"] = encode(
        image, "MPO", quality=90, save_all=True, append_images=[second]
    )
    odd["two files joined"] = file + encode(second, "JPEG")
    odd["two files joined, the first cut short"] = file[: len(file) // 2] + encode(second, "JPEG")
    odd["SOI twice"] = SOI + file
    for value in range(1, 9):
        exif[0x0112] = value
        odd[f"EXIF orientation {value}"] = encode(image, "JPEG", quality=90, exif=exif)
    for value in (0, 9):
        exif[0x0112] = value
        odd[f"EXIF orientation {value} (none such)"] = encode(image, "JPEG", quality=90, exif=exif)
    xmp = b'http://ns.adobe.com/xap/1.0/\0<x tiff:Orientation="6"/>'
    odd["orientation 6 in XMP only"] = photo.before(DQT, segment(0xE1, xmp))
    broken = {"cut short": blob[:9], "of nonsense": b"Exif\0\0MM\0*\xff\xff\xff\xff", "empty": b""}
    for what, content in broken.items():
        odd[f"EXIF {what}"] = photo.before(DQT, segment(0xE1, content or b"Exif\0\0"))
    profile = [(APP2, b"ICC_PROFILE\0" + bytes([n, 3]) + bytes(100)) for n in (1, 3)]
    odd["an ICC profile of three parts, one missing"] = photo.joined([*profile, *photo.segments])
    return odd
