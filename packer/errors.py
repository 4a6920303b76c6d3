"""Errors of packing, and their messages; the root class is shared with the reader.

::

    ShardfeedError
    ├── FormatError            see `reader.errors`
    └── PackerError            its message is data, which `said` writes for its reader
        ├── UnusableInput      source, destination or an option cannot be worked with
        │   ├── Ambiguous      it can be read in several ways, each with the options that choose it
        │   ├── WrongOption    an option does not fit what is packed, however that is read
        │   └── NothingToPack  no file of the source can be packed
        ├── Rejected           files were rejected, and ``--on-error stop`` forbids to go on
        ├── BadImage           one file is not an image that can be packed
        │   ├── Damaged        one file is empty, or not a file that can be read
        │   │   └── Missing    there is no file of that name
        │   ├── Lacking        one image has no file for a required member
        │   ├── Repeated       one record names the image of another
        │   └── Unreadable     one file cannot be read, or has changed
        ├── ProcessDied        a process that took part in the work was killed
        └── PackingFailed      packing stopped half-way; running it again continues it
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from packer.words import COMMAND_LINE, LONGEST_NAME, Message, Part, Shell, abridged
from reader.format import ShardfeedError


class PackerError(ShardfeedError):
    """An error that keeps the options and commands of its message as data."""

    remedies = Message()  # commands that keep all of the source
    packs: Collection[int] = ()  # digests of what the commands of the message pack

    def __init__(
        self, *parts: Part, files: Iterable[tuple[str, str]] = (), noun: str = "file"
    ) -> None:
        super().__init__(Message(*parts))
        self.files, self.noun = [*files], noun

    def __str__(self) -> str:
        return said(self, COMMAND_LINE)

    @property
    def message(self) -> Message:
        """The text, with the options and commands that it names as data."""
        return Message(*self.args)


class UnusableInput(PackerError):
    """The source, the destination or an option cannot be worked with; nothing was written."""

    __module__ = "packer"


class Ambiguous(UnusableInput):
    """The source can be read in several ways.

    Attributes:
        readings: what each one means -> the options of a command that choose it.
    """

    __module__ = "packer"

    def __init__(self, *parts: Part, readings: Mapping[str, Sequence[str]]) -> None:
        self.readings = readings
        super().__init__(*parts)


class WrongOption(UnusableInput):
    """An option does not fit what is packed: no other reading of the source is a remedy."""


class NothingToPack(UnusableInput):
    """No file of the source can be packed.

    Attributes:
        files: (name, reason) of each.
    """

    __module__ = "packer"


class Rejected(PackerError):
    """Source files were rejected and ``--on-error stop`` forbids to commit without them.

    Attributes:
        files: (name, reason) of each.
        noun: what they are, "file" or "item".
    """

    __module__ = "packer"


class BadImage(PackerError):
    """One file is not an image that can be packed; the text is only the reason."""


class Damaged(BadImage):
    """A file of the source is empty or missing, or is not a file that can be read."""


class Missing(Damaged):
    """There is no file of that name in the source."""


class Lacking(BadImage):
    """An image has no file for a member that is required."""

    def __init__(self, *parts: Part, member: str) -> None:
        self.member = member
        super().__init__(*parts)


class Repeated(BadImage):
    """A record names an image that an earlier record names."""


class Unreadable(BadImage):
    """A file of the source cannot be read, or has changed: another time it may be as it was."""


class Untileable(Exception):
    """A JPEG cannot be tiled and is stored unchanged; the text is the reason."""


class Unbandable(Exception):
    """A PNG cannot be banded and is stored unchanged; the text is the reason."""


class ProcessDied(PackerError):
    """A process that took part in the work was killed, or there was no memory for it."""

    __module__ = "packer"


class PackingFailed(PackerError):
    """Packing stopped half-way (a full disk, a killed process); running it again continues it."""

    __module__ = "packer"


AGAIN = "Finished shards are kept. Remove the cause, and run the same command again to continue."
_NOTHING_KEPT = "Nothing was committed. Remove the cause, and run the same command again."


def cannot_write(path: Path, error: OSError, *, kept: bool = True) -> PackingFailed:
    then = AGAIN if kept else _NOTHING_KEPT
    return PackingFailed(f"{path} cannot be written: {error.strerror}. {then}")


def message_of(error: Exception) -> str:
    """Return a library's message, without addresses that differ between runs; one line at most."""
    lines = _ADDRESS.sub("", str(error)).splitlines() or [type(error).__name__]
    return abridged(lines[0], _LONGEST)


_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # of an object
_LONGEST = 200  # characters: files that anybody may have written are quoted
_LONGEST_REASON = 1_000


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file to an OSError: reads, writes and syncs do not set it."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


EXAMPLES = 10  # of each reason
_FAULTS = 3  # of one file


def first_of(faults: Sequence[str]) -> str:
    """Join the first faults of a file, so that all of them can be mended at once."""
    more = len(faults) - _FAULTS
    return "; ".join(faults[:_FAULTS]) + (f"; and {more} more" if more > 0 else "")


# Indexes have reasons with a name that stands without quotes.
_VARYING = re.compile(r"(?<=^it belongs to ).+(?=, which is rejected$)|'[^']*'|\"[^\"]*\"|\d+")


def pattern_of(reason: str) -> str:
    """Return a reason with ``...`` for names and numbers, which do not make it another one."""
    return _VARYING.sub("...", reason)


def call(error: ShardfeedError, path: Path, name: str) -> None:
    """Have an error carry the name of a source, whose copy or content lies at `path`."""
    vars(error).setdefault("names", {})[str(path)] = name


def said(error: ShardfeedError, caller: Shell, *, names_files: bool = True) -> str:
    """Return an error as `caller` has it: its message, the files, and the commands that keep all.

    What was written for a person before stays, but for the names that the error carries.
    """
    caller = caller.calling(vars(error).get("names", {}))
    message = next((one for one in error.args if isinstance(one, Message)), None)
    if message is None:
        return caller.written(Exception.__str__(error))
    lines, remedies = [caller.written(message)], ""
    if isinstance(error, PackerError):
        lines += summary(error.files * names_files, noun=error.noun, caller=caller)
        remedies = caller.written(error.remedies)
    return "\n  ".join(lines) + remedies


def summary(
    files: Iterable[tuple[str, str]],
    what: str = "",
    *,
    noun: str = "file",
    caller: Shell = COMMAND_LINE,
) -> Iterator[str]:
    """Yield lines that name files: each of a few, otherwise a count for each reason, and examples.

    `what` became of them begins each line that is not an example.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, reason in files:
        name = abridged(name, LONGEST_NAME)
        reason = abridged(caller.written(reason), _LONGEST_REASON)
        groups.setdefault(pattern_of(reason), []).append((name, reason))
    for reason, members in groups.items():
        if len(members) <= EXAMPLES:
            yield from (f"{what}{name}: {own}" for name, own in members)
            continue
        same = len({own for _, own in members}) == 1
        yield f"{what}{len(members)} {noun}s: {members[0][1] if same else reason}"
        for name, own in members[:EXAMPLES]:
            yield f"  {name}" if same else f"  {name}: {own}"
        yield f"  and {len(members) - EXAMPLES} more"
