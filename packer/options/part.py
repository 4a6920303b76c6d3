"""The parts of one run, each packed by its own command."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from packer.errors import UnusableInput
from packer.words import Placeholder, option

SLURM = "slurm"  # the part's number is in the environment, as a job array has it


@dataclass(frozen=True)
class Part:
    """Part `number` of `count`, from 1 on."""

    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @classmethod
    def of(cls, text: str, environment: Mapping[str, str]) -> "Part":
        if text == SLURM:
            return cls._of_array(environment)
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if not match or not 1 <= int(match[1]) <= int(match[2]):
            raise UnusableInput(
                option("part", text),
                f" is not a part such as 3/64 (from 1/64 to 64/64), nor {SLURM}.",
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
                option("part", SLURM),
                " requires a task of a job array, whose number is in the environment "
                "(SLURM_ARRAY_TASK_ID, _COUNT, _MIN, _MAX, _STEP): see sbatch --array.",
            ) from None
        if first + (count - 1) * step != last:
            raise UnusableInput(
                option("part", SLURM),
                f" requires an array without gaps, and this one has {count} tasks between {first} "
                f"and {last}. Pass ",
                option("part", Placeholder("I/N")),
                " with the number of all parts.",
            )
        return cls((task - first) // step + 1, count)

    def shards(self, total: int) -> range:
        return range(self.number - 1, total, self.count)
