"""A process ends with the one that wants it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import reader
from reader.processes.child import can_be_ended

LATE = """
import sys
from reader.processes.child import end_with_parent
end_with_parent(int(sys.argv[1]))
print("it goes on")
"""


@pytest.mark.skipif(not can_be_ended(), reason="needs Linux")
def test_a_process_that_is_told_of_its_parents_end_too_early_ends_too() -> None:
    theirs, ours = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-c", LATE, str(theirs)],
        pass_fds=[theirs],
        cwd=Path(reader.__file__).parent.parent,
        capture_output=True,
    )
    os.close(theirs)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
