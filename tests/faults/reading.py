"""Every fault at every call that the reader makes, which ends exactly or names the shard."""

import os
import runpy
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any

import psutil

from reader import CenterCrop, Dataset, Loader, ShardfeedError
from reader.processes import fork_server

INJECTED = Path(__file__).parent / "injected_reading"
INJECTOR = runpy.run_path(str(INJECTED / "sitecustomize.py"))
ERRORS, SHORT, HARMS = INJECTOR["ERRORS"], INJECTOR["SHORT"], INJECTOR["HARMS"]
LASTING = 1 << 60  # calls
FIELDS = ("image", "label", "index", "valid")
PATIENCE = 20  # seconds; who waits longer hangs
_MAX_PASSES = 60  # until a fault has happened: a pass makes most of the calls that were counted

Sample = tuple[int, int, bytes]  # number, label, pixels


class Faults:
    """Tells the calls, in this process and its workers, which of them is to fail."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(4096))
        self.path = path
        self._plan = INJECTOR["Plan"](path)

    def arm(self, effect: str, first: int, count: int = 1) -> None:
        """From the `first` call from now on, 1 for the next one, `count` calls have `effect`."""
        words = self._plan.words
        words[INJECTOR["COUNT"]] = 0
        words[INJECTOR["CALLS"]] = words[INJECTOR["DONE"]] = 0
        words[INJECTOR["EFFECT"]] = INJECTOR["EFFECTS"].index(effect)
        words[INJECTOR["FIRST"]] = first
        words[INJECTOR["COUNT"]] = count

    def disarm(self) -> None:
        """Nothing is to fail any more."""
        self._plan.words[INJECTOR["COUNT"]] = 0

    def close(self) -> None:
        """Let go of the file."""
        self._plan.close()

    @property
    def calls(self) -> int:
        """Calls since `arm`."""
        return int(self._plan.words[INJECTOR["CALLS"]])

    @property
    def done(self) -> int:
        """Of these, those that were made to fail."""
        return int(self._plan.words[INJECTOR["DONE"]])

    @contextmanager
    def in_workers(self) -> Iterator[None]:
        """Reach the workers that are started meanwhile."""
        before = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(INJECTED), before)))
        os.environ["FAULTS_IN_READING"] = str(self.path)
        try:
            yield
        finally:
            del os.environ["FAULTS_IN_READING"], os.environ["PYTHONPATH"]
            if before is not None:
                os.environ["PYTHONPATH"] = before

    @contextmanager
    def in_this_process(self) -> Iterator[None]:
        """Reach this process, and those forked from it meanwhile."""
        INJECTOR["install"](self._plan)
        try:
            yield
        finally:
            INJECTOR["remove"]()


@dataclass
class Outcome:
    """What came of one pass over a dataset.

    Attributes:
        exact, wrong, masked: sample numbers.
        errors: what was raised.
        is_reached: whether the call that was to fail was made.
    """

    exact: set[int] = field(default_factory=set)
    wrong: set[int] = field(default_factory=set)
    masked: set[int] = field(default_factory=set)
    errors: list[Exception] = field(default_factory=list)
    is_reached: bool = True

    def join(self, other: "Outcome") -> None:
        """Add what came of a further pass."""
        self.exact &= other.exact
        self.wrong |= other.wrong
        self.masked |= other.masked
        self.errors += other.errors

    def complaint(self, folder: Path, count: int, cost: int | None = None) -> str:
        """What is not as it should be, or an empty string.

        Args:
            count: samples of the dataset.
            cost: samples that may at most be lacking.
        """
        for error in self.errors:
            if not isinstance(error, ShardfeedError):
                return f"{type(error).__name__} is none of ours: {error}"
            if "timeout=" in str(error):
                return f"it hung: {error}"
            if str(folder) not in str(error):
                return f"an error names no place: {error}"
        if self.wrong:
            return f"the samples {sorted(self.wrong)} are wrong"
        lacking = count - len(self.exact) - len(self.masked)
        if lacking and not self.errors:
            return f"{lacking} samples are lacking without an error"
        if cost is not None and count - len(self.exact) > cost:
            return f"{count - len(self.exact)} samples are lacking, not {cost}"
        return ""

    @property
    def kind(self) -> str:
        """A class of outcomes."""
        if not self.is_reached:
            return "never reached"
        if self.errors:
            return f"{type(self.errors[0]).__name__} that names the place"
        return "masked samples, each named" if self.masked else "exact"


def loader(folder: Path | Dataset, **options: Any) -> Loader:
    """A loader of one worker, so that the calls have one order."""
    arguments: dict[str, Any] = {
        "batch_size": 4,
        "workers": 1,
        "transforms": [CenterCrop(16)],
        "fields": FIELDS,
        "timeout": PATIENCE,
        "max_bad": 1,
    }
    return Loader(folder, **{**arguments, **options})


def expected(folder: Path) -> dict[int, Sample]:
    """What every sample must be."""
    with loader(folder, workers=2) as sound:
        return {sample[0]: sample for batch in sound for sample in samples_of(batch)}


def samples_of(batch: Any) -> Iterator[Sample]:
    """The samples of a batch of `FIELDS`; the number of one that is not valid is negative."""
    for image, label, index, valid in zip(*batch, strict=True):
        yield int(index) if valid else -1 - int(index), int(label), image.numpy().tobytes()


def one_pass(source: Any, truth: dict[int, Sample]) -> Outcome:
    """Read a loader, or what iterates like one, to its end, whatever it raises on the way."""
    outcome = Outcome()
    batches = iter(source)
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            return outcome
        except Exception as error:
            outcome.errors.append(error)
            if "closed" in str(error) or len(outcome.errors) > len(truth):
                del outcome.errors[-1]
                return outcome
            continue
        for sample in samples_of(batch):
            if sample[0] < 0:
                outcome.masked.add(-1 - sample[0])
            else:
                is_right = truth[sample[0]] == sample
                (outcome.exact if is_right else outcome.wrong).add(sample[0])


@dataclass(frozen=True)
class Trial:
    """A fault at the `first` call of a pass, `is_fresh` if that is the first pass of a loader."""

    effect: str
    first: int
    count: int = 1
    is_fresh: bool = False
    on_error: str = "raise"

    def __str__(self) -> str:
        lasting = " and ever after" if self.count == LASTING else ""
        fresh = "a new" if self.is_fresh else "a running"
        return f"{self.effect} at call {self.first}{lasting} of {fresh} loader ({self.on_error})"


def trials(warm: int, fresh: int) -> Iterator[Trial]:
    """All faults; `warm` and `fresh` calls are in a pass of a running and of a new loader."""
    passing = [*ERRORS, *SHORT, "MemoryError"]
    for first, effect in product(range(1, warm + 1), passing):
        yield Trial(effect, first)
        if effect != "MemoryError":
            yield Trial(effect, first, on_error="mask")
    for first, effect in product(range(1, warm + 1), ["EIO", "ESTALE"]):
        yield Trial(effect, first, LASTING)
    for first, effect in product(range(1, warm + 1), ["SIGKILL", "SIGBUS", "SIGSEGV"]):
        yield Trial(effect, first)
    for first, effect in product(range(1, fresh + 1), [*ERRORS, "MemoryError", "SIGKILL"]):
        yield Trial(effect, first, is_fresh=True)
        yield Trial(effect, first, is_fresh=True, on_error="mask")
    for first, harm, which in product(range(1, fresh + 1), HARMS, ("tar", "index")):
        yield Trial(f"{harm} {which}", first, is_fresh=True)
    for effect in ("SIGKILL", "SIGBUS"):
        yield Trial(effect, fresh // 2, LASTING, is_fresh=True)


class Bench:
    """Tries faults on copies of one dataset."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        self._source = folder
        self._folder = scratch / "shards"
        self._faults = Faults(scratch / "faults")
        self._running: dict[str, tuple[Loader, Faults]] = {}
        shutil.copytree(folder, self._folder)
        self.truth = expected(self._folder)
        with self._faults.in_workers(), loader(self._folder) as sound:
            self._faults.arm("EIO", LASTING)
            assert one_pass(sound, self.truth).exact == set(self.truth)
            self.fresh_calls = self._faults.calls
            self._faults.arm("EIO", LASTING)
            assert one_pass(sound, self.truth).exact == set(self.truth)
            self.warm_calls = self._faults.calls

    def close(self) -> None:
        """End the loaders."""
        self._faults.close()
        for running, faults in self._running.values():
            running.close()
            faults.close()

    def run(self, trial: Trial) -> tuple[str, str]:
        """What kind of outcome a trial had, and what is wrong with it (nothing, if it is empty)."""
        return self._fresh(trial) if trial.is_fresh else self._warm(trial)

    def _warm(self, trial: Trial) -> tuple[str, str]:
        if trial.on_error not in self._running:
            faults = Faults(self._faults.path.with_suffix("." + trial.on_error))
            with faults.in_workers():
                running = loader(self._folder, on_error=trial.on_error)
                one_pass(running, self.truth)
            self._running[trial.on_error] = running, faults
        running, faults = self._running[trial.on_error]
        with faults.in_workers():  # those that are started in the place of dead ones
            faults.arm(trial.effect, trial.first, trial.count)
            outcome = self._until(faults, running)
            faults.disarm()
            cost = (4 if trial.on_error == "raise" else 1) if trial.count == 1 else None
            complaint = outcome.complaint(self._folder, len(self.truth), cost)
            is_error = trial.effect in ("nothing", "MemoryError", *ERRORS)
            if outcome.is_reached and is_error != bool(outcome.errors or outcome.masked):
                complaint = complaint or "nobody told of it"
            while trial.count == LASTING and one_pass(running, self.truth).errors:
                continue  # what was decoded ahead
            if one_pass(running, self.truth).exact != set(self.truth):
                complaint = complaint or "the loader did not get over it"
        return outcome.kind, complaint

    def _until(self, faults: Faults, running: Loader) -> Outcome:
        """Read until the fault has happened, and on: it may lie in what is decoded ahead."""
        outcome = one_pass(running, self.truth)
        for _ in range(_MAX_PASSES):
            if faults.done:
                break
            outcome.join(one_pass(running, self.truth))
        outcome.is_reached = bool(faults.done)
        outcome.join(one_pass(running, self.truth))
        return outcome

    def _fresh(self, trial: Trial) -> tuple[str, str]:
        shutil.rmtree(self._folder)
        shutil.copytree(self._source, self._folder)
        children = set(psutil.Process().children())
        is_harmed = trial.effect.split()[0] in HARMS
        self._faults.arm(trial.effect, trial.first, trial.count)
        with self._faults.in_workers(), loader(self._folder, on_error=trial.on_error) as new:
            outcome = one_pass(new, self.truth)
            if trial.count == 1 and not is_harmed:  # it may have hit what is decoded ahead
                outcome.join(one_pass(new, self.truth))
            self._faults.disarm()
            # Nothing tells a tar of the same size, or a file that is written over in place.
            if trial.effect.startswith(("rewrite", "exchange tar")):
                outcome.exact |= outcome.wrong
                outcome.wrong = set()
            cost = 4 if trial.count == 1 and not is_harmed else None
            complaint = outcome.complaint(self._folder, len(self.truth), cost)
            if trial.count == LASTING and not outcome.errors:
                complaint = "nobody told of it"
            recovers = trial.count == 1 and not is_harmed
            if recovers and one_pass(new, self.truth).exact != set(self.truth):
                complaint = complaint or "the loader did not get over it"
        shutil.rmtree(self._folder.with_suffix(".away"), ignore_errors=True)
        self._folder.mkdir(exist_ok=True)
        fork_server.end()
        if left := set(psutil.Process().children()) - children:
            complaint = complaint or f"it left {left}"
        return outcome.kind, complaint


def run(folder: Path, scratch: Path, step: int) -> tuple[Counter[str], list[str]]:
    """Try each `step`-th fault; counts of outcomes, and the trials that ended badly."""
    bench = Bench(folder, scratch)
    kinds: Counter[str] = Counter()
    bad = []
    try:
        for trial in islice(trials(bench.warm_calls, bench.fresh_calls), 0, None, step):
            kind, complaint = bench.run(trial)
            kinds[kind] += 1
            if complaint:
                bad.append(f"{trial}: {complaint}")
    finally:
        bench.close()
    return kinds, bad
