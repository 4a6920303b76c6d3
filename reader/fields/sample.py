"""One sample: from its number to the values of its fields."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reader.dataset.dataset import Dataset
from reader.dataset.shard import Shard
from reader.decode.decoder import Decoder, Pixels
from reader.decode.formats import read_values
from reader.decode.plan import plan
from reader.errors import ReaderError, SampleError, UserCodeError, called, own_lines
from reader.fields.decoded_cache import DecodedImages
from reader.fields.field import PHOTOGRAPHS, ResolvedField, Tools, written
from reader.fields.pixels import PixelSource, Planned, pixel_source
from reader.fields.seeding import seed_sample
from reader.format.bands import bands_of
from reader.format.errors import DecodeError
from reader.format.members import DECODERS, kind_of, picture_format
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms import Transform, transformed

Sample = dict[str, Any]

# Fields that `map_sample` cannot change.
READ_ONLY = frozenset({"index", "valid", "key", "name", "size", "source"})


@dataclass(frozen=True)
class Recipe:
    transforms: tuple[Transform, ...] = ()
    seed: int = 0
    names: tuple[str, ...] = ("image", "label")
    members: tuple[ResolvedField, ...] = ()
    map_sample: Callable[[Sample], Sample | None] | None = None
    further: tuple[tuple[Transform, ...], ...] = ()

    @property
    def mapped_names(self) -> set[str]:
        return set(self.names) - READ_ONLY

    @property
    def picture_names(self) -> frozenset[str]:
        """The fields that are delivered like images, (channels, height, width), if in colour."""
        return frozenset({"image"} | {m.name for m in self.members if m.is_picture})

    @property
    def shown_names(self) -> list[str]:
        shown = {
            "image",
            "geometry",
            *(member.name for member in self.members if member.follows_image),
        }
        return [name for name in self.names if name in shown]


class Filtered(SampleError):
    """A sample for which `map_sample` returned None."""


class SampleReader:
    def __init__(
        self,
        dataset: Dataset,
        recipe: Recipe,
        decoded: DecodedImages | None = None,
        source: Callable[[Decoder, DecodedImages | None], PixelSource] = pixel_source,
    ) -> None:
        self._dataset = dataset
        self._recipe = recipe
        self.tools = Tools(Decoder())
        self.source = source(self.tools.decoder, decoded)
        self._read_only = READ_ONLY.intersection(recipe.names)
        self.transforming = 0  # ns spent in the transforms' and the user's code

    def plan(self, number: int, epoch: int, position: int) -> Planned:
        """Plan the views of a sample, and let the system read its bytes ahead."""
        shard, row = self._dataset.locate(number)
        image = self.source.found(number, self._dataset.image_of(shard, row))
        label = int(shard.index.columns["label"][row])
        rng = SampleRandom(self._recipe.seed, epoch, position)
        try:
            geometries = self._transformed(image.upright_size, rng)
            views = [plan(image, geometry) for geometry in geometries]
        except (DecodeError, ReaderError) as error:
            raise shard.error(row, str(error)) from error
        result = self.source.result(number, views[0].size)
        if "image" in self._recipe.names and result is None:
            starts, stops = zip(*[view.needs for view in views], strict=True)
            shard.read_ahead(row, min(starts), max(stops))
        mirrored = geometries[0].hflip, geometries[0].vflip
        return Planned(shard, row, number, epoch, position, label, tuple(views), mirrored, result)

    def _transformed(self, size: tuple[int, int], rng: SampleRandom) -> list[Geometry]:
        began = time.perf_counter_ns()
        pipelines = (self._recipe.transforms, *self._recipe.further)
        try:
            geometries = [
                called("a transform", transformed, size, pipeline, rng) for pipeline in pipelines
            ]
        except (DecodeError, ReaderError):
            raise
        except Exception as error:  # of a class of the user's
            raise UserCodeError("a transform", error) from error
        self.transforming += time.perf_counter_ns() - began
        return geometries

    def read(self, planned: Planned, outs: Sequence[Pixels] | None = None) -> Sample:
        """Return the values of the fields after `map_sample`; with several views, lists of them."""
        shard, row = planned.shard, planned.row
        sample: Sample = {}
        for name in self._recipe.names:
            if name == "image":
                try:
                    sample[name] = self.source.image(planned, outs)
                except DecodeError as error:
                    raise shard.error(row, str(error)) from error
            elif name == "label":
                sample[name] = planned.label
            elif name == "geometry":
                matrices = [view.matrix for view in planned.views]
                sample[name] = matrices if self._recipe.further else matrices[0]
            elif name in READ_ONLY:
                sample[name] = planned.value(name)
        for member in self._recipe.members:
            sample[member.name] = self._member(planned, member)
        if not shard.index.is_whole:  # then values read since `plan` may have been zeros
            raise SampleError(
                f"{shard.index.path} was truncated while it was read. Restore the file."
            )
        return sample if self._recipe.map_sample is None else self._mapped(sample, planned)

    def _member(self, planned: Planned, member: ResolvedField) -> Any:
        shard, row = planned.shard, planned.row
        shown: Sequence[Any]
        if shard.index.span(member.ext, row) is not None:
            data = shard.read(row, member.ext)
            try:
                shown = member.shown(data, planned, self.tools)
            except (MemoryError, SampleError):
                raise  # the member is not to blame, or the error says all
            except Exception as error:  # a user's decoder may raise anything
                is_own = getattr(member.field, "decode", None) is not None
                reason = f"; decode= raised:\n{own_lines(error)}" if is_own else f" ({error})"
                reason = f"its .{member.ext} cannot be decoded{reason}"
                raise shard.error(row, reason, member.ext) from error
        elif not member.is_optional:
            what = "None" if member.absent is None else f"no {member.name}"
            advice = f'to get {what} for it, write "{written(member.field)}?" in fields='
            raise shard.error(row, f"it has no member .{member.ext}; {advice}", member.ext)
        else:
            shown = [member.absent] * len(planned.views)
        return shown if self._recipe.further and member.follows_image else shown[0]

    def _mapped(self, sample: Sample, planned: Planned) -> Sample:
        assert self._recipe.map_sample is not None
        key = planned.shard.index.key(planned.row)
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
        if self._read_only:
            mapped = mapped | {name: planned.value(name) for name in self._read_only}
        return mapped

    def _check_mapped(self, mapped: Any, planned: Planned, key: str) -> None:
        """Refuse results of `map_sample` that would be lost or mistaken."""
        if not isinstance(mapped, dict) or (missing := self._recipe.mapped_names - mapped.keys()):
            lost = repr(min(missing)) if isinstance(mapped, dict) else "dict"
            raise ReaderError(
                f"map_sample returned no {lost} for sample {key!r}. Return the dict that it is "
                "called with, changed."
            )
        for name in mapped.keys() - self._recipe.mapped_names:
            if name not in READ_ONLY:
                raise ReaderError(
                    f"map_sample returned {name!r} for sample {key!r}, which is not in fields=. "
                    f'Add "{name}?" to fields= to get it in the batch, or leave it out.'
                )
            if mapped[name] != planned.value(name):
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
