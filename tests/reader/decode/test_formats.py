"""Whole pictures by OpenCV: what it would show of a damaged file is what Pillow shows."""

import io

import numpy as np
import pytest
from made_images import encode, make_image
from PIL import Image, ImageCms

from reader.decode.formats import read_picture
from reader.decode.stored import StoredImage
from reader.format.errors import DecodeError

HEIGHT, WIDTH = 17, 30


def by_pillow(data: bytes) -> np.ndarray | None:
    """The pixels; None if there are none of that size."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            pixels = np.asarray(image.convert("RGB"))
    except OSError:
        return None
    return pixels if pixels.shape == (HEIGHT, WIDTH, 3) else None


def by_reader(data: bytes, kind: str = "webp") -> np.ndarray | None:
    content = memoryview(data)
    try:
        return read_picture(
            StoredImage(
                lambda start, stop: content[start:stop], len(data), kind, HEIGHT, WIDTH, 3, 1
            )
        )
    except DecodeError:
        return None


@pytest.mark.parametrize("lossless", [False, True])
def test_of_a_damaged_webp_that_is_shown_which_pillow_shows(lossless: bool) -> None:
    sound = encode(make_image(4, HEIGHT, WIDTH), "WEBP", lossless=lossless)
    rng = np.random.default_rng(lossless)
    files = [sound, sound + b"\0", sound[:-2], sound[:29]]
    for at in rng.integers(4, 60, 150).tolist():
        files.append(sound[:at] + rng.bytes(1) + sound[at + 1 :])
    shown = 0
    for data in files:
        expected, found = by_pillow(data), by_reader(data)
        assert (found is None) == (expected is None)
        if expected is not None:
            shown += 1
            assert np.array_equal(found, expected)
    assert 0 < shown < len(files)


def test_a_profile_for_other_colours_than_a_pngs_is_not_remarked_on_for_each_sample(
    capfd: pytest.CaptureFixture[str],
) -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data = encode(make_image(4, HEIGHT, WIDTH).convert("L"), "PNG", icc_profile=profile)
    assert np.array_equal(by_reader(data, "png"), by_pillow(data))
    assert capfd.readouterr().err == ""
