"""What is stored of what belongs to an image: masks, pairs, texts and arrays that can be read.

All of it stays as it is, but for PNGs, which are banded as images are.
"""

from typing import NamedTuple

from packer.errors import BadImage, said
from packer.images.encode import Policy, banded_if_possible
from packer.images.probe import ImageInfo, probe
from reader.format import Limits
from reader.format.bands import BandTable
from reader.format.members import DECODERS, kind_of, picture_format


class EncodedMember(NamedTuple):
    """What goes into the shard for one member."""

    data: bytes
    bands: BandTable | None = None


def encode_member(ext: str, data: bytes, image: ImageInfo, policy: Policy) -> EncodedMember:
    """Return what is stored for a member; raise BadImage if it does not decode, or fit `image`."""
    if picture_format(ext) is not None:
        if _check_picture(ext, data, image, policy.limits) == "png":
            return EncodedMember(*banded_if_possible(data, policy)[:2])
    elif decode := DECODERS.get(kind_of(ext)):
        try:
            decode(data)
        except MemoryError:
            raise  # which says nothing of the member
        except Exception as error:  # decoders raise what they like
            raise BadImage(f"its .{ext} does not decode ({said(error)})") from error
    return EncodedMember(data)


def _check_picture(ext: str, data: bytes, image: ImageInfo, limits: Limits) -> str:
    try:
        found = probe(data, limits)
    except BadImage as error:
        raise BadImage(f"its .{ext} is not a picture that can be read: {error}") from error
    if (found.height, found.width) != (image.height, image.width):
        turned = " before it is turned upright" if image.orientation >= 5 else ""
        raise BadImage(
            f"its .{ext} is {found.width} x {found.height} pixels, and the image {image.width} x "
            f"{image.height} as it is stored{turned}"
        )
    return found.format
