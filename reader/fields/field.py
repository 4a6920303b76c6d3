"""One field of a loader: how it is read of a sample, its column in a batch, and how it is drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.decode.decoder import Decoder
from reader.fields.columns import Column
from reader.fields.pixels import PixelSource, Planned
from reader.fields.seeding import is_users
from reader.fields.values import PictureForm, are_views, as_array
from reader.transforms.transform import Transform

if TYPE_CHECKING:
    from reader.look.sheet import Tile

Sample = dict[str, Any]


@dataclass
class Tools:
    """What a worker reads samples with, and what it counts."""

    decoder: Decoder
    source: PixelSource
    outs: Sequence[Any] = ()  # the batch's memory for the views of the image; None: not decoded
    dropped_boxes: int = 0
    drawn: int = 0  # images that would otherwise be left to a GPU
    drawing: int = 0  # ns for them
    changing: int = 0  # ns for changes of pixels after decoding


class Field:
    """A field of samples and batches.

    A kind of field is a subclass of this, or of `reader.fields.members.MemberField`. Any object of
    one may be in ``fields=``.
    """

    name: str  # in the dict of a sample

    is_read_only = False  # `map_sample` cannot change it
    is_stored = True  # in batches; otherwise its sample's number tells it
    is_gathered = False  # `RawBatchReader` fills its column
    follows_image = False  # it has a value for each view
    is_learnt = False  # the first sample's value determines its column
    is_picture = False  # it is delivered like the image, if it is in colour

    @property
    def draws(self) -> bool:
        """Whether code of the user's reads it, which may draw random numbers."""
        return is_users(self)

    def resolved(self, dataset: Dataset) -> "Field":
        """Return the field with what dataset.json records of it; refuse what cannot be read."""
        return self

    def read(self, planned: Planned, tools: Tools) -> Any:
        """Return the value of a sample; a list of one for each view if there are several."""
        raise NotImplementedError

    def check(self, seen: "Seen") -> None:
        """Refuse options of the loader that the field does not support."""

    def column(self, seen: "Seen") -> Column:
        """Return the column of one view in batches without `map_sample`."""
        raise NotImplementedError

    def draw(self, tile: "Tile", value: Any, classes: Sequence[str], boxes: str) -> None:
        """Draw a delivered value over its image, or write it below; `boxes` is their format."""
        from reader.look.batch import draw_value  # rarely used, and imports Pillow

        draw_value(tile, value, classes, boxes, self.name)


@dataclass(frozen=True)
class Recipe:
    """What is done with each sample."""

    transforms: tuple[Transform, ...] = ()
    seed: int = 0
    fields: tuple[Field, ...] = ()
    map_sample: Callable[[Sample], Sample | None] | None = None
    further: tuple[tuple[Transform, ...], ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)


@dataclass(frozen=True)
class Seen:
    """What determines a column: the sizes of images, and the first samples."""

    dataset: Dataset
    recipe: Recipe
    numbers: Sequence[int]  # of the first samples; none if `collate_fn` batches the values
    sizes: Sequence[tuple[int, int]]  # (height, width) of the largest image, in each view
    is_one_size: bool  # all images have it
    first: Sample | None = None  # a sample, if a column depends on it
    other: Sample | None = None  # one with an image of another size, if there is any
    view: int = 0

    @property
    def room(self) -> tuple[int, int]:
        return self.sizes[self.view]

    def name(self, field: Field) -> str:
        return f"{field.name}/{self.view}" if self.view else field.name

    def form(self, field: Field) -> PictureForm | None:
        return PictureForm(self.dataset.channels) if field.is_picture else None

    def has_views(self, field: Field) -> bool:
        """Whether a field comes as a list of views, as in the first sample if it is mapped."""
        if not (self.recipe.further and field.follows_image):
            return False
        if self.recipe.map_sample is None:
            return True
        return self.first is not None and are_views(self.first[field.name], len(self.sizes))

    def array(self, field: Field, sample: Sample | None) -> NDArray[Any] | None:
        """Return the value of a sample in this view, if it is an array."""
        value: Any = None if sample is None else sample[field.name]
        if self.has_views(field):
            value = value[self.view] if are_views(value, len(self.sizes)) else None
        return as_array(value)
