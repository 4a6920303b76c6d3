"""What the lines of a YOLO label file are: boxes, outlines or poses (pure).

A line is a class and the fractions of a box's middle and size; or a class and the corners of an
outline, at least three; or a class, a box and key points, which only the number of these tells from
outlines. https://docs.ultralytics.com/datasets/detect/, /segment/, /pose/ and /obb/ describe them.
"""

import math

from packer.errors import BadImage

BOX, OUTLINE, POSE = "boxes", "outlines", "poses"
_BOX = 5  # numbers of a line
_BEYOND = 0.01  # of the image's size: as far outside may fractions lie, as for ultralytics


def kind_of(data: bytes, classes: int | None = None, keypoints: int = 0) -> str:
    """What the lines of a label file are: `BOX`, `OUTLINE`, `POSE`, or "" if there are none.

    A file with boxes and outlines is one of outlines.

    Args:
        data: the file's bytes.
        classes: how many there are; None: nobody says.
        keypoints: numbers behind the box of each line; 0: it has no key points.

    Raises:
        BadImage: a line is something else, or of a class that there is not.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadImage("it is not text") from None
    found = ""
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        try:
            label, *rest = map(float, words)
        except ValueError:
            raise BadImage(f"line {number} is not of numbers: {line[:40]!r}") from None
        kind = _kind(len(words), keypoints)
        if not kind:
            raise BadImage(
                f"line {number} has {len(words)} numbers; a box has {_BOX}, an outline an odd "
                "number from 7, and poses need kpt_shape in the data.yaml"
            )
        if not label.is_integer() or label < 0 or (classes is not None and label >= classes):
            there = "" if classes is None else f", and there are {classes}"
            raise BadImage(f"line {number} begins with {words[0][:20]}, which is no class{there}")
        places = rest[: _BOX - 1] if kind == POSE else rest
        if kind != OUTLINE and min(places[2:]) < 0:
            raise BadImage(f"line {number} has a box of negative size")
        if not (all(map(math.isfinite, rest)) and min(places) >= -_BEYOND) or (
            max(places) > 1 + _BEYOND
        ):
            raise BadImage(f"line {number} has no fractions from 0 to 1: {line[:60]!r}")
        found = kind if found != OUTLINE else found
    return found


def _kind(words: int, keypoints: int) -> str:
    if keypoints:
        return POSE if words == _BOX + keypoints else ""
    if words == _BOX:
        return BOX
    return OUTLINE if words > _BOX and words % 2 else ""
