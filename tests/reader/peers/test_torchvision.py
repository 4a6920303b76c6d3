"""Transforms of pixels give torchvision's pixels, and torchvision's objects become reader's.

They run where torchvision is installed; `scripts/test_peers.sh` installs it.
"""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_images import make_image
from numpy.typing import NDArray
from PIL import Image

import reader
from reader.loader.from_torchvision import as_own
from reader.rng import SampleRandom
from reader.transforms.operations.linear import Brightness, Contrast, Grey, Saturation
from reader.transforms.operations.neighbours import Blur, Sharpness
from reader.transforms.operations.noise import Erase
from reader.transforms.operations.run import change
from reader.transforms.operations.values import (
    AutoContrast,
    Equalize,
    Invert,
    Permutation,
    Posterize,
    Solarize,
)
from reader.transforms.operations.warps import Warp, moved, sheared_across, sheared_down, turned

transforms = pytest.importorskip("torchvision.transforms")
v2 = pytest.importorskip("torchvision.transforms.v2")
F = v2.functional

SIZE = (96, 128)
MADE = [np.asarray(make_image(seed, *SIZE)) for seed in range(6)]


def on_tensors(call: Any) -> NDArray[np.int64]:
    tensors = [torch.from_numpy(one.copy()).permute(2, 0, 1) for one in MADE]
    return np.stack([call(one).permute(1, 2, 0).numpy() for one in tensors]).astype(np.int64)


def on_pillows(call: Any) -> NDArray[np.int64]:
    return np.stack([np.asarray(call(Image.fromarray(one))) for one in MADE]).astype(np.int64)


def by_reader(*operations: Any) -> NDArray[np.int64]:
    found = [one.copy() for one in MADE]
    for pixels in found:
        change(operations, pixels)
    return np.stack(found).astype(np.int64)


def sheared(x: Any, across: float = 0.0, down: float = 0.0) -> Any:
    slopes = [math.degrees(math.atan(across)), math.degrees(math.atan(down))]
    return F.affine(x, angle=0.0, translate=[0, 0], scale=1.0, shear=slopes, center=[0, 0])


SAME = [
    *((Brightness(f), lambda x, f=f: F.adjust_brightness(x, f)) for f in (0, 0.3, 1.4)),
    *((Contrast(f), lambda x, f=f: F.adjust_contrast(x, f)) for f in (0, 0.6, 1.7)),
    *((Saturation(f), lambda x, f=f: F.adjust_saturation(x, f)) for f in (0, 0.4, 1.9)),
    *((Sharpness(f), lambda x, f=f: F.adjust_sharpness(x, f)) for f in (0, 0.5, 1.9, 3)),
    *((Blur(9, 5, s), lambda x, s=s: F.gaussian_blur(x, [9, 5], [s, s])) for s in (0.1, 0.7, 2.0)),
    (Grey(), lambda x: F.rgb_to_grayscale(x, 3)),
    (Invert(), lambda x: F.invert(x)),
    (Solarize(99.5), lambda x: F.solarize(x, 99.5)),
    (Posterize(3), lambda x: F.posterize(x, 3)),
    (AutoContrast(), lambda x: F.autocontrast(x)),
    (Equalize(), lambda x: F.equalize(x)),
    (Permutation((2, 0, 1)), lambda x: F.permute_channels(x, [2, 0, 1])),
    (
        Erase(3, 5, 20, 30, (1, 2.9, 250)),
        lambda x: F.erase(x, 3, 5, 20, 30, torch.tensor([1, 2.9, 250])[:, None, None]),
    ),
]


@pytest.mark.parametrize(("operation", "call"), SAME, ids=lambda one: str(one)[:40])
def test_an_operation_is_within_a_level_of_both_of_torchvisions_backends(
    operation: Any, call: Any
) -> None:
    ours = by_reader(operation)
    for theirs in (on_tensors(call), on_pillows(call)):
        assert np.abs(ours - theirs).max() <= 1


WARPED = [
    *((sheared_across(m), lambda x, m=m: sheared(x, m)) for m in (0.09, -0.33, 0.99)),
    *((sheared_down(m), lambda x, m=m: sheared(x, 0.0, m)) for m in (-0.09, 0.33)),
    *(
        (moved(*by), lambda x, by=by: F.affine(x, 0.0, [*by], 1.0, [0.0, 0.0]))
        for by in ((9, 0), (-31, 0), (0, -12))
    ),
    *((turned(m, SIZE), lambda x, m=m: F.rotate(x, m)) for m in (9, -30, 100, 135)),
]


@pytest.mark.parametrize(("matrix", "call"), WARPED, ids=lambda one: str(one)[:40])
def test_a_warp_is_no_further_from_either_backend_than_these_from_each_other(
    matrix: Any, call: Any
) -> None:
    ours, tensors, pillows = (
        by_reader(Warp(matrix, "nearest", None)),
        on_tensors(call),
        on_pillows(call),
    )
    most = (tensors != pillows).mean() + 0.002  # pixels exactly between two others
    assert (ours != tensors).mean() <= most
    assert (ours != pillows).mean() <= most


FACTORS = {"brightness": 1.3, "contrast": 0.7, "saturation": 1.4}


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0)])
def test_fused_colours_are_about_as_near_as_both_backends_are(order: tuple[int, ...]) -> None:
    names = [[*FACTORS][number] for number in order]
    kinds = {"brightness": Brightness, "contrast": Contrast, "saturation": Saturation}

    def call(x: Any) -> Any:
        for name in names:
            x = getattr(F, f"adjust_{name}")(x, FACTORS[name])
        return x

    ours = by_reader(*[kinds[name](FACTORS[name]) for name in names])
    tensors, pillows = on_tensors(call), on_pillows(call)
    apart = max(np.abs(tensors - pillows).mean(), 1)
    for theirs in (tensors, pillows):
        assert np.abs(ours - theirs).mean() <= apart
        assert np.abs(ours - theirs).max() <= 3


def given(module: Any) -> list[tuple[Any, Any]]:
    """Transforms of torchvision, and the same ones of reader."""
    jitter, blur = (0.4, (0.5, 1.2), 0.3, 0.1), (9, (0.1, 2.0))
    return [
        (module.ColorJitter(*jitter), reader.ColorJitter(*jitter)),
        (module.ColorJitter(), reader.ColorJitter()),
        (module.Grayscale(3), reader.Grayscale(3)),
        (module.RandomGrayscale(0.3), reader.RandomGrayscale(0.3)),
        (module.GaussianBlur(*blur), reader.GaussianBlur((9, 9), (0.1, 2.0))),
        (module.RandomSolarize(128, 0.2), reader.RandomSolarize(128, 0.2)),
        (module.RandomPosterize(3), reader.RandomPosterize(3)),
        (module.RandomInvert(), reader.RandomInvert()),
        (module.RandomEqualize(), reader.RandomEqualize()),
        (module.RandomAutocontrast(), reader.RandomAutocontrast()),
        (module.RandomAdjustSharpness(2), reader.RandomAdjustSharpness(2)),
        (module.RandAugment(3, 7), reader.RandAugment(3, 7)),
        (module.TrivialAugmentWide(fill=[1, 2, 3]), reader.TrivialAugmentWide(fill=(1, 2, 3))),
        (module.AutoAugment(module.AutoAugmentPolicy.SVHN), reader.AutoAugment("svhn")),
        (module.AugMix(severity=5), reader.AugMix(severity=5)),
        (
            module.RandomApply([module.ColorJitter(0.4), module.RandomInvert()], p=0.8),
            reader.RandomApply([reader.ColorJitter(0.4), reader.RandomInvert()], p=0.8),
        ),
        (
            module.RandomChoice([module.Compose([module.RandomInvert(), module.RandomEqualize()])]),
            reader.RandomChoice(
                [reader.RandomApply([reader.RandomInvert(), reader.RandomEqualize()], 1)]
            ),
        ),
        (
            module.RandomOrder([module.RandomInvert()]),
            reader.RandomOrder([reader.RandomInvert()]),
        ),
        (module.RandomErasing(0.3, value="random"), reader.RandomErasing(0.3, value="random")),
        (module.RandomErasing(0.3, value=(1, 2, 3)), reader.RandomErasing(0.3, value=(1, 2, 3))),
    ]


OF_V2 = [
    *given(v2),
    (v2.RandomPhotometricDistort(p=0.3), reader.RandomPhotometricDistort(p=0.3)),
    (v2.GaussianNoise(0.1, 0.2), reader.GaussianNoise(0.1, 0.2)),
    (v2.RandomChannelPermutation(), reader.RandomChannelPermutation()),
]


@pytest.mark.parametrize(("theirs", "own"), [*given(transforms), *OF_V2], ids=str)
def test_an_object_of_torchvisions_becomes_readers(theirs: Any, own: Any) -> None:
    (found,) = as_own([theirs])
    for position in range(5):
        drawn = (found, own)
        geometries = [reader.Geometry.of(*SIZE) for _ in drawn]
        streams = [SampleRandom(1, 2, position) for _ in drawn]
        for one, geometry, stream in zip(drawn, geometries, streams, strict=True):
            one.apply(geometry, stream)
        assert streams[0].key() == streams[1].key()  # as many draws
        if hasattr(own, "draw"):
            operations = [one.draw(SIZE, SampleRandom(1, 2, position)) for one in drawn]
            assert repr(operations[0]).replace(".0", "") == repr(operations[1]).replace(".0", "")
    assert type(found) is type(own)


@pytest.mark.parametrize("kind", ["MixUp", "CutMix"])
def test_batches_are_mixed_as_torchvision_mixes_them(packed: Path, kind: str) -> None:
    def recorded(batch: Any) -> Any:
        given.append(batch)
        return batch

    given: list[Any] = []
    step = getattr(reader, kind)(0.5)
    crop, own = [reader.CenterCrop((24, 33))], [recorded, step]
    with reader.Loader(packed, batch_size=7, workers=0, transforms=crop, map_batch=own) as loader:
        found = list(reader.CUDAPrefetcher(loader, device="cpu"))
    for (images, labels), (image, label) in zip(found, given, strict=True):
        theirs = getattr(v2, kind)(num_classes=3)
        (row, *_) = [*(label != label.roll(1)).nonzero(), None]
        if row is None:
            continue  # whose share the labels do not tell
        share = float(labels[row, label[row]])
        is_other = (images != image).any(0).any(0)
        down, across = (is_other.any(side).nonzero() for side in (1, 0))
        params: dict[str, Any] = {"lam": share, "lam_adjusted": share, "box": (0, 0, 0, 0)}
        if kind == "CutMix" and len(down):
            params["box"] = across[0], down[0], across[-1] + 1, down[-1] + 1
        theirs.make_params = lambda _, params=params: params
        expected, shares = theirs(image, label)
        torch.testing.assert_close(images, expected)
        torch.testing.assert_close(labels, shares)
