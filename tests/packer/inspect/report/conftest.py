"""Datasets with faults that are known, and their reports."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packing import run_pack
from PIL import Image, ImageOps

from packer.inspect.report.report import Reported, report

HOSTILE = "\"'><script>document.title='hostile'</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="session")
def extra() -> None:
    """What is to be installed for a report."""
    for name in ("imagehash", "jinja2", "matplotlib"):
        pytest.importorskip(name, reason="the extra `report` is not installed")


@pytest.fixture(scope="session")
def reported(
    extra: None, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[Reported, str]]:
    """`reported(dataset)`: the report on a dataset, and the page's text."""

    def run(place: Path, **options: Any) -> tuple[Reported, str]:
        out = tmp_path_factory.mktemp("report") / "report.html"
        made = report(place, out, 1, **options)
        return made, out.read_text("utf-8")

    return run


@pytest.fixture(scope="session")
def of_planted(planted: Path, reported: Callable[..., Any]) -> tuple[Reported, str]:
    """What is reported of `planted`, and the page."""
    return reported(planted)


@pytest.fixture(scope="session")
def of_hostile(hostile: Path, reported: Callable[..., Any]) -> tuple[Reported, str]:
    """What is reported of `hostile`, and the page."""
    return reported(hostile)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the charts, which take longest."""
    monkeypatch.setattr("packer.inspect.report.report.charts", lambda *_: [])


@pytest.fixture(scope="session")
def photograph() -> Callable[..., Image.Image]:
    """`photograph(seed)`: an image of its own, unlike any of another seed."""

    def make(seed: int, height: int = 240, width: int = 320) -> Image.Image:
        rng = np.random.default_rng(seed)
        coarse = Image.fromarray(rng.integers(0, 255, (6, 8, 3), np.uint8))
        return coarse.resize((width, height), Image.Resampling.BICUBIC)

    return make


@pytest.fixture(scope="session")
def planted(
    tmp_path_factory: pytest.TempPathFactory, photograph: Callable[..., Image.Image]
) -> Path:
    """A COCO dataset of 60 sound images, and two images of each kind of fault."""
    root = tmp_path_factory.mktemp("planted")
    source = root / "coco"
    splits: dict[str, dict[str, list[dict[str, Any]]]] = {
        split: {"images": [], "annotations": [], "categories": []} for split in ("train", "val")
    }
    count = 0

    def add(
        split: str,
        name: str,
        image: Image.Image,
        box: list[float] | None = None,
        *,
        is_boxed: bool = True,
        category: int | None = None,
    ) -> None:
        nonlocal count
        count += 1
        path = source / f"{split}2017" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(path, quality=90)
        width, height = image.size
        entry = {"id": count, "file_name": name, "width": width, "height": height}
        splits[split]["images"].append(entry)
        box = box or [width * 0.5, height * 0.5, width * 0.4, height * 0.4]
        category = category or 1 + count % 3 % 2
        note = {"id": count, "image_id": count, "category_id": category, "bbox": box}
        if is_boxed:
            splits[split]["annotations"].append({**note, "area": 1, "iscrowd": 0})

    for seed in range(60):
        add("train" if seed % 4 else "val", f"{seed:03d}.jpg", photograph(seed))
    for at in range(2):
        add("train", f"tiny{at}.jpg", photograph(100 + at, 20, 24))
        add("train", f"huge{at}.jpg", photograph(110 + at, 2200, 2100))
        add("train", f"long{at}.jpg", photograph(120 + at, 70, 900))
        add("train", f"uniform{at}.jpg", Image.new("RGB", (320, 240), (90 * at, 20, 60)))
        add("train", f"grey{at}.jpg", photograph(130 + at).convert("L").convert("RGB"))
        add("train", f"copy{at}.jpg", photograph(1 + at))
        add("val", f"leak{at}.jpg", photograph(5 + at))
        add("train", f"near{at}.jpg", photograph(9 + at).resize((200, 150)))
        add("train", f"mirror{at}.jpg", ImageOps.mirror(photograph(13 + at)))
        half = photograph(170 + at)
        half.paste((128, 128, 128), (0, 130, 320, 240))
        add("train", f"half{at}.jpg", half)
        add("train", f"bare{at}.jpg", photograph(180 + at), is_boxed=False)
        add("train", f"outside{at}.jpg", photograph(140 + at), [200, 100, 200, 90])
        add("train", f"sound{at}.jpg", photograph(150 + at))
        add("train", f"rare{at}.jpg", photograph(190 + at), category=4)
        add("train", f"damaged{at}.jpg", photograph(160 + at))
        path = source / "train2017" / f"damaged{at}.jpg"
        path.write_bytes(path.read_bytes()[:1500])
    for split, content in splits.items():
        content["categories"] = [{"id": at + 1, "name": n} for at, n in enumerate("abcd")]
        path = source / "annotations" / f"instances_{split}2017.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    run_pack(source, root / "shards", skip_rejected=True)
    return root / "shards"


@pytest.fixture(scope="session")
def hostile(
    tmp_path_factory: pytest.TempPathFactory, photograph: Callable[..., Image.Image]
) -> Path:
    """A dataset whose classes, names and captions are markup."""
    root = tmp_path_factory.mktemp("hostile")
    for at in range(4):
        folder = (
            root / "images" / ("train", "val")[at % 2] / HOSTILE.replace("/", "\N{DIVISION SLASH}")
        )
        folder.mkdir(parents=True, exist_ok=True)
        photograph(at).save(folder / f"{'<b>' * at}x{at}.jpg")
        (folder / f"{'<b>' * at}x{at}.txt").write_text(f"{HOSTILE}{at}</figcaption>")
    run_pack(root / "images", root / "shards")
    return root / "shards"
