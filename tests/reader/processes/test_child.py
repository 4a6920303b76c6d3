"""A process ends with the one that wants it."""

import os
import signal

import pytest
from other_process import forked

from reader.processes.child import can_be_ended, end_with_parent


@pytest.mark.skipif(not can_be_ended(), reason="needs Linux")
def test_a_process_that_is_told_of_its_parents_end_too_early_ends_too() -> None:
    theirs, ours = os.pipe()
    os.close(ours)
    with forked(lambda: end_with_parent(theirs)) as child:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    os.close(theirs)
