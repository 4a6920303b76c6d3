"""Class numbers and class names, checked."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from packer.errors import BadImage, UnusableInput
from packer.printable import printable

MAX_TEXT = 20  # bytes of a .cls file
MAX_CLASSES = 1_000_000  # each has a name in dataset.json


def class_order(
    source: Path, found: Iterable[str], classes: Sequence[str] | None
) -> tuple[str, ...]:
    """The class names in label order: those given, else those found, sorted.

    Raises:
        UnusableInput: the source has a class that is not among those given.
    """
    found = sorted(set(found))
    if classes is None:
        return tuple(found)
    if unknown := sorted(set(found).difference(classes)):
        raise UnusableInput(
            f"{source} has classes that are not in the list of classes: "
            f"{', '.join(map(printable, unknown))}."
        )
    return tuple(classes)


def class_number(data: bytes) -> int:
    """The class number that a ``.cls`` file holds.

    Raises:
        BadImage: it holds none.
    """
    text = data[:MAX_TEXT].strip()
    if not text.isdigit():
        raise BadImage("it holds no class number: a .cls file is a decimal number")
    if int(text) >= MAX_CLASSES:
        raise BadImage(f"its class number is {int(text)}; {MAX_CLASSES - 1} is the largest")
    return int(text)
