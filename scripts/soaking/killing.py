"""A round whose reading process is killed as a whole, and goes on in another one.

This module is also that process: ``python -m soaking.killing JSON`` prints a line of JSON for each
batch, its rows and the loader's state after it.
"""

import json
import random
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil

from soaking.disturb import expect_gone, named_memory, workers
from soaking.exact import Reading, Row, expect_order, expect_same, rows
from soaking.ground import Ground
from soaking.reading import choose
from soaking.tally import Tally, Violation

_MOST_KILLS = 2


def killed_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Read an epoch in processes that are killed and resumed from the last state they told."""
    reading = choose(rng, ground)
    found: list[Row] = []
    state = None
    kills = rng.randint(1, _MOST_KILLS)
    while True:
        how = {"batch_size": rng.randint(1, 30), "workers": rng.randint(1, 3)}
        task = {"reading": asdict(reading), "how": how, "state": state}
        with subprocess.Popen(
            [sys.executable, "-m", "soaking.killing", json.dumps(task)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
            start_new_session=True,
        ) as process:
            last = rng.randint(1, 10) if kills else 0
            is_killed = False
            family: list[psutil.Process] = []
            memory: set[Path] = set()
            assert process.stdout is not None
            for number, line in enumerate(process.stdout, 1):
                if line.endswith("\n"):  # otherwise it was killed as it wrote this
                    batch, state = json.loads(line)
                    found += (Row(*one) for one in batch)
                if number == last:
                    reading_process = psutil.Process(process.pid)
                    family = workers(reading_process)
                    memory = named_memory(reading_process)
                    process.kill()
                    is_killed = True
                    tally.kills += 1
        expect_gone(family, memory, "A reader that was killed")
        if process.returncode == 0:
            break
        if not is_killed:
            raise Violation(f"Reading {task} ended with {process.returncode}")
        kills -= 1
        if state is not None and reading.is_over(state):
            break
    expect_same(reading.expected, found, tally, reading)
    expect_order(reading.expected, found, reading)
    tally.epochs += 1


def _read(reading: dict[str, Any], how: dict[str, Any], state: dict[str, Any] | None) -> None:
    with Reading(**reading).open(**how) as loader:
        if state is not None:
            loader.load_state_dict(state)
        for batch in loader:
            print(json.dumps([list(rows(batch)), loader.state_dict()]), flush=True)


if __name__ == "__main__":
    _read(**json.loads(sys.argv[1]))
