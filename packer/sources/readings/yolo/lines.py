"""Lines of YOLO label files: boxes, outlines or poses (pure).

A line is a class and the fractions of a box's middle and size; or a class and the corners of an
outline, at least three; or a class, a box and key points, which differ from outlines in their
number, or by a visibility of 0, 1 or 2 behind each point.
https://docs.ultralytics.com/datasets/detect/, /segment/, /pose/ and /obb/ describe them.
"""

import math
from collections.abc import Sequence

from packer.errors import BadImage, first_of
from packer.samples.outside import BEYOND, FRACTIONS, Kept, Made

BOX, OUTLINE, POSE = "boxes", "outlines", "poses"
_BOX = 5  # numbers of a line
_LINE = "line "
_POINT = 3  # numbers of a key point: x, y, visibility


def kind_of(data: bytes, classes: int | None = None, keypoints: int = 0) -> str:
    """Return the kind of a label file's lines: `BOX`, `OUTLINE`, `POSE`, or "" without lines.

    One of boxes and outlines is one of outlines. BadImage names the lines that are something else,
    or of none of so many `classes`. `keypoints` is how many numbers a line has behind its box.
    """
    return _read(data, classes, keypoints)[0]


def check(classes: int, keypoints: int, data: bytes) -> Made | None:
    """Return a label file without the lines of objects that are none of the image.

    None: all objects lie in the image. BadImage: it is not sound; `classes` are 0 where not known.
    """
    _, lines, kept = _read(data, classes or None, keypoints)
    if kept.left_out:
        data = "".join(lines[number - 1] for number in kept.numbers).encode()
    return kept.made(data) if kept.left_out or kept.reaching else None


def _read(data: bytes, classes: int | None, keypoints: int) -> tuple[str, list[str], Kept]:
    try:
        lines = data.decode("utf-8-sig").splitlines(keepends=True)
    except UnicodeDecodeError:
        raise BadImage("it is not text") from None
    rows = {number: words for number, line in enumerate(lines, 1) if (words := line.split())}
    keypoints = keypoints or _key_points(list(rows.values()))
    found = ""
    faults = []
    kept = Kept(FRACTIONS, f"{_LINE}{{}}".format)
    for number, words in rows.items():
        kind = _kind(len(words), keypoints)
        numbers = _numbers(words)
        if fault := _fault(words, numbers, kind, classes):
            faults.append(f"{_LINE}{number}: {fault}")
        else:
            kept.add(number, _corners(numbers[1:], kind), numbers)
        found = kind if found != OUTLINE else found
    if faults:
        raise BadImage(first_of(faults))
    return found, lines, kept


def _key_points(rows: Sequence[Sequence[str]]) -> int:
    """Return how many numbers lines have behind their boxes, if all are points of these."""
    count = len(rows[0]) - _BOX if rows else 0
    if count < _POINT or count % _POINT or any(len(row) != count + _BOX for row in rows):
        return 0
    return count if all(map(_has_points, rows)) else 0


def _has_points(row: Sequence[str]) -> bool:
    """Return whether points lie in or near the box, each with a visibility of 0, 1 or 2."""
    try:
        _, x, y, width, height, *points = map(float, row)
    except ValueError:
        return False
    triples = zip(*[iter(points)] * _POINT, strict=True)
    return all(
        seen == 0 or (seen in (1, 2) and abs(across - x) <= width and abs(down - y) <= height)
        for across, down, seen in triples
    )


def _corners(places: Sequence[float], kind: str) -> tuple[float, float, float, float]:
    if kind == OUTLINE:
        across, down = places[::2], places[1::2]
        return min(across), min(down), max(across), max(down)
    x, y, width, height = places[:4]
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _numbers(words: Sequence[str]) -> tuple[float, ...]:
    try:
        return tuple(map(float, words))
    except ValueError:
        return ()


def _fault(words: Sequence[str], numbers: tuple[float, ...], kind: str, classes: int | None) -> str:
    if not numbers:
        return f"not numbers: {' '.join(words)[:40]!r}"
    if not kind:
        return (
            f"{len(words)} numbers; a box has {_BOX}, an outline an odd number from 7, and poses "
            "without visibilities need kpt_shape in the data.yaml"
        )
    label, *rest = numbers
    if not label.is_integer() or label < 0:
        return f"class {words[0][:20]}, which is not a class number"
    if classes is not None and label >= classes:
        return f"class {words[0][:20]} of {classes} (classes are numbered from 0)"
    if not all(map(math.isfinite, rest)):
        return f"a number that is not finite: {' '.join(words)[:60]!r}"
    places = rest[: _BOX - 1] if kind == POSE else rest
    if kind != OUTLINE and min(places[2:]) < 0:
        return f"a box of negative size: {' '.join(words)[:60]!r}"
    if min(places) < -BEYOND or max(places) > 1 + BEYOND:
        return f"not fractions from 0 to 1: {' '.join(words)[:60]!r}"
    return ""


def _kind(words: int, keypoints: int) -> str:
    if keypoints:
        return POSE if words == _BOX + keypoints else ""
    if words == _BOX:
        return BOX
    return OUTLINE if words > _BOX and words % 2 else ""
