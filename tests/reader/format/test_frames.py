"""The way of points from a picture of the source to the image that is stored of it."""

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from packer.images.encode import UPRIGHT as TRANSPOSES
from packer.images.encode import Policy, encode
from reader.format import frames
from reader.format.frames import Frame, Packed, Picture, doubts_in, frame_columns

sides = st.integers(20, 90)


def ramp(height: int, width: int) -> np.ndarray:
    """Return a picture whose red and green grow with x and y."""
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    return np.stack([across * 2 + 20, down * 2 + 20, across * 0], -1).astype(np.uint8)


def png(pixels: np.ndarray, orientation: int) -> bytes:
    exif = Image.Exif()
    exif[0x112] = orientation
    Image.fromarray(pixels).save(file := io.BytesIO(), "PNG", exif=exif)
    return file.getvalue()


def stored_pixels(encoded: Any) -> np.ndarray:
    if encoded.info.format == "raw":
        shape = encoded.info.height, encoded.info.width, 3
        return np.frombuffer(encoded.data, np.uint8).reshape(shape)
    with Image.open(io.BytesIO(encoded.data)) as image:
        return np.asarray(image.convert("RGB"))


@settings(max_examples=60, deadline=None)
@given(
    sides,
    sides,
    st.sampled_from([*TRANSPOSES, 1]),
    st.one_of(st.tuples(sides, sides), st.integers(16, 60), st.none()),
    st.booleans(),
)
def test_points_go_where_packing_puts_their_pixels(
    height: int, width: int, orientation: int, policy: Any, is_upright: bool
) -> None:
    how: dict[str, Any] = {"raw": policy} if isinstance(policy, tuple) else {"max_side": policy}
    if isinstance(policy, int):
        how["quality"] = 100
    drawn = ramp(height, width)
    if is_upright and orientation != 1:  # what an annotator sees
        back = {6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}
        upright = Picture(height, width, orientation).upright_size
        drawn = ramp(*upright)
        turn = back.get(orientation, TRANSPOSES[orientation])
        data = png(np.asarray(Image.fromarray(drawn).transpose(turn)), orientation)
    else:
        data = png(drawn, orientation)
    encoded = encode(data, Policy(tiled=False, banded=False, **how))
    pixels = stored_pixels(encoded)
    frame = Frame(encoded.packed, is_upright)
    assert frame.size == drawn.shape[:2]
    rows, columns = np.mgrid[2 : pixels.shape[0] - 2 : 5, 2 : pixels.shape[1] - 2 : 5].reshape(
        2, -1
    )
    values = pixels[rows, columns].astype(float)
    own = (values[:, :2] - 20) / 2 + 0.5  # where the pixels' middles come from
    found = frame.to_stored(own)
    scale = max(1.0, np.abs(frame.edges[1] - frame.edges[0]).max() / min(frame.size))
    assert np.abs(found - np.stack([columns, rows], 1) - 0.5).max(initial=0) <= 1.6 * scale


@given(sides, sides, st.sampled_from([*TRANSPOSES, 1]))
def test_to_the_upright_picture_and_back(height: int, width: int, orientation: int) -> None:
    picture = Picture(height, width, orientation)
    points = np.array([(0, 0), (width, height), (3, 7)], np.float64)
    upright = picture.to_upright(points)
    assert np.array_equal(picture.from_upright(upright), points)
    assert upright.min() >= 0
    assert (upright <= picture.upright_size[::-1]).all()


@pytest.mark.parametrize("wanted", [(40, 40), (30, 90), (90, 30), (37, 53)], ids=str)
def test_a_fitted_image_shows_what_pillow_fits(wanted: tuple[int, int]) -> None:
    shown: list[tuple[float, ...]] = []

    class Noting(Image.Image):
        def resize(self, size: Any, method: Any = None, box: Any = None, **_: Any) -> Any:
            shown.append(box)

    from PIL import ImageOps

    noting = Noting()
    noting._size = (81, 60)
    ImageOps.fit(noting, wanted[::-1])
    assert Packed(Picture(60, 81), Picture(*wanted), is_fitted=True).crop == shown[0]


@pytest.mark.parametrize(
    ("picture", "size", "frame"),
    [
        (Picture(60, 80), (60, 80), frames.UNKNOWN),
        (Picture(60, 80), (80, 60), frames.NEITHER),
        (Picture(60, 80, 6), (60, 80), frames.STORED),
        (Picture(60, 80, 6), (80, 60), frames.UPRIGHT),
        (Picture(60, 80, 6), (61, 80), frames.NEITHER),
        (Picture(60, 80, 3), (60, 80), frames.EITHER),
        (Picture(60, 60, 6), (60, 60), frames.EITHER),
    ],
    ids=str,
)
def test_a_size_tells_its_picture(picture: Picture, size: tuple[int, int], frame: int) -> None:
    assert picture.frame_of(*size) == frame


def test_columns_are_there_where_a_row_needs_them() -> None:
    assert frame_columns({}, {}, 3) == {}
    columns = frame_columns({1: Picture(60, 80, 6)}, {"json": {2: 3, 0: 4}}, 3)
    assert {name: column.tolist() for name, column in columns.items()} == {
        "source_height": [0, 60, 0],
        "source_width": [0, 80, 0],
        "source_orientation": [0, 6, 0],
        "json.frame": [4, 0, 3],
    }
    assert doubts_in(columns) == {("json", 3): [2], ("json", 4): [0]}
