"""The usual names of the columns of tables, and names that count things."""

import re
from collections.abc import Iterable, Mapping

from packer.sources.trees.shape import plain

# As `plain` has them: `ImageId` and `image_id` are `imageid`.
IMAGE = (
    *("image", "path", "file", "filename", "imagepath", "filepath", "img", "imgpath", "imagefile"),
    *("imagename", "imageid", "imgid", "imgname", "imagefilename", "filepaths", "imageindex"),
    *("picture", "photo", "idcode", "uuid", "id"),
)
LABEL = (
    *("label", "labels", "finelabel", "coarselabel", "labelname", "labelid", "classlabel"),
    "gtlabel",
    *("class", "classes", "cls", "classname", "classid", "category", "categoryname", "categoryid"),
    *("target", "tags", "attributeids", "findinglabels", "landmarkid", "breed", "diagnosis", "dx"),
    "choice",
)
BOXES = ("bbox", "bboxes", "boxes", "box", "boundingbox", "bndbox")  # with all four numbers
SPLIT = "split"
MAY_BE_SPLIT = ("set", "dataset", "subset", "partition", "phase", "usage")
RUN_LENGTHS = ("encodedpixels", "rle", "rlemask", "maskrle", "segmentation")
USUAL = frozenset((*IMAGE, *LABEL, SPLIT))
PREDICTED = re.compile(  # in the name of a table, in lower case
    r"submission|sample_?sub(?![a-z])|(?<![a-z])(submit|pred(s|icted|ictions?)?)(?![a-z])"
)

_NUMBERED = re.compile(r"([^\W\d]+)[-_ ]?\d+")


def counted(names: Iterable[str]) -> str:
    """Return the word of names that count one thing, such as patients or scenes, not classes."""
    words = {match[1].lower() if match else "" for match in map(_NUMBERED.fullmatch, names)}
    return words.pop() if len(words) == 1 and words.isdisjoint(LABEL) else ""


def numbered(stems: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """Return the word before the numbers of all stems, and the stems by their numbers."""
    found = {stem: re.fullmatch(r"([^\W\d]+)(\d+)", stem) for stem in stems}
    words = {match[1] if match else "" for match in found.values()}
    numbers = {match[2]: stem for stem, match in found.items() if match}
    return (words.pop(), numbers) if len(words) == 1 and len(numbers) > 1 else ("", {})


def may_be_split(name: str) -> bool:
    """Return whether a column of this name holds splits, if its values are named as splits are."""
    return plain(name) in MAY_BE_SPLIT
