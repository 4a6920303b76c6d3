"""Whether the reader decodes what belongs to an image: its masks, pairs, texts and arrays."""

from packer.errors import BadImage, said
from packer.images.probe import ImageInfo, probe
from reader.format import Limits
from reader.format.members import DECODERS, kind_of, picture_format


def check_member(ext: str, data: bytes, image: ImageInfo, limits: Limits) -> None:
    """Whether a member is what its extension says.

    Args:
        image: that it belongs to, as it is stored.

    Raises:
        BadImage: it does not decode, or is a picture that does not cover the image.
    """
    if picture_format(ext) is not None:
        _check_picture(ext, data, image, limits)
    elif decode := DECODERS.get(kind_of(ext)):
        try:
            decode(data)
        except MemoryError:
            raise  # which says nothing of the member
        except Exception as error:  # decoders raise what they like
            raise BadImage(f"its .{ext} does not decode ({said(error)})") from error


def _check_picture(ext: str, data: bytes, image: ImageInfo, limits: Limits) -> None:
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
