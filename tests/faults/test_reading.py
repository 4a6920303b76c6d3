"""What fails under the reader gives the exact result, or an error that names the place.

Of the faults at every call this is a sample: `trials` has them all.
"""

from pathlib import Path

import pytest

from tests.faults.reading import run


@pytest.mark.usefixtures("no_leftovers")
def test_faults_at_any_call_end_in_the_exact_result_or_an_error_that_names_the_place(
    packed: Path, tmp_path: Path
) -> None:
    kinds, bad = run(packed, tmp_path, step=1400)
    assert bad == []
    assert kinds["never reached"] <= 1
    assert kinds["exact"]
    assert kinds["SampleError that names the place"]
