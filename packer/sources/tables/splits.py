"""The splits in further columns of a table, by a pass over its rows."""

from collections.abc import Mapping
from typing import Any

from packer.errors import Ambiguous
from packer.sources.tables.classes import NONE
from packer.sources.tables.columns import SplitRule, split_value
from packer.sources.tables.names import may_be_split
from packer.sources.tables.view import TableView
from packer.sources.trees.names import SPLITS, splits_of
from packer.sources.trees.shape import plain
from packer.words import listed, option

_WORDS = {
    "train": ("train", "training"),
    "val": ("val", "valid", "validation"),
    "test": ("test", "testing"),
}
_FLAG = {word: split for split, words in _WORDS.items() for word in words}
_YES = frozenset({"1", "true", "t", "yes", "y"})
_NO = frozenset({"0", "false", "f", "no", "n"})
NUMBERED = {"0": "train", "1": "val", "2": "test"}  # list_eval_partition.txt
_FEW = 20  # different values


class SplitSurvey:
    """The values of columns that may name splits; `flags` are columns of yes and no for a split."""

    def __init__(self, columns: list[str]) -> None:
        self.flags = {name: split for name in columns if (split := _flag(name))}
        if sum(plain(name) in _FLAG for name in self.flags) == 1:  # a class of that name
            self.flags = {n: s for n, s in self.flags.items() if plain(n) not in _FLAG}
        names = [name for name in columns if name in self.flags or may_be_split(name)]
        self._values: dict[str, set[str]] = {name: set() for name in names}

    def look_at(self, fields: Mapping[str, Any]) -> None:
        """Take in a row."""
        for name, values in self._values.items():
            if len(values) <= _FEW:
                values.add(split_value(fields.get(name)))

    def applied(self, view: TableView) -> TableView:
        """Return a table with the columns that define its splits, if any."""
        flags = {
            name: split
            for name, split in self.flags.items()
            if self._values[name] and self._values[name] <= _YES | _NO
        }
        if flags:
            return view.with_columns(rule=self._by_flags(flags, view.where))
        for name, values in self._values.items():
            if name in self.flags or not values - {""} or len(values) > _FEW:
                continue
            if plain(name) == "partition" and values == NUMBERED.keys():
                return view.with_columns(rule=SplitRule({name: NUMBERED}))
            found = splits_of(sorted(values))
            if found.keys() == values:
                return view.with_columns(split=name)
            numbers = len(values) > 1 and values <= NUMBERED.keys()
            if numbers or not SPLITS.isdisjoint(found.values()):
                raise _ambiguity(
                    f"{view.where}: {listed(sorted(values))} in the column {name!r} may be splits.",
                    {"These are the names of splits": ("--split-column", name)},
                )
        return view

    def _by_flags(self, flags: Mapping[str, str], where: object) -> SplitRule:
        (first, *_) = flags
        has_train = "train" in flags.values()
        if set(flags.values()) == {"train"} and not self._values[first] <= _YES:
            raise _ambiguity(
                f"{where}: the column {first!r} defines only the split train. Add a column "
                '"split" with the values train, val and test.',
                {},
            )
        splits = {name: dict.fromkeys(_YES, split) for name, split in flags.items()}
        return SplitRule(splits, None if has_train else "train")


def _ambiguity(text: str, readings: Mapping[str, tuple[str, ...]]) -> Ambiguous:
    kept = "There are no splits; store the column in each sample's json"
    return Ambiguous(
        f"{text} To pack without splits, pass ",
        option("split_column", NONE),
        ".",
        readings={**readings, kept: ("--split-column", NONE)},
    )


def _flag(column: str) -> str:
    """Return the split that a column of yes and no is about, "" for none."""
    name = plain(column)
    return _FLAG.get(name) or _FLAG.get(name.removeprefix("is"), "")
