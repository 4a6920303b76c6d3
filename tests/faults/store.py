"""Each fault of a store, once, some times and for ever: ``python tests/faults/store.py [N]``.

With N, each N-th trial alone. It prints a table of what came of an epoch, and the trials that did
not end as they should: in the exact result, or in an error that names the store.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path[:1] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from store_faults import FAULTS
from store_server import StoreServer, serving

from reader import BlockShuffle, Dataset
from tests.faults.reading import Outcome, expected, loader, make_data, one_pass

ALWAYS = 1 << 60
TIMES = {"once": 1, "3 times": 3, "for ever": ALWAYS}
ORDERS = {"shuffle": True, "blocks": BlockShuffle(1), "in turn": False}
OPTIONS = {"retry_timeout": 3, "client_options": {"read_timeout": "500ms"}}


class Trial(NamedTuple):
    """A fault that so many requests meet, in an epoch of this order."""

    fault: str
    times: str
    order: str

    def __str__(self) -> str:
        return f"{self.fault:18}{self.times:10}{self.order:9}"


def trials() -> Iterator[Trial]:
    """All of them."""
    yield from map(Trial._make, product(FAULTS, TIMES, ORDERS))


def run(folder: Path, cache: Path, trial: Trial) -> tuple[str, str]:
    """What came of a trial, and what is wrong with it (nothing, if it is empty)."""
    truth = expected(folder)
    with serving(folder) as server:
        dataset = Dataset(server.url, cache_dir=cache / str(trial), storage_options=OPTIONS)
        try:
            _arm(server, FAULTS[trial.fault], TIMES[trial.times])
            with loader(dataset, shuffle=ORDERS[trial.order]) as running:
                began = monotonic()
                outcome = one_pass(running, truth)
                seconds = monotonic() - began
                server.fault = lambda _: None
                after = one_pass(running, truth)  # of the same cache
        finally:
            dataset.fetching.close()
        complaint = _complaint(server.url, outcome, len(truth))
    if trial.times == "for ever" and not outcome.errors:
        complaint = complaint or "nobody told of it"
    if not complaint and (after.errors or after.exact != set(truth)):
        complaint = f"it does not get over it: {after.errors[:1]}"
    return f"{seconds:5.1f} s  {_told(outcome, server.url)}", complaint


def _arm(server: StoreServer, fault: Any, times: int) -> None:
    left = [times]

    def choose(handler: Any) -> Any:
        if not handler.path.endswith(".tar") or left[0] <= 0:
            return None
        left[0] -= 1
        return fault

    server.fault = choose


def _complaint(url: str, outcome: Outcome, count: int) -> str:
    return outcome.complaint(Path(url.partition("//")[2]), count)


def _told(outcome: Outcome, url: str) -> str:
    if not outcome.errors:
        return "exact"
    text = str(outcome.errors[0]).partition(url)[2].partition(": ")[2] or str(outcome.errors[0])
    return f"{type(outcome.errors[0]).__name__}: {text[:110]}"


def sweep(step: int, say: Callable[[str], object]) -> list[str]:
    """Try each `step`-th trial; those that ended badly."""
    bad = []
    with tempfile.TemporaryDirectory() as root:
        folder = make_data(Path(root))
        for trial in islice(trials(), 0, None, step):
            told, complaint = run(folder, Path(root) / "caches", trial)
            say(f"{trial}{told}")
            if complaint:
                bad.append(f"{trial}: {complaint}")
    return bad


def _main(arguments: list[str]) -> int:
    bad = sweep(int(arguments[0]) if arguments else 1, print)
    print(f"{len(bad)} ended badly", *bad, sep="\n", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
