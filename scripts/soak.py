#!/usr/bin/env python3
"""Packs and reads in rounds while its processes are killed and stopped: soak.py --minutes 30.

Each round packs, appends, repairs, or reads an epoch, disturbed at random moments, and compares
with the same done undisturbed: every byte of the shards; every sample, exactly once, pixel for
pixel. Beside the rounds, one loader lives all the time. At the end nothing may have grown: memory,
descriptors, threads, processes, temporary files (judged from some 30 rounds on). It makes its own
images, in a folder of its own.

What happens in a round follows from its number, which counts from --seed; the moments of the kills
do not. So a violation is looked for again by the command that is printed with it, more than once
if need be. Exit codes: 0 nothing was found; 1 a violation; 130 interrupted.
"""

import argparse
import faulthandler
import itertools
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import psutil
from soaking.disturb import Held, expect_flat, summary, workers
from soaking.exact import Reading, expect_same, rows, undisturbed
from soaking.ground import Ground, Tally, Violation
from soaking.packing import append_round, pack_round, repair_round
from soaking.reading import damaged_round, epoch_round, killed_round, torch_round

import reader

ROUNDS = (
    *(epoch_round, pack_round, damaged_round),
    *(epoch_round, killed_round, repair_round),
    *(epoch_round, torch_round, append_round),
)
STEADY_EPOCHS = 3
_PROGRESS_SECONDS = 30.0


class Soak:
    """The rounds, and what they found; the images lie below `folder`."""

    def __init__(self, folder: Path, images: int, patience: float) -> None:
        self.tally = Tally()
        self.history: list[Held] = []
        self._ground = Ground(folder, images)
        self._patience = patience  # seconds; a round that takes more hangs
        self._began = self._shown = time.monotonic()

    def run(self, rounds: Iterator[int]) -> None:
        """Run the rounds of these numbers, and look at what is held after each."""
        steady = Reading(str(self._ground.packed("tiled")))
        with closing(steady.open(batch_size=8, workers=1)) as loader:
            list(loader)  # so that its worker is there
            (worker,) = workers()
            for number in rounds:
                self._round(number, steady, loader)
                self.history.append(Held.now(worker))
                if time.monotonic() - self._shown > _PROGRESS_SECONDS:
                    self._shown = time.monotonic()
                    print(f"{self.line()}; next seed {number + 1}", flush=True)
            expect_flat(self.history)

    def line(self) -> str:
        minutes = (time.monotonic() - self._began) / 60
        held = f"; {summary(self.history)}" if self.history else ""
        return f"soak: {minutes:.1f} min, {self.tally}{held}"

    def _round(self, number: int, steady: Reading, loader: reader.Loader) -> None:
        do = ROUNDS[number % len(ROUNDS)]
        what = f"round {number} ({do.__name__})"
        repeat = f"{sys.argv[0]} --images {self._ground.images} --seed {number} --rounds 1"
        timer = threading.Timer(self._patience, self._give_up, [f"{what} hangs", repeat])
        timer.start()
        try:
            self._ground.clear()
            do(random.Random(number), self._ground, self.tally)
            epoch = Reading(steady.shards, epoch=number % STEADY_EPOCHS)
            loader.set_epoch(epoch.epoch)
            found = [row for batch in loader for row in rows(batch)]
            expect_same(undisturbed(epoch), found, self.tally, "the steady loader")
        except Exception as error:
            traceback.print_exc()
            text = f"{what}: {type(error).__name__}: {error}\nrepeat it by: {repeat}"
            raise Violation(text) from error
        finally:
            timer.cancel()
            timer.join()
        self.tally["rounds"] += 1

    def _give_up(self, what: str, repeat: str) -> None:
        self.tally["hangs"] += 1
        faulthandler.dump_traceback(all_threads=True)
        print(f"soak: {what}; repeat it by: {repeat}\n{self.line()}", flush=True)
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        os._exit(1)


def main(arguments: Sequence[str] | None = None) -> int:
    kind = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=kind)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rounds", type=int, help="at most so many")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first round")
    parser.add_argument("--images", type=int, default=240)
    parser.add_argument("--patience", type=float, default=300.0, help="seconds for one round")
    chosen = parser.parse_args(arguments)
    end = time.monotonic() + 60 * chosen.minutes
    numbers = itertools.islice(itertools.count(chosen.seed), chosen.rounds)
    numbers = itertools.takewhile(lambda _: time.monotonic() < end, numbers)
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(dir=folder)
    soak, code = Soak(folder, chosen.images, chosen.patience), 0
    try:
        soak.run(numbers)
    except Violation as violation:
        print(f"soak: {violation}\nwhat it worked on is kept in {folder}")
        code = 1
    except KeyboardInterrupt:
        code = 130
    print(soak.line())
    if code != 1:
        shutil.rmtree(folder)
    return code


if __name__ == "__main__":
    sys.exit(main())
