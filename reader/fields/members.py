"""Fields that are read from members: decoded by a function, or a value of their JSON."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import FUNCTION, TEXT, check
from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError, SampleError, own_lines
from reader.fields.columns import Column, JsonColumn, ValuesColumn
from reader.fields.field import Field, Seen, Tools
from reader.fields.pixels import Planned
from reader.format.members import DECODERS, Missing, at_path, kind_of

Decode = Callable[[bytes], Any]


class MemberField(Field):
    """A field that is read from a member; a final ``?`` allows samples without the member."""

    axis: int | None = None  # of the height and width of an array over the image
    absent: Any = None  # the value of a sample without the member

    member: str
    decode: Decode | None = None

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name in the dict of a sample."""
        return self.ext

    @property
    def draws(self) -> bool:
        """Whether code of the user's reads it, which may draw random numbers."""
        return self.decode is not None or super().draws

    @cached_property
    def ext(self) -> str:
        """The extension of the member."""
        return self.member.removesuffix("?")

    @cached_property
    def is_optional(self) -> bool:
        """Whether a sample may lack the member."""
        return self.member.endswith("?")

    @property
    def is_learnt(self) -> bool:  # type: ignore[override]
        return self.axis is not None and not self.is_optional

    def check_part(self, part: Dataset, whole: Dataset) -> None:
        """See that a dataset of a Mix has the member that all samples are to have, held alike."""
        if self.ext not in part.extensions and not self.is_optional:
            raise ArgumentError(
                f"{part.source}, a dataset of the Mix, has no members .{self.ext}: write "
                f'"{self.member}?" among the fields, or leave the dataset out.'
            )

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        """Return the member in each view; once, if it does not follow the image."""
        return [self.decoder(data)]

    @cached_property
    def decoder(self) -> Decode:
        """The function that decodes the member's bytes."""
        return self.decode or DECODERS.get(kind_of(self.ext), bytes)

    def read(self, planned: Planned, tools: Tools) -> Any:
        """Return the value of a sample; a list of one for each view if there are several."""
        shard, row = planned.shard, planned.row
        shown: Sequence[Any]
        if shard.index.span(self.ext, row) is not None:
            data = shard.read(row, self.ext)
            try:
                shown = self.shown(data, planned, tools)
            except (MemoryError, SampleError):
                raise  # the member is not to blame, or the error says all
            except Exception as error:  # a user's decoder may raise anything
                is_own = self.decode is not None
                reason = f"; decode= raised:\n{own_lines(error)}" if is_own else f" ({error})"
                reason = f"its .{self.ext} cannot be decoded{reason}"
                raise shard.error(row, reason, self.ext) from error
        elif not self.is_optional:
            what = "None" if self.absent is None else f"no {self.name}"
            advice = f'to get {what} for it, write "{self.member}?" in fields='
            raise shard.error(row, f"it has no member .{self.ext}; {advice}", self.ext)
        else:
            shown = [self.absent] * len(planned.views)
        return shown if len(planned.views) > 1 and self.follows_image else shown[0]

    def column(self, seen: Seen) -> Column:
        """Return a column for arrays like the first sample's, or up to the largest image's size."""
        name, form, at = seen.name(self), seen.form(self), self.axis
        array = seen.array(self, seen.first) if self.is_learnt else None
        if array is None:
            return ValuesColumn(name, form=form)
        kind, shape = array.dtype.str, array.shape
        if at is None:
            return ValuesColumn(name, False, kind, shape, form=form)
        shape, own = (*shape[:at], *seen.room, *shape[at + 2 :]), None if seen.is_one_size else at
        return ValuesColumn(name, False, kind, shape, form=form, axis=own)


@dataclass(frozen=True)
class Member(MemberField):
    """A member that your own function decodes.

    Arrays of one type and shape become one tensor (B, ...), anything else a list. The field
    ``"txt"`` is short for ``Member("txt")``.

    Attributes:
        member: its extension. With a final ``?``, a sample without the member has None.
        decode: called in the workers with the member's bytes; None: by the extension.

    Example:
        >>> letters = reader.Member("txt", decode=len)
        >>> with reader.Loader("captions", split="train", fields=(letters,)) as loader:
        ...     [(length,)] = next(iter(loader))
        >>> int(length)  # of the caption, in bytes
        26
    """

    __module__ = "reader"

    member: str
    decode: Decode | None = None

    def __post_init__(self) -> None:
        check(vars(self), {"member": TEXT, "decode": FUNCTION})

    @property
    def is_learnt(self) -> bool:  # type: ignore[override]
        is_array = self.decode is not None or kind_of(self.ext) == "npy"
        return is_array and not self.is_optional


@dataclass(frozen=True)
class JsonValue(MemberField):
    """A value of a JSON member, by the path to it."""

    member: str  # the member's extension with the path behind it
    owner: str  # the extension

    @cached_property
    def ext(self) -> str:
        """The extension of the member."""
        return self.owner

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """Its name in the dict of a sample."""
        return self.member.removesuffix("?")

    @cached_property
    def _path(self) -> str:
        """The way to the value in the JSON."""
        return self.name.removeprefix(f"{self.owner}.")

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        """Return the member in each view."""
        try:
            return [at_path(json.loads(data), self._path)]
        except Missing as error:
            if self.is_optional:
                return [None]
            advice = f'to get None for it, write "{self.name}?" in fields='
            reason = f"its .{self.ext}: {error}; {advice}"
            raise planned.shard.error(planned.row, reason, self.ext) from None

    def column(self, seen: Seen) -> Column:
        """Return a column for numbers if the first samples have some of one shape."""
        array = None if self.is_optional else self._common(seen.dataset, seen.numbers)
        if array is None:
            return ValuesColumn(self.name)
        return JsonColumn(self.name, dtype=array.dtype.str, shape=array.shape)

    def _common(self, dataset: Dataset, numbers: Sequence[int]) -> NDArray[Any] | None:
        """Return the value of one of these samples, if all are numbers of one shape."""
        places = [dataset.locate(number) for number in numbers]
        for shard, row in places:
            shard.read_ahead(row, 0, 1)  # a store brings all of them at a time
        values = []
        for shard, row in places:
            with suppress(SampleError, ValueError):  # its batch raises what is wrong with it
                values.append(at_path(json.loads(shard.read(row, self.ext)), self._path))
        try:
            found = np.asarray(values)
        except ValueError:  # lists of different lengths
            return None
        return found[0] if found.size and found.dtype.kind in "bif" else None
