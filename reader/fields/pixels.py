"""The plan of a sample, and the source of its pixels: decoded, or from memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reader.dataset.shard import Shard
from reader.decode.decoder import Decoder, Pixels, mirror
from reader.decode.plan import View
from reader.decode.stored import StoredImage
from reader.fields.decoded_cache import DecodedImages
from reader.transforms.pipeline import Stage


class Planned(NamedTuple):
    shard: Shard
    row: int
    number: int
    epoch: int
    position: int
    label: int
    views: tuple[View, ...]
    drawn: tuple[View, ...]  # the views as they are decoded: `views`, unless `stages` follow
    stages: tuple[Sequence[Stage], ...]  # what is done with each view after that; () for nothing
    mirrored: tuple[bool, bool]  # the first drawn view, left-right and up-down
    result: Pixels | None  # the first drawn view before mirroring, if it is in memory

    @property
    def view(self) -> View:
        return self.views[0]

    @property
    def valid(self) -> None:
        """Return None: the batch has it."""

    @property
    def key(self) -> str:
        return self.shard.index.key(self.row)

    @property
    def name(self) -> str:
        return self.shard.index.name(self.row)


class PixelSource:
    cached = 0  # images that were not decoded

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder

    def found(self, number: int, image: StoredImage) -> StoredImage:
        return image

    def result(self, number: int, size: tuple[int, int]) -> Pixels | None:
        """Return the first view of a sample before mirroring, if it is in memory."""
        return None

    def draw(self, planned: Planned, outs: Sequence[Pixels]) -> None:
        """Write the drawn views of a sample's image to `outs`."""
        self._decoder.draw_all(planned.drawn, outs)


class CachedImages(PixelSource):
    """Keeps whole images in memory: a missing one is decoded whole and kept."""

    def __init__(self, decoder: Decoder, images: DecodedImages) -> None:
        super().__init__(decoder)
        self._images = images

    def found(self, number: int, image: StoredImage) -> StoredImage:
        return replace(image, pixels=self._images.find(number, image.height, image.width))

    def draw(self, planned: Planned, outs: Sequence[Pixels]) -> None:
        before = self._decoder.decodes
        self._decoder.draw_all(self._of_whole(planned.number, planned.drawn), outs)
        self.cached += self._decoder.decodes == before

    def _of_whole(self, number: int, views: Sequence[View]) -> Sequence[View]:
        """Return the views with the whole image, which is decoded if one of them can use it."""
        image = views[0].image
        if image.pixels is not None or all(view.eighths < 8 for view in views):
            return views
        pixels = self._decoder.stored(image)
        if pixels is None:
            return views
        image = replace(image, pixels=self._images.keep(number, pixels))
        return [replace(view, image=image) for view in views]


class CachedResults(CachedImages):
    """Keeps transformed images in memory; the transforms give one view."""

    def found(self, number: int, image: StoredImage) -> StoredImage:
        return image

    def result(self, number: int, size: tuple[int, int]) -> Pixels | None:
        return self._images.find(number, *size)

    def draw(self, planned: Planned, outs: Sequence[Pixels]) -> None:
        if planned.result is not None:
            mirror(planned.result, *planned.mirrored, outs[0])
            self.cached += 1
            return
        self._decoder.draw_all(planned.drawn, outs)
        plain = np.empty_like(outs[0])
        mirror(outs[0], *planned.mirrored, plain)
        self._images.keep(planned.number, plain)


def pixel_source(decoder: Decoder, images: DecodedImages | None) -> PixelSource:
    if images is None:
        return PixelSource(decoder)
    return (CachedResults if images.of_results else CachedImages)(decoder, images)
