"""Batches as pictures: of whatever kind they are, and nothing of a loop's own is touched."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import reader
from reader import IMAGENET_MEAN, IMAGENET_STD, ArgumentError, Loader

RED, SIDE = (200, 30, 60), 64


def images(count: int = 3, channels: int = 3) -> torch.Tensor:
    """Each of one colour."""
    color = torch.tensor(RED[:channels], dtype=torch.uint8).reshape(1, -1, 1, 1)
    return color.expand(count, channels, SIDE, SIDE).clone()


def center(sheet: reader.Sheet) -> tuple[int, ...]:
    """The colour in the middle of the first image."""
    return sheet.image.getpixel((8 + 96, 8 + 15 + 96))


@dataclass
class Batch:
    image: Any
    label: Any


LABELS = torch.arange(3)
BATCHES: dict[str, Any] = {
    "a tuple": (images(), LABELS),
    "a dict": {"pixels": images(), "label": LABELS},
    "a dataclass": Batch(images(), LABELS),
    "a list of sizes": ([images(1)[0], images(1)[0][:, :32]], [1, 2]),
    "images alone": images(),
    "views": ([images(), images()], LABELS),
    "channels last, of numpy": (np.moveaxis(images().numpy(), 1, -1), LABELS.numpy()),
    "a batch in a dict in a tuple": ({"image": images()}, LABELS),
}


@pytest.mark.parametrize("batch", BATCHES.values(), ids=list(BATCHES))
def test_images_are_found_in_whatever_a_batch_is(batch: Any) -> None:
    assert center(reader.show(batch)) == RED


def test_a_grey_batch_is_shown_grey() -> None:
    assert center(reader.show(images(channels=1))) == (RED[0],) * 3


def normalised(mean: Any, std: Any, dtype: torch.dtype) -> torch.Tensor:
    mean, std = (torch.tensor(value).reshape(-1, 1, 1) for value in (mean, std))
    batch = images()
    batch[0, :, 0, :2] = torch.tensor([0, 255], dtype=torch.uint8)  # as photographs have them
    return ((batch / 255 - mean) / std).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("mean", "std"),
    [(IMAGENET_MEAN, IMAGENET_STD), (0.0, 1.0), (0.5, 0.5), (None, None)],
    ids=["imagenet", "none", "halves", "not given"],
)
def test_normalised_images_are_brought_back(mean: Any, std: Any, dtype: torch.dtype) -> None:
    batch = normalised(mean or 0.0, std or 1.0, dtype)
    found = reader.show(batch, mean=mean, std=std)
    assert np.abs(np.subtract(center(found), RED)).max() <= 3


def test_values_that_are_no_colours_are_named_and_do_no_harm() -> None:
    plain = torch.full((1, 3, 8, 8), 0.5)
    heads = [np.array(reader.show(plain).image)[:20]]
    for value in (2.0, torch.nan, torch.inf, -torch.inf):
        for where in (slice(None), 0):  # all of them, one channel
            odd = plain.clone()
            odd[0, where] = value
            heads.append(np.array(reader.show(odd).image)[:20])
    assert all((head == heads[1]).all() for head in heads[1:3])  # the line above the images
    assert all((head == heads[3]).all() for head in heads[3:])
    assert len({head.tobytes() for head in heads}) == 3


def test_boxes_are_drawn_where_they_are_in_each_format() -> None:
    corners = [16.0, 16.0, 48.0, 48.0]
    forms = {"xyxy": corners, "xywh": [16.0, 16, 32, 32], "cxcywh": [32.0, 32, 32, 32]}
    plain = np.array(reader.show(images(1)).image)
    found = []
    for form, box in forms.items():
        target = [{"boxes": torch.tensor([box]), "labels": torch.tensor([1])}]
        sheet = reader.show((images(1), target), boxes=form, classes=["cat", "dog"])
        found.append(np.array(sheet.image))
        edge = found[-1][8 + 15 + 96, 8 + 48]  # 16 of 64 pixels, in a tile of 192
        assert tuple(edge) != RED
    assert all((each == found[0]).all() for each in found)
    assert not (plain == found[0]).all()
    with pytest.raises(ArgumentError, match="xyxy, xywh, cxcywh"):
        reader.show(images(), boxes="yxyx")


def test_masks_are_drawn_over_images_and_the_background_is_left() -> None:
    mask = torch.zeros(1, SIDE, SIDE, dtype=torch.uint8)
    assert center(reader.show((images(1), mask))) == RED
    mask[:, 16:48, 16:48] = 3
    assert center(reader.show((images(1), mask))) != RED


def place(x: int, y: int) -> tuple[int, int]:
    """Where a pixel of the first image is on the sheet, whose tiles have 192 pixels."""
    return 8 + 3 * x, 8 + 15 + 3 * y


def test_points_are_drawn_where_they_are_but_those_that_are_not_labelled() -> None:
    points = np.array([[[16, 32, 2], [48, 32, 1], [32, 16, 0]]], np.float32)
    sheet = reader.show((images(1), [{"keypoints": points}]))
    drawn = [sheet.image.getpixel(place(*at)) != RED for at in ((16, 32), (48, 32), (32, 16))]
    assert drawn == [True, True, False]


def test_polygons_are_drawn_where_they_are_and_an_image_may_have_none() -> None:
    points = np.array([[16, 16], [48, 16], [48, 48], [32, 8], [56, 8], [56, 32]], np.float32)
    kept, offsets = np.array([0, 0]), np.array([0, 3, 6])
    some = {"points": points, "offsets": offsets, "kept": kept}
    none = {"points": points[:0], "offsets": offsets[:1], "kept": kept[:0]}
    pixels = np.asarray(reader.show((images(2), [some, none])).image)
    for x, y, is_drawn in ((40, 16, True), (56, 20, True), (44, 24, False)):
        left, top = place(x, y)
        around = pixels[top - 2 : top + 3, left - 2 : left + 3]
        assert (around != RED).any() == is_drawn
    assert (pixels[23 : 23 + 192, 208 : 208 + 192] == RED).all()


@pytest.mark.parametrize("batch", [LABELS, (LABELS, ["a", "b", "c"]), {}, "text", None])
def test_a_batch_without_images_is_refused(batch: Any) -> None:
    with pytest.raises(ArgumentError, match="no images"):
        reader.show(batch)


@pytest.mark.parametrize(
    ("name", "form"), [("a.jpg", "JPEG"), ("a.JPEG", "JPEG"), ("a.webp", "WEBP"), ("a", "PNG")]
)
def test_what_is_written_is_what_its_name_ends_in(tmp_path: Path, name: str, form: str) -> None:
    sheet = reader.show((images(), LABELS, ["<b>", "\x1b[31m", "名前" * 40]))
    sheet.save(tmp_path / name)
    with Image.open(tmp_path / name) as written:
        assert (written.format, written.size) == (form, sheet.image.size)
    assert Image.open(io.BytesIO(sheet._repr_png_())).size == sheet.image.size


def test_a_name_that_ends_in_no_format_of_pictures_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"is \.png, \.jpg or \.webp, not \.svg"):
        reader.show(images()).save(tmp_path / "sheet.svg")
    assert not list(tmp_path.iterdir())


def test_names_of_boxes_stay_inside_their_images_and_can_be_read() -> None:
    box = {"boxes": torch.tensor([[60.0, 60.0, 63.0, 63.0]]), "labels": torch.tensor([0])}
    named, plain = (
        np.array(reader.show((images(1), [box]), classes=[name]).image)[23:215, 8:200]
        for name in ("zebra", "")
    )
    changed = (named != plain).any(axis=2)
    assert changed.sum() > 200  # a plate
    assert {RED} < {tuple(pixel) for pixel in named.reshape(-1, 3).tolist()}
    colours, counts = np.unique(named[changed], axis=0, return_counts=True)
    plate, ink = colours[np.argsort(-counts)[:2]].astype(int)
    assert np.abs(plate - ink).sum() > 250


def test_letters_that_the_font_lacks_are_escapes() -> None:
    from reader.look.sheet import fitted

    assert fitted("caf\u00e9 \x1b", 200) == "caf\u00e9 \\x1b"
    assert fitted("\U000f0000", 200) == "\\U000f0000"
    assert fitted("\u0436\u03bb", 200) in ("\u0436\u03bb", "\\u0436\\u03bb")  # as the font has them
    assert fitted("W" * 500, 100).endswith("W…")


CROP = [reader.RandomResizedCrop(48), reader.RandomHorizontalFlip()]
LOADERS: dict[str, dict[str, Any]] = {
    "shuffled": {"shuffle": True},
    "by a sampler": {"sampler": torch.utils.data.RandomSampler(range(39))},
    "balanced": {"sampler": reader.ClassBalanced()},
    "views": {"views": 2},
    "map_sample": {"map_sample": lambda sample: sample},
    "map_batch": {"map_batch": lambda batch: {"image": batch[0] / 255, "label": batch[1]}},
    "padded": {"collate_fn": reader.pad_collate, "transforms": [reader.Resize(40)]},
    "endless": {"epochs": None},
}


@pytest.mark.parametrize("options", LOADERS.values(), ids=list(LOADERS))
def test_a_preview_shows_the_next_batch_and_leaves_the_loop_as_it_was(
    packed: Path, options: dict[str, Any], tmp_path: Path
) -> None:
    def images_of(batch: Any) -> Any:
        image = batch["image"] if isinstance(batch, dict) else batch[0]
        return image[0] if isinstance(image, list) else image

    given = {"batch_size": 4, "transforms": CROP, "workers": 0, **options}
    torch.manual_seed(5)
    with Loader(packed, **given) as loader:
        batches = iter(loader)
        expected = [images_of(next(batches)) for _ in range(3)]
    torch.manual_seed(5)
    with Loader(packed, **given) as loader:
        before = loader.state_dict()
        sheet = loader.preview(tmp_path / "batch.png")
        assert loader.state_dict() == before
        batches = iter(loader)
        first = next(batches)
        found = [images_of(first)]
        shown = reader.show(first, classes=loader.dataset.classes)
        assert (np.array(shown.image) == np.array(sheet.image)).all()
        loader.preview()  # in the middle of an epoch, too
        found += [images_of(next(batches)) for _ in range(2)]
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    with Image.open(tmp_path / "batch.png") as written:
        assert written.size == sheet.image.size


@pytest.mark.gpu
def test_a_batch_on_the_gpu_is_shown(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 4, "transforms": CROP, "workers": 0}
    with Loader(packed, **options) as loader:
        expected = loader.preview()
        how: dict[str, Any] = {"mean": IMAGENET_MEAN, "std": IMAGENET_STD}
        batch = next(iter(reader.CUDAPrefetcher(loader, dtype=torch.float16, **how)))
        shown = reader.show(batch, classes=loader.dataset.classes, **how)
    difference = np.subtract(np.array(shown.image, int)[30:], np.array(expected.image, int)[30:])
    assert np.abs(difference).max() <= 2
