"""Tables that stand beside a test: a row is a line, its cells apart by " | ", and # a comment."""

from pathlib import Path


def rows_of(test: str, name: str) -> list[list[str]]:
    """Return the cells of each row of a file beside the test."""
    lines = Path(test).with_name(name).read_text("utf-8").splitlines()
    return [line.split(" | ") for line in lines if line and not line.startswith("#")]
