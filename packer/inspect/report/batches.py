"""Has something done with many samples in processes that may die: their bytes may be anybody's.

Samples come in the order of the shards, some dozens to a process at a time; before the first is
read, all are asked for, so that a store brings them meanwhile. What a process died at is done again
sample by sample, so that it is named.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from packer.inspect.report.sample import Sample
from packer.processes import Crashed, map_isolated
from packer.progress import Advance, Progress
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
    """

    results: dict[int, Result] = field(default_factory=dict)
    damages: dict[int, str] = field(default_factory=dict)


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
    if not len(numbers):
        return done
    with progress.phase(phase, len(numbers), "samples") as advance:
        ordered = sorted(numbers)
        batches = (
            Batch(lent, tuple(ordered[start : start + _AT_ONCE]), act)
            for start in range(0, len(ordered), _AT_ONCE)
        )
        for part in map_isolated(_act, batches, jobs, advance, str, _single):
            if not isinstance(part, Crashed):
                done.results |= part.results
                done.damages |= part.damages
            elif (number := part.item.numbers[0]) not in done.results:
                done.damages.setdefault(number, f"to decode it ends the process ({part.cause})")
    return done


def _single(batch: Batch[Result]) -> Iterator[Batch[Result]]:
    return (replace(batch, numbers=(number,)) for number in batch.numbers)


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
