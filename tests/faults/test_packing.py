"""What fails under the packer ends in the right files, or in a sentence and a run that goes on.

`python tests/faults/packing.py` tries every fault at every call; here it is a sample of them.
"""

from itertools import islice
from pathlib import Path

import pytest

from tests.faults.packing import CASES, Bench

# How many faults of each command are tried.
SAMPLE = dict.fromkeys(CASES, 2) | {"pack": 7, "pack in one process": 5, "index": 3, "repair": 3}


@pytest.mark.parametrize("name", CASES)
def test_after_a_fault_the_same_command_gives_the_same_files(tmp_path: Path, name: str) -> None:
    bench = Bench(CASES[name], tmp_path)
    assert bench.undisturbed.code == 0
    faults = list(bench.faults())
    stride = len(faults) // SAMPLE[name]
    happened = 0
    for fault in islice(faults, 0, None, stride):
        outcome, wrong = bench.attempt(fault)
        happened += outcome.happened
        assert wrong == [], fault
    assert happened, "no fault was reached"
