"""An error of the user's own code reaches the loop as it was raised, wherever that was."""

import re
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, CROP, indexes, load

import reader
from reader import Loader, Member, SampleError, WorkerError

pytestmark = pytest.mark.usefixtures("no_leftovers")

Sample = dict[str, Any]


class TwoArguments(Exception):
    """Its text is no argument of its class."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.first = first


class Locked(ValueError):
    """Has what cannot be pickled."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lock = threading.Lock()


class Unsendable(Exception):
    """Its text is never the same."""

    def __str__(self) -> str:
        return f"number {id(self)}"


def raising(make: Callable[[], Exception]) -> Callable[[Sample], Sample]:
    def broken(sample: Sample) -> Sample:
        if sample["index"] == 5:
            raise make()
        return sample

    return broken


def caught_at(packed: Path, workers: int, **options: Any) -> Exception:
    """The error of the second batch, after which all others come."""
    with load(packed, workers=workers, **options) as loader:
        batches = iter(loader)
        assert indexes([next(batches)]) == [0, 1, 2, 3]
        with pytest.raises(Exception) as caught:  # noqa: PT011  # which, the tests ask
            next(batches)
        assert indexes(batches) == list(range(8, COUNT))
    return caught.value


@pytest.mark.parametrize("workers", [1, 0])
@pytest.mark.parametrize("on_error", ["raise", "mask"])
def test_the_last_lines_are_the_users_own_frame_and_error(
    packed: Path, workers: int, on_error: str
) -> None:
    def broken(sample: Sample) -> Sample:
        return sample if sample["index"] != 5 else sample["imag"]

    error = caught_at(packed, workers, map_sample=broken, on_error=on_error)
    assert (type(error), error.args) == (KeyError, ("imag",))
    lines = "".join(traceback.format_exception(error)).splitlines()
    assert lines[-1] == "KeyError: 'imag'"
    frame = max(number for number, line in enumerate(lines) if line.startswith("  File "))
    assert re.fullmatch(rf'  File "{__file__}", line \d+, in broken', lines[frame])
    assert lines[frame + 1].strip() == 'return sample if sample["index"] != 5 else sample["imag"]'
    assert len(lines) <= 25
    assert "worker failed" not in "".join(lines)
    assert isinstance(error.__cause__, SampleError)
    assert "sample 5 'class1/image001' of " in str(error.__cause__)
    if not workers:  # a debugger can go there
        frames = [entry for entry, _ in traceback.walk_tb(error.__traceback__)]
        assert frames[-1].f_locals["sample"]["index"] == 5


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: TwoArguments(3, 4), "3 and 4"),
        (lambda: Locked("locked"), "locked"),
        (lambda: FileNotFoundError(2, "No such file", "x.txt"), "[Errno 2] No such file: 'x.txt'"),
        (lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"), None),
        (lambda: EOFError("the end"), "the end"),
        (lambda: SampleError("my own"), "my own"),
        (lambda: type("Local", (KeyError,), {})("local"), "'local'"),
    ],
    ids=["two-arguments", "locked", "os", "unicode", "eof", "reader", "local"],
)
def test_the_loop_catches_the_type_that_was_raised(
    packed: Path, make: Callable[[], Exception], text: str | None
) -> None:
    error = caught_at(packed, 1, map_sample=raising(make))
    assert type(error).__name__ == type(make()).__name__
    assert isinstance(error, type(make()).__mro__[1])
    assert str(error) == (text or str(make()))
    assert getattr(error, "first", 3) == 3


def test_what_cannot_be_sent_is_a_worker_error_that_ends_with_it(packed: Path) -> None:
    error = caught_at(packed, 1, map_sample=raising(Unsendable))
    assert type(error) is WorkerError
    *_, frame, source, last = str(error).splitlines()
    assert frame.startswith(f'  File "{__file__}", line ')
    assert source.strip() == "raise make()"
    assert "Unsendable: number " in last


@dataclass(frozen=True)
class Frozen(Exception):
    """An exception whose attributes cannot be set."""

    key: str


class Mute(Exception):
    """An exception whose text cannot be made."""

    def __str__(self) -> str:
        raise TypeError("no text")


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("make", [lambda: Frozen("a"), Mute], ids=["frozen", "mute"])
def test_an_error_that_cannot_be_changed_or_printed_ends_no_worker(
    packed: Path, workers: int, make: Callable[[], Exception]
) -> None:
    error = caught_at(packed, workers, map_sample=raising(make))
    assert isinstance(error, (Frozen, Mute, WorkerError))
    assert "Workers die" not in "".join(map(repr, error.args))
    assert workers or type(error) is type(make())


def test_an_exit_in_a_function_of_the_users_is_named_as_such(packed: Path) -> None:
    def leave(sample: Sample) -> Sample:
        return sample if sample["index"] != 5 else sys.exit("no configuration")

    error = caught_at(packed, 1, map_sample=leave)
    assert isinstance(error, WorkerError)
    assert re.search(r"(?s)in leave.*SystemExit: no configuration", str(error))


@pytest.mark.parametrize("workers", [1, 0])
def test_the_causes_of_an_error_come_with_it(packed: Path, workers: int) -> None:
    def broken(sample: Sample) -> Sample:
        try:
            return sample if sample["index"] != 5 else {}["inner"]
        except KeyError as error:
            raise ValueError("outer") from error

    error = caught_at(packed, workers, map_sample=broken)
    assert type(error) is ValueError
    assert type(error.__cause__) is KeyError
    assert error.__cause__.__traceback__ is not None
    assert isinstance(error.__cause__.__cause__, SampleError)  # where it was, above all


@pytest.mark.parametrize("workers", [1, 0])
def test_a_stop_iteration_does_not_end_the_epoch_in_silence(packed: Path, workers: int) -> None:
    error = caught_at(packed, workers, map_sample=raising(StopIteration))
    assert type(error) is RuntimeError
    assert str(error) == "map_sample raised StopIteration"


@pytest.mark.parametrize("name", ["collate_fn", "map_batch"])
@pytest.mark.parametrize("is_prefetched", [False, True])
def test_neither_does_one_of_a_function_of_batches(
    packed: Path, name: str, is_prefetched: bool
) -> None:
    def broken(batch: Any) -> Any:
        raise StopIteration

    options: dict[str, Any] = {"workers": 0, "transforms": [CROP], name: broken}
    with Loader(packed, **options) as loader:
        batches = reader.CUDAPrefetcher(loader, device="cpu") if is_prefetched else loader
        with pytest.raises(RuntimeError, match=f"{name} raised StopIteration"):
            list(batches)


def test_an_error_in_the_first_sample_is_raised_where_the_loader_is_made(packed: Path) -> None:
    def broken(sample: Sample) -> Sample:
        raise TwoArguments(1, 2)

    with pytest.raises(TwoArguments) as caught:
        Loader(packed, workers=1, transforms=[CROP], map_sample=broken)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "broken"
    assert "sample 0 " in str(caught.value.__cause__)


@pytest.mark.parametrize("workers", [1, 0])
def test_a_decoder_that_fails_ends_the_error_of_its_sample(packed: Path, workers: int) -> None:
    seen = iter(range(COUNT))

    def broken(data: bytes) -> int:
        return len(data) if next(seen, 0) != 5 else data.shape  # type: ignore[attr-defined]

    with load(packed, workers=workers, fields=("index", Member("jpg?", broken))) as loader:
        batches = iter(loader)
        next(batches)
        with pytest.raises(SampleError, match="sample 'class1/image001'") as caught:
            next(batches)
    *_, frame, _, _, last = str(caught.value).splitlines()
    assert frame.startswith(f'  File "{__file__}", line ')
    assert last == "AttributeError: 'bytes' object has no attribute 'shape'"
