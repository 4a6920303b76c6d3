"""One sample: from its number to the values of its fields."""

import time
from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from reader.dataset.dataset import Dataset
from reader.dataset.shard import Shard
from reader.decode.decoder import Decoder, Pixels
from reader.decode.formats import read_values
from reader.decode.plan import plan
from reader.errors import ReaderError, SampleError, UserCodeError, called
from reader.fields.built_in import BUILT_IN
from reader.fields.decoded_cache import DecodedImages
from reader.fields.field import Field, Recipe, Sample, Tools
from reader.fields.pixels import Planned, pixel_source
from reader.fields.seeding import is_users, seed_sample
from reader.fields.values import channels_last
from reader.format.bands import bands_of
from reader.format.errors import DecodeError
from reader.format.members import DECODERS, PHOTOGRAPHS, kind_of, picture_format
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.pipeline import Stage, members, pixel_transforms, staged, transformed


class Filtered(SampleError):
    """A sample for which `map_sample` returned None."""


class SampleReader:
    def __init__(
        self, dataset: Dataset, recipe: Recipe, decoded: DecodedImages | None = None
    ) -> None:
        self._dataset = dataset
        self._recipe = recipe
        decoder = Decoder()
        self.source = pixel_source(decoder, decoded)
        self.tools = Tools(decoder, self.source)
        is_mapped = recipe.map_sample is not None
        read = [field for field in recipe.fields if field.is_stored or is_mapped]
        self._reads = [(field.name, self._seeded(field)) for field in read]
        self._pipelines = recipe.transforms, *recipe.further
        self._is_staged = any(map(pixel_transforms, self._pipelines))
        self._are_drawn = any(is_users(one) for each in self._pipelines for one in members(each))
        self._has_image = "image" in recipe.names
        fields = (*BUILT_IN.values(), *recipe.fields)
        self._read_only = {field.name: field for field in fields if field.is_read_only}
        self._pictures = [field.name for field in recipe.fields if field.is_picture]
        self._mapped_names = set(recipe.names) - self._read_only.keys()
        self.transforming = 0  # ns spent in the transforms' and the user's code

    def plan(self, number: int, epoch: int, position: int) -> Planned:
        """Plan the views of a sample, and let the system read its bytes ahead."""
        shard, row = self._dataset.locate(number)
        image = self.source.found(number, self._dataset.image_of(shard, row))
        label = int(shard.index.columns["label"][row])
        rng = SampleRandom(self._recipe.seed, epoch, position)
        try:
            if self._are_drawn:
                seed_sample(self._recipe.seed, epoch, position, "transforms")
            geometries, stages = self._transformed(image.upright_size, rng)
            views = drawn = tuple(map(plan, repeat(image), geometries))
            if any(len(each) > 1 for each in stages):
                drawn = tuple(plan(image, each[0].geometry) for each in stages)
        except (DecodeError, ReaderError) as error:
            raise shard.error(row, str(error)) from error
        result = self.source.result(number, drawn[0].size)
        if self._has_image and result is None:
            starts, stops = zip(*[view.needs for view in drawn], strict=True)
            shard.read_ahead(row, min(starts), max(stops))
        first = stages[0][0].geometry if stages else geometries[0]
        mirrored = first.hflip, first.vflip
        whose = shard, row, number, epoch, position, label
        return Planned(*whose, views, drawn, stages, mirrored, result)

    def _seeded(self, field: Field) -> Callable[[Planned, Tools], Any]:
        """Return what reads a field, with seeds for each sample if it may draw numbers."""
        if not field.draws:
            return field.read

        def read(planned: Planned, tools: Tools) -> Any:
            seed_sample(self._recipe.seed, planned.epoch, planned.position, field.name)
            return field.read(planned, tools)

        return read

    def _transformed(
        self, size: tuple[int, int], rng: SampleRandom
    ) -> tuple[Sequence[Geometry], tuple[Sequence[Stage], ...]]:
        """Return the geometry of each view, and its stages if pixels are changed."""
        began = time.perf_counter_ns()
        stages: tuple[Sequence[Stage], ...] = ()
        geometries: Sequence[Geometry]
        try:
            if self._is_staged:
                geometries, stages = zip(
                    *[called("a transform", staged, size, each, rng) for each in self._pipelines],
                    strict=True,
                )
            else:
                geometries = [
                    called("a transform", transformed, size, each, rng) for each in self._pipelines
                ]
        except (DecodeError, ReaderError):
            raise
        except Exception as error:  # of a class of the user's
            raise UserCodeError("a transform", error) from error
        self.transforming += time.perf_counter_ns() - began
        return geometries, stages

    def read(self, planned: Planned, outs: Sequence[Any] = ()) -> Sample:
        """Return the values of the fields after `map_sample`; with several views, lists of them.

        `outs` is memory for the views of the image.
        """
        shard, tools = planned.shard, self.tools
        tools.outs = outs
        sample: Sample = {}
        try:
            for name, read in self._reads:
                sample[name] = read(planned, tools)
        except DecodeError as error:
            raise shard.error(planned.row, str(error)) from error
        if not shard.index.is_whole:  # then values read since `plan` may have been zeros
            raise SampleError(
                f"{shard.index.path} was truncated while it was read. Restore the file."
            )
        return sample if self._recipe.map_sample is None else self._mapped(sample, planned)

    def _mapped(self, sample: Sample, planned: Planned) -> Sample:
        assert self._recipe.map_sample is not None
        key = planned.shard.index.key(planned.row)
        given = {name: sample[name] for name in self._pictures}
        began = time.perf_counter_ns()
        seed_sample(self._recipe.seed, planned.epoch, planned.position)
        try:
            mapped = called("map_sample", self._recipe.map_sample, sample)
        except Exception as error:
            raise UserCodeError("map_sample", error) from error
        self.transforming += time.perf_counter_ns() - began
        if mapped is None:
            raise Filtered(
                f"map_sample returned None for the sample {key!r}. To drop samples, pass "
                'on_error="substitute" (the next one takes its place) or on_error="mask".'
            )
        self._check_mapped(mapped, planned, key)
        try:
            for name, picture in given.items():
                shown = channels_last(mapped[name], picture, self._dataset.channels)
                if shown is not mapped[name]:
                    mapped = mapped | {name: shown}
        except ValueError as error:
            raise planned.shard.error(planned.row, str(error)) from error
        for name in set(self._recipe.names) - self._mapped_names:
            mapped = mapped | {name: self._read_only[name].read(planned, self.tools)}
        return mapped

    def _check_mapped(self, mapped: Any, planned: Planned, key: str) -> None:
        """Refuse results of `map_sample` that would be lost or mistaken."""
        if not isinstance(mapped, dict) or (missing := self._mapped_names - mapped.keys()):
            lost = repr(min(missing)) if isinstance(mapped, dict) else "dict"
            raise ReaderError(
                f"map_sample returned no {lost} for sample {key!r}. Return the dict that it is "
                "called with, changed."
            )
        for name in mapped.keys() - self._mapped_names:
            if name not in self._read_only:
                raise ReaderError(
                    f"map_sample returned {name!r} for sample {key!r}, which is not in fields=. "
                    f'Add "{name}?" to fields= to get it in the batch, or leave it out.'
                )
            if mapped[name] != self._read_only[name].read(planned, self.tools):
                raise ReaderError(
                    f"map_sample changed {name!r} of sample {key!r}, which cannot be changed. "
                    f'Return the value as "my_{name}", and add "my_{name}?" to fields=.'
                )


class WholeSamples:
    def __init__(self, shard: Shard) -> None:
        self._shard = shard
        self._decoder = Decoder()

    def image(self, row: int) -> Pixels:
        return self._decoder.whole(self._shard.image(row))

    def member(self, row: int, ext: str) -> Any:
        has_image, data = self._shard.index.has_images, self._shard.read(row, ext)
        kind = picture_format(ext)
        image = self._shard.image(row) if has_image else None
        try:
            if kind is None:
                return DECODERS.get(kind_of(ext), bytes)(data)
            image = image or self._shard.picture(row, data)
            if kind in PHOTOGRAPHS:
                return self._decoder.whole(image.covered_by(data, kind))
            bands = bands_of(self._shard.index.columns, row, ext)
            view = plan(image, Geometry.of(*image.upright_size)).of_other(data, kind, bands)
            return read_values([view])[0]
        except (DecodeError, MemoryError):
            raise
        except Exception as error:  # decoders may raise anything
            raise DecodeError(str(error) or type(error).__name__) from error
