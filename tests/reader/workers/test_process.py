"""How the process of a worker begins; how it ends with its parent, `faults/` has."""

import re
import sys
import time
from pathlib import Path

import pytest

from reader import Loader, WorkerError

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_an_interpreter_that_does_not_start_is_told_with_what_it_says(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'libpython is gone' >&2\nexit 3\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    now = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 10 * now())
    with (
        Loader(packed, workers=2) as loader,
        pytest.raises(WorkerError, match=r"exit status 3.*\n.*libpython is gone"),
    ):
        list(loader)


def test_an_interpreter_that_is_not_there_is_told_and_leaves_nothing_behind(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(WorkerError, match=re.escape(str(tmp_path / "python"))):
        Loader(packed, workers=2)
