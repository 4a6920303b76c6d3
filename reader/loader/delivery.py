"""Give the images of a loader's batches the form that the end of its transforms describes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from reader.batch.nested import map_leaves
from reader.fields.columns import BatchSchema
from reader.fields.field import Recipe
from reader.loader.images import images_of
from reader.transforms.batches.erasing import Rows
from reader.transforms.batches.normalisation import Normaliser, check_scale, normalisation
from reader.transforms.batches.output import Output


class Delivery:
    """Makes floats of the images of batches, and erases boxes of them.

    Args:
        output: what images become.
        channels: of an image, None if that is unknown.
        places: of the images in a batch, a tuple.
        erased: place of the images that boxes are erased of, None without one.
        views: number of views of these.
        seed: determines the boxes.
        count: positions in an epoch.
    """

    def __init__(
        self,
        output: Output,
        channels: int | None,
        places: Sequence[int],
        erased: int | None,
        views: int,
        seed: int,
        count: int,
    ) -> None:
        mean, std = (output.mean, output.std) if output.is_normalised else (None, None)
        wanted = normalisation(mean, std, output.dtype, torch.preserve_format, channels)
        self.output = output
        self._wanted = wanted
        self._places = places
        self._erased = erased
        self._views = views
        self._seed = seed
        self._count = count
        self._normalise = Normaliser(wanted, torch.device("cpu"))

    @classmethod
    def of(
        cls, output: Output, schema: BatchSchema, recipe: Recipe, channels: int | None, count: int
    ) -> "Delivery":
        """Return the delivery of a loader's batches."""
        places = [at for at, (view, *_) in enumerate(schema.fields) if view.is_image]
        erased = recipe.names.index("image") if "image" in recipe.names else None
        views = 1 if erased is None else len(schema.fields[erased])
        return cls(output, channels, places, erased, views, recipe.seed, count)

    def __call__(self, batch: tuple[Any, ...], positions: NDArray[np.int64]) -> tuple[Any, ...]:
        """Return a batch of rows at these positions, over all epochs."""
        found = images_of(batch, self._places, self._wanted)
        for image in found:
            if image.is_floating_point():  # one image of a batch shows the scale
                check_scale(image[(0,) * (image.dim() - 3)])
        images = {id(image) for image in found}
        made: tuple[Any, ...] = map_leaves(
            batch, lambda leaf: self._normalise(leaf) if id(leaf) in images else leaf
        )
        self.erase(made, positions, self.output)
        return made

    def erase(self, batch: Any, positions: NDArray[np.int64], output: Output) -> None:
        """Erase boxes of float images on any device, in place."""
        if self._erased is None or not output.erasings:
            return
        epochs, inside = np.divmod(positions, self._count)
        rows, given = Rows(self._seed, epochs, inside), batch[self._erased]
        for view, images in enumerate(given if self._views > 1 else [given]):
            sizes = np.array([_size(image) for image in images])
            for number, erasing in enumerate(output.erasings):
                for boxes in erasing.draw(sizes, rows, f"RandomErasing/{view}/{number}"):
                    erasing.apply(images, boxes)


def _size(image: Any) -> Sequence[int]:
    """Return the height and width of an image of floats; nothing is erased of others."""
    is_image = isinstance(image, torch.Tensor) and image.dim() == 3 and image.is_floating_point()
    return image.shape[-2:] if is_image else (0, 0)
