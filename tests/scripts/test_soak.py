"""A short soak finds nothing; and what it looks for, it finds."""

import random
import re
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from soaking.disturb import Held, expect_flat
from soaking.exact import Row, expect_order, expect_same
from soaking.ground import PACKS, Ground, Tally, Violation
from soaking.packing import pack_round

import packer

ROWS = [Row(number, 7 * number) for number in range(10)]


def start(tmp_path: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    root = Path(packer.__file__).parent.parent
    return subprocess.run(
        [sys.executable, root / "scripts" / "soak.py", *map(str, arguments)],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(root), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=280,
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_short_soak_finds_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    done = start(tmp_path, "--seed=0", "--rounds=5", "--images=24")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(
        r"soak: \d+\.\d min, rounds 5, packs 1 \(kills \d+\), epochs 4 \(kills \d+, stops \d+\), "
        r"samples \d+ read, lost 0, doubled 0, differing 0, hangs 0; parent RSS \d+ -> \d+ MB, "
        r"worker \d+ -> \d+ MB, descriptors \d+ -> \d+",
        done.stdout.splitlines()[-1],
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_round_that_hangs_ends_the_soak_and_its_workers(tmp_path: Path) -> None:
    done = start(tmp_path, "--rounds=1", "--images=6", "--patience=0.01")
    assert done.returncode == 1
    assert "round 0 (epoch_round) hangs; repeat it by:" in done.stdout
    assert "--images 6 --seed 0 --rounds 1" in done.stdout
    assert "hangs 1" in done.stdout.splitlines()[-1]
    assert "most recent call first" in done.stderr  # where it hung
    left = [one for one in psutil.process_iter() if str(tmp_path) in folder_of(one)]
    assert psutil.wait_procs(left, timeout=10)[1] == []


def folder_of(process: psutil.Process) -> str:
    try:
        return process.environ().get("TMPDIR", "")
    except psutil.Error:
        return ""


@pytest.mark.slow
def test_other_bytes_than_those_packed_undisturbed_are_found(tmp_path: Path) -> None:
    ground, tally = Ground(tmp_path, images=10), Tally()
    ground.clear()
    name = random.Random(3).choice(list(PACKS))
    shard = next(ground.packed(name).rglob("*.tar"))
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    with pytest.raises(Violation, match=f"{shard.name} differs from"):
        pack_round(random.Random(3), ground, tally)
    assert tally["packs"] == 0


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (ROWS[1:], (1, 0, 0)),
        ([*ROWS, ROWS[3]], (0, 1, 0)),
        ([*ROWS[:-1], Row(9, 0)], (0, 0, 1)),
        ([*ROWS[2:], ROWS[3], ROWS[3], ROWS[3]], (2, 3, 0)),
        ([Row(3, 0), *ROWS], (0, 1, 0)),
    ],
)
def test_what_is_lost_doubled_or_differs_is_counted(
    found: list[Row], counts: tuple[int, int, int]
) -> None:
    tally = Tally()
    with pytest.raises(Violation, match="the epoch: lost"):
        expect_same(ROWS, found, tally, "the epoch")
    assert (tally["lost"], tally["doubled"], tally["differing"]) == counts


def test_the_same_samples_in_another_order_are_told_apart() -> None:
    tally, backwards = Tally(), ROWS[::-1]
    expect_same(ROWS, backwards, tally, "the epoch")
    assert tally["samples"] == len(ROWS)
    expect_order(ROWS, ROWS, "the epoch")
    with pytest.raises(Violation, match="sample 9 came at position 0, not 0"):
        expect_order(ROWS, backwards, "the epoch")


def history(rounds: int, **growth: float) -> list[Held]:
    """Counts and bytes that swing, and grow by so much a round."""
    sizes = dict.fromkeys(Held._fields, 9) | {"parent_bytes": 200e6, "worker_bytes": 25e6}
    return [
        Held(*(int(size + n % 3 + n * growth.get(name, 0)) for name, size in sizes.items()))
        for n in range(rounds)
    ]


def test_what_swings_is_flat() -> None:
    expect_flat(history(100))
    expect_flat(history(100, parent_bytes=1000))


@pytest.mark.parametrize("name", Held._fields)
def test_what_grows_from_round_to_round_is_found(name: str) -> None:
    growth = 200e3 if name.endswith("_bytes") else 0.1
    with pytest.raises(Violation, match=f"^{name} grew"):
        expect_flat(history(100, **{name: growth}))
