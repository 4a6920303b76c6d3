"""Runs candidates in interleaved rounds, each in a process of its own, and prints medians.

A candidate's processes end before the next one starts, so that it leaves neither memory nor workers
behind. The candidates of a round begin with another one each time, and a machine that is busy with
other programs slows all of them alike.
"""

import argparse
import contextlib
import multiprocessing
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from typing import Any

import psutil

Figures = Mapping[str, float]  # by their columns
Rows = Mapping[str, Mapping[int, Figures]]  # by what is measured, and the round
Candidates = Mapping[str, Callable[[], Figures | Mapping[str, Figures]]]
"""By name, what can be pickled and returns figures, or figures by rows."""

BUSY = 0.1  # of the processors, from which on other programs are reported


def run(case: Any, given: argparse.Namespace, work: Path) -> None:
    candidates = case.candidates(given, work)
    wanted = {name: act for name, act in candidates.items() if given.only in name}
    rows, others = interleaved(wanted, given.rounds)
    print(f"{os.cpu_count()} cores, medians of {given.rounds} rounds")
    print(table(rows, case.BASELINE))
    if others > BUSY:
        print(
            f"Other programs took {others:.0%} of the processors. Rates and ratios are not those "
            "of a quiet machine; CPU times nearly are."
        )


def interleaved(candidates: Candidates, rounds: int) -> tuple[Rows, float]:
    """Run every candidate once a round; one that fails is named and left out from then on.

    Return the figures, and the median of the share of the processors that other programs took.
    """
    rows: dict[str, dict[int, Figures]] = {}
    others: list[float] = []
    turns = list(candidates)
    for number in range(rounds):
        for name in list(turns):
            began, used = time.perf_counter(), _used(RUSAGE_CHILDREN)
            psutil.cpu_percent()  # counts from here on
            found: Mapping[str, Any] = {}
            with leaving_out(name):
                found = _in_process(candidates[name])
            if not found:
                turns.remove(name)
                continue
            own = (_used(RUSAGE_CHILDREN) - used) / (time.perf_counter() - began)
            others.append(max(psutil.cpu_percent() / 100 - own / (os.cpu_count() or 1), 0))
            has_rows = all(isinstance(value, Mapping) for value in found.values())
            for row, figures in (found if has_rows else {name: found}).items():
                said = (f"{column} {_number(value)}" for column, value in figures.items())
                print(f"{row}: {', '.join(said)}", file=sys.stderr)  # kept if the run is stopped
                rows.setdefault(row, {})[number] = figures
        turns = turns[1:] + turns[:1]
    return rows, median(others or [0.0])


@contextlib.contextmanager
def leaving_out(name: str) -> Iterator[None]:
    """Say it if what is done for a candidate fails, and go on."""
    try:
        yield
    except Exception:
        traceback.print_exc()
        print(f"{name}: left out, it failed (see above)", file=sys.stderr)


def table(rows: Rows, baseline: str | None) -> str:
    """Return the medians as a table of Markdown, with the ratio to the baseline's first column."""
    columns = list(dict.fromkeys(name for rounds in rows.values() for name in rounds[min(rounds)]))
    of_baseline = rows.get(baseline or "", {})
    heads = [*columns[:1], *(["ratio"] if of_baseline else []), *columns[1:]]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for name, rounds in rows.items():
        cells = {
            column: _number(median(figures[column] for figures in rounds.values()))
            for column in columns
            if all(column in figures for figures in rounds.values())
        }
        ratios = [
            figures[columns[0]] / of_baseline[number][columns[0]]
            for number, figures in rounds.items()
            if number in of_baseline and columns[0] in figures
        ]
        cells |= {"ratio": f"{median(ratios):.2f}"} if ratios else {}
        lines.append(f"| {name} | {' | '.join(cells.get(head, '') for head in heads)} |")
    return "\n".join(lines)


def family() -> list[psutil.Process]:
    me = psutil.Process()
    return [me, *me.children(recursive=True)]


def cpu_seconds(without: psutil.Process | None = None) -> float:
    """Return the CPU time of the family so far."""
    return sum(sum(one.cpu_times()[:2]) for one in family() if one != without)


def own_usage() -> float:
    """Return the CPU time of this process and of the children that it has waited for."""
    return _used(RUSAGE_SELF) + _used(RUSAGE_CHILDREN)


def _in_process(act: Callable[[], Any]) -> Any:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _as_a_script) as pool:
        return pool.submit(act).result()


def _as_a_script() -> None:
    multiprocessing.set_start_method("fork", force=True)  # for torch's workers


def _used(whose: int) -> float:
    used = getrusage(whose)
    return used.ru_utime + used.ru_stime


def _number(value: float) -> str:
    places = 0 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{places}f}"
