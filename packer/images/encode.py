"""Encoding of images: bytes are kept, tiled without loss, or re-encoded."""

import io
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

import numpy as np
import PIL
import simplejpeg
from numpy.typing import NDArray
from PIL import Image, ImageOps

from packer.errors import BadImage, Unbandable, Untileable
from packer.images import arrays, banding, probe, tiles
from packer.images.jpeg import read_header
from packer.images.tiles import check_pixels, tile
from packer.words import option
from reader.errors import lacks_memory
from reader.format import Limits
from reader.format.bands import BandTable
from reader.format.frames import Packed, Picture
from reader.format.pictures import in_8_bits, opened
from reader.format.tiles import TileTable

DEFAULT_QUALITY = 90
AS_PNG = (
    "Images in memory are stored as lossless PNG, in which photographs take about three times "
    "the bytes of JPEG. To store the original files, pass paths, their bytes or unchanged "
    "results of Image.open. To store JPEGs, pass quality=90."
)
_PHOTOGRAPH = 128 * 128  # pixels; JPEG saves little in less
_EXIF = b"Exif\0\0"  # begins it in a JPEG
_MAX_EXIF = 65533  # bytes that a segment of a JPEG holds

# How Pillow turns an image with this EXIF orientation upright.
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Policy:
    tiled: bool = True  # transcode JPEGs to tiles
    banded: bool = True  # transcode PNGs to bands
    max_side: int | None = None  # pixels; larger images are made smaller
    quality: int | None = None  # of JPEGs; None: only what is resized is re-encoded
    check: bool = False  # decode what was transcoded and compare every pixel
    raw: tuple[int, int] | None = None  # store upright RGB: scaled to cover this size, cropped
    limits: Limits = field(default_factory=Limits)  # of the image before and after
    columns: tuple[str, ...] = ()  # paths in the JSON whose values go into the index

    @property
    def makes_jpegs(self) -> bool:
        return self.quality is not None or self.max_side is not None

    def reencodes(self, height: int, width: int) -> bool:
        return self.quality is not None or self.shrinks(height, width)

    def shrinks(self, height: int, width: int) -> bool:
        return self.max_side is not None and max(height, width) > self.max_side


@dataclass(frozen=True)
class Encoded:
    """The stored bytes of one image, and their description."""

    data: bytes
    info: probe.ImageInfo
    tiles: TileTable | None = None
    untiled: str | None = None  # why a JPEG that should have been tiled is not
    bands: BandTable | None = None
    unbanded: str | None = None  # why a PNG that should have been banded is not
    dropped: tuple[str, ...] = ()  # what the source's image has and no reader shows
    made: Packed | None = None  # what became of the source's picture; None: it is unchanged

    @property
    def packed(self) -> Packed:
        """The source's picture, and what is stored of it."""
        info = self.info
        own = Picture(info.height, info.width, info.orientation)
        return self.made or Packed(own, own)


def transcoders(policy: Policy) -> dict[str, str]:
    """Return what images may go through, with versions: their bytes, or their soundness, depend."""
    found = tiles.transcoders() if policy.tiled and policy.raw is None else {}
    found |= banding.transcoders() if policy.banded and policy.raw is None else {}
    return {**found, "Pillow": PIL.__version__, "simplejpeg": simplejpeg.__version__}


def encode(
    image: bytes | Pixels | Image.Image, policy: Policy, members: Collection[str] = ()
) -> Encoded:
    """Apply `policy` to an image file's bytes or to pixels (uint8, height x width x 1 or 3).

    A picture of Pillow's, of a mode that PNG has, is stored as PNG unless it is to be re-encoded.
    So is a picture of an array (``.npy``), which itself is among the `members` if that loses any.
    """
    dropped: tuple[str, ...] = ()
    if isinstance(image, bytes) and image.startswith(arrays.MAGIC):
        picture, lost = arrays.picture_of(image, policy.limits, is_kept="npy" in members)
        encoded, dropped = _pixels_encoded(picture, policy), (lost,) if lost else ()
    elif isinstance(image, bytes):
        info = probe.probe(image, policy.limits)
        encoded, dropped = _file_encoded(image, info, policy), info.dropped
    else:
        encoded = _pixels_encoded(image, policy)
        if isinstance(image, Image.Image):
            dropped = tuple(probe.dropped(image))
    encoded = replace(encoded, dropped=dropped) if dropped else encoded
    if len(encoded.data) > (most := policy.limits.bytes):
        raise BadImage(
            f"it takes {len(encoded.data)} bytes; {most} are the most (", option("max_bytes"), ")"
        )
    return encoded


def no_image(elsewhere: Packed | None = None) -> Encoded:
    """Return the lack of an image in a dataset without images; it is `elsewhere`, if anywhere."""
    return Encoded(b"", probe.ImageInfo("", 0, 0, 0, 1), made=elsewhere)


def _file_encoded(data: bytes, info: probe.ImageInfo, policy: Policy) -> Encoded:
    if policy.raw is not None:
        with opened_picture(data) as file:
            pixels = in_8_bits(file).convert("RGB")
        if info.orientation != 1:
            pixels = pixels.transpose(UPRIGHT[info.orientation])
        return _fitted(pixels, policy.raw, Picture(info.height, info.width, info.orientation))
    if policy.reencodes(info.height, info.width):
        with opened_picture(data) as image:  # not turned, as masks are not
            pixels = _in_jpegs_mode(image)
            kept = {k: v for k, v in image.info.items() if k in ("exif", "icc_profile")}
            kept["exif"] = _exif(image, kept.get("exif", b""), info.orientation)
        if pixels.mode == "L":
            kept.pop("icc_profile", None)  # it may describe the colours that convert() dropped
        return _reencoded(pixels, policy, kept, info.orientation)
    if info.format == "png":
        data, bands, unbanded = banded_if_possible(data, policy)
        return Encoded(data, info, bands=bands, unbanded=unbanded)
    return _jpeg_encoded(data, info, policy) if info.format == "jpg" else Encoded(data, info)


def _jpeg_encoded(data: bytes, info: probe.ImageInfo, policy: Policy) -> Encoded:
    if not policy.tiled:
        return Encoded(data, info)
    if info.channels == 4:
        return Encoded(data, info, untiled="its four channels (CMYK) are decoded whole")
    try:
        header = read_header(data)
        tiled, table = tile(data, header)
        probe.check_for_reader(tiled)  # it could not cut up what it complains of
        if policy.check:
            check_pixels(data, tiled)
    except (Untileable, ValueError) as error:
        if lacks_memory(error):
            raise MemoryError(str(error)) from error
        return Encoded(data, info, untiled=str(error))
    return Encoded(tiled, info, table)


def banded_if_possible(data: bytes, policy: Policy) -> tuple[bytes, BandTable | None, str | None]:
    """Return a valid PNG in bands, with their table; or unchanged, with the reason if any."""
    if not policy.banded or not banding.is_worth_it(data):
        return data, None, None
    try:
        banded, table = banding.band(data)
        if policy.check:
            banding.check_pixels(data, banded)
    except Unbandable as error:
        return data, None, str(error)
    return banded, table, None


def _pixels_encoded(pixels: Pixels | Image.Image, policy: Policy) -> Encoded:
    if isinstance(pixels, Image.Image):
        image = pixels
        probe.check_size(image.height, image.width, policy.limits)
    else:
        image = Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    if policy.raw is not None:
        source = Picture(image.height, image.width)
        return _fitted(in_8_bits(image).convert("RGB"), policy.raw, source)
    if policy.reencodes(image.height, image.width):
        return _reencoded(_in_jpegs_mode(image), policy, {}, orientation=1)
    if not isinstance(pixels, Image.Image):
        return _raw(pixels)
    info = probe.ImageInfo("png", image.height, image.width, probe.channels_of(image), 1)
    data, bands, unbanded = banded_if_possible(png(image), policy)
    return Encoded(data, info, bands=bands, unbanded=unbanded)


def grows_as_png(image: object, policy: Policy) -> bool:
    """Return whether an image becomes a PNG that may be much larger than a JPEG of it."""
    return (
        isinstance(image, Image.Image)
        and image.height * image.width >= _PHOTOGRAPH
        and policy.raw is None
        and policy.quality is None
    )


def png(image: Image.Image) -> bytes:
    """Return the pixels as a PNG, without EXIF and colour profile."""
    image = _with_whole_palette(image) if image.mode == "P" else image
    # Level 1 takes 40% of the usual level's time, for 4% more bytes of a photograph (measured);
    # most are banded next.
    return saved(image, "PNG", compress_level=1, icc_profile=None)


def _with_whole_palette(image: Image.Image) -> Image.Image:
    """Give each number a colour: Pillow drops the high bits of numbers above the palette."""
    mode = image.palette.mode if image.palette else "RGB"
    palette, black = image.getpalette(mode) or [], [0, 0, 0, 255][: len(mode)]
    count = len(palette) // len(mode)
    if int(np.asarray(image).max()) < count:
        return image
    whole = image.copy()
    whole.putpalette([*palette[: count * len(mode)], *black * (256 - count)], mode)
    return whole


def _in_jpegs_mode(image: Image.Image) -> Image.Image:
    pixels = in_8_bits(image)
    # Not by the channels: a palette has one, and colours.
    return pixels.convert("L" if pixels.mode in probe.ONE_CHANNEL else "RGB")


def _raw(pixels: Pixels) -> Encoded:
    height, width, channels = pixels.shape
    return Encoded(pixels.tobytes(), probe.ImageInfo("raw", height, width, channels, orientation=1))


def _fitted(upright: Image.Image, size: tuple[int, int], source: Picture) -> Encoded:
    encoded = _raw(np.asarray(ImageOps.fit(upright, size[::-1], Image.Resampling.LANCZOS)))
    return _made(encoded, source, is_fitted=True)


def _made(encoded: Encoded, source: Picture, *, is_fitted: bool = False) -> Encoded:
    made = Packed(source, encoded.packed.stored, is_fitted)
    return replace(encoded, made=made) if made.is_changed else encoded


@contextmanager
def opened_picture(data: bytes) -> Iterator[Image.Image]:
    """Open a picture; raise BadImage if it turns out to be damaged."""
    try:
        with opened(data) as image:
            yield image
    except probe.PILLOW_ERRORS as error:
        raise probe.damaged(error) from error


def _exif(image: Image.Image, exif: bytes, orientation: int) -> bytes:
    """Return EXIF with the index's orientation, which `image` may have in XMP or a raw profile."""
    if exif and not exif.startswith(_EXIF):
        exif = _EXIF + exif  # which WebPs may lack
    stored = Image.Image()
    stored.info["exif"] = exif
    if probe.orientation_of(stored) == orientation and len(exif) <= _MAX_EXIF:
        return exif
    whole = b""
    with suppress(*probe.PILLOW_ERRORS):
        whole = image.getexif().tobytes()
    if 0 < len(whole) <= _MAX_EXIF:
        return whole
    only = Image.Exif()
    only[probe.ORIENTATION] = orientation
    return only.tobytes()


def _reencoded(
    pixels: Image.Image, policy: Policy, kept: Mapping[str, object], orientation: int
) -> Encoded:
    source = Picture(pixels.height, pixels.width, orientation)
    if policy.max_side is not None and policy.shrinks(pixels.height, pixels.width):
        pixels.thumbnail((policy.max_side, policy.max_side), Image.Resampling.LANCZOS)
    options = {"quality": policy.quality or DEFAULT_QUALITY, "optimize": True, **kept}
    encoded = saved(pixels, "JPEG", **options)
    info = probe.ImageInfo("jpg", pixels.height, pixels.width, len(pixels.getbands()), orientation)
    return _made(_jpeg_encoded(encoded, info, policy), source)


def saved(pixels: Image.Image, format: str, **options: object) -> bytes:
    """Return the bytes of a file."""
    pixels.save(file := io.BytesIO(), format, **options)
    return file.getvalue()
