"""torchvision's transforms are taken where reader has the same ones, and answered elsewhere.

torchvision is not needed for that: what counts are its modules, names and attributes.
"""

from enum import Enum
from pathlib import Path
from typing import Any

import pytest
import torch
from delivered import only
from row_files import rows_of

import reader
from reader import ArgumentError, Loader

pytestmark = pytest.mark.usefixtures("no_leftovers")


class InterpolationMode(Enum):
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    LANCZOS = "lanczos"


def made(version: str, name: str, **attributes: Any) -> Any:
    """A transform as torchvision makes it: a callable with these attributes."""
    module = "torchvision.transforms." + {"v1": "transforms", "v2": "v2._geometry"}[version]
    kind = type(name, (), {"__module__": module, "__call__": lambda self, image: image})
    transform = kind()
    vars(transform).update(attributes)
    return transform


def first(packed: Path, transforms: Any) -> torch.Tensor:
    return only(packed, batch_size=39, transforms=transforms)[0]


def crop(version: str) -> Any:
    given = {"size": (24, 24), "scale": (0.2, 1.0), "ratio": (3 / 4, 4 / 3), "antialias": True}
    return made(version, "RandomResizedCrop", interpolation=InterpolationMode.BICUBIC, **given)


def resize(**attributes: Any) -> Any:
    given = {"size": [20], "max_size": None, "interpolation": InterpolationMode.BILINEAR}
    return made("v2", "Resize", **given | {"antialias": True} | attributes)


def random_crop(**attributes: Any) -> Any:
    given = {"size": (16, 16), "padding": None, "pad_if_needed": False, "fill": 0}
    return made("v2", "RandomCrop", **given | {"padding_mode": "constant"} | attributes)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_compose_gives_what_the_same_transforms_of_reader_give(
    packed: Path, version: str
) -> None:
    flips = [made(version, f"Random{way}Flip", p=0.5) for way in ("Horizontal", "Vertical")]
    inner = made(version, "Compose", transforms=[*flips])
    compose = made(version, "Compose", transforms=[crop(version), inner])
    own = [
        reader.RandomResizedCrop(24, scale=(0.2, 1.0), interpolation="bicubic"),
        reader.RandomHorizontalFlip(),
        reader.RandomVerticalFlip(),
    ]
    expected = first(packed, own)
    assert torch.equal(first(packed, compose), expected)
    assert torch.equal(first(packed, [crop(version), inner]), expected)
    views = [[reader.CenterCrop(24)], compose]
    (_, second), _ = only(packed, batch_size=39, views=views)
    assert second.shape == expected.shape


def jitter(**attributes: Any) -> Any:
    given = {"brightness": (0.6, 1.4), "contrast": None, "saturation": None, "hue": (-0.1, 0.1)}
    return made("v2", "ColorJitter", **given | attributes)


def erasing(**attributes: Any) -> Any:
    given = {"p": 1, "scale": (0.02, 0.33), "ratio": (0.3, 3.3), "value": [0.0], "inplace": False}
    return [crop("v2"), made("v2", "RandomErasing", **given | attributes)]


def chosen(name: str, *members: Any, **attributes: Any) -> Any:
    return [crop("v2"), made("v2", name, transforms=[*members], **attributes)]


OWN_CROP = reader.RandomResizedCrop(24, scale=(0.2, 1.0), interpolation="bicubic")


@pytest.mark.parametrize(("given", "own"), rows_of(__file__, "torchvision_pixels.rows"))
def test_each_transform_of_pixels_keeps_its_arguments(packed: Path, given: str, own: str) -> None:
    found = eval(given)
    steps = found if isinstance(found, list) else [crop("v2"), found]
    assert torch.equal(first(packed, steps), first(packed, [OWN_CROP, eval(own)]))


@pytest.mark.parametrize(("given", "own"), rows_of(__file__, "torchvision.rows"))
def test_each_transform_keeps_its_arguments(packed: Path, given: str, own: str) -> None:
    assert torch.equal(first(packed, eval(given)), first(packed, [eval(own)]))


def test_a_resize_of_one_side_is_that_of_the_shorter_or_of_the_longest(packed: Path) -> None:
    for given, own in (
        (resize(size=[20]), reader.Resize(20, antialias=True)),
        (resize(size=None, max_size=30), reader.Resize(longest=30, antialias=True)),
    ):
        pairs = zip(first(packed, [given]), first(packed, [own]), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)


def test_members_that_reader_has_not_are_all_refused_by_name_with_what_is_left(
    packed: Path,
) -> None:
    names = ("RandomAffine", "Elastic", "MyOwn")
    others = [made("v1", name) for name in names]
    flip = made("v1", "RandomHorizontalFlip", p=0.5)
    with pytest.raises(ArgumentError) as caught:
        Loader(packed, transforms=made("v1", "Compose", transforms=[flip, *others]))
    text = str(caught.value)
    for at, name in enumerate(names, 1):
        assert f"transforms[{at}], {name}: " in text
    assert "change = torchvision.transforms.v2.RandomAffine(...)" in text
    assert text.endswith("Keep transforms=[reader.RandomHorizontalFlip(p=0.5)].")


MEAN, STD = (0.5, 0.25, 0.125), (0.25, 0.5, 0.75)


def conversions(kind: str) -> list[Any]:
    """How scripts make normalised floats of pictures, by the kind of their script."""
    normalize = made("v1", "Normalize", mean=list(MEAN), std=torch.tensor(STD))
    to_float = made("v2", "ToDtype", dtype=torch.float32, scale=True)
    by_kind = {type(name, (), {}): torch.float32 for name in ("Image", "Mask")}
    typed = made("v2", "ToDtype", dtype=by_kind, scale=True)
    half = made("v2", "ToDtype", dtype=torch.float16, scale=True)
    levels = made("v2", "ToDtype", dtype=torch.float32, scale=False)
    as_levels = {"mean": [255 * one for one in MEAN], "std": [255 * one for one in STD]}
    ways = {
        "v1": [made("v1", "ToTensor"), normalize],
        "preset": [
            made("v1", "PILToTensor"),
            made("v1", "ConvertImageDtype", dtype=torch.float32),
            normalize,
        ],
        "v2": [made("v2", "ToImage"), to_float, normalize, made("v2", "ToPureTensor")],
        "kinds": [made("v2", "ToImage"), typed, normalize],
        "half": [made("v2", "ToImage"), to_float, normalize, half],
        "twice": [
            made("v1", "ToTensor"),
            made("v1", "ToPILImage", mode=None),
            made("v1", "ToTensor"),
            made("v1", "Compose", transforms=[normalize]),
        ],
        "levels": [made("v2", "ToImage"), levels, made("v2", "Normalize", **as_levels)],
        "in two": [
            made("v1", "ToTensor"),
            made("v1", "Normalize", mean=(0.5,), std=(0.5,)),
            made(
                "v1",
                "Normalize",
                mean=[2 * one - 1 for one in MEAN],
                std=[2 * one for one in STD],
            ),
        ],
    }
    return ways[kind]


def normalised(images: torch.Tensor) -> torch.Tensor:
    mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (MEAN, STD))
    return (images / 255 - mean) / std


@pytest.mark.parametrize(
    "kind", ["v1", "preset", "v2", "kinds", "half", "twice", "levels", "in two"]
)
def test_the_end_of_a_compose_says_what_the_batch_is(packed: Path, kind: str) -> None:
    steps = [crop("v1"), *conversions(kind)]
    own = [reader.RandomResizedCrop(24, scale=(0.2, 1.0), interpolation="bicubic")]
    expected = normalised(first(packed, own))
    found = first(packed, made("v1", "Compose", transforms=steps))
    assert found.dtype == (torch.float16 if kind == "half" else torch.float32)
    assert torch.allclose(found.float(), expected, atol=2e-3 if kind == "half" else 1e-5)
    with Loader(packed, 39, transforms=steps, workers=0) as loader:
        (moved, _), *_ = reader.CUDAPrefetcher(loader, device="cpu")
    assert torch.equal(moved, found)


def test_pictures_become_bytes_without_a_conversion_to_floats(packed: Path) -> None:
    for name in ("PILToTensor", "ToImage", "ToPureTensor"):
        found = first(packed, [reader.CenterCrop(24), made("v2", name)])
        assert torch.equal(found, first(packed, [reader.CenterCrop(24)]))


def test_a_prefetcher_normalises_what_the_transforms_left_and_refuses_other_numbers(
    packed: Path,
) -> None:
    steps = [reader.CenterCrop(24), made("v1", "ToTensor")]
    with Loader(packed, 39, transforms=steps, workers=0) as loader:
        (found, _), *_ = reader.CUDAPrefetcher(loader, MEAN, STD, device="cpu")
    assert torch.allclose(found, normalised(first(packed, steps[:1])), atol=1e-5)
    both = [reader.CenterCrop(24), *conversions("v1")]
    with Loader(packed, 39, transforms=both, workers=0) as loader:
        (same, _), *_ = reader.CUDAPrefetcher(loader, MEAN, STD, torch.float16, device="cpu")
        assert torch.equal(same, found.half())
        with pytest.raises(ArgumentError, match=r"transforms normalise with mean=\(0.5, 0.25"):
            reader.CUDAPrefetcher(loader, reader.IMAGENET_MEAN, reader.IMAGENET_STD)


def test_functions_of_a_batch_get_the_images_that_the_transforms_describe(packed: Path) -> None:
    steps = [reader.CenterCrop(24), *conversions("v1")]
    seen = []

    def collate(samples: Any) -> Any:
        seen.append(samples[0][0].dtype)
        return torch.stack([image for image, _ in samples])

    expected = first(packed, steps)
    functions: list[dict[str, Any]] = [
        {"collate_fn": collate},
        {"map_batch": lambda batch: batch[0] + 0},
    ]
    for options in functions:
        with Loader(packed, 39, transforms=steps, workers=0, **options) as loader:
            assert torch.equal(next(iter(loader)), expected)
            (moved,) = reader.CUDAPrefetcher(loader, MEAN, STD, device="cpu")
            assert torch.equal(moved, expected)
    assert set(seen) == {torch.float32}


def test_geometry_and_colours_after_to_tensor_are_those_of_bytes(packed: Path) -> None:
    solarize, noise = (
        made("v1", "RandomSolarize", threshold=0.5, p=1),
        made("v2", "GaussianNoise", mean=0.0, sigma=0.1, clip=True),
    )
    padded = random_crop(padding=[4, 4, 4, 4], fill=1.0)
    for given, own in (
        (solarize, reader.RandomSolarize(127.5, 1)),
        (noise, reader.GaussianNoise()),
        (padded, reader.RandomCrop(16, 4, fill=255)),
        (made("v1", "CenterCrop", size=(99, 99)), reader.CenterCrop(99)),
    ):
        found = first(packed, [reader.CenterCrop(24), made("v1", "ToTensor"), given])
        assert torch.equal(found, first(packed, [reader.CenterCrop(24), own]) / 255)


def test_a_choice_holds_what_reader_has(packed: Path) -> None:
    grey = made("v1", "RandomGrayscale", p=1)
    pair = made("v1", "Compose", transforms=[grey, made("v1", "RandomInvert", p=1)])
    choice = made("v2", "RandomChoice", transforms=[pair, grey], p=[1.0, 0.0])
    apply = made("v1", "RandomApply", transforms=[choice], p=1)
    own = [reader.CenterCrop(24), reader.RandomGrayscale(1), reader.RandomInvert(1)]
    assert torch.equal(first(packed, [reader.CenterCrop(24), apply]), first(packed, own))


def erased(value: Any = 0, p: float = 1.0, **options: Any) -> Any:
    return made("v1", "RandomErasing", p=p, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=value)


@pytest.mark.parametrize("value", [0, [1.5, -2.0, 0.25], "random", None], ids=str)
def test_erasing_after_normalise_is_of_floats_and_the_same_wherever_it_is_done(
    packed: Path, value: Any
) -> None:
    steps = [reader.CenterCrop(24), *conversions("v1"), erased(value, 0.7)]

    def epoch(wrap: Any = iter, **options: Any) -> torch.Tensor:
        given: dict[str, Any] = {
            "batch_size": 5,
            "transforms": steps,
            "workers": 0,
            "shuffle": True,
        }
        with Loader(packed, **given | options) as loader:
            return torch.cat([images for images, _ in wrap(loader)])

    plain = epoch(transforms=steps[:-1])
    found = epoch()
    is_changed = (found != plain).any(1)
    assert 0.4 < is_changed.flatten(1).any(1).double().mean() < 0.95
    if isinstance(value, list):
        values = found.movedim(1, -1)[is_changed]
        assert torch.equal(values, torch.tensor(value).expand(values.shape))
    for options in ({"workers": 2}, {"batch_size": 8}):
        assert torch.equal(epoch(**options), found)
    assert torch.equal(epoch(lambda it: reader.CUDAPrefetcher(it, device="cpu")), found)
    parts = [
        epoch(batch_size=4, rank=rank, world_size=2, sampler=None, shuffle=True) for rank in (0, 1)
    ]
    rows = {tuple(row.flatten().tolist()) for row in found}
    assert all(tuple(row.flatten().tolist()) in rows for part in parts for row in part)
    assert not torch.equal(epoch(seed=1), found)


def test_erasing_between_to_tensor_and_normalise_is_normalised_too(packed: Path) -> None:
    to_tensor, normalize = conversions("v1")
    crop = reader.CenterCrop(24)
    for value, mean, std in ((0.5, MEAN, STD), ("random", MEAN, STD)):
        early = first(packed, [crop, to_tensor, erased(value), normalize])
        without = first(packed, [crop, to_tensor, erased(value)])
        shift, scale = (torch.tensor(values).reshape(3, 1, 1) for values in (mean, std))
        assert torch.allclose(early, (without - shift) / scale, atol=1e-5)


def test_each_view_is_converted_and_erased_by_itself(packed: Path) -> None:
    steps = [reader.CenterCrop(24), *conversions("v1"), erased(9)]
    (one, other), _ = only(packed, batch_size=39, transforms=steps, views=2)
    assert one.dtype == other.dtype == torch.float32
    assert not torch.equal(one, other)
    assert ((one == 9) == (other == 9)).float().mean() > 0.1
    (same, _), _ = only(packed, batch_size=39, views=[steps, steps])
    assert torch.equal(same, one)
    with pytest.raises(ArgumentError, match="All views of a batch get one output"):
        Loader(packed, views=[steps, steps[:-1]])


def test_images_of_several_sizes_are_normalised_and_erased_in_a_list(packed: Path) -> None:
    steps = [reader.Resize(20), *conversions("v1"), erased(9)]
    found, plain = first(packed, steps), first(packed, steps[:1])
    assert isinstance(found, list)
    for image, raw in zip(found, plain, strict=True):
        is_erased = image == 9
        assert is_erased.any()
        assert torch.allclose(image[~is_erased], normalised(raw)[~is_erased], atol=1e-5)


def test_a_preview_shows_normalised_images_as_they_were(packed: Path) -> None:
    steps = [reader.CenterCrop(24), *conversions("v1")]
    with Loader(packed, 4, transforms=steps, workers=0) as loader:
        assert "outside" not in repr(loader.preview())


class Augmentation:
    """In the way of DINO's: a function that makes several views."""

    def __init__(self) -> None:
        self.first = made("v1", "Compose", transforms=[])
        self.second = made("v1", "Compose", transforms=[])

    def __call__(self, image: Any) -> Any:
        return [self.first(image), self.second(image)]


def blur(image: Any) -> Any:
    return image


@pytest.mark.parametrize(("given", "reason"), rows_of(__file__, "torchvision_refused.rows"))
def test_an_argument_that_reader_has_not_is_refused(packed: Path, given: str, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        Loader(packed, transforms=eval(given))


def test_a_class_derived_from_torchvisions_may_do_anything_and_is_refused(packed: Path) -> None:
    class Mine(type(random_crop())):  # type: ignore[misc]
        pass

    with pytest.raises(ArgumentError, match=r"transforms\[0\], Mine: it is a function of"):
        Loader(packed, transforms=[Mine()])


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("RandomAffine", "map_sample: `change = torchvision.transforms.v2.RandomAffine(...)`"),
        ("ToTensor", "leave it out: images arrive as uint8 tensors"),
    ],
)
def test_a_name_of_torchvisions_that_reader_has_not_is_answered(name: str, advice: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(reader, name)
    assert str(caught.value).startswith(f"module 'reader' has no attribute '{name}': ")
    assert advice in str(caught.value)


def test_a_misspelled_name_is_answered_with_the_right_one_and_others_are_missed_as_ever() -> None:
    for name, meant in (("RandomResizeCrop", "RandomResizedCrop"), ("Datset", "Dataset")):
        with pytest.raises(AttributeError, match=rf"'{name}'\. Did you mean reader\.{meant}\?$"):
            getattr(reader, name)
    for name in ("Something", "something", "__wrapped__"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
            getattr(reader, name)


def test_what_is_advised_for_colours_works(packed: Path) -> None:
    def changed(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"image": 255 - torch.from_numpy(sample["image"]).permute(2, 0, 1)}

    crop = [reader.CenterCrop(16)]
    found, _ = only(packed, batch_size=39, transforms=crop, map_sample=changed)
    assert torch.equal(found, 255 - first(packed, crop))
