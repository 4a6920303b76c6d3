"""Words for splits in the names of samples that have none: ``train_cat_01.jpg`` (pure)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from packer.sources.audit.outcome import AS_READ, Outcome, Question
from packer.sources.trees.names import splits_of
from packer.sources.trees.outright import by_templates, literal
from packer.sources.trees.tokens import words
from packer.words import listed

_LEAST = 4  # names
_FEW = 2  # of them for each class
_SHOWN = 2  # places of classes


def splits_in_names(outcome: Outcome) -> Question | None:
    """The names of samples without splits have a word at one place which is a split for all."""
    outright = outcome.source.facts.outright
    if any(outcome.listing.by_split()) or outcome.is_divided or len(outcome.seen) < _LEAST:
        return None
    if len(outright) != 2 or outright[0] != "--images" or not outright[1].endswith("{key}"):
        return None
    start = outright[1].removesuffix("{key}")
    if len(outcome.classes) == 1:  # which says nothing beside names
        start = start.replace("{label}", literal(outcome.classes[0]))
    divided = [words(one.stem) for one in outcome.seen]
    found = next(_places(divided), None)
    if found is None:
        return None
    at, splits = found
    has_label = "{label" in start
    readings = {
        f"{listed(splits)} are splits{meaning}": by_templates([start + way])
        for meaning, way in _ways(divided, at, has_label=has_label)
    }
    return Question(
        f"the names of the images, such as {outcome.seen[0].name}, have the words "
        f"{listed(splits)}: these may be splits.",
        readings | {"The names mean nothing": AS_READ},
    )


def _places(divided: Sequence[Sequence[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield each place, from the begin or the end of all names, with the splits that it has."""
    least = min(map(len, divided))
    for at in (*range(least), *range(-least, 0)):
        values = sorted({parts[at] for parts in divided})
        splits = splits_of(values) if len(values) > 1 else {}
        if "train" in splits.values() and len(splits) == len(values):
            yield at, values


def _ways(
    divided: Sequence[Sequence[str]], at: int, *, has_label: bool
) -> Iterator[tuple[str, str]]:
    """Yield what names mean beside the split, with the template of it."""
    are_alike = len({tuple(part[0].isalnum() or part for part in parts) for parts in divided}) == 1
    if not are_alike:
        between = {parts[1 if at == 0 else -2] for parts in divided if len(parts) > 1}
        if at in (0, -1) and len(between) == 1:
            both = ["{split:letters}", literal(between.pop()), "{key}"]
            yield "", "".join(both if at == 0 else both[::-1])
        return
    columns = [[parts[place] for parts in divided] for place in range(len(divided[0]))]
    labels = (
        [] if has_label else [n for n in range(len(columns)) if n != at and _is_label(columns[n])]
    )
    for label in [*labels[:_SHOWN], None]:
        way, has_key = "", False
        for place in range(len(columns) - 1, -1, -1):
            values = {*columns[place]}
            part = "{split}" if place == at else "{label}" if place == label else ""
            if not part and len(values) == 1:
                part = literal(values.pop())
            elif not part:
                part, has_key = f"{{part{place}}}" if has_key else "{key}", True
            way = part + way
        classes = "" if label is None else f", and {listed(sorted({*columns[label]}))} are classes"
        if has_key:
            yield classes, way


def _is_label(values: Sequence[str]) -> bool:
    """Return whether these are words, and each comes again."""
    counts = Counter(values)
    return (
        len(counts) > 1
        and not any(value.isdecimal() for value in counts)
        and len(counts) <= len(values) // _FEW
        and all(value[0].isalnum() for value in counts)
    )
