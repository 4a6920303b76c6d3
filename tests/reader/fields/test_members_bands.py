"""Arrays over the image follow its transforms, with all bands and in their own type."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write, only
from made_images import encode, npy, png, turned
from numpy.typing import NDArray
from PIL import Image

from reader import (
    ArgumentError,
    Bands,
    CenterCrop,
    Loader,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Resize,
    SampleError,
)

HEIGHT, WIDTH, COUNT = 40, 60, 6
FILL = 7


def values(number: int, dtype: str, bands: int, height: int = HEIGHT) -> NDArray[Any]:
    shape = (height, WIDTH, bands) if bands else (height, WIDTH)
    noise = np.random.default_rng(number).integers(0, 60_000, shape)
    return (noise / 8 if np.dtype(dtype).kind == "f" else noise).astype(dtype)


@pytest.fixture
def pack(write_samples: Write) -> Write:
    def write(arrays: list[NDArray[Any]], exif: Image.Exif | None = None) -> Path:
        samples = {}
        for number, array in enumerate(arrays):
            image = Image.new("RGB", (WIDTH, min(len(array), HEIGHT)), (number, 0, 0))
            options = {} if exif is None else {"exif": exif}
            samples[f"s{number}"] = {"png": encode(image, "PNG", **options), "npy": npy(array)}
        return write_samples(samples)

    return write


def expected(array: NDArray[Any], matrix: NDArray[Any], size: int) -> NDArray[Any]:
    """The nearest pixel of the array for the centre of each of the output, (bands, H, W)."""
    across, down = (matrix[axis, axis] for axis in (0, 1))
    columns = np.floor((np.arange(size) + 0.5 - matrix[0, 2]) / across).astype(int)
    rows = np.floor((np.arange(size) + 0.5 - matrix[1, 2]) / down).astype(int)
    return np.moveaxis(np.atleast_3d(array)[rows.clip(0)][:, columns.clip(0)], -1, 0)


@pytest.mark.parametrize(("dtype", "bands"), [("uint16", 12), ("float32", 4), (">u2", 0)])
def test_bands_get_the_crop_and_the_flip_of_the_image_in_their_own_type(
    pack: Write, dtype: str, bands: int
) -> None:
    arrays = [values(number, dtype, bands) for number in range(COUNT)]
    packed = pack(arrays)
    transforms = [RandomResizedCrop(16), RandomHorizontalFlip()]
    found = []
    for workers in (0, 2):
        fields = ("index", "geometry", Bands("npy"))
        with Loader(
            packed, batch_size=3, workers=workers, transforms=transforms, fields=fields, seed=1
        ) as loader:
            found.append([tuple(map(torch.clone, batch)) for batch in loader])
    for one, other in zip(*found, strict=True):
        assert all(map(torch.equal, one, other))
        numbers, matrices, crops = (part.numpy() for part in one)
        assert crops.shape == (3, bands or 1, 16, 16)
        assert crops.dtype == np.dtype(dtype).newbyteorder("=")
        for number, matrix, crop in zip(numbers, matrices, crops, strict=True):
            assert np.array_equal(crop, expected(arrays[number], matrix, 16))


def test_a_smooth_resize_of_bands_is_pillows_for_each_of_them(pack: Write) -> None:
    array = values(0, "float32", 3)
    size = (10, 20)
    halved = [
        np.asarray(Image.fromarray(band).resize(size[::-1], Image.Resampling.BILINEAR))
        for band in np.moveaxis(array, -1, 0)
    ]
    whole = values(1, "uint16", 2)
    for source, reference in ((array, np.stack(halved)), (whole, None)):
        (found,) = only(
            pack([source]),
            batch_size=1,
            transforms=[Resize(size, interpolation="bilinear")],
            fields=(Bands("npy", interpolation="bilinear"),),
        )
        assert found.numpy().dtype == source.dtype
        if reference is not None:
            assert np.allclose(found[0].numpy(), reference, rtol=1e-5)
        else:
            mean = whole.reshape(10, 4, 20, 3, 2).mean((0, 1, 2, 3))
            assert np.allclose(found[0].float().mean((1, 2)), mean, rtol=0.02)


def test_bands_follow_an_upright_image_and_have_their_fill_outside_it(pack: Write) -> None:
    array = values(0, "uint16", 5)
    (found,) = only(
        pack([array], turned(6)),  # shown turned by 90 degrees clockwise
        batch_size=1,
        transforms=[CenterCrop((WIDTH, HEIGHT + 10))],
        fields=(Bands("npy", fill=FILL),),
    )
    assert (found[0, :, :, :5] == FILL).all()
    assert (found[0, :, :, -5:] == FILL).all()
    assert np.array_equal(found[0, :, :, 5:-5], np.moveaxis(np.rot90(array, -1), -1, 0))


def test_bands_of_images_that_differ_in_size_are_a_list(pack: Write) -> None:
    arrays = [values(number, "uint16", 4, HEIGHT - 8 * number) for number in range(3)]
    options: dict[str, Any] = {"batch_size": 3, "workers": 0, "fields": (Bands("npy"),)}
    (found,) = only(pack(arrays), **options)
    for array, one in zip(arrays, found, strict=True):
        assert np.array_equal(one, np.moveaxis(array, -1, 0))


@pytest.mark.parametrize(
    ("array", "options", "said"),
    [
        (np.zeros((12, HEIGHT, WIDTH), np.uint16), {}, "np.moveaxis"),
        (np.zeros((HEIGHT, WIDTH), complex), {}, "numbers of shape"),
        (np.zeros((HEIGHT, WIDTH), np.int64), {"interpolation": "bilinear"}, '"nearest"'),
        (np.zeros((HEIGHT, WIDTH), np.uint8), {"fill": 300}, "300"),
    ],
)
def test_an_array_that_is_not_over_the_image_is_named(
    pack: Write, array: NDArray[Any], options: dict[str, Any], said: str
) -> None:
    with (
        pytest.raises(SampleError, match=f"s0.*its .npy cannot be decoded.*{said}"),
        Loader(pack([array]), batch_size=1, workers=0, fields=(Bands("npy", **options),)) as loader,
    ):
        next(iter(loader))


def test_bands_that_are_no_array_need_a_decoder(write_samples: Write) -> None:
    array = values(0, "uint16", 3)
    image = png(np.zeros((HEIGHT, WIDTH), np.uint8))
    packed = write_samples({"s0": {"png": image, "bin": array.tobytes()}})
    with pytest.raises(ArgumentError, match="decode="):
        Loader(packed, batch_size=1, fields=(Bands("bin"),))
    field = Bands("bin", decode=lambda data: np.frombuffer(data, "u2").reshape(array.shape))
    (found,) = only(packed, batch_size=1, fields=(field,))
    assert np.array_equal(found[0], np.moveaxis(array, -1, 0))
