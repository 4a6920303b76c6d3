"""With plain folders only, the audit finds what no recogniser looks for."""

from pathlib import Path

import pytest

from layouts.alone import only_folders
from layouts.outcome import CRASHED, WRONG, outcome_of
from layouts.packed import all_layouts

LAYOUTS = all_layouts()


@pytest.mark.slow
@pytest.mark.parametrize("name", LAYOUTS)
def test_nothing_is_packed_wrongly_where_only_folders_are_recognised(
    name: str, tmp_path: Path
) -> None:
    with only_folders():
        outcome = outcome_of(LAYOUTS[name], tmp_path, steps=0)
    assert outcome.verdict not in (WRONG, CRASHED), "\n".join([outcome.message, *outcome.faults])
