"""Class numbers and class names, checked."""

from collections.abc import Callable, Iterable, Sequence

from packer.errors import BadImage, UnusableInput
from packer.words import listed

MAX_TEXT = 20  # bytes of a .cls file
MAX_CLASSES = 1_000_000  # each has a name in dataset.json; a larger number is an identifier
_NAMED = 20  # classes in an error


def class_order(
    source: object, found: Iterable[str], classes: Sequence[str] | None
) -> tuple[str, ...]:
    """The class names in label order: those given, else those found, sorted."""
    found = sorted(set(found))
    if classes is None:
        return tuple(found)
    if unknown := sorted(set(found).difference(classes)):
        raise UnusableInput(
            f"{source} has classes that are not in the list of classes: {listed(unknown, _NAMED)}."
        )
    return tuple(classes)


def class_of_file(label: int, size: int, read: Callable[[], bytes]) -> int:
    """The class number of a sample that has a ``.cls`` file."""
    if label >= 0:
        raise BadImage("the class is that of the folder; a .cls file has no say in it")
    if size > MAX_TEXT:
        raise BadImage(f"it has more than {MAX_TEXT} bytes, too many for a class number")
    return class_number(read())


def class_number(data: bytes) -> int:
    """The class number that a ``.cls`` file holds."""
    text = data[:MAX_TEXT].strip()
    if not text.isdigit():
        raise BadImage("it holds no class number: a .cls file is a decimal number")
    if int(text) >= MAX_CLASSES:
        raise BadImage(f"its class number is {int(text)}; {MAX_CLASSES - 1} is the largest")
    return int(text)
