"""Tables that name the folders of images: patients, videos, products."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from packer.errors import UnusableInput
from packer.layouts.templates.lines import ListTemplate
from packer.layouts.templates.lists import read_lists
from packer.layouts.templates.proposed import proposed
from packer.layouts.texts import FOLDERS, LINE, Evidence, Text, as_number
from packer.trees.tree import Tree
from packer.words import shortened


class Folders:
    """The folders that hold images, by the levels of their paths."""

    def __init__(self, images: Mapping[str, int]) -> None:
        self._images = images

    @cached_property
    def _levels(self) -> Sequence[Mapping[str, int]]:
        """The images below each name of a level, the numbers of names in one form."""
        found: list[dict[str, int]] = []
        for path, count in self._images.items():
            for at, name in enumerate(filter(None, path.split("/"))):
                found += [{}] * (at == len(found))
                name = as_number(name)
                found[at][name] = found[at].get(name, 0) + count
        return found

    def named_by(self, text: Text, tree: Tree) -> Evidence | None:
        """Return a text as a table that has more to say of folders than their class."""
        if text.share < 1 or text.paths[1:] or text.is_spreadsheet:
            return None
        content = text.text.decode("utf-8", "replace")
        for level, counts in enumerate(self._levels):
            one = Evidence(
                text.paths, sum(counts.values()), stems=frozenset(counts), kind=FOLDERS, level=level
            )
            if len(counts) > 1 and (form := proposed(text.paths[0], content, one.has)):
                named, columns = _columns(tree, form)
                known = [as_number(name) for name in named if as_number(name) in counts]
                if len(known) > 1 and any(
                    _varies(column, [counts.get(as_number(name), 0) for name in named])
                    for column in columns
                ):
                    shown = [line.strip() for line in content.split("\n") if line.strip()]
                    lines = tuple(shortened(line, LINE) for line in shown[:2])
                    reason = f"names {len(known):,} of the {len(counts):,} folders of images"
                    return Evidence(
                        one.paths, one.count, False, lines, one.stems, reason, FOLDERS, level
                    )
        return None


def _columns(tree: Tree, form: str) -> tuple[list[str], Iterator[list[str]]]:
    """Return the names in a table, and its other columns."""
    try:
        (rows,) = read_lists(tree, [ListTemplate.of(form)])
    except (UnusableInput, ValueError):
        return [], iter(())
    every = [rows[row] for row in range(len(rows))]
    others = [name for name in rows.names if name != "key"]
    columns = ([str(row.get(name, "")) for row in every] for name in others)
    return [str(row.get("key", "")) for row in every], columns


def _varies(values: Sequence[str], counts: Sequence[int]) -> bool:
    """Return whether values are attributes: neither numbers of images nor one word for each."""
    if values == list(map(str, counts)):
        return False
    if len(set(values)) < len(values):
        return len(set(values)) > 1
    numbers = sorted(int(value) for value in values if value.isdigit())
    if len(numbers) < len(values):
        return all(value.replace(".", "", 1).lstrip("-").isdigit() for value in values)
    return numbers != list(range(numbers[0], numbers[0] + len(numbers)))
