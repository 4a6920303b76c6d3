import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import BadImage


def test_changes_are_noticed(
    images: Path, opened: Callable[..., Any], scanned: Callable[..., Any]
) -> None:
    path = images.parent / "a.json"
    listed = [{"id": number, "file_name": f"{number}.jpg"} for number in range(2)]
    path.write_text(json.dumps({"images": listed, "annotations": [], "categories": []}))
    source = opened(path, root="images")
    samples, _ = scanned(source)
    later = samples["0.jpg"].mtime_ns + 10**9
    os.utime(images / "0.jpg", ns=(later, later))
    with pytest.raises(BadImage, match="changed"):
        source.files.read(samples["0.jpg"])
    content = source.files.read(samples["1.jpg"])
    path.write_text("{}")  # what it said is kept since the scan
    assert source.files.read(samples["1.jpg"]) == content
