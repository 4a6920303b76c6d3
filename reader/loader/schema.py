"""What a batch of a recipe looks like: decided once, before the workers start."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NoReturn

from reader.batch.layout import BatchLayout, Column
from reader.checks import is_count
from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError, SampleError, UserCodeError, WorkerError
from reader.gpu_decode.parcels import check_encoded, columns_for
from reader.loader.from_torchvision import as_own
from reader.samples.row_writer import apart, are_views, as_array
from reader.samples.sample import Recipe, Sample, SampleReader
from reader.samples.seeding import kept_generators
from reader.transforms import Transform, largest_output
from reader.workers.stall import named_in_time, within

CANDIDATES = 64  # of which two are looked at, which differ in size
_TRIES = 16  # samples looked at in place of a bad one

Pipeline = tuple[Transform, ...]


def view_pipelines(
    transforms: Sequence[Transform], views: int | Sequence[Sequence[Transform]]
) -> tuple[Pipeline, ...]:
    """The transforms of each view, torchvision's replaced by reader's own.

    Raises:
        ArgumentError: they are not transforms, or there is no view.
    """
    transforms = as_own(transforms)
    if not (is_count(views) or (isinstance(views, Sequence) and views)):
        raise ArgumentError(
            "views is an integer of at least 1, or a list of transforms for each view, not "
            f"{views!r:.200}."
        )
    pipelines = (
        list(map(as_own, views)) if isinstance(views, Sequence) else [transforms] * int(views)
    )
    for pipeline in (transforms, *pipelines):
        if not isinstance(pipeline, Sequence) or not all(map(_is_transform, pipeline)):
            raise ArgumentError(
                "transforms is a list of reader's transforms, of torchvision's that have the same "
                f"names, or of classes with an apply method, not {pipeline!r:.200}. Leave it out "
                "for none; torchvision's other transforms and albumentations' are called in "
                "map_sample=."
            )
    if transforms and isinstance(views, Sequence):
        raise ArgumentError("Give the transforms of each view in views=, and no transforms=.")
    return tuple(tuple(pipeline) for pipeline in pipelines)


def _is_transform(given: object) -> bool:
    """Whether it is one of ours: other libraries' have an `apply` too, but are called."""
    return hasattr(given, "apply") and not callable(given)


def batch_layout(
    dataset: Dataset,
    recipe: Recipe,
    batch_size: int,
    is_batched: bool,
    candidates: Sequence[int],
    skips_bad: bool,
    timeout: float,
) -> BatchLayout:
    """The arrays of a batch.

    What `map_sample` gives is learnt from two samples, of images that differ in size if there are
    such: a field of one shape in both lies in an array; else its rows come as a list.

    Args:
        dataset: knows the images' sizes.
        recipe: of the samples.
        batch_size: rows.
        is_batched: fields of one type and shape lie in arrays; else a `collate_fn` batches them.
        candidates: sample numbers, of which sound ones tell types and shapes.
        skips_bad: whether the first may be a bad one, if others are sound.
        timeout: seconds that reading one of them may take; 0 for no end.

    Raises:
        ArgumentError: several views need what they do not have.
        SampleError: none of the candidates can be read.
        WorkerError: one takes longer than `timeout`.
    """
    read = partial(_read, dataset, recipe, timeout)
    pipelines = (recipe.transforms, *recipe.further)
    rooms = [largest_output(pipeline, dataset.sizes) for pipeline in pipelines]
    sizes, is_one_size = [size for size, _ in rooms], all(one_size for _, one_size in rooms)
    is_mapped = recipe.map_sample is not None
    if recipe.further and not is_one_size and not is_mapped:
        raise ArgumentError("Several views need transforms that give all images one size.")
    columns = [Column("size", "<i8", (2,))] if "size" in recipe.names else []
    if recipe.is_encoded:
        others = {
            "several views": bool(recipe.further),
            "map_sample": is_mapped,
            "collate_fn": not is_batched,
            "masks, boxes or further pictures": any(m.follows_image for m in recipe.members),
            "Dataset(channels=1)": dataset.channels == 1,
            "antialias= or interpolation=": any(getattr(t, "filter", None) for t in pipelines[0]),
        }
        check_encoded(recipe.names, others, is_one_size)
        columns += columns_for(dataset, sizes[0])
    first: Sample | None = None
    if is_batched and (is_mapped or any(member.is_learnt for member in recipe.members)):
        first = _first_sound(read, candidates[: _TRIES if skips_bad else 1])
    views = _views(recipe, first)
    if first is not None:
        first = apart(first, views)
        columns += _learn(recipe, first, views, sizes)
    if recipe.is_encoded:
        return BatchLayout(batch_size, (0, 0), tuple(columns), encoded=sizes[0])
    listed: set[str] = set()
    if not is_one_size and not is_mapped:
        listed = {"image", *(column.name for column in columns if column.is_picture)}
    elif not is_one_size and first is not None:
        other = _of_other_size(dataset, read, candidates, views)
        listed = set() if other is None else _unlike(columns, other)
    room = (0, 0) if "image" not in recipe.names or is_mapped else sizes[0]
    if room != (0, 0):
        for name, size in zip(views.get("image", ())[1:], sizes[1:], strict=True):
            columns.append(Column(name, "|u1", (*size, dataset.channels)))
    return BatchLayout(
        batch_size,
        room,
        tuple(columns),
        views=views,
        listed=frozenset(listed),
        channels=dataset.channels,
    )


def _views(recipe: Recipe, first: Sample | None) -> dict[str, tuple[str, ...]]:
    """The names of `BatchLayout.views`.

    What `map_sample` gives goes apart where it is a list of views in the first sample; without
    one, `collate_fn` gets it as it is.
    """
    count = 1 + len(recipe.further)
    names = recipe.shown_names if recipe.further else []
    if recipe.map_sample is not None:
        names = [name for name in names if first is not None and are_views(first[name], count)]
    return {name: (name, *(f"{name}/{view}" for view in range(1, count))) for name in names}


def _read(dataset: Dataset, recipe: Recipe, timeout: float, number: int) -> Sample:
    """A sample as a worker would read it first.

    Raises:
        SampleError: it cannot be read.
        WorkerError: it takes longer than `timeout`.
        Exception: what the user's own code raised.
    """
    number %= len(dataset)
    reader = SampleReader(dataset, recipe)

    def give_up() -> NoReturn:
        raise WorkerError(
            f"{named_in_time(dataset, number)} took longer than timeout={timeout:g} allows, before "
            "the workers began: map_sample or a decoder hangs, or the disk."
        )

    def read() -> Sample:
        return reader.read(reader.plan(number, 0, 0))

    with kept_generators():
        try:
            return within(timeout, read, give_up) if timeout else read()
        except UserCodeError as found:
            raised = found
    raise raised.at(dataset.describe(number))


def _first_sound(read: Callable[[int], Sample], candidates: Sequence[int]) -> Sample:
    try:
        return read(candidates[0])
    except SampleError:
        if len(candidates) == 1:
            raise
    return _first_sound(read, candidates[1:])


def _of_other_size(
    dataset: Dataset,
    read: Callable[[int], Sample],
    candidates: Sequence[int],
    views: Mapping[str, Sequence[str]],
) -> Sample | None:
    """One whose image is not as large as that of the first candidate, if such a one is sound."""

    def size_of(number: int) -> tuple[int, int]:
        shard, row = dataset.locate(number % len(dataset))
        return dataset.image_of(shard, row).upright_size

    others = (number for number in candidates[1:] if size_of(number) != size_of(candidates[0]))
    try:
        return apart(_first_sound(read, list(islice(others, _TRIES))), views)
    except WorkerError:
        raise  # it hangs
    except Exception:
        # The batch that it comes in raises it; a sampler may have none that it comes in.
        return None


def _unlike(columns: Sequence[Column], sample: Sample) -> set[str]:
    """The columns whose field has another shape in this sample."""
    values = [as_array(sample[column.name]) for column in columns]
    return {
        column.name
        for column, value in zip(columns, values, strict=True)
        if value is None or value.shape != column.shape
    }


def _learn(
    recipe: Recipe,
    sample: Sample,
    views: Mapping[str, Sequence[str]],
    rooms: Sequence[tuple[int, int]],
) -> list[Column]:
    """The arrays that a sample's fields need; `rooms`: the size of each view's largest picture."""
    is_mapped = recipe.map_sample is not None
    if is_mapped:
        names, pictures = recipe.mapped_names, set()
    else:
        names = {member.name for member in recipe.members if member.is_learnt}
        pictures = {member.name for member in recipe.members if member.decode is None}
    columns = []
    for name in sorted(names):
        is_picture = name in pictures
        for part, room in zip(views.get(name, (name,)), rooms, strict=False):
            if (value := as_array(sample[part])) is not None:
                shape = (*room, *value.shape[2:]) if is_picture else value.shape
                columns.append(Column(part, value.dtype.str, shape, is_picture, is_mapped))
    return columns
