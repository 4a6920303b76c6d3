"""What fails under the packer ends in the right files, or in a sentence and a run that goes on.

Of the faults at single calls this is a sample: `Bench.faults` has them all.
"""

from pathlib import Path

import pytest

from tests.faults.packing import CASES, Bench

# How many faults at single calls are tried, beside those at every call.
SAMPLE = dict.fromkeys(CASES, 1) | {
    "pack": 5,
    "pack in one process": 5,
    "pack over a dataset": 5,
    "pack into a store": 5,
    "extract": 2,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_after_a_fault_the_same_command_gives_the_same_files(tmp_path: Path, name: str) -> None:
    bench = Bench(CASES[name], tmp_path)
    assert bench.undisturbed.code == 0
    short, interrupted, *faults = bench.faults()
    stride = len(faults) // SAMPLE[name]
    for fault in (short, interrupted):
        outcome, wrong = bench.attempt(fault)
        assert (outcome.code, wrong) == (0, []), fault
    for fault in faults[stride // 2 :: stride]:
        assert bench.attempt(fault)[1] == [], fault
