"""Each published layout is read right, or refused with what to do.

``PYTHONPATH=tests python -m layouts --write`` brings the outcomes up to date. The rows
that are "wrong" are what is to be mended next; none is to be added.
"""

import pytest
from sampled import sampled

from layouts.alone import only_folders
from layouts.outcome import CRASHED, RIGHT, WRONG, outcome_of
from layouts.packed import all_layouts, expected

LAYOUTS = all_layouts()
TEXTS = [name for name in LAYOUTS if name.startswith("texts: ")]  # which no other test reads
OTHERS = {name: outcome for name, outcome in expected().items() if name not in TEXTS}
PACKED = [name for name, outcome in OTHERS.items() if outcome == RIGHT]
REFUSED = [name for name in OTHERS if name not in PACKED]  # their commands are run, too


@pytest.mark.parametrize("name", [*TEXTS, *sampled(PACKED, every=3), *sampled(REFUSED, every=4)])
def test_a_layout_is_read_right_or_refused(name, tmp_path):
    outcome = outcome_of(LAYOUTS[name], tmp_path)
    said = "\n".join([outcome.message, *outcome.faults])
    assert outcome.verdict == expected().get(name), f"{LAYOUTS[name].source}\n{said}"


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_nothing_is_packed_wrongly_where_only_folders_are_recognised(name, tmp_path):
    with only_folders():
        outcome = outcome_of(LAYOUTS[name], tmp_path, steps=0)
    assert outcome.verdict not in (WRONG, CRASHED), "\n".join([outcome.message, *outcome.faults])
