"""What is stored for an image: its bytes as they are, tiled without loss, or re-encoded."""

import io
import warnings
from dataclasses import dataclass, replace

import simplejpeg
from PIL import Image

from packer.errors import BadImage
from packer.images import PILLOW_ERRORS, ImageInfo, probe
from packer.jpeg import read_header
from packer.tiles import Tiles, Untileable, find_tiles, restart_interval, tile

DEFAULT_QUALITY = 90


@dataclass(frozen=True)
class Policy:
    """What to do with images.

    Attributes:
        tiled: transcode JPEGs to tiles.
        max_side: longest side in pixels; larger images are made smaller. None: any size.
        quality: re-encode every image as a JPEG of this quality. None: only those that are resized.
        check: decode what was transcoded and compare every pixel.
    """

    tiled: bool = True
    max_side: int | None = None
    quality: int | None = None
    check: bool = False


@dataclass(frozen=True)
class Encoded:
    """What goes into the shard for one image.

    Attributes:
        tiles: the segment table of a tiled JPEG.
        untiled: why a JPEG that should have been tiled is not.
    """

    data: bytes
    info: ImageInfo
    tiles: Tiles | None = None
    untiled: str | None = None


def encode(data: bytes, policy: Policy) -> Encoded:
    """Apply `policy` to the bytes of an image file.

    Raises:
        BadImage: it is no sound image.
    """
    info = probe(data)
    longest = max(info.height, info.width)
    shrinks = policy.max_side is not None and longest > policy.max_side
    if shrinks or policy.quality is not None:
        return _reencoded(data, info, policy, policy.max_side if shrinks else None)
    if not policy.tiled or info.format != "jpg":
        return Encoded(data, info)
    if info.channels == 4:
        return Encoded(data, info, untiled="its four channels (CMYK) are decoded whole")
    try:
        header = read_header(data)
        tiled, tiles = tile(data, header)
        # Decoders smooth a progressive file that lacks its last scans; a sequential one never.
        if (policy.check or header.process == 0xC2) and not _same_pixels(data, tiled):
            raise Untileable("its pixels would not stay the same")
    except (Untileable, ValueError) as error:
        return Encoded(data, info, untiled=str(error))
    return Encoded(tiled, info, tiles)


def _same_pixels(one: bytes, other: bytes) -> bool:
    """Whether two JPEGs decode to the same pixels.

    Raises:
        ValueError: one of them does not decode without a warning.
    """
    pixels = simplejpeg.decode_jpeg(one)
    return bool((pixels == simplejpeg.decode_jpeg(other)).all())


def _reencoded(data: bytes, info: ImageInfo, policy: Policy, max_side: int | None) -> Encoded:
    """A JPEG of the image as stored, resized if `max_side` is given; EXIF and ICC are kept."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data)) as image:
                kept = {
                    name: image.info[name] for name in ("exif", "icc_profile") if name in image.info
                }
                pixels = image.convert("L" if info.channels == 1 else "RGB")
    except PILLOW_ERRORS as error:
        raise BadImage(f"it is damaged or cut short ({error})") from error
    if max_side is not None:
        pixels.thumbnail((max_side, max_side), Image.Resampling.LANCZOS)
    if pixels.mode == "L":
        kept.pop("icc_profile", None)  # it may describe the colours that convert() dropped
    options = {"quality": policy.quality or DEFAULT_QUALITY, "optimize": True, **kept}
    encoded = _jpeg(pixels, options)
    channels = len(pixels.getbands())
    info = replace(info, format="jpg", height=pixels.height, width=pixels.width, channels=channels)
    if not policy.tiled:
        return Encoded(encoded, info)
    interval = restart_interval(read_header(encoded), len(encoded))
    encoded = _jpeg(pixels, {**options, "restart_marker_blocks": interval})
    return Encoded(encoded, info, find_tiles(encoded))


def _jpeg(pixels: Image.Image, options: dict[str, object]) -> bytes:
    file = io.BytesIO()
    pixels.save(file, "JPEG", **options)
    return file.getvalue()
