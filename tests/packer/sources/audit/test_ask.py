"""What a scan could have lost is asked, with a command for each interpretation; nothing else is."""

import io
from collections.abc import Callable
from pathlib import Path

import growth
import numpy as np
import pytest
from PIL import Image

import packer
from packer.options.declared import SourceOptions
from packer.samples.places import Files
from packer.samples.records import Sample
from packer.samples.table import SampleTable
from packer.sources.audit.ask import QUESTIONS, ask
from packer.sources.audit.outcome import Outcome
from packer.sources.readings.folders.reading import open_folders
from packer.sources.trees.folder import FolderTree

Write = Callable[[list[str]], Path]


def _picture(seed: str) -> bytes:
    pixels = np.random.default_rng(list(seed.encode())).integers(0, 255, (6, 8, 3), np.uint8)
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "PNG")
    return held.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """`write(["cat/1.png"])`: a folder with these pictures, each of its own pixels."""

    def make(names: list[str]) -> Path:
        for name in names:
            path = tmp_path / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_picture(name))
        return tmp_path / "src"

    return make


def _question(src: Path, **options: object) -> str:
    with pytest.raises(packer.UnusableInput) as refused:
        packer.pack(src, src.parent / "dst", progress=False, jobs=1, **options)
    return str(refused.value)


def _pack(src: Path, **options: object) -> packer.PackReport:
    report = packer.pack(src, src.parent / "dst", progress=False, jobs=1, **options)
    assert isinstance(report, packer.PackReport)
    return report


def _classes(*names: str, count: int = 6) -> list[str]:
    return [f"{name}/{name[0]}{n:02}.png" for name in names for n in range(count)]


def test_a_copy_of_a_class_is_named_by_the_bytes_of_its_files(write: Write) -> None:
    src = write(_classes("cat", "dog"))
    (src / "dog_backup").mkdir()
    for path in (src / "dog").iterdir():
        (src / "dog_backup" / path.name).write_bytes(path.read_bytes())
    assert "6 files in dog_backup have the sizes of files in dog" in _question(src)
    assert _pack(src, ignore=["**/dog_backup/**"]).classes == 2


def test_classes_whose_images_have_the_same_names_and_sizes_are_no_copies(write: Write) -> None:
    src = write([f"{kind}/{n}.png" for kind in ("cat", "dog") for n in range(6)])
    sizes = {path.stat().st_size for path in src.rglob("*.png")}
    assert len(sizes) == 1
    assert _pack(src).classes == 2


@pytest.mark.parametrize(
    ("names", "said", "options"),
    [
        (
            [f"{top}/images/{kind}/{top}.png" for top in "pq" for kind in ("ox", "yak")],
            "the folders ox, yak divide the images of p and others further",
            {"images": ["{site}/images/{label}/{key}"]},
        ),
        (
            [f"scene_{name}/{part}.png" for name in "abcd" for part in ("image", "mask")],
            "hold image.png, mask.png: they may be the parts of one sample each",
            {"images": ["{key}/image.png"], "members": {"mask.png": "{key}/mask.png"}},
        ),
        (
            [f"HR/{n:04}.png" for n in range(5)] + [f"LR/{n:04}x4.png" for n in range(5)],
            "the images in HR, LR have the same names",
            {"images": ["HR/{key}"], "members": {"lr": "LR/{key}x4"}},
        ),
        (
            [f"{n:03}_{'cat' if n % 2 else 'dog'}.png" for n in range(8)],
            "repeat cat, dog: these may be labels",
            {"images": ["{key}_{label}.png"]},
        ),
        (
            [f"{kind}{n}.png" for kind in ("cat", "dog") for n in (1, 2, 30)],
            "repeat cat, dog: these may be labels or parts of one sample",
            {"images": ["{label:letters}{key}.png"]},
        ),
        (
            [*_classes("cat", "dog", count=12), "docs/teaser.png"],
            "docs would be a class with 1 image; most have 12",
            {"ignore": ["**/docs/**"]},
        ),
        (
            [f"product{n}/{n}.png" for n in range(12)],
            "hold a single image: they may be samples instead of classes",
            {"images": ["{key}"]},
        ),
        (
            _classes("cat"),
            "all images are in cat, which would be the only class",
            {"kind": "flat"},
        ),
        (
            [*(f"train/{kind}.{n}.png" for kind in ("cat", "dog") for n in "12"), "test1/1.png"],
            "repeat cat, dog: these may be labels",
            {"images": ["{split=test}test1/{key}", "{split=train}train/{label}.{key}.png"]},
        ),
        (
            [f"{n}_{kind}.png" for n in "123" for kind in ("sat", "street")],
            "differ in _sat.png, _street.png at the end of their names only",
            {"images": ["{key}_sat.png"], "members": {"street.png": "{key}_street.png"}},
        ),
        (
            [f"{n}/{n}_{kind}_{k}.png" for n in "12" for kind in ("GT", "IN") for k in "12"],
            "differ in _GT_, _IN_ in their names only",
            {
                "images": ["{folder1}/{part}_GT_{key}"],
                "members": {"in": "{folder1}/{part}_IN_{key}"},
            },
        ),
        (
            [f"{n}{part}.png" for n in range(4) for part in ("color", "depth")],
            "differ in *color.png, *depth.png only",
            {"images": ["{key}color.png"], "members": {"depth": "{key}depth.png"}},
        ),
        (
            [f"{day}/{part}{n}.png" for day in ("may", "june") for n in range(3) for part in "IM"],
            "differ in I*.png, M*.png only",
            {"images": ["{label}/I{key}.png"], "members": {"m": "{label}/M{key}.png"}},
        ),
        (
            [f"case{n}/{part}.png" for n in range(5) for part in ("image", "mask")[: 1 + n % 2]]
            + [f"case{n}/{part}.png" for n in (6, 7) for part in ("image", "mask")],
            "7 of 7 folders, such as case0, hold image.png, mask.png or some of these",
            {"images": ["{key}/image.png"], "members": {"mask?.png": "{key}/mask.png"}},
        ),
        (
            [f"{kind}/{n}.png" for kind in ("good", "hole", "masks/hole") for n in range(4)],
            "masks/hole has the name of the class hole, but would belong to masks",
            {"images": ["{label}/{key}"], "members": {"mask?": "masks/{label}/{key}"}},
        ),
        (
            [f"train/{n}_{kind}.png" for n in "123" for kind in ("sat", "mask")][1:]
            + [f"val/{n}_sat.png" for n in "45678"],
            "differ in _sat.png, _mask.png",
            {"kind": "folder"},
        ),
    ],
)  # fmt: skip
def test_a_question_is_answered_by_one_of_its_commands(
    names: list[str], said: str, options: dict[str, object], write: Write
) -> None:
    src = write(names)
    text = _question(src)
    assert said in text
    for value in options.values():
        texts = (
            value.values()
            if isinstance(value, dict)
            else [value]
            if isinstance(value, str)
            else value
        )
        for one in texts:  # type: ignore[attr-defined]
            assert str(one).replace("{site}", "{folder1}") in text
    assert _pack(src, **options).samples > 0


_SHAPES: dict[str, Callable[[int], list[str]]] = {
    "classes": lambda n: [f"{kind:03}/{kind}_{k}.png" for kind in range(n) for k in range(4)],
    "images of classes": lambda n: [f"{kind}/{k:04}.png" for kind in "abcd" for k in range(n)],
    "scenes": lambda n: [f"s{k:03}x/{part}.png" for k in range(n) for part in ("image", "mask")],
    "scenes with gaps": lambda n: [f"s{k}x/{p}.png" for k in range(n) for p in "io"[: 1 + k % 3]],
    "numbered scenes": lambda n: [f"s{k}x/{p}_{k}.png" for k in range(n) for p in ("gt", "in")],
    "parallel folders": lambda n: [f"{f}/{k:04}{f}.png" for f in ("hr", "lr") for k in range(n)],
    "folders in classes": lambda n: [f"c{k}/{a}/1.png" for k in range(n) for a in ("cat", "dog")],
    "folders of a class": lambda n: [f"{c}/{k}k/1.png" for c in "pq" for k in range(n)],
    "names of labels": lambda n: [f"{k:04}_{'cat' if k % 2 else 'dog'}.png" for k in range(n)],
    "names of many labels": lambda n: [f"label{k // 4}x_{k:04}.png" for k in range(n)],
    "glued ends": lambda n: [f"c{k % 9}/{k:04}{end}.png" for k in range(n) for end in "rd"],
    "glued begins": lambda n: [f"c{k % 9}/{one}{k:04}.png" for k in range(n) for one in "rd"],
    "endings": lambda n: [f"{k:04}_{end}.png" for k in range(n) for end in ("rgb", "depth")],
    "splits": lambda n: [f"{split}/c{k}/1.png" for split in ("train", "val") for k in range(n)],
}  # fmt: skip


@pytest.mark.parametrize("shape", _SHAPES)
def test_twice_a_source_is_asked_about_with_twice_the_work(shape: str, tmp_path: Path) -> None:
    def make(n: int) -> Callable[[], object]:
        names = sorted(_SHAPES[shape](n))
        tops = sorted({name.split("/")[0] for name in names if "/" in name})
        table = SampleTable()
        for name in names:
            label = tops.index(name.split("/")[0]) if tops else -1
            table.add(Sample(name, name, label, 9, 0))
        source = open_folders(FolderTree(tmp_path), kind="flat")

        def run() -> None:
            given = SourceOptions()
            outcome = Outcome(tmp_path, "folder", source, Files(tmp_path), table, tops, given)
            for question in QUESTIONS:
                question(outcome)

        return run

    growth.assert_linear(make, 24)  # enough for the folders of which all files are looked at


class _Counted(SampleTable):
    asked = 0

    def name_of(self, number: int) -> str:
        self.asked += 1
        return super().name_of(number)


def _names_asked(src: Path, folders: int, files: int) -> int:
    table = _Counted()
    for folder in range(folders):
        for n in range(files):
            name = f"{folder:03}class/{n:06}.png"
            table.add(Sample(name, name, folder, 9, 0))
    classes = [f"{folder:03}class" for folder in range(folders)]
    source = open_folders(FolderTree(src), kind="flat")
    given = SourceOptions()
    ask(Outcome(src, "folder", source, Files(src), table, classes, given), given)
    return table.asked


def test_few_names_of_many_are_looked_at(tmp_path: Path) -> None:
    once, twice = (_names_asked(tmp_path, 4, count) for count in (1000, 2000))
    assert twice <= once + 4 * 4
    assert _names_asked(tmp_path, 40, 200) <= 40 * 40
