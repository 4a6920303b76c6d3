"""A source of which the command line has something to tell."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def bad_source(own_source: Path) -> Path:
    """A source with two bad files."""
    (own_source / "class0" / "text.jpg").write_text("text")
    (own_source / "class1" / os.fsdecode(b"\xff empty.jpg")).touch()
    return own_source
