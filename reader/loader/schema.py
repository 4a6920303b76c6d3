"""Choose the columns of a recipe's batches, once, before the workers start."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, NoReturn

from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError, SampleError, UserCodeError, WorkerError
from reader.fields.column import (
    Column,
    LabelColumn,
    OwnColumn,
    SourceColumn,
    TextColumn,
    ViewsColumn,
)
from reader.fields.encoded import EncodedColumn
from reader.fields.image import ImageColumn
from reader.fields.kinds import Seen, kind_for
from reader.fields.member import ArrayColumn, MemberColumn
from reader.fields.members import JsonField
from reader.fields.raw import can_gather
from reader.fields.sample import Recipe, Sample, SampleReader
from reader.fields.schema import BatchSchema
from reader.fields.seeding import kept_generators
from reader.fields.values import PictureForm, are_views, as_array
from reader.monitoring.stalls import named_in_time, within
from reader.transforms import largest_output

CANDIDATES = 64  # samples among which two that differ in size are read
_TRIES = 16  # samples read in place of a bad one

_OF_NUMBER: dict[str, Callable[[str], Column]] = {
    "index": OwnColumn,
    "valid": OwnColumn,
    "key": TextColumn,
    "name": TextColumn,
    "size": partial(LabelColumn, shape=(2,), absent=0),  # height and width
    "source": SourceColumn,
}


def batch_schema(
    dataset: Dataset,
    recipe: Recipe,
    batch_size: int,
    candidates: Sequence[int],
    *,
    decode: str = "cpu",
    is_batched: bool = True,
    skips_bad: bool = False,
    timeout: float = 0,
) -> BatchSchema:
    """Return the columns of a batch.

    The results of `map_sample` are determined from two samples, with images of different sizes if
    possible: a field with the same shape in both is an array; otherwise its rows are a list. The
    first of the `candidates` may be bad if `skips_bad`; reading one may take `timeout` seconds.
    """
    rooms = [largest_output(p, dataset) for p in (recipe.transforms, *recipe.further)]
    sizes, is_one_size = [size for size, _ in rooms], all(one_size for _, one_size in rooms)
    is_mapped = recipe.map_sample is not None
    if recipe.further and not is_one_size and not is_mapped:
        raise ArgumentError(
            "Several views need transforms that give all images one size, such as "
            "transforms=[reader.RandomResizedCrop(224)]."
        )
    images: list[Column]
    if decode != "cpu":
        other = {"collate_fn": not is_batched}
        images = [EncodedColumn.of(dataset, recipe, sizes[0], decode, is_fit=is_one_size, **other)]
    else:
        channels, names = dataset.channels, _view_names("image", len(sizes))
        images = [
            ImageColumn(part, room=room, channels=channels, is_listed=not is_one_size)
            for part, room in zip(names, sizes, strict=True)
        ]
    read = partial(_read, dataset, recipe, images[0], timeout)
    first, second = None, None
    if is_batched and (is_mapped or any(member.is_learnt for member in recipe.members)):
        first = _first_readable(read, candidates[: _TRIES if skips_bad else 1])
        if is_mapped and not is_one_size:
            second = _of_other_size(dataset, read, candidates)
    form = PictureForm(dataset.channels, is_mapped)
    numbers = [number % len(dataset) for number in candidates]
    of_json = {
        member.name: member.common(dataset, numbers)
        for member in recipe.members
        if is_batched and isinstance(member, JsonField) and not (is_mapped or member.is_optional)
    }
    chosen = _Chooser(recipe, form, images, sizes, is_one_size, first, second, of_json)
    columns = tuple(map(chosen.column, recipe.names))
    is_gathered = all(c.is_gathered for c in columns) and any(c is images[0] for c in columns)
    is_gathered = is_gathered and can_gather(dataset, recipe.transforms)
    return BatchSchema(batch_size, columns, is_gathered)


@dataclass(frozen=True)
class _Chooser:
    recipe: Recipe
    form: PictureForm
    images: Sequence[Column]
    sizes: Sequence[tuple[int, int]]
    is_one_size: bool
    first: Sample | None
    second: Sample | None
    of_json: Mapping[str, NDArray[Any] | None]  # values of JSON fields whose samples are alike

    def column(self, name: str) -> Column:
        if name in _OF_NUMBER:
            return _OF_NUMBER[name](name)
        if not self._has_views(name):
            return self._part(name, name, 0)
        names = enumerate(_view_names(name, len(self.sizes)))
        return ViewsColumn(name, views=tuple(self._part(name, part, at) for at, part in names))

    def _has_views(self, name: str) -> bool:
        """Whether a field comes as a list of views, as in the first sample if it is mapped."""
        if not self.recipe.further or name not in self.recipe.shown_names:
            return False
        if not self.form.is_mapped:
            return True
        return self.first is not None and are_views(self.first[name], len(self.sizes))

    def _part(self, name: str, part: str, view: int) -> Column:
        is_mapped = self.form.is_mapped
        if name == "image" and not is_mapped:
            return self.images[view]
        if name == "label" and not is_mapped:
            return LabelColumn(name)
        if name == "geometry" and not is_mapped:
            return ArrayColumn(part, False, None, "<f4", (2, 3))
        form = self.form if name in self.recipe.picture_names else None
        array = as_array(self._value(self.first, name, view))
        if not is_mapped:
            member = next(member for member in self.recipe.members if member.name == name)
            learnt = array if member.is_learnt else self.of_json.get(name)
            seen = Seen(part, member, form, learnt, self.sizes[view], self.is_one_size)
            return kind_for(member.field).column(seen)
        if array is None:
            return MemberColumn(part, form=form)
        other = as_array(self._value(self.second, name, view))
        is_listed = self.second is not None and (other is None or other.shape != array.shape)
        return ArrayColumn(part, True, form, array.dtype.str, array.shape, is_listed)

    def _value(self, sample: Sample | None, name: str, view: int) -> object:
        if sample is None or not self._has_views(name):
            return None if sample is None else sample[name]
        return sample[name][view] if are_views(sample[name], len(self.sizes)) else None


def _view_names(name: str, count: int) -> list[str]:
    return [name, *(f"{name}/{view}" for view in range(1, count))]


def _read(dataset: Dataset, recipe: Recipe, image: Column, timeout: float, number: int) -> Sample:
    number %= len(dataset)
    reader = SampleReader(dataset, recipe, source=image.pixel_source)

    def fail() -> NoReturn:
        raise WorkerError(
            f"{named_in_time(dataset, number)} took longer than timeout={timeout:g} allows, before "
            "the workers began: map_sample, a decoder or the disk hangs. Give a larger timeout=, "
            "or 0 to wait without limit."
        )

    def read() -> Sample:
        return reader.read(reader.plan(number, 0, 0))

    with kept_generators():
        try:
            return within(timeout, read, fail) if timeout else read()
        except UserCodeError as found:
            raised = found
    raise raised.at(dataset.describe(number))


def _first_readable(read: Callable[[int], Sample], candidates: Sequence[int]) -> Sample:
    try:
        return read(candidates[0])
    except SampleError:
        if len(candidates) == 1:
            raise
    return _first_readable(read, candidates[1:])


def _of_other_size(
    dataset: Dataset, read: Callable[[int], Sample], candidates: Sequence[int]
) -> Sample | None:
    """Return a readable sample with an image of another size than the first candidate's."""

    def size_of(number: int) -> tuple[int, int]:
        shard, row = dataset.locate(number % len(dataset))
        return dataset.image_of(shard, row).upright_size

    others = (number for number in candidates[1:] if size_of(number) != size_of(candidates[0]))
    try:
        return _first_readable(read, list(islice(others, _TRIES)))
    except WorkerError:
        raise  # it hangs
    except Exception:
        # Its batch raises the error, if the sampler chooses it at all.
        return None
