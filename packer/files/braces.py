"""Names in braces, as webdataset writes them: ``shard-{000..009}.tar``, ``{train,val}``."""

import re
from collections.abc import Iterator

from packer.errors import UnusableInput

_LIST = re.compile(r"\{(?:(\d+)\.\.(\d+)|([^{}]*,[^{}]*))\}")
_MOST = 1_000_000  # names


def has_braces(pattern: str) -> bool:
    """Whether it stands for several names."""
    return _LIST.search(pattern) is not None


def expanded(pattern: str) -> Iterator[str]:
    """The names that a pattern means, in its order; itself, if it has no braces.

    Raises:
        UnusableInput: they are too many.
    """
    for number, name in enumerate(_expanded(pattern)):
        if number >= _MOST:
            raise UnusableInput(f"{pattern} means more than {_MOST:,} names.")
        yield name


def _expanded(pattern: str) -> Iterator[str]:
    match = _LIST.search(pattern)
    if not match:
        yield pattern
        return
    first, last, names = match.groups()
    told: Iterator[str] = (
        iter(names.split(","))
        if names is not None
        else (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
    )
    for name in told:
        yield from _expanded(pattern[: match.start()] + name + pattern[match.end() :])
