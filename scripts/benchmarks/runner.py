"""Runs candidates in interleaved rounds, each in a process of its own, and prints medians.

A candidate's processes end before the next one starts, so that it leaves neither memory nor workers
behind. The candidates of a round begin with another one each time, and a machine that is busy with
other programs slows all of them alike.
"""

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from statistics import median
from typing import Any

import psutil

Figures = Mapping[str, float]  # by their columns
BUSY = 0.1  # of the processors, from which on other programs are reported


@dataclass(frozen=True)
class Candidate:
    """A function that takes part and returns figures, or figures by rows; it can be pickled."""

    name: str
    run: Callable[..., Figures | Mapping[str, Figures]]
    arguments: tuple[Any, ...] = ()


@dataclass
class Measured:
    """The figures of each row and round, and the share of the processors that others took."""

    rows: dict[str, dict[int, Figures]] = field(default_factory=dict)
    others: list[float] = field(default_factory=list)


def run(case: Any, given: argparse.Namespace, work: Path) -> None:
    candidates = [one for one in case.candidates(given, work) if given.only in one.name]
    measured = interleaved(candidates, given.rounds)
    if given.json:
        print(json.dumps({row: list(rounds.values()) for row, rounds in measured.rows.items()}))
        return
    print(f"{os.cpu_count()} cores, medians of {given.rounds} rounds")
    print(table(measured, case.BASELINE))
    if case.BASELINE in measured.rows and given.rounds > 1:
        print(
            "A ratio is the median of the rounds' ratios: it can differ from that of the medians."
        )
    if (others := median(measured.others or [0.0])) > BUSY:
        print(
            f"Other programs took {others:.0%} of the processors. Rates and ratios are not those "
            "of a quiet machine; CPU times nearly are."
        )


def interleaved(candidates: Sequence[Candidate], rounds: int) -> Measured:
    """Run every candidate once a round; one that fails is named and left out from then on."""
    measured, failed = Measured(), set[str]()
    for number in range(rounds):
        begin = number % max(len(candidates), 1)
        for one in [*candidates[begin:], *candidates[:begin]]:
            if one.name in failed:
                continue
            began, used, busy = time.perf_counter(), _used(RUSAGE_CHILDREN), _busy_seconds()
            found = _in_process(one)
            others = _busy_seconds() - busy - (_used(RUSAGE_CHILDREN) - used)
            if found is None:
                failed.add(one.name)
                print(f"{one.name}: left out, it failed (see above)", file=sys.stderr)
                continue
            seconds = time.perf_counter() - began
            measured.others.append(max(others, 0) / seconds / (os.cpu_count() or 1))
            for row, figures in _by_row(one, found).items():
                said = (f"{column} {_number(value)}" for column, value in figures.items())
                print(f"{row}: {', '.join(said)}", file=sys.stderr)  # kept if the run is stopped
                measured.rows.setdefault(row, {})[number] = figures
    return measured


def table(measured: Measured, baseline: str | None) -> str:
    """Return the medians as a table of Markdown, with the ratio to the baseline's first column."""
    columns = list(
        dict.fromkeys(name for rows in measured.rows.values() for name in rows[min(rows)])
    )
    of_baseline = measured.rows.get(baseline or "", {})
    heads = [*columns[:1], *(["ratio"] if of_baseline else []), *columns[1:]]
    lines = [f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for name, rounds in measured.rows.items():
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


def step(act: Callable[..., Any], *arguments: Any) -> Figures:
    """Do something; return its time, and the CPU and memory of this process so far, with children.

    If it returns figures, these come last.
    """
    began = time.perf_counter()
    further = act(*arguments)
    seconds, used = time.perf_counter() - began, own_usage()
    figures = {"CPU s": used, "s": seconds, "MiB": getrusage(RUSAGE_SELF).ru_maxrss / 1024}
    return figures | (further or {})


def own_usage() -> float:
    """Return the CPU time of this process and of the children that it has waited for."""
    return _used(RUSAGE_SELF) + _used(RUSAGE_CHILDREN)


def _in_process(one: Candidate) -> Figures | Mapping[str, Figures] | None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(one, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()  # type: ignore[no-any-return]
    except EOFError:
        return None
    finally:
        process.join()


def _by_row(one: Candidate, found: Figures | Mapping[str, Figures]) -> Mapping[str, Figures]:
    rows = {row: figures for row, figures in found.items() if isinstance(figures, Mapping)}
    own = {column: value for column, value in found.items() if not isinstance(value, Mapping)}
    return rows or {one.name: own}


def _child(one: Candidate, results: Connection) -> None:
    multiprocessing.set_start_method("fork", force=True)  # for torch's workers, as in a script
    results.send(one.run(*one.arguments))


def _used(whose: int) -> float:
    used = getrusage(whose)
    return used.ru_utime + used.ru_stime


def _busy_seconds() -> float:
    """Return what all processors of the machine did so far, and what its host took of them."""
    times = psutil.cpu_times()._asdict()
    kinds = ("user", "nice", "system", "irq", "softirq", "steal")
    return sum(times.get(kind, 0.0) for kind in kinds)


def _number(value: float) -> str:
    places = 0 if abs(value) >= 100 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{places}f}"
