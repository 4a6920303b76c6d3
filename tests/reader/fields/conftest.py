"""A dataset of members that all lie over black images."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import Write
from made_images import png


@pytest.fixture
def write_over(write_samples: Write) -> Write:
    """`write_over((60, 80), {...}, b"...", ext="txt")`: a sample for each content of the member.

    What is no bytes is written as JSON.
    """

    def make(size: tuple[int, int], *contents: Any, ext: str = "json") -> Path:
        image = png(np.zeros((*size, 3), np.uint8))
        data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in contents]
        return write_samples({f"s{n}": {"png": image, ext: each} for n, each in enumerate(data)})

    return make
