"""Rounds that read, with workers killed and stopped on the way, or the whole process."""

import itertools
import multiprocessing
import os
import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import psutil
import torch

import reader
from soaking.disturb import disturbed, expect_gone, workers
from soaking.exact import Reading, Row, expect_order, expect_same, row_of, rows, undisturbed
from soaking.ground import Ground, Tally, Violation

_MOST_HELD = 6  # batches that the consumer keeps
_MOST_KILLS = 2  # of a whole process, a round
_EPOCHS = [
    *(("tiled", "random"), ("tiled", "centre"), ("tiled", "whole")),
    *(("verbatim", "random"), ("split", "random"), ("raw", "whole")),
]


def _choose(rng: random.Random, ground: Ground) -> Reading:
    """One of the epochs that are read again and again."""
    name, pipeline = rng.choice(_EPOCHS)
    shuffle = rng.choice(["all", "all", "blocks", "none"])
    return Reading(str(ground.packed(name)), pipeline, shuffle, rng.randrange(2), rng.randrange(3))


def epoch_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Read an epoch in one or several parts, each with other workers, batches and ranks."""
    reading = _choose(rng, ground)
    parts = rng.choice([1, 1, 2, 3])
    found: list[Row] = []
    state = None
    is_in_order = True
    with disturbed(rng, tally) as strike:
        for part in range(parts):
            ranks = rng.choice([1, 1, 2, 3])
            is_in_order &= ranks == 1
            is_last = part == parts - 1
            gave, state = _read_part(rng, reading, ranks, state, is_last, strike)
            found += gave
            if state is None or reading.is_over(state):
                break
    expect_same(undisturbed(reading), found, tally, reading)
    if is_in_order:
        expect_order(undisturbed(reading), found, reading)
    tally["epochs"] += 1


def _read_part(
    rng: random.Random,
    reading: Reading,
    ranks: int,
    state: dict[str, Any] | None,
    is_last: bool,
    strike: Callable[[], None],
) -> tuple[list[Row], dict[str, Any] | None]:
    """The rows up to a break at a random place, and the state there; None at the epoch's end."""
    batch_size = rng.randint(1, 40)
    share, patience = rng.choice([0.0, 0.2, 0.6]), rng.randint(1, 12)
    held: list[tuple[Any, list[Row]]] = []
    found: list[Row] = []
    with ExitStack() as stack:
        sources: list[Any] = []
        for rank in range(ranks):
            how = {"workers": rng.choice([1, 2, 3, "auto"]), "rank": rank, "world_size": ranks}
            opened = reading.open(rng.choice([False, False, True]), batch_size=batch_size, **how)
            loader = stack.enter_context(opened)
            # A prefetcher changes nothing but the images' type.
            sources.append(reader.CUDAPrefetcher(loader) if rng.random() < 0.3 else loader)
            if state is not None:
                sources[-1].load_state_dict(state)
        if rng.random() < 0.3:
            stack.pop_all()  # nobody closes them: the garbage collector does
        for step, batches in enumerate(zip(*sources, strict=True)):
            for batch in batches:
                new = list(rows(batch))
                found += new
                held.append((batch, new))
            while len(held) > _MOST_HELD:
                _expect_kept(held.pop(0))
            if rng.random() < share:
                strike()
            if not is_last and step >= patience and rng.random() < 0.3:
                return found, rng.choice(sources).state_dict()
        for batch in held:
            _expect_kept(batch)
    return found, None


def _expect_kept(held: tuple[Any, list[Row]]) -> None:
    batch, then = held
    if list(rows(batch)) != then:
        raise Violation("A batch that the consumer held has changed meanwhile")


def damaged_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Read a dataset with images that do not decode, under each policy."""
    shards, bad = ground.damaged()
    sound = replace(_choose(rng, ground), shards=str(ground.packed("tiled")), pipeline="random")
    policy = rng.choice(["raise", "mask", "substitute"])
    reading = replace(sound, shards=str(shards), on_error=policy)
    batch_size = rng.randint(1, 12)
    found: list[Row] = []
    errors: list[str] = []
    with (
        disturbed(rng, tally) as strike,
        reading.open(batch_size=batch_size, workers=rng.randint(1, 3)) as loader,
    ):
        batches = iter(loader)
        for _ in range(len(batches)):
            try:
                found += rows(next(batches))
            except reader.SampleError as error:
                errors.append(str(error))
            if rng.random() < 0.2:
                strike()
        told = loader.bad_samples
    every = undisturbed(sound)
    expected = [one for one in every if one.number not in bad]
    if policy == "raise":
        cut = [every[at : at + batch_size] for at in range(0, len(every), batch_size)]
        whole = [part for part in cut if not any(one.number in bad for one in part)]
        expected = [one for part in whole for one in part]
        # One error a batch at most, and each names a bad sample.
        if not errors or not all(any(repr(key) in text for key in bad.values()) for text in errors):
            raise Violation(f"{reading}: the errors {errors} do not name the samples {bad}")
    elif errors or told.keys() != bad.keys():
        raise Violation(f"{reading}: it tells {told} and {errors}; bad are {bad}")
    if policy == "substitute":  # another sample comes in the place of each that is bad
        instead = list((Counter(found) - Counter(expected)).elements())
        if any(one.number in bad for one in instead) or len(found) != len(every):
            raise Violation(f"{reading}: in the place of {bad} came {instead}")
        expected += instead
    expect_same(expected, found, tally, reading)
    tally["epochs"] += 1


def torch_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Read the map-style Dataset by torch's own DataLoader."""
    shards = ground.packed(rng.choice(["tiled", "verbatim", "raw", "split"]))
    dataset: Any = reader.Dataset(shards, cache=rng.choice([None, "ram"]))
    plain = reader.Dataset(shards)
    expected = [row_of(number, *plain[number], key) for number, key in enumerate(plain.keys)]
    numbers = rng.sample(range(len(plain)), len(plain))
    how: Any = {"batch_size": rng.randint(1, 40), "num_workers": rng.randint(0, 2)}
    batches = torch.utils.data.DataLoader(dataset, sampler=numbers, collate_fn=list, **how)
    pairs = zip(numbers, itertools.chain.from_iterable(batches), strict=True)
    found = [row_of(number, *sample, dataset.keys[number]) for number, sample in pairs]
    expect_same(expected, found, tally, f"DataLoader over {shards}")
    tally["epochs"] += 1


def killed_round(rng: random.Random, ground: Ground, tally: Tally) -> None:
    """Read an epoch in processes that are killed and resumed from the last state they told."""
    reading = _choose(rng, ground)
    found: list[Row] = []
    state = None
    kills = rng.randint(1, _MOST_KILLS)
    context = multiprocessing.get_context("spawn")
    while True:
        how = {"batch_size": rng.randint(1, 30), "workers": rng.randint(1, 3)}
        task = reading, how, state
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_read, args=(*task, theirs))
        process.start()
        theirs.close()
        left = rng.randint(1, 10) if kills else 0  # batches
        family: list[psutil.Process] | None = None
        with suppress(EOFError, OSError), ours:  # also if it was killed as it sent
            while True:
                batch, state = ours.recv()
                found += batch
                left -= 1
                if left == 0:
                    family = workers(process.pid)
                    process.kill()
                    tally["kills"] += 1
        process.join()
        expect_gone(family or [], "A reader that was killed")
        if process.exitcode and family is None:
            raise Violation(f"Reading {task} ended with {process.exitcode}")
        if not process.exitcode or reading.is_over(state):
            break
        kills -= 1
    expect_same(undisturbed(reading), found, tally, reading)
    expect_order(undisturbed(reading), found, reading)
    tally["epochs"] += 1


def _read(reading: Reading, how: dict[str, Any], state: Any, sent: Connection) -> None:
    """Send the rows of each batch, and the loader's state after it."""
    os.setsid()  # so that Ctrl-C reaches the soak alone
    with reading.open(**how) as loader:
        if state is not None:
            loader.load_state_dict(state)
        for batch in loader:
            sent.send((list(rows(batch)), loader.state_dict()))
