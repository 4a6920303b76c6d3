"""Warnings that point at the user's own code, from wherever in the package they come."""

import sys
import warnings
from types import FrameType


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn of `text` at the innermost line that is not this package's."""
    level = 2  # the caller
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "reader":
        level += 1
        frame = frame.f_back
    warnings.warn(text, category, stacklevel=level)
