import os
from pathlib import Path

import pytest

from packer.files.atomic import write_all
from packer.files.hashed_file import read_span


@pytest.fixture
def sparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that reads and writes three bytes at a time."""
    pread, write = os.pread, os.write
    monkeypatch.setattr(os, "pread", lambda file, size, at: pread(file, min(size, 3), at))
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))


@pytest.mark.usefixtures("sparing")
def test_all_is_read_and_written_however_little_the_system_does_at_a_time(tmp_path: Path) -> None:
    content = bytes(range(100))
    with open(tmp_path / "file", "wb+", buffering=0) as file:
        write_all(file.fileno(), content)
        assert read_span(file.fileno(), 0, 100) == content
        assert read_span(file.fileno(), 91, 100) == content[91:]
        assert read_span(file.fileno(), 100, 5) == b""
