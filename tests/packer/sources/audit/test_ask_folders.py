"""Folders that may be no classes are asked about: copies, the parts of samples, masks alone."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.places import Files
from packer.samples.records import Sample
from packer.samples.table import SampleTable
from packer.sources.audit.ask import ask
from packer.sources.audit.outcome import Outcome
from packer.sources.readings.detect import read

_PLAIN = SourceOptions()


def _picture(size: tuple[int, int], mode: str = "RGB") -> bytes:
    held = io.BytesIO()
    Image.new(mode, size).save(held, "PNG")
    return held.getvalue()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write({"cat/1.jpg": b""})`: a folder with these files."""

    def make(files: dict[str, bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content or b"x")
        return tmp_path

    return make


def _refusal(path: Path) -> str:
    with pytest.raises(UnusableInput) as refused:
        _classes(path)
    return str(refused.value)


def _classes(path: Path, options: SourceOptions = _PLAIN) -> tuple[str, ...]:
    source, listing = read(path, options).open(None), SampleTable()
    for record in source.scan():
        listing.add(record)
    seen = (source, Files(path), listing, source.classes, options)
    ask(Outcome(path, "folder", *seen), options)
    return source.classes


def test_pictures_of_one_size_in_pairs_are_no_classes(write: Callable[..., Path]) -> None:
    sizes = [(8 + n, 9 - n % 3) for n in range(6)]
    root = write({f"{kind}/{n}.png": _picture(s) for kind in "xy" for n, s in enumerate(sizes)})
    assert "--images 'x/{key}' --member 'y=y/{key}'" in _refusal(root)
    assert f"packer pack {root} DST --as folder" in _refusal(root)


def test_pairs_that_are_named_as_their_folders_are_no_classes(write: Callable[..., Path]) -> None:
    sizes = [((9, 6), (6, 9))[n // 2 % 2] for n in range(14)]
    files = {
        f"{k}/{k}-{n}.png": _picture(s) for k in ("rain", "norain") for n, s in enumerate(sizes)
    }
    assert "--images 'rain/rain-{key}' --member 'norain=norain/norain-{key}'" in _refusal(
        write(files)
    )


def test_classes_whose_pictures_are_named_as_their_folders_are_classes(
    write: Callable[..., Path],
) -> None:
    files = {f"cat/cat_{n}.png": _picture((8 + n, 9)) for n in range(6)}
    files |= {f"dog/dog_{n}.png": _picture((20 - n, 7)) for n in range(6)}
    assert _classes(write(files)) == ("cat", "dog")


def test_pictures_of_half_the_size_are_no_classes(write: Callable[..., Path]) -> None:
    sizes = [(8 + 2 * n, 20 - 2 * n) for n in range(6)]
    files = {f"x/{n}.png": _picture(size) for n, size in enumerate(sizes)}
    files |= {f"y/{n}.png": _picture((w // 2, h // 2)) for n, (w, h) in enumerate(sizes)}
    assert "x, y have the same names" in _refusal(write(files))


def test_palettes_beside_photographs_are_no_classes(write: Callable[..., Path]) -> None:
    modes = {"x": "RGB", "y": "P"}
    files = {f"{k}/{n}.png": _picture((8, 8), mode) for k, mode in modes.items() for n in range(4)}
    assert "x, y have the same names" in _refusal(write(files))


def test_pictures_of_other_sizes_with_equal_counters_are_classes(
    write: Callable[..., Path],
) -> None:
    files = {f"x/{n}.png": _picture((8 + n, 9)) for n in range(6)}
    files |= {f"y/{n}.png": _picture((20 - n, 7)) for n in range(6)}
    assert _classes(write(files)) == ("x", "y")


def test_pictures_of_one_size_throughout_with_equal_counters_are_classes(
    write: Callable[..., Path],
) -> None:
    files = {f"{kind}/{n}.png": _picture((8, 8)) for kind in "xy" for n in range(6)}
    assert _classes(write(files)) == ("x", "y")


def test_counters_of_different_lengths_are_classes(write: Callable[..., Path]) -> None:
    files = {f"A/{n}.png": b"" for n in range(30)} | {f"B/{n}.png": b"" for n in range(29)}
    assert _classes(write(files)) == ("A", "B")


def test_a_copy_can_be_left_out(write: Callable[..., Path]) -> None:
    names = [f"{kind}/{n}.jpg" for kind in ("cat", "dog") for n in range(3)]
    root = write({f"{top}{name}": b"" for top in ("", "all/") for name in names})
    assert f"packer pack {root} DST --ignore 'all/**'" in _refusal(root)
    source = read(root, SourceOptions(ignore=("all/**",))).open(None)
    assert source.classes == ("cat", "dog")


def test_a_folder_in_one_class_with_the_same_counters_belongs_to_it(
    write: Callable[..., Path],
) -> None:
    names = ["cat/0.jpg", "cat/1.jpg", "cat/kittens/0.jpg", "cat/kittens/1.jpg", "dog/0.jpg"]
    assert _classes(write(dict.fromkeys(names, b""))) == ("cat", "dog")


def test_the_members_of_a_split_without_some_are_optional(write: Callable[..., Path]) -> None:
    folders = ("train/HR", "train/LR", "test/HR")
    root = write({f"{folder}/{n}.png": b"" for folder in folders for n in range(3)})
    assert "--member 'lr?={split}/LR/{key}'" in _refusal(root)


def test_several_pictures_of_one(write: Callable[..., Path]) -> None:
    files = {f"hazy/{n}_{k}_0.9.png": b"" for n in (1, 2, 3) for k in (1, 2)}
    root = write(files | {f"clear/{n}.png": b"" for n in (1, 2, 3)})
    said = "--images 'hazy/{scene}_{_}_{key}' --member 'clear=clear/{scene}'"
    assert said in _refusal(root)


def test_a_space_in_the_name_of_a_class_is_named(write: Callable[..., Path]) -> None:
    root = write(dict.fromkeys(["train/cat/1.jpg", "train/dog/2.jpg", "val/ cat/3.jpg"], b""))
    assert "the folders ' cat' and 'cat' have names that look the same" in _refusal(root)


@pytest.mark.parametrize("options", [{"kind": "folder"}, {"class_depth": 1}])
def test_what_a_person_says_is_not_doubted(write: Callable[..., Path], options: object) -> None:
    root = write({f"{kind}/{n}.png": b"" for kind in ("HR", "LR") for n in range(3)})
    assert _classes(root, SourceOptions(**options)) == ("HR", "LR")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (
            [*(f"original/{n}.jpg" for n in range(3)), *(f"resized/{n}.jpg" for n in range(4))],
            "the images in original, resized have the same names",
        ),
        (
            [*(f"in/X_{n}.jpg" for n in "1234"), *(f"out/X_{n}_mask.png" for n in "234")],
            "the images in in, out have the same names",
        ),
        (
            [f"{top}{kind}/{n}.jpg" for top in ("", "all/") for kind in "ab" for n in (1, 20, 300)][
                1:
            ],
            "all has images of the same names",
        ),
        (
            [f"{kind}/{top}{n}.jpg" for top in ("", "thumbs/") for kind in "ab" for n in "123"][1:],
            "b/thumbs has images of the same names",
        ),
    ],
)
def test_one_lost_picture_makes_no_classes_of_the_parts_of_a_sample(
    names: list[str], said: str, write: Callable[..., Path]
) -> None:
    assert said in _refusal(write(dict.fromkeys(names, b"")))


def test_masks_whose_images_are_missing_are_refused(write: Callable[..., Path]) -> None:
    names = [f"train/{n}_mask.png" for n in "123"] + [f"val/{n}_sat.jpg" for n in "45"]
    root = write(dict.fromkeys(names, b"x"))
    assert "train/1_mask.png and all files beside it have names of masks" in _refusal(root)
    source = read(root, SourceOptions(ignore=("train/*",))).open(None)
    assert [item.name for item in source.scan() if isinstance(item, Sample)] == [
        "val/4_sat.jpg",
        "val/5_sat.jpg",
    ]


def test_one_usual_split_beside_an_unusual_one_is_enough(write: Callable[..., Path]) -> None:
    names = [f"seg_train/seg_train/{kind}/{n}.jpg" for n in range(2) for kind in ("sea", "wood")]
    root = write(dict.fromkeys([*names, "seg_pred/seg_pred/17.jpg"], b"x"))
    source = read(root, SourceOptions()).open(None)
    assert source.classes == ("sea", "wood")
    splits = {item.split for item in source.scan() if isinstance(item, Sample)}
    assert splits == {"train", "pred"}
