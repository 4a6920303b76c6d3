"""An error of the user's own code reaches the loop as it was raised, wherever that was."""

import os
import re
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


@dataclass(frozen=True)
class Frozen(Exception):
    """An exception whose attributes cannot be set."""

    key: str


class Mute(Exception):
    """An exception whose text cannot be made."""

    def __str__(self) -> str:
        raise TypeError("no text")


CARRIED: dict[str, tuple[Callable[[], Exception], str]] = {  # as they are, with their text
    "two arguments": (lambda: TwoArguments(3, 4), "3 and 4"),
    "locked": (lambda: Locked("locked"), "locked"),
    "os": (lambda: FileNotFoundError(2, "No", "x.txt"), "[Errno 2] No: 'x.txt'"),
    "unicode": (
        lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "why"),
        "'utf-8' codec can't decode byte 0xff in position 0: why",
    ),
    "eof": (lambda: EOFError("the end"), "the end"),
    "reader": (lambda: SampleError("my own"), "my own"),
    "local": (lambda: type("Local", (KeyError,), {})("local"), "'local'"),
}
OTHERS: dict[str, Callable[[], BaseException]] = {
    "unsendable": Unsendable,
    "frozen": lambda: Frozen("a"),
    "mute": Mute,
    "exit": lambda: SystemExit("no configuration"),
    "stop": StopIteration,
}
Errors = tuple[int, dict[str, Exception]]
MADE = {name: make for name, (make, _) in CARRIED.items()} | OTHERS
NAMES = ["", *MADE, "key", "cause"]  # of what happens to the first samples


@pytest.fixture(scope="module", params=[0, 1])
def failed(request: pytest.FixtureRequest, packed: Path) -> Errors:
    """The number of workers, and the error of each batch; all others come."""
    here, found, seen = os.getpid(), {}, []

    def broken(sample: Sample) -> Sample:
        number = sample["index"]
        name = NAMES[number] if number < len(NAMES) else ""
        if name in MADE and (name != "exit" or os.getpid() != here):
            raise MADE[name]()
        if name == "cause":
            try:
                {}["inner"]
            except KeyError as error:
                raise ValueError("outer") from error
        return sample["imag"] if name == "key" else sample

    with load(packed, workers=request.param, batch_size=1, map_sample=broken) as loader:
        batches = iter(loader)
        for number in range(COUNT):
            try:
                seen += indexes([next(batches)])
            except Exception as error:
                found[NAMES[number]] = error
    assert seen == [n for n in range(COUNT) if n >= len(NAMES) or NAMES[n] not in found]
    assert len(found) == len(NAMES) - 1 - (not request.param)  # here nothing exits
    return request.param, found


def test_the_last_lines_are_the_users_own_frame_and_error(failed: Errors) -> None:
    workers, errors = failed
    error = errors["key"]
    assert (type(error), error.args) == (KeyError, ("imag",))
    lines = "".join(traceback.format_exception(error)).splitlines()
    assert lines[-1] == "KeyError: 'imag'"
    frame = max(number for number, line in enumerate(lines) if line.startswith("  File "))
    assert re.fullmatch(rf'  File "{__file__}", line \d+, in broken', lines[frame])
    assert lines[frame + 1].strip() == 'return sample["imag"] if name == "key" else sample'
    assert len(lines) <= 25
    assert "worker failed" not in "".join(lines)
    assert isinstance(error.__cause__, SampleError)
    number = NAMES.index("key")
    assert re.search(rf"sample {number} 'class\d/image\d+' of ", str(error.__cause__))
    if not workers:  # a debugger can go there
        frames = [entry for entry, _ in traceback.walk_tb(error.__traceback__)]
        assert frames[-1].f_locals["sample"]["index"] == number


@pytest.mark.parametrize("workers", [1, 0])
def test_an_error_of_the_users_is_masked_by_no_on_error(packed: Path, workers: int) -> None:
    def broken(sample: Sample) -> Sample:
        return sample if sample["index"] != 5 else sample["imag"]

    with (
        load(packed, workers=workers, map_sample=broken, on_error="mask") as loader,
        pytest.raises(KeyError, match="imag"),
    ):
        list(loader)


def test_the_loop_catches_what_was_raised_with_its_causes(failed: Errors) -> None:
    _, errors = failed
    for name, (make, text) in CARRIED.items():
        assert type(errors[name]).__name__ == type(make()).__name__
        assert isinstance(errors[name], type(make()).__mro__[1])
        assert str(errors[name]) == text
    assert getattr(errors["two arguments"], "first", 0) == 3
    inner = errors["cause"].__cause__
    assert (type(errors["cause"]), type(inner)) == (ValueError, KeyError)
    assert inner is not None
    assert inner.__traceback__ is not None
    assert isinstance(inner.__cause__, SampleError)  # where it was, above all
    assert type(errors["stop"]) is RuntimeError  # or the epoch would end in silence
    assert str(errors["stop"]) == "map_sample raised StopIteration"


def test_what_cannot_be_sent_changed_or_printed_ends_no_worker(failed: Errors) -> None:
    workers, errors = failed
    for name in ("unsendable", "frozen", "mute"):
        assert type(errors[name]) in (type(MADE[name]()), *[WorkerError] * workers)
        assert "Workers die" not in "".join(map(repr, errors[name].args))
    if workers:
        *_, frame, source, last = str(errors["unsendable"]).splitlines()
        assert frame.startswith(f'  File "{__file__}", line ')
        assert source.strip() == "raise MADE[name]()"
        assert "Unsendable: number " in last
        assert isinstance(errors["exit"], WorkerError)
        assert re.search(r"(?s)in broken.*SystemExit: no configuration", str(errors["exit"]))


@pytest.mark.parametrize("name", ["collate_fn", "map_batch"])
@pytest.mark.parametrize("is_prefetched", [False, True])
def test_a_stop_iteration_of_a_function_of_batches_does_not_end_it_either(
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
