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
    assert torch.equal(first(packed, [eval(given)]), first(packed, [eval(own)]))


def test_a_resize_of_one_side_is_that_of_the_shorter_or_of_the_longest(packed: Path) -> None:
    for given, own in (
        (resize(size=[20]), reader.Resize(20, antialias=True)),
        (resize(size=None, max_size=30), reader.Resize(longest=30, antialias=True)),
    ):
        pairs = zip(first(packed, [given]), first(packed, [own]), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)


def test_members_that_are_no_geometry_are_all_refused_by_name_with_what_is_left(
    packed: Path,
) -> None:
    names = ("ToTensor", "Normalize", "RandomAffine", "MyOwn")
    others = [made("v1", name) for name in names]
    flip = made("v1", "RandomHorizontalFlip", p=0.5)
    with pytest.raises(ArgumentError) as caught:
        Loader(packed, transforms=made("v1", "Compose", transforms=[flip, *others]))
    text = str(caught.value)
    for name in names:
        assert f"{name}: " in text
    assert "reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN" in text
    assert "change = torchvision.transforms.v2.RandomAffine(...)" in text
    assert text.endswith("Keep transforms=[reader.RandomHorizontalFlip(p=0.5)].")


@pytest.mark.parametrize(("given", "reason"), rows_of(__file__, "torchvision_refused.rows"))
def test_an_argument_that_reader_has_not_is_refused(packed: Path, given: str, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        Loader(packed, transforms=[eval(given)])


def test_a_class_derived_from_torchvisions_may_do_anything_and_is_refused(packed: Path) -> None:
    class Mine(type(random_crop())):  # type: ignore[misc]
        pass

    with pytest.raises(ArgumentError, match="transforms is a list of reader's transforms"):
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
