"""What is stored for the members beside an image.

Their bytes are kept, except PNGs, which are banded like images, and pictures of an image whose
pixels packing resizes or turns: these follow it. Coordinates keep their numbers, and the picture
that they are of is found by the size that their annotation gives.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from packer.errors import BadImage, message_of
from packer.images import probe
from packer.images.annotated import own_size
from packer.images.encode import (
    DEFAULT_QUALITY,
    UPRIGHT,
    Policy,
    banded_if_possible,
    opened_picture,
    png,
    saved,
)
from packer.words import option
from reader.format import frames
from reader.format.bands import BandTable
from reader.format.fields import values_at
from reader.format.frames import Packed
from reader.format.members import DECODERS, PHOTOGRAPHS, holds_values, kind_of, picture_format

_BACK = UPRIGHT | {6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}  # their inverses
_OF_PNG = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
_EXACT: Mapping[str, Any] = {"quality": 100, "subsampling": 0}  # of a JPEG that holds values


class EncodedMember(NamedTuple):
    data: bytes
    bands: BandTable | None = None
    values: tuple[tuple[str, Any], ...] = ()  # numbers and texts of its JSON, by path
    frame: int = frames.UNKNOWN  # the picture that its coordinates are of, or that it is


def encode_member(
    ext: str,
    data: bytes,
    image: Packed,
    policy: Policy,
    picture: tuple[int, int] | None = None,
) -> EncodedMember:
    """Return what is stored for a member; raise BadImage if it does not decode, or fit `image`.

    `picture`: width and height that an annotation gives of its picture, as the scan found it.
    """
    kind = kind_of(ext)
    if picture_format(ext) is not None:
        return _picture(ext, data, image, policy)
    if (decode := DECODERS.get(kind)) is None:
        return EncodedMember(data)
    try:
        content = decode(data)
    except MemoryError:
        raise  # which says nothing of the member
    except Exception as error:  # decoders raise what they like
        raise BadImage(f"its .{ext} does not decode ({message_of(error)})") from error
    if kind == "npy" and image.is_changed:
        _refuse_picture(ext, content.shape, image)
    found = picture or (own_size(content) if kind == "json" else None)
    frame = image.source.frame_of(found[1], found[0]) if found else frames.UNKNOWN
    return EncodedMember(data, values=_values(ext, content, policy), frame=frame)


def _values(ext: str, content: Any, policy: Policy) -> tuple[tuple[str, Any], ...]:
    if ext != "json" or not policy.columns:
        return ()
    try:
        return tuple(values_at(content, policy.columns))
    except ValueError as error:
        raise BadImage(str(error)) from error


def _refuse_picture(ext: str, shape: tuple[int, ...], image: Packed) -> None:
    """Refuse an array over the image, which would no longer lie over it."""
    sizes = image.source.size, image.source.upright_size
    if len(shape) in (2, 3) and (shape[:2] in sizes or shape[1:] in sizes):
        raise BadImage(
            f"its .{ext} is an array over the {shape[1]} x {shape[0]} pixels of its image, and "
            "does not become smaller with it. Pack without ",
            option("max_side"),
            " and ",
            option("raw"),
            ", or give pictures (.png) instead of arrays",
        )


def _picture(ext: str, data: bytes, image: Packed, policy: Policy) -> EncodedMember:
    try:
        found = probe.probe(data, policy.limits)
    except BadImage as error:
        raise BadImage(f"its .{ext} is not a picture that can be read: {error}") from error
    size, source = (found.height, found.width), image.source
    frame = source.frame_of(*size)
    said = frame if frame == frames.EITHER else frames.UNKNOWN
    is_of_stored = image.is_changed and frame == frames.NEITHER and size == image.stored.size
    if is_of_stored or (not image.is_changed and frame not in (frames.UPRIGHT, frames.NEITHER)):
        if found.format == "png":
            return EncodedMember(*banded_if_possible(data, policy)[:2], frame=said)
        return EncodedMember(data, frame=said)
    if frame == frames.NEITHER:
        turned = " before it is turned upright" if source.orientation >= 5 else ""
        raise BadImage(
            f"its .{ext} is {found.width} x {found.height} pixels, and the image {source.width} x "
            f"{source.height} as it is stored{turned}"
        )
    is_photograph = {picture_format(ext), found.format} <= {*PHOTOGRAPHS}
    if is_photograph and not image.is_changed:
        raise BadImage(
            f"its .{ext} is upright, and the image is stored turned. A JPEG or WebP does not turn "
            "without loss: convert it to PNG, or turn it as the image is stored"
        )
    with opened_picture(data) as picture:
        picture.load()
        followed = _followed(picture, image, ext, is_upright=frame == frames.UPRIGHT)
    if is_photograph:
        quality = policy.quality or DEFAULT_QUALITY
        options = _EXACT if holds_values(ext) else {"quality": quality}
        profile = picture.info.get("icc_profile")
        kind = "JPEG" if found.format == "jpg" else "WEBP"
        return EncodedMember(saved(followed, kind, icc_profile=profile, **options), frame=said)
    if followed.mode not in _OF_PNG:
        return EncodedMember(saved(followed, "TIFF"), frame=said)
    return EncodedMember(*banded_if_possible(png(followed), policy)[:2], frame=said)


def _followed(picture: Image.Image, image: Packed, ext: str, *, is_upright: bool) -> Image.Image:
    """Return a picture turned and resized as its image was; values are not mixed."""
    orientation, size = image.source.orientation, (image.stored.width, image.stored.height)
    if picture.mode.startswith("I;16"):  # of either order of bytes, or of 12 bits
        picture = Image.fromarray(np.asarray(picture).astype("<u2"))
    if orientation != 1 and is_upright != image.is_fitted:
        picture = picture.transpose((_BACK if is_upright else UPRIGHT)[orientation])
    if not image.is_changed:
        return picture
    is_smooth = picture_format(ext) in PHOTOGRAPHS and not holds_values(ext)
    method = Image.Resampling.LANCZOS if is_smooth else Image.Resampling.NEAREST
    return picture.resize(size, method, box=image.crop if image.is_fitted else None)
