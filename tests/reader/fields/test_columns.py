"""Images in rows that have room for the largest."""

from pathlib import Path

import numpy as np
import pytest

from reader import Dataset
from reader.batch.layout import BatchArrays
from reader.fields.columns import BatchSchema, ImageColumn, StoredBatch


@pytest.fixture
def arrays() -> BatchArrays:
    layout = BatchSchema.of_images(3, (4, 6)).layout
    return layout.arrays(np.zeros(layout.slot_bytes, np.uint8))


def test_an_image_smaller_than_its_row_is_given_in_its_own_shape(
    arrays: BatchArrays, packed: Path
) -> None:
    column = ImageColumn.of("image", (4, 6), is_listed=True)
    for row, (height, width) in enumerate([(2, 3), (4, 6), (6, 4)]):
        out = column.out(arrays, row, (height, width))
        assert out is not None
        out[:] = row + 1
        arrays["shape"][row] = height, width
    images = column.deliver(StoredBatch(3, arrays, {}, Dataset(packed)))
    assert [tuple(image.shape) for image in images] == [(3, 2, 3), (3, 4, 6), (3, 6, 4)]
    assert [int(image.min()) for image in images] == [1, 2, 3]
    assert [int(image.max()) for image in images] == [1, 2, 3]


def test_an_image_larger_than_its_row_is_refused(arrays: BatchArrays) -> None:
    with pytest.raises(ValueError, match="5 x 6"):
        ImageColumn.of("image", (4, 6)).out(arrays, 0, (5, 6))
