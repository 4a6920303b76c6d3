"""Has something done with many samples in processes that may die: their bytes may be anybody's.

Samples come in the order of the shards, some dozens to a process at a time; before the first is
read, all are asked for, so that a store brings them meanwhile. What a process died at is done again
sample by sample, so that it is named.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from packer.processes import map_unordered
from packer.progress import Advance, Progress
from packer.report.sample import Sample
from reader.format import ShardfeedError
from reader.format.errors import DecodeError

if TYPE_CHECKING:
    from reader import Dataset

_AT_ONCE = 64
Result = TypeVar("Result")


@dataclass(frozen=True)
class Batch(Generic[Result]):
    """Some samples, and what is to be done with each of them.

    Attributes:
        act: pickles; what it raises of ours is that the sample is damaged.
    """

    dataset: "Dataset"
    numbers: tuple[int, ...]
    act: Callable[[Sample], Result]

    def __str__(self) -> str:
        return f"samples {self.numbers[0]} to {self.numbers[-1]} of {self.dataset.source}"


@dataclass
class Done(Generic[Result]):
    """What came of some samples.

    Attributes:
        results: by number.
        damages: why there is none, by number.
        ended: why the process ended, if it did.
    """

    results: dict[int, Result] = field(default_factory=dict)
    damages: dict[int, str] = field(default_factory=dict)
    ended: tuple[tuple[int, ...], str] | None = None


def of_each(
    dataset: "Dataset",
    numbers: Sequence[int],
    act: Callable[[Sample], Result],
    jobs: int,
    progress: Progress,
    phase: str,
) -> Done[Result]:
    """Call `act` with each of these samples, in `jobs` processes."""
    done: Done[Result] = Done()
    lent = dataset.lent()

    def run(parts: Iterable[tuple[int, ...]], advance: Advance) -> Iterator[Done[Any]]:
        batches = (Batch(lent, part, act) for part in parts)
        return map_unordered(_act, batches, jobs, advance, str, _ended)

    if not len(numbers):
        return done
    with progress.phase(phase, len(numbers), "samples") as advance:
        ordered = sorted(numbers)
        parts = (
            tuple(ordered[start : start + _AT_ONCE]) for start in range(0, len(ordered), _AT_ONCE)
        )
        ended: list[int] = []
        for part in run(parts, advance):
            done.results |= part.results
            done.damages |= part.damages
            ended += part.ended[0] if part.ended else ()
        for part in run(((number,) for number in sorted(ended)), advance):
            done.results |= part.results
            done.damages |= part.damages
            if part.ended:
                done.damages[part.ended[0][0]] = f"to decode it ends the process ({part.ended[1]})"
    return done


def _ended(batch: Batch[Any], cause: str) -> Done[Any]:
    return Done(ended=(batch.numbers, cause))


def _act(batch: Batch[Any], advance: Advance) -> Done[Any]:
    done: Done[Any] = Done()
    for number in batch.numbers if batch.dataset.fetching is not None else ():
        shard, row = batch.dataset.locate(number)
        shard.read_ahead(row, 0, 1)
    for number in batch.numbers:
        try:
            done.results[number] = batch.act(Sample(batch.dataset, number))
        except (ShardfeedError, DecodeError) as error:
            done.damages[number] = str(error).removesuffix(".")
        advance(1)
    return done
