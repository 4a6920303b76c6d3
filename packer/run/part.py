"""One of several parts of a run, packed by a command of its own, and its lock file."""

import fcntl
import os
import platform
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packer.errors import UnusableInput
from packer.storage.lock import ALL, is_there, opened, take

_FILE = ".packing.part-"  # of those at work
SLURM = "slurm"  # says that the number is in the environment, as a job array has it


@dataclass(frozen=True)
class Part:
    """Part `number` of `count`, from 1 on."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @classmethod
    def of(cls, text: str, environment: Mapping[str, str]) -> "Part":
        """Return the part that ``3/64``, or `SLURM`, names."""
        if text == SLURM:
            return cls._of_array(environment)
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise UnusableInput(
                f"--part {text} is not a part such as 3/64 (from 1/64 to 64/64), nor {SLURM}."
            )
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def _of_array(cls, environment: Mapping[str, str]) -> "Part":
        """Return that of a task of a job array without gaps, whatever the first one's number."""
        try:
            task, count, first, last, step = (
                int(environment[f"SLURM_ARRAY_TASK_{name}"])
                for name in ("ID", "COUNT", "MIN", "MAX", "STEP")
            )
        except (KeyError, ValueError):
            raise UnusableInput(
                f"--part {SLURM} is for the tasks of a job array, which find their number in the "
                "environment (SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX, _STEP): see sbatch --array."
            ) from None
        if first + (count - 1) * step != last:
            raise UnusableInput(
                f"--part {SLURM} is for an array without gaps, and this one has {count} tasks "
                f"between {first} and {last}. Say --part I/N, with the number of all parts."
            )
        return cls((task - first) // step + 1, count)

    def shards(self, total: int) -> range:
        """Return the numbers of its shards, of so many from 0 on: each shard is in one part."""
        return range(self.number - 1, total, self.count)


@contextmanager
def only(folder: Path, part: Part) -> Iterator[None]:
    """Hold one part of the run in `folder`, so that nobody else writes it meanwhile."""
    path = _file(folder, part)
    with opened(path) as file:
        if not take(file, ALL) or not is_there(file):
            raise UnusableInput(f"{folder}: {_holder(path)} is at work there already.")
        try:
            file.truncate(0)
            file.write(f"part {part} (process {os.getpid()} on {platform.node()})".encode())
            yield
        finally:
            path.unlink(missing_ok=True)


def busy(folder: Path, besides: Part | None = None) -> UnusableInput:
    """Return the error for a destination that others are at work in, `besides` this part."""
    own = None if besides is None else _file(folder, besides)
    others = [path for path in sorted(part_files(folder)) if path != own]
    parts = [_holder(path) for path in others if _is_held(path)]
    if not parts:
        return UnusableInput(f"{folder}: another packer is at work there.")
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return UnusableInput(
        f"{folder}: {', '.join(parts[:3])}{more} {'is' if len(parts) == 1 else 'are'} at work "
        "there. Wait for the end, and pack again."
    )


def part_files(folder: Path) -> Iterator[Path]:
    """Return what parts that were killed have left."""
    return folder.glob(f"{_FILE}*")


def _file(folder: Path, part: Part) -> Path:
    return folder / f"{_FILE}{part.number}-of-{part.count}"


def _holder(path: Path) -> str:
    """Return who holds a part."""
    number = path.name.removeprefix(_FILE).replace("-of-", "/")
    said = path.read_text("utf-8", "replace") if path.exists() else ""
    return said[:200] if said.startswith("part ") else f"part {number}"


def _is_held(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
