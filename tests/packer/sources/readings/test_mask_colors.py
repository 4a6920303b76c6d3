"""A file of colours beside masks is recorded, so that masks are delivered as classes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_packer import call_packer
from numpy.typing import NDArray
from PIL import Image, ImageOps

import packer
from packer.errors import UnusableInput
from reader import Dataset, Loader, Mask

COLORS = np.array([(0, 0, 0), (64, 128, 64), (192, 0, 128), (255, 255, 0)], np.uint8)
NAMES = ("void", "tree", "lane", "car")
CSV = "name,r,g,b\n" + "".join(
    f"{name},{r},{g},{b}\n" for name, (r, g, b) in zip(NAMES, COLORS.tolist(), strict=True)
)
TXT = "".join(
    f"{r} {g} {b}\t{name}\n" for name, (r, g, b) in zip(NAMES, COLORS.tolist(), strict=True)
)

Classes = dict[str, NDArray[np.uint8]]


@pytest.fixture
def street(tmp_path: Path) -> Callable[..., tuple[Path, Classes]]:
    """Make folders of images and masks as CamVid has them, and return the classes of pixels."""

    def make(files: dict[str, str], *, is_coloured: bool = True) -> tuple[Path, Classes]:
        root, found = tmp_path / "CamVid", {}
        for number in range(8):
            split = "val" if number > 5 else "train"
            classes = np.random.default_rng(number).integers(0, 4, (40, 50)).astype(np.uint8)
            found[f"{split}/{number}"] = classes
            for folder in (f"{split}", f"{split}_labels"):
                (root / folder).mkdir(parents=True, exist_ok=True)
            photo = np.full((40, 50, 3), number, np.uint8)
            Image.fromarray(photo).save(root / split / f"{number}.png")
            mask = COLORS[classes] if is_coloured else classes
            Image.fromarray(mask).save(root / f"{split}_labels" / f"{number}_L.png")
        for name, text in files.items():
            (root / name).write_text(text)
        return root, found

    return make


def pack(src: Path, **options: Any) -> packer.PackReport:
    report = packer.pack(src, src.parent / "out", progress=False, jobs=1, **options)
    assert isinstance(report, packer.PackReport)
    return report


def recorded(src: Path) -> Any:
    return json.loads((src.parent / "out/dataset.json").read_text()).get("mask_colors")


@pytest.mark.parametrize(("name", "text"), [("class_dict.csv", CSV), ("label_colors.txt", TXT)])
@pytest.mark.parametrize("field", ["mask.png", Mask("mask.png")], ids=str)
def test_masks_coded_by_colour_arrive_as_classes_without_being_told(
    street: Any, name: str, text: str, field: Any
) -> None:
    src, classes = street({name: text})
    report = pack(src)
    assert (name, "dataset.json has its colours") in report.ignored
    assert recorded(src) == {"mask.png": {"colors": COLORS.tolist(), "names": [*NAMES]}}
    assert Dataset(src.parent / "out").mask_colors["mask.png"].names == NAMES
    fields = ("key", field)
    with Loader(src.parent / "out", batch_size=4, fields=fields, shuffle=False) as loader:
        found = {k: m.numpy() for keys, masks in loader for k, m in zip(keys, masks, strict=True)}
    assert found.keys() == classes.keys()
    assert all(np.array_equal(found[key], classes[key]) for key in classes)


def test_a_file_of_colours_in_an_archive_is_found(street: Any) -> None:
    import shutil

    src, _ = street({"class_dict.csv": CSV})
    archive = Path(shutil.make_archive(str(src), "zip", src.parent, src.name))
    pack(archive)
    assert recorded(archive)["mask.png"]["colors"] == COLORS.tolist()


def test_masks_of_numbers_stay_as_they_are(street: Any) -> None:
    src, _ = street({"class_dict.csv": CSV}, is_coloured=False)
    pack(src)
    assert recorded(src) is None


def test_colours_of_other_masks_are_not_recorded(street: Any) -> None:
    src, _ = street({"class_dict.csv": "a 1 2 3\nb 4 5 6\nc 7 8 9\n"})
    pack(src)
    assert recorded(src) is None


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "class_dict.csv",
            CSV + "bus,255,255,0\n",
            "several classes: 'car' and 'bus'",
        ),
        ("class_dict.csv", CSV.replace("255", "256"), "from 0 to 255"),
        ("label_colors.txt", "", "there are 0 colours"),
    ],
)
def test_a_file_of_colours_that_is_wrong_is_named_and_stops_nothing(
    street: Any, name: str, text: str, reason: str
) -> None:
    src, _ = street({name: text})
    done = call_packer("pack", src, src.parent / "out", "--jobs", 1)
    assert done.returncode == 0
    assert recorded(src) is None
    assert f"{name} is not a list of their colours" in done.stdout + done.stderr
    assert reason in done.stdout + done.stderr


def test_files_that_contradict_each_other_are_named(street: Any) -> None:
    other = "".join(reversed(TXT.splitlines(keepends=True)))
    src, _ = street({"class_dict.csv": CSV, "label_colors.txt": other})
    done = call_packer("pack", src, src.parent / "out", "--jobs", 1)
    assert done.returncode == 0
    assert recorded(src) is None
    assert "class_dict.csv, label_colors.txt list different colours" in done.stdout + done.stderr


def test_masks_of_other_colours_are_not_appended(street: Any) -> None:
    src, _ = street({"class_dict.csv": CSV})
    pack(src)
    for path in (src / "train").iterdir():
        ImageOps.invert(Image.open(path).convert("RGB")).save(path.with_name(f"n{path.name}"))
        path.unlink()
    for path in (src / "train_labels").iterdir():
        path.rename(path.with_name(f"n{path.name}"))
    (src / "class_dict.csv").write_text("".join(reversed(TXT.splitlines(keepends=True))))
    with pytest.raises(UnusableInput, match="records the colours of masks"):
        pack(src, append=True)
