import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from made_images import make_coco
from packing import run_pack

from packer.options.declared import SourceOptions


def test_a_number_that_all_samples_have_is_one_mark_on_the_axis(
    tmp_path: Path, reported: Callable[..., Any]
) -> None:
    box = {"category_id": 1, "bbox": [5, 5, 20, 20]}
    coco = make_coco(tmp_path, {f"{name}.jpg": [box] for name in "abc"}, {"id": 1, "name": "cat"})
    run_pack(coco, tmp_path / "shards", source=SourceOptions(root="images"))
    _, page = reported(tmp_path / "shards")
    chart = page[page.index("Boxes a sample") :]
    marks = re.findall(r"<text[^>]*>(.*?)</text>", chart[: chart.index("</svg>")])
    assert marks[: marks.index("boxes")] == ["1"]
