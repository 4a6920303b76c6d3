"""Choose the columns of a recipe's batches, once, before the workers start."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NoReturn

from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError, SampleError, UserCodeError, WorkerError
from reader.fields.columns import BatchSchema, Column, ValuesColumn
from reader.fields.field import Field, Recipe, Sample, Seen
from reader.fields.raw import can_gather
from reader.fields.sample import SampleReader
from reader.fields.seeding import kept_generators
from reader.fields.staged import check_changes
from reader.monitoring.stalls import named_in_time, within
from reader.transforms.pipeline import largest_output

CANDIDATES = 64  # samples among which two that differ in size are read
_TRIES = 16  # samples read in place of a bad one


def batch_schema(
    dataset: Dataset,
    recipe: Recipe,
    batch_size: int,
    candidates: Sequence[int],
    *,
    is_batched: bool = True,
    skips_bad: bool = False,
    timeout: float = 0,
) -> BatchSchema:
    """Return the columns of a batch.

    The results of `map_sample` are determined from two samples, with images of different sizes if
    possible: a field with the same shape in both is an array; otherwise its rows are a list. The
    first of the `candidates` may be bad if `skips_bad`; reading one may take `timeout` seconds.
    """
    with kept_generators():  # a transform of the user's may draw from them
        rooms = [largest_output(p, dataset) for p in (recipe.transforms, *recipe.further)]
    sizes, is_one_size = [size for size, _ in rooms], all(one_size for _, one_size in rooms)
    is_mapped = recipe.map_sample is not None
    if recipe.further and not is_one_size and not is_mapped:
        raise ArgumentError(
            "Several views need transforms that give all images one size, such as "
            "transforms=[reader.RandomResizedCrop(224)]."
        )
    candidates = [number % len(dataset) for number in candidates]
    seen = Seen(dataset, recipe, candidates if is_batched else (), sizes, is_one_size)
    check_changes(recipe, dataset.channels)
    for field in recipe.fields:
        field.check(seen)
    if is_batched and (is_mapped or any(field.is_learnt for field in recipe.fields)):
        read = partial(_read, dataset, recipe, timeout)
        first = _first_readable(read, candidates[: _TRIES if skips_bad else 1])
        other = _of_other_size(dataset, read, candidates) if is_mapped and not is_one_size else None
        seen = replace(seen, first=first, other=other)
    columns = tuple(_columns(field, seen) for field in recipe.fields)
    is_plain = not (is_mapped or recipe.further) and "image" in recipe.names
    is_gathered = is_plain and all(field.is_gathered for field in recipe.fields)
    is_gathered = is_gathered and can_gather(dataset, recipe.transforms)
    return BatchSchema(batch_size, columns, is_gathered)


def _columns(field: Field, seen: Seen) -> tuple[Column, ...]:
    is_mapped = seen.recipe.map_sample is not None and not field.is_read_only
    column = partial(_mapped, field) if is_mapped else field.column
    views = len(seen.sizes) if seen.has_views(field) else 1
    return tuple(column(replace(seen, view=view)) for view in range(views))


def _mapped(field: Field, seen: Seen) -> Column:
    """Return a column for what `map_sample` returned for the first samples."""
    name, form = seen.name(field), seen.form(field)
    array, other = seen.array(field, seen.first), seen.array(field, seen.other)
    if array is None:
        return ValuesColumn(name, form=form)
    is_listed = seen.other is not None and (other is None or other.shape != array.shape)
    absent = -1 if field.name == "label" and array.dtype.kind in "if" else 0
    kind, shape = array.dtype.str, array.shape
    return ValuesColumn(name, True, kind, shape, absent, form, is_listed=is_listed)


def _read(dataset: Dataset, recipe: Recipe, timeout: float, number: int) -> Sample:
    reader = SampleReader(dataset, recipe)

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
    for number in candidates[:-1]:
        with suppress(SampleError):
            return read(number)
    return read(candidates[-1])


def _of_other_size(
    dataset: Dataset, read: Callable[[int], Sample], candidates: Sequence[int]
) -> Sample | None:
    """Return a readable sample with an image of another size than the first candidate's."""

    def size_of(number: int) -> tuple[int, int]:
        shard, row = dataset.locate(number)
        return dataset.image_of(shard, row).upright_size

    others = (number for number in candidates[1:] if size_of(number) != size_of(candidates[0]))
    try:
        return _first_readable(read, list(islice(others, _TRIES)))
    except WorkerError:
        raise  # it hangs
    except Exception:
        # Its batch raises the error, if the sampler chooses it at all.
        return None
