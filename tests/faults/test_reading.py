"""What fails under the reader gives the exact result, or an error that names the place.

`python tests/faults/reading.py` tries every fault at every call; here it is a sample of them.
"""

from pathlib import Path

import pytest

from tests.faults.reading import run


@pytest.mark.usefixtures("no_leftovers")
def test_faults_at_any_call_end_in_the_exact_result_or_an_error_that_names_the_place(
    packed: Path, tmp_path: Path
) -> None:
    kinds, bad = run(packed, tmp_path, step=613)
    assert bad == []
    assert kinds["never reached"] <= 1
    assert kinds["exact"]
    assert kinds["SampleError that names the place"]
