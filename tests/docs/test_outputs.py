"""The quick start shows what its commands print, but for numbers, and the folder they run in."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def printed(folder: Path, *arguments: str) -> str:
    """Return the standard output of a command in `folder`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, *arguments]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
    return ran.stdout.decode()


def pattern(text: str) -> str:
    """Return `text` with each number as N."""
    return re.sub(r"[\d.]*\d", "N", text.strip())


def test_the_quick_start_shows_what_its_commands_print(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "quick-start.md").read_text()
    shown = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    printed(tmp_path, str(ROOT / "scripts" / "sample_images.py"), "./images", "20")
    packed = printed(tmp_path, "-m", "packer", "pack", "./images", "./shards")
    verified = printed(tmp_path, "-m", "packer", "verify", "./shards")
    found = [text.replace(str(tmp_path), "/home/me") for text in (packed, verified)]
    assert [*map(pattern, shown)] == [*map(pattern, found)]
