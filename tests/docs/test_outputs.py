"""The quick start shows what its commands print, but for numbers, and the folder they run in."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from called_packer import call_packer

ROOT = Path(__file__).parents[2]


def pattern(text: str) -> str:
    """Return `text` with each number as N."""
    return re.sub(r"[\d.]*\d", "N", text.strip())


def test_the_quick_start_shows_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "quick-start.md").read_text()
    shown = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    monkeypatch.setattr(sys, "argv", ["sample_images.py", "./images", "100"])
    runpy.run_path(str(ROOT / "scripts" / "sample_images.py"), run_name="__main__")
    packed = call_packer("pack", "./images", "./shards").stdout
    verified = call_packer("verify", "./shards").stdout
    found = [text.replace(str(tmp_path), "/home/me") for text in (packed, verified)]
    assert [*map(pattern, shown)] == [*map(pattern, found)]
