"""With `antialias=` or `interpolation=` the pixels are those of torchvision's PIL pipeline."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write
from hypothesis import given, settings
from hypothesis import strategies as st
from made_images import encode, turned
from numpy.typing import NDArray
from PIL import Image

from reader import (
    CenterCrop,
    Dataset,
    Geometry,
    Letterbox,
    Loader,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    Transform,
)
from reader.decode import resize
from reader.decode.plan import plan
from reader.fields.built_in import BUILT_IN
from reader.fields.field import Recipe
from reader.fields.sample import SampleReader
from reader.rng import SampleRandom

Pixels = NDArray[Any]
UPSIDE_DOWN = 5  # the number of the image that is
FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
}


@pytest.fixture(scope="module", params=["cykooz.resizer", "Pillow"], autouse=True)
def resizer(request: pytest.FixtureRequest) -> Iterator[None]:
    """What resizes: the one or the other, whatever is installed."""
    is_fast = request.param == "cykooz.resizer"
    if is_fast and find_spec("cykooz_resizer") is None:
        pytest.skip("there is no cykooz.resizer here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(resize, "_has_cykooz", lambda: is_fast)
        yield


def detailed(seed: int, height: int, width: int) -> Image.Image:
    """An image of which every pixel differs from the next: shapes with edges, and noise on them."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 256, (height // 16 + 1, width // 16 + 1, 3), dtype=np.uint8)
    shapes = coarse.repeat(16, axis=0).repeat(16, axis=1)[:height, :width]
    noise = rng.integers(-40, 40, (height, width, 3))
    return Image.fromarray((shapes + noise).clip(0, 255).astype(np.uint8))


@pytest.fixture(scope="module")
def images(make_dataset: Write) -> Path:
    """Images of all kinds; of those that are to be turned, one whose sides change places."""
    return make_dataset(
        {
            "0.jpg": encode(detailed(0, 300, 420), "JPEG"),
            "1.jpg": encode(detailed(1, 420, 310), "JPEG", subsampling=0),
            "2.jpg": encode(detailed(2, 500, 620), "JPEG", progressive=True),
            "3.jpg": encode(detailed(3, 290, 333).convert("L"), "JPEG"),
            "4.jpg": encode(detailed(4, 280, 400), "JPEG", exif=turned(6)),
            "5.jpg": encode(detailed(5, 280, 400), "JPEG", exif=turned(3)),
            "6.png": encode(detailed(6, 300, 310), "PNG"),
            "7.jpg": encode(detailed(7, 150, 180), "JPEG"),
        }
    )


def in_process(folder: Path, transforms: Sequence[Transform]) -> list[Pixels]:
    """What a worker would make of each sample, in this process, where the resizer is chosen."""
    dataset = Dataset(folder)
    reader = SampleReader(dataset, Recipe(tuple(transforms), fields=(BUILT_IN["image"],)))
    return [reader.read(reader.plan(n, 0, n))["image"] for n in range(len(dataset))]


@cache
def sources(folder: Path) -> list[Image.Image]:
    return [Image.fromarray(np.asarray(image)) for image, _ in Dataset(folder)]


def resized_by_torchvision(image: Image.Image, position: int, filter: str) -> Image.Image:
    """torchvision.transforms.Resize(256), and CenterCrop(224)."""
    short, long = sorted(image.size)
    longer = int(256 * long / short)
    new = (256, longer) if image.width <= image.height else (longer, 256)
    left, top = (round((side - 224) / 2) for side in new)
    return image.resize(new, FILTERS[filter]).crop((left, top, left + 224, top + 224))


def box_of(crop: Transform, image: Image.Image, position: int) -> tuple[float, ...]:
    """Left, top, right and bottom of what a crop shows of the image at that position."""
    geometry = Geometry.of(image.height, image.width)
    crop.apply(geometry, SampleRandom(0, 0, position))
    right, bottom = geometry.left + geometry.box_width, geometry.top + geometry.box_height
    return geometry.left, geometry.top, right, bottom


def assert_close(found: Sequence[Pixels], expected: Sequence[Any], filter: str) -> None:
    """Within 1 for 99.9% of the values; of nearest pixels, all but a row where two are as near."""
    assert len(found) == len(expected)
    if filter == "nearest":  # of two it takes the other one, where it counts from the other side
        found, expected = found[:UPSIDE_DOWN], expected[:UPSIDE_DOWN]
    errors = []
    for mine, theirs in zip(found, map(np.asarray, expected), strict=True):
        assert mine.shape == theirs.shape
        errors.append(np.abs(mine.astype(int) - theirs).ravel())
    error = np.concatenate(errors)
    assert (error > 1).mean() <= (0.005 if filter == "nearest" else 0.001)


def cropped_by_torchvision(image: Image.Image, position: int, filter: str) -> Image.Image:
    box = box_of(RandomResizedCrop((96, 112), antialias=True), image, position)
    return image.crop(box).resize((112, 96), FILTERS[filter])  # type: ignore[arg-type]


def in_a_letterbox(image: Image.Image, position: int, filter: str) -> Image.Image:
    scale = min(160 / image.height, 200 / image.width)
    height, width = round(image.height * scale), round(image.width * scale)
    canvas = Image.new("RGB", (200, 160), (114, 114, 114))
    inside = image.resize((width, height), FILTERS[filter])
    canvas.paste(inside, ((200 - width) // 2, (160 - height) // 2))
    return canvas


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize(
    ("kind", "size", "then", "expected"),
    [
        (Resize, 256, [CenterCrop(224)], resized_by_torchvision),
        (RandomResizedCrop, (96, 112), [], cropped_by_torchvision),
        (Letterbox, (160, 200), [], in_a_letterbox),
    ],
)
def test_every_resize_gives_torchvisions_pixels(
    images: Path, kind: Any, size: Any, then: list[Transform], expected: Any, filter: str
) -> None:
    steps = [kind(size, interpolation=filter, antialias=True), *then]
    theirs = [expected(image, number, filter) for number, image in enumerate(sources(images))]
    assert_close(in_process(images, steps), theirs, filter)


def test_mirrored_images_are_the_mirror_images(images: Path) -> None:
    steps = [Resize((100, 120), antialias=True), CenterCrop((90, 70))]
    plain = in_process(images, steps)
    mirrored = in_process(images, [*steps, RandomHorizontalFlip(1.0), RandomVerticalFlip(1.0)])
    assert all(
        np.array_equal(one, other[::-1, ::-1]) for one, other in zip(plain, mirrored, strict=True)
    )
    before = in_process(images, [RandomHorizontalFlip(1.0), RandomVerticalFlip(1.0), *steps])
    assert_close(before, mirrored, "bilinear")


@given(
    size=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    new=st.tuples(st.integers(1, 60), st.integers(1, 60)),
    filter=st.sampled_from(["bilinear", "bicubic"]),
    data=st.data(),
)
@settings(deadline=None)
def test_any_part_of_an_image_of_any_size_is_the_part_of_pillows(
    size: tuple[int, int], new: tuple[int, int], filter: str, data: st.DataObject
) -> None:
    image = detailed(size[0], *size)
    corner = [data.draw(st.integers(0, side - 1)) for side in new]
    part = [data.draw(st.integers(1, side - at)) for side, at in zip(new, corner, strict=True)]
    down, across = size[0] / new[0], size[1] / new[1]
    shown = (corner[0] * down, corner[1] * across, part[0] * down, part[1] * across)
    found = resize.resized(np.asarray(image), shown, (part[0], part[1]), filter, False)
    # One direction after the other, as Pillow did it before it chose which goes first.
    whole = image.resize((new[1], size[0]), FILTERS[filter]).resize(new[::-1], FILTERS[filter])
    expected = np.asarray(whole)[corner[0] :, corner[1] :][: part[0], : part[1]]
    assert np.abs(found.astype(int) - expected).max() <= 2


def test_a_part_needs_no_more_of_a_tiled_jpeg_than_the_filter_sees(images: Path) -> None:
    dataset = Dataset(images)
    image = dataset.image_of(*dataset.locate(0))
    geometry = Geometry.of(300, 420)
    geometry.crop(100, 200, 50, 60)
    geometry.resize(25, 30, "bilinear")
    cropped = plan(image, geometry)
    # After the crop there is nothing beyond it.
    assert (cropped.box, cropped.shown, cropped.eighths) == ((100, 200, 50, 60),) * 2 + (8,)
    geometry = Geometry.of(300, 420)
    geometry.resize(150, 210, "bilinear")
    geometry.crop(50, 100, 25, 30)
    resized = plan(image, geometry)
    assert resized.shown == (100, 200, 50, 60)
    assert resized.box == (99, 199, 52, 62)
    assert resized.needs[1] - resized.needs[0] < image.size / 3


@pytest.mark.parametrize("kind", [3, 1])
def test_raw_images_are_resized_alike(write_samples: Write, kind: int) -> None:
    pixels = [np.array(detailed(n, 40, 50))[..., :kind] for n in range(3)]
    folder = write_samples(
        {f"s{n}": {"raw": image.tobytes()} for n, image in enumerate(pixels)}, raw=(40, 50, kind)
    )
    found = in_process(folder, [Resize((24, 33), interpolation="bicubic")])
    expected = [
        Image.fromarray(np.repeat(image, 3 // kind, axis=2)).resize((33, 24), FILTERS["bicubic"])
        for image in pixels
    ]
    assert_close(found, expected, "bicubic")


def test_the_quick_way_and_pillows_are_kept_apart_in_memory(images: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "workers": 0, "cache": "decoded"}
    found = []
    for antialias in (False, True):
        steps = [Resize((64, 64), antialias=antialias)]
        with Loader(images, transforms=steps, **options) as loader:
            found.append(next(iter(loader))[0])
    assert not torch.equal(*found)
