"""Samples as the report reads them, in processes that may die.

Samples come in the order of the shards, some dozens to a process at a time, all of which are
prefetched from a store. After a crash they are read one by one, so that the sample is named.
"""

import io
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.inspect.dataset import reason_of
from packer.inspect.report.annotations import Annotated, Points, Reading, annotated
from packer.isolated import Crashed, map_isolated
from packer.progress import Advance, Progress
from reader.decode.decoder import Decoder
from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.errors import SampleError
from reader.fields.sample import WholeSamples
from reader.format import ShardfeedError
from reader.format.errors import DecodeError
from reader.format.frames import STORED, UPRIGHT, Frame, Packed, frame_in
from reader.format.members import PHOTOGRAPHS, picture_format
from reader.geometry import Geometry

if TYPE_CHECKING:
    from reader import Dataset

TEXTS = ("json", "txt")
VOID, _BRIGHT = 255, 235  # of a mask, and the grey that shows it
_VALUES = 256  # of a mask, that are counted one by one
_MASKS = re.compile("mask|seg|label|panoptic|instance|ids?$|gt$", re.IGNORECASE)
_AT_ONCE = 64
Result = TypeVar("Result")
Done = tuple[dict[int, Result], dict[int, str]]  # by number the results, or why there is none


class Sample:
    def __init__(self, dataset: "Dataset", number: int) -> None:
        self._shard, self._row = dataset.locate(number)
        self.key = self._shard.index.key(self._row)
        self.name = self._shard.index.name(self._row)

    @property
    def _members(self) -> list[str]:
        index = self._shard.index
        return [ext for ext in index.members if index.span(ext, self._row) is not None]

    @cached_property
    def data(self) -> bytes:
        """The image's bytes; SampleError: they are not those that were packed."""
        image = self._shard.image(self._row)
        data = bytes(image.read(0, image.size))
        if zlib.crc32(data) != self._shard.index.columns["crc32"][self._row]:
            raise SampleError("its bytes are not those that were packed")
        return data

    @property
    def digest(self) -> int:
        return xxhash.xxh3_64_intdigest(self.data)

    @cached_property
    def _image(self) -> StoredImage:
        content = memoryview(self.data)
        image = self._shard.image(self._row)
        return replace(image, read=lambda start, stop: content[start:stop])

    @property
    def size(self) -> tuple[int, int]:
        return self._image.upright_size

    def drawn(self, longest: int) -> NDArray[np.uint8]:
        height, width = self.size
        scale = min(1.0, longest / max(height, width))
        geometry = Geometry.of(height, width)
        geometry.resize(max(round(height * scale), 1), max(round(width * scale), 1))
        view = plan(self._image, geometry)
        out = np.empty((*view.size, 3), np.uint8)
        Decoder().draw(view, out)
        return out

    def annotated(self, reading: Reading) -> tuple[Annotated, str]:
        """Read annotations, in fractions of the upright image; or nothing, and why not."""
        texts = ((ext, self._shard.read(self._row, ext)) for ext in self._members if ext in TEXTS)
        try:
            found = annotated(texts, reading)
            if len(found.boxes) or found.outlines:
                frame = self._frame(found.ext)
                found = found.carried(self._way(frame, is_normalized=reading.normalized))
                found = found.cropped() if frame.image.is_fitted else found
        except (ValueError, RecursionError) as error:
            return Annotated(), str(error)
        return found, ""

    def _frame(self, ext: str) -> Frame:
        columns = self._shard.index.columns
        recorded = frame_in(columns, self._row, ext)
        is_upright = recorded == UPRIGHT or (recorded != STORED and ext == "txt")
        return Frame(Packed.of_row(columns, self._row), is_upright)

    def _way(self, frame: Frame, *, is_normalized: bool) -> Callable[[Points], Points]:
        """Return what maps coordinates in a frame to fractions of the upright image."""
        scale = frame.size[::-1] if is_normalized else (1, 1)
        view = plan(self._image, Geometry.of(*self.size))
        return lambda points: view.carry(frame.to_stored(points * scale)) / view.size[::-1]

    def masks(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield upright pictures of classes: of colours by the name, never of depths."""
        for ext in self._members:
            kind, name = picture_format(ext), ext.rpartition(".")[0]
            if kind is None or kind in PHOTOGRAPHS:
                continue
            values = WholeSamples(self._shard).member(self._row, ext)
            is_grey = values.ndim == 2 and "depth" not in name.lower()
            if is_grey or _MASKS.search(name):
                view = plan(self._shard.image(self._row), Geometry.of(*self.size))
                values = values.swapaxes(0, 1) if view.transpose else values
                yield ext, values[:: -1 if view.vflip else 1, :: -1 if view.hflip else 1]


def mask_values(mask: NDArray[Any]) -> NDArray[np.bool_] | None:
    """Which of 256 values occur; None of a mask whose values are colours, or of more bits."""
    if mask.ndim != 2 or mask.dtype != np.uint8:
        return None
    return np.bincount(mask.ravel(), minlength=_VALUES) > 0


def mask_as_png(mask: NDArray[Any], height: int, width: int) -> bytes:
    """Return a PNG of this size with a colour for each value; 0 is clear."""
    from PIL import Image

    from reader.look.sheet import color_of

    rows = (np.arange(height) * mask.shape[0]) // height
    columns = (np.arange(width) * mask.shape[1]) // width
    small, options = mask[rows][:, columns], {}
    if small.ndim == 2:
        numbers = np.where(small == 0, 0, (small.astype(np.int64) - 1) % (_VALUES - 1) + 1)
        image = Image.fromarray(numbers.astype(np.uint8)).convert("P")
        colours = [
            (_BRIGHT,) * 3 if number == VOID else color_of(number) for number in range(_VALUES)
        ]
        image.putpalette([value for colour in colours for value in colour])
        options = {"transparency": 0}
    else:
        image = Image.fromarray(small[..., :3].astype(np.uint8))
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True, **options)
    return file.getvalue()


@dataclass(frozen=True)
class Samples:
    dataset: "Dataset"
    reading: Reading  # how their boxes are given
    jobs: int
    progress: Progress

    def map(
        self, act: Callable[[Sample], Result], numbers: Sequence[int], phase: str
    ) -> Done[Result]:
        """Call `act`, which pickles, with each of these samples."""
        done: Done[Result] = {}, {}
        results, damages = done
        work, ordered = partial(_act, self.dataset.for_workers(), act), sorted(numbers)
        batches = (ordered[start : start + _AT_ONCE] for start in range(0, len(ordered), _AT_ONCE))
        if not ordered:
            return done

        def place(batch: list[int]) -> str:
            return f"samples {batch[0]} to {batch[-1]} of {self.dataset.source}"

        def single(batch: list[int]) -> Iterator[list[int]]:
            return ([number] for number in batch)

        with self.progress.phase(phase, len(ordered), "samples") as advance:
            for part in map_isolated(work, batches, self.jobs, advance, place, single):
                if not isinstance(part, Crashed):
                    results |= part[0]
                    damages |= part[1]
                elif (number := part.item[0]) not in results:
                    damages.setdefault(number, f"decoding it ends the process ({part.cause})")
        return done


def _act(
    dataset: "Dataset", act: Callable[[Sample], Result], batch: list[int], advance: Advance
) -> Done[Result]:
    results: dict[int, Result] = {}
    damages: dict[int, str] = {}
    for number in batch if dataset.fetching is not None else ():
        shard, row = dataset.locate(number)
        shard.read_ahead(row, 0, 1)
    for number in batch:
        try:
            results[number] = act(Sample(dataset, number))
        except (ShardfeedError, DecodeError) as error:
            damages[number] = reason_of(error)
        advance(1)
    return results, damages
