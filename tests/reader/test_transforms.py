"""Transforms follow torchvision's rules; a geometry composes them as array operations would."""

import ast
import math
import pickle
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

import packer
import reader
from reader import (
    ArgumentError,
    CenterCrop,
    Geometry,
    Letterbox,
    Loader,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    ReaderError,
    Resize,
    Transform,
)
from reader.format.sizes import SizeBounds
from reader.rng import SampleRandom
from reader.transforms import largest_output, states

Coordinates = NDArray[np.int64]  # (height, width, 2): which pixel of the source is where; -1: none

SIDE = st.integers(1, 400)


def rng(position: int = 0) -> SampleRandom:
    return SampleRandom(0, 0, position)


def applied(transform: Transform, height: int, width: int, position: int = 0) -> Geometry:
    geometry = Geometry.of(height, width)
    transform.apply(geometry, rng(position))
    return geometry


def coordinates(height: int, width: int) -> Coordinates:
    return np.stack(np.mgrid[:height, :width], axis=-1)


def cut(image: Coordinates, top: int, left: int, height: int, width: int) -> Coordinates:
    """The box of `image`, -1 where it reaches over the edge."""
    out = np.full((height, width, 2), -1)
    rows = range(max(top, 0), min(top + height, image.shape[0]))
    columns = range(max(left, 0), min(left + width, image.shape[1]))
    if len(rows) and len(columns):
        out[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left] = image[
            rows.start : rows.stop, columns.start : columns.stop
        ]
    return out


def shown(geometry: Geometry, height: int, width: int) -> Coordinates:
    """What a geometry without scaling shows of a source of that size."""
    assert (geometry.box_height, geometry.box_width) == (geometry.height, geometry.width)
    box = (geometry.top, geometry.left, geometry.height, geometry.width)
    assert all(float(number).is_integer() for number in box)
    top, left, bottom, right = (max(int(edge), 0) for edge in geometry.seen)
    source = np.full((height, width, 2), -1)
    source[top:bottom, left:right] = coordinates(height, width)[top:bottom, left:right]
    out = cut(source, *map(int, box))
    out = out[::-1] if geometry.vflip else out
    return out[:, ::-1] if geometry.hflip else out


def torchvision_resized_crop(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float], seed: int
) -> tuple[int, int, int, int]:
    """RandomResizedCrop.get_params of torchvision, with numpy's rng."""
    rng = np.random.default_rng(seed)
    area = height * width
    log_ratio = np.log(ratio)
    for _ in range(10):
        target_area = area * rng.uniform(*scale)
        aspect_ratio = math.exp(rng.uniform(*log_ratio))
        w = round(math.sqrt(target_area * aspect_ratio))
        h = round(math.sqrt(target_area / aspect_ratio))
        if 0 < w <= width and 0 < h <= height:
            return int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1)), h, w
    return torchvision_fallback(height, width, ratio)


def torchvision_fallback(
    height: int, width: int, ratio: tuple[float, float]
) -> tuple[int, int, int, int]:
    in_ratio = width / height
    if in_ratio < min(ratio):
        w, h = width, round(width / min(ratio))
    elif in_ratio > max(ratio):
        w, h = round(height * max(ratio)), height
    else:
        w, h = width, height
    return (height - h) // 2, (width - w) // 2, h, w


def torchvision_center_crop(image: Coordinates, height: int, width: int) -> Coordinates:
    """torchvision.transforms.functional.center_crop, with -1 for its zeros."""
    down, across = image.shape[:2]
    if width > across or height > down:
        padding = (
            ((height - down) // 2, (height - down + 1) // 2) if height > down else (0, 0),
            ((width - across) // 2, (width - across + 1) // 2) if width > across else (0, 0),
            (0, 0),
        )
        image = np.pad(image, padding, constant_values=-1)
        down, across = image.shape[:2]
    top, left = round((down - height) / 2.0), round((across - width) / 2.0)
    return image[top : top + height, left : left + width]


boxes = st.tuples(
    st.integers(-30, 60), st.integers(-30, 60), st.integers(1, 60), st.integers(1, 60)
)


@given(
    height=st.integers(1, 50),
    width=st.integers(1, 50),
    steps=st.lists(st.one_of(boxes, st.sampled_from(["hflip", "vflip"])), max_size=6),
)
@settings(deadline=None)
def test_crops_and_flips_compose_as_they_do_on_an_array(
    height: int, width: int, steps: list[tuple[int, int, int, int] | str]
) -> None:
    geometry, image = Geometry.of(height, width), coordinates(height, width)
    for step in steps:
        if step == "hflip":
            geometry.hflip = not geometry.hflip
            image = image[:, ::-1]
        elif step == "vflip":
            geometry.vflip = not geometry.vflip
            image = image[::-1]
        else:
            geometry.crop(*step)
            image = cut(image, *step)
    seen = shown(geometry, height, width)
    assert seen.shape == image.shape
    assert np.array_equal(seen, image)


@given(
    height=SIDE,
    width=SIDE,
    down=st.integers(1, 5),
    across=st.integers(1, 5),
    data=st.data(),
    hflip=st.booleans(),
    vflip=st.booleans(),
)
@settings(deadline=None)
def test_a_crop_of_an_enlarged_image_shows_the_matching_part_of_the_source(
    height: int, width: int, down: int, across: int, data: st.DataObject, hflip: bool, vflip: bool
) -> None:
    top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    h, w = data.draw(st.integers(1, height - top)), data.draw(st.integers(1, width - left))
    geometry = Geometry.of(height, width)
    geometry.hflip, geometry.vflip = hflip, vflip
    geometry.resize(height * down, width * across)
    geometry.crop(top * down, left * across, h * down, w * across)
    assert (geometry.height, geometry.width) == (h * down, w * across)
    box = (geometry.top, geometry.left, geometry.box_height, geometry.box_width)
    expected = (height - top - h if vflip else top, width - left - w if hflip else left, h, w)
    assert box == pytest.approx(expected, abs=1e-6)


@given(
    height=SIDE,
    width=SIDE,
    low=st.floats(0.01, 1),
    high=st.floats(0.01, 1),
    narrow=st.floats(0.3, 1),
    wide=st.floats(1, 3),
    position=st.integers(0, 2**40),
)
@settings(deadline=None)
def test_a_random_resized_crop_keeps_to_scale_and_ratio_or_falls_back_as_torchvision_does(
    height: int, width: int, low: float, high: float, narrow: float, wide: float, position: int
) -> None:
    scale, ratio = (min(low, high), max(low, high)), (narrow, wide)
    got = applied(RandomResizedCrop((17, 23), scale, ratio), height, width, position)
    box = (got.top, got.left, got.box_height, got.box_width)
    top, left, h, w = map(int, box)
    assert box == (top, left, h, w)
    assert (got.height, got.width, got.hflip, got.vflip) == (17, 23, False, False)
    assert min(top, left, h - 1, w - 1, height - top - h, width - left - w) >= 0
    # Both sides were rounded to whole pixels.
    area = height * width
    is_within = (
        (h - 0.5) * (w - 0.5) <= scale[1] * area * 1.0001
        and (h + 0.5) * (w + 0.5) >= scale[0] * area * 0.9999
        and (w - 0.5) / (h + 0.5) <= ratio[1] * 1.0001
        and (w + 0.5) / (h - 0.5) >= ratio[0] * 0.9999
    )
    assert is_within or (top, left, h, w) == torchvision_fallback(height, width, ratio)


@pytest.mark.parametrize(("height", "width"), [(300, 400), (400, 300), (200, 900)])
def test_the_boxes_of_a_random_resized_crop_are_spread_as_torchvisions_are(
    height: int, width: int
) -> None:
    count, scale, ratio = 3000, (0.08, 1.0), (3 / 4, 4 / 3)
    theirs = np.array(
        [torchvision_resized_crop(height, width, scale, ratio, seed) for seed in range(count)]
    )
    drawn = [applied(RandomResizedCrop(224), height, width, number) for number in range(count)]
    ours = np.array([(box.top, box.left, box.box_height, box.box_width) for box in drawn])
    for one, other in [
        *zip(ours.T, theirs.T, strict=True),
        (ours[:, 2] * ours[:, 3], theirs[:, 2] * theirs[:, 3]),
        (ours[:, 3] / ours[:, 2], theirs[:, 3] / theirs[:, 2]),
    ]:
        # Kolmogorov and Smirnov's distance; 0.05 is exceeded by chance once in 1000 draws.
        values = np.sort(np.concatenate([one, other]))
        below = [np.searchsorted(np.sort(each), values, "right") / count for each in (one, other)]
        assert np.abs(below[0] - below[1]).max() < 0.05


short_side = st.integers(1, 60)


@given(height=short_side, width=short_side, size=st.tuples(short_side, short_side))
@settings(deadline=None)
def test_a_center_crop_takes_and_pads_what_torchvisions_does(
    height: int, width: int, size: tuple[int, int]
) -> None:
    expected = torchvision_center_crop(coordinates(height, width), *size)
    assert np.array_equal(shown(applied(CenterCrop(size), height, width), height, width), expected)


@given(height=SIDE, width=SIDE, size=SIDE)
@settings(deadline=None)
def test_resize_with_one_number_gives_the_shorter_side_that_length(
    height: int, width: int, size: int
) -> None:
    short, long = sorted((height, width))
    longer = int(size * long / short)  # torchvision's rule
    expected = (size, longer) if height <= width else (longer, size)
    for argument in (size, [size]):
        got = applied(Resize(argument), height, width)
        assert (got.height, got.width) == expected
        assert (got.top, got.left, got.box_height, got.box_width) == (0, 0, height, width)


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (CenterCrop(20), (20, 20)),
        (CenterCrop([20]), (20, 20)),
        (CenterCrop(np.int64(20)), (20, 20)),
        (Resize(np.int64(20)), (22, 20)),
        (CenterCrop((20, 30)), (20, 30)),
        (RandomResizedCrop(20), (20, 20)),
        (RandomResizedCrop([20, 30]), (20, 30)),
    ],
)
def test_a_size_is_one_number_or_height_and_width(
    transform: Transform, expected: tuple[int, int]
) -> None:
    got = applied(transform, 100, 90)
    assert (got.height, got.width) == expected


@pytest.mark.parametrize(("p", "least", "most"), [(0.0, 0, 0), (0.3, 0.26, 0.34), (1.0, 1, 1)])
def test_a_horizontal_flip_comes_with_its_probability(p: float, least: float, most: float) -> None:
    flips = [applied(RandomHorizontalFlip(p), 8, 8, number).hflip for number in range(2000)]
    assert least <= np.mean(flips) <= most


WRONG: list[tuple[Any, dict[str, Any]]] = [
    *((CenterCrop, {"size": size}) for size in (0, (), "224", 22.5, None, 8.0)),
    *((RandomResizedCrop, {"size": size}) for size in ((3, 4, 5), "8")),
    *((RandomResizedCrop, {"size": 8, "scale": scale}) for scale in ((1.0, 0.1), 1.0, ("a", "b"))),
    *((RandomResizedCrop, {"size": 8, "ratio": r}) for r in ((0, 1), (1, math.inf), (1, 2, 3))),
    (RandomResizedCrop, {"size": 8, "interpolation": [2]}),
    *((Resize, given) for given in ({}, {"size": 3, "longest": 4}, {"longest": 0})),
    *((Resize, {"size": 8, "interpolation": name}) for name in ("lanczos", "nearest-exact", 16)),
    *((Resize, {"size": 8, "interpolation": name}) for name in (None, True)),
    (Resize, {"size": 8, "antialias": 1}),
    *((RandomCrop, {"size": 8, "padding": padding}) for padding in (-1, "1")),
    *((RandomCrop, {"size": 8, **more}) for more in ({"fill": 256}, {"pad_if_needed": "no"})),
    *((Letterbox, given) for given in ({"size": (8, True)}, {"size": 8, "fill": None})),
    (Letterbox, {"size": 8, "antialias": None}),
    *((RandomHorizontalFlip, {"p": p}) for p in (1.5, "a", True, math.nan)),
    (RandomVerticalFlip, {"p": -0.1}),
]


@pytest.mark.parametrize(("kind", "given"), WRONG, ids=str)
def test_a_transform_that_makes_no_sense_says_so_when_it_is_made(
    kind: Any, given: dict[str, Any]
) -> None:
    reason = r"at least|takes either|above 0|from 0 to|True or|one of"
    with pytest.raises(ArgumentError, match=reason):
        kind(**given)


class InterpolationMode(Enum):
    """torchvision's, as far as it is known here."""

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


@pytest.mark.parametrize(
    "given", ["bicubic", InterpolationMode.BICUBIC, Image.Resampling.BICUBIC, 3]
)
def test_an_interpolation_is_what_torchvision_takes_and_is_kept_as_a_name(given: Any) -> None:
    crop = RandomResizedCrop(8, (0.2, 1.0), (3 / 4, 4 / 3), given)
    assert crop == RandomResizedCrop(8, scale=(0.2, 1.0), interpolation="bicubic")
    assert pickle.loads(pickle.dumps(crop)).interpolation == "bicubic"
    assert Resize((8, 9), given).interpolation == "bicubic"


@pytest.mark.parametrize(
    ("interpolation", "antialias", "expected"),
    [
        ("bilinear", False, None),
        ("bilinear", True, "bilinear"),
        ("bicubic", False, "bicubic"),
        ("bicubic", True, "bicubic"),
        ("nearest", True, "nearest"),
    ],
)
@pytest.mark.parametrize("transform", [Resize, RandomResizedCrop, Letterbox])
def test_all_but_bilinear_without_antialiasing_is_as_pillow_does_it(
    transform: Any, interpolation: str, antialias: bool, expected: str | None
) -> None:
    step = transform(8, interpolation=interpolation, antialias=antialias)
    assert applied(step, 30, 40).filter == expected


def test_an_image_that_is_resized_twice_is_scaled_as_the_last_time() -> None:
    geometry = applied(Resize(20, interpolation="bicubic"), 30, 40)
    Resize(10).apply(geometry, rng())
    assert (geometry.height, geometry.width, geometry.filter) == (10, 13, None)


@given(height=short_side, width=short_side, size=short_side, padding=st.integers(0, 8))
@settings(deadline=None)
def test_a_random_crop_lies_within_the_padded_image(
    height: int, width: int, size: int, padding: int
) -> None:
    crop = RandomCrop(size, padding=padding)
    if min(height, width) + 2 * padding < size:
        with pytest.raises(ReaderError, match="larger than an image side"):
            applied(crop, height, width)
        return
    boxes = [applied(crop, height, width, position) for position in range(20)]
    for box in boxes:
        assert (box.height, box.width, box.box_height, box.box_width) == (size,) * 4
        assert -padding <= box.top <= height + padding - size
        assert -padding <= box.left <= width + padding - size


def test_a_random_crop_is_everywhere_alike() -> None:
    places = [applied(RandomCrop(32, padding=4), 32, 32, number) for number in range(4000)]
    counts = np.bincount([int(place.top + 4) * 9 + int(place.left + 4) for place in places])
    assert len(counts) == 81
    assert counts.min() > 20


def test_a_random_crop_pads_a_smaller_image_if_allowed() -> None:
    crop = RandomCrop((40, 10), pad_if_needed=True, fill=7)
    for position in range(20):
        got = applied(crop, 30, 20, position)
        assert (got.height, got.width, got.fill) == (40, 10, 7)
        assert -10 <= got.top <= 0  # torchvision pads both sides by what is missing


@given(height=SIDE, width=SIDE, longest=SIDE)
@settings(deadline=None)
def test_resize_to_the_longest_side_keeps_the_aspect_ratio(
    height: int, width: int, longest: int
) -> None:
    got = applied(Resize(longest=longest), height, width)
    assert max(got.height, got.width) == longest
    assert abs(got.height * width - got.width * height) <= max(height, width)


@given(height=SIDE, width=SIDE, size=st.tuples(SIDE, SIDE))
@settings(deadline=None)
def test_a_letterbox_shows_the_whole_image_in_the_middle(
    height: int, width: int, size: tuple[int, int]
) -> None:
    got = applied(Letterbox(size), height, width)
    assert (got.height, got.width) == size
    is_padded = got.box_height > height + 1e-6 or got.box_width > width + 1e-6
    assert got.fill == 114 or not is_padded
    assert got.top <= 1e-9
    assert got.left <= 1e-9
    assert got.top + got.box_height >= height - 1e-6
    assert got.left + got.box_width >= width - 1e-6
    # One side is filled, and what is left over is shared.
    assert min(abs(got.box_height - height), abs(got.box_width - width)) < 1e-6
    down, across = got.height / got.box_height, got.width / got.box_width
    assert abs(2 * -got.top * down - (got.height - height * down)) <= 1 + 1e-6
    assert abs(2 * -got.left * across - (got.width - width * across)) <= 1 + 1e-6


def test_a_border_replaces_what_an_earlier_crop_took_away() -> None:
    geometry = Geometry.of(100, 200)
    CenterCrop((20, 40)).apply(geometry, rng())
    Letterbox(80).apply(geometry, rng())
    assert (geometry.top, geometry.box_height, geometry.fill) == (30, 40, 114)
    assert geometry.seen == (40, 80, 60, 120)


def test_a_border_around_a_border_has_its_fill() -> None:
    geometry = applied(Letterbox(64), 100, 200)
    CenterCrop((32, 64)).apply(geometry, rng())  # all of the image and nothing of the border
    with_border = applied(Letterbox(64), 100, 200)
    RandomCrop(60).apply(with_border, rng())  # within the border
    assert with_border.fill == 114
    with pytest.raises(ReaderError, match="grey value 0 would surround one of 114: give both"):
        CenterCrop(80).apply(with_border, rng())
    CenterCrop(80).apply(geometry, rng())
    assert geometry.fill == 0


class Sizes:
    """Images of some sizes; `is_bounded` if only their bounds may be asked for."""

    def __init__(self, *sizes: tuple[int, int], is_bounded: bool = False) -> None:
        self._sizes, self._is_bounded = sizes, is_bounded

    @property
    def size_bounds(self) -> SizeBounds:
        found = SizeBounds.of(*np.array(self._sizes, np.int64).reshape(-1, 2).T)
        assert found is not None, "the images' sizes are asked for without need"
        return found

    def sizes(self) -> set[tuple[int, int]]:
        assert not self._is_bounded, "all images' sizes are asked for without need"
        return {*self._sizes}


@pytest.mark.parametrize(
    ("transforms", "images", "expected"),
    [
        ([Resize(64), CenterCrop(32)], Sizes(), ((32, 32), True)),
        ([RandomResizedCrop((20, 30))], Sizes(), ((20, 30), True)),
        ([], Sizes((40, 50), (30, 90), is_bounded=True), ((30, 90), False)),
        ([], Sizes((40, 50), is_bounded=True), ((40, 50), True)),
        ([RandomHorizontalFlip()], Sizes((4, 5), (5, 4), is_bounded=True), ((5, 4), False)),
        ([Resize(10)], Sizes((40, 50), is_bounded=True), ((10, 12), True)),
        ([Resize(10)], Sizes((40, 50), (100, 40)), ((25, 10), False)),
        ([Resize(10)], Sizes((40, 50), (80, 100)), ((10, 12), True)),
    ],
)
def test_the_room_that_a_pipeline_needs_is_known_beforehand(
    transforms: list[Transform], images: Sizes, expected: tuple[tuple[int, int], bool]
) -> None:
    assert largest_output(transforms, images) == expected


class LowerRight:
    """A transform of a script's own, which states what it is."""

    is_fixed = takes_arrays = True

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        geometry.crop(geometry.height - 8, geometry.width - 8, 8, 8)


class Elsewhere(LowerRight):
    """Derived from it, and states nothing."""


def test_a_class_states_what_it_is_and_a_derived_one_states_it_anew() -> None:
    traits = ("is_fixed", "is_mirror", "takes_arrays")
    assert [states(LowerRight(), trait) for trait in traits] == [True, False, True]
    assert not any(states(Elsewhere(), trait) for trait in traits)


def test_a_transform_from_outside_is_kept_decoded_and_applied_to_whole_batches(
    tmp_path: Path, packed: Path
) -> None:
    pixels = np.arange(6 * 10 * 12 * 3, dtype=np.uint8).reshape(6, 10, 12, 3)
    items = [{"image": Image.fromarray(one), "label": 0} for one in pixels]
    packer.pack(items, tmp_path / "raw", raw=(10, 12), shuffle=False)
    for folder, is_raw in ((tmp_path / "raw", True), (packed, False)):
        found = []
        for options in ({}, {"cache": "decoded"}):
            given: dict[str, Any] = {"transforms": [LowerRight()], "workers": 0, **options}
            with Loader(folder, batch_size=3, **given) as loader:
                found.append([[batch[0] for batch in loader] for _ in range(2)])
                kept = loader.statistics().cached  # images, which are read one by one
            assert bool(kept) == (bool(options) and not is_raw)
        plain, cached = found
        pairs = zip(chain(*plain), chain(*cached), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)
        if is_raw:
            images = torch.cat(plain[0]).permute(0, 2, 3, 1)
            assert np.array_equal(images.numpy(), pixels[:, 2:, 4:])


def test_a_transform_is_known_to_its_module_and_to_the_list_of_public_names() -> None:
    package = Path(reader.__file__).parent
    naming: dict[str, set[str]] = {"Letterbox": set(), "RandomVerticalFlip": set()}
    for file in package.rglob("*.py"):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if any(name in text for name in naming) else ():
            found = {getattr(node, part, "") for part in ("id", "name", "attr")}
            found |= {getattr(one, "value", "") for one in getattr(node, "elts", ())}
            for name in naming.keys() & found:
                naming[name].add(file.relative_to(package).as_posix())
    assert all(files == {"__init__.py", "transforms.py"} for files in naming.values())
