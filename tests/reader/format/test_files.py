"""Reading files: all that was asked for, also where the system gives less at a time."""

import os
from pathlib import Path

import pytest

from reader.format.files import read_into


@pytest.mark.parametrize("most", [1, 3, 100])
def test_a_span_is_read_whole_whatever_the_system_gives_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    plain = os.preadv
    monkeypatch.setattr(
        os, "preadv", lambda file, parts, at: plain(file, [memoryview(parts[0])[:most]], at)
    )
    descriptor = os.open(path, os.O_RDONLY)
    try:
        memory = bytearray(6)
        assert (read_into(descriptor, memory, 2), memory) == (6, b"234567")
        assert (read_into(descriptor, memoryview(memory), 7), memory[:3]) == (3, b"789")
        assert read_into(descriptor, memory, 10) == 0
    finally:
        os.close(descriptor)
