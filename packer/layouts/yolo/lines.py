"""Lines of YOLO label files: boxes, outlines or poses (pure).

A line is a class and the fractions of a box's middle and size; or a class and the corners of an
outline, at least three; or a class, a box and key points, which differ from outlines only in their
number. https://docs.ultralytics.com/datasets/detect/, /segment/, /pose/ and /obb/ describe them.
"""

import math

from packer.errors import BadImage, first_of

BOX, OUTLINE, POSE = "boxes", "outlines", "poses"
_BOX = 5  # numbers of a line
_BEYOND = 0.01  # of the image's size: as far outside may fractions lie, as for ultralytics


def kind_of(data: bytes, classes: int | None = None, keypoints: int = 0) -> str:
    """Return the kind of a label file's lines: `BOX`, `OUTLINE`, `POSE`, or "" without lines.

    One of boxes and outlines is one of outlines. BadImage names the lines that are something else,
    or of none of so many `classes`. `keypoints` is how many numbers a line has behind its box.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadImage("it is not text") from None
    found = ""
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words:
            continue
        kind = _kind(len(words), keypoints)
        if fault := _fault(words, kind, classes):
            faults.append(f"line {number}: {fault}")
        found = kind if found != OUTLINE else found
    if faults:
        raise BadImage(first_of(faults))
    return found


def check(classes: int, keypoints: int, data: bytes) -> None:
    """Raise BadImage for a label file that is not sound; `classes` are 0 where not known."""
    kind_of(data, classes or None, keypoints)


def _fault(words: list[str], kind: str, classes: int | None) -> str:
    try:
        label, *rest = map(float, words)
    except ValueError:
        return f"not numbers: {' '.join(words)[:40]!r}"
    if not kind:
        return (
            f"{len(words)} numbers; a box has {_BOX}, an outline an odd number from 7, and poses "
            "need kpt_shape in the data.yaml"
        )
    if not label.is_integer() or label < 0:
        return f"class {words[0][:20]}, which is not a class number"
    if classes is not None and label >= classes:
        return f"class {words[0][:20]} of {classes} (classes are numbered from 0)"
    if not all(map(math.isfinite, rest)):
        return f"a number that is not finite: {' '.join(words)[:60]!r}"
    places = rest[: _BOX - 1] if kind == POSE else rest
    if kind != OUTLINE and min(places[2:]) < 0:
        return f"a box of negative size: {' '.join(words)[:60]!r}"
    if min(places) < -_BEYOND or max(places) > 1 + _BEYOND:
        return f"not fractions from 0 to 1: {' '.join(words)[:60]!r}"
    return ""


def _kind(words: int, keypoints: int) -> str:
    if keypoints:
        return POSE if words == _BOX + keypoints else ""
    if words == _BOX:
        return BOX
    return OUTLINE if words > _BOX and words % 2 else ""
