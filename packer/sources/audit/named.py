"""Words or numbers in the names of samples without labels, which may be these (pure)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from packer.sources.audit.outcome import Outcome, Question, Seen, as_parts
from packer.sources.trees.outright import by_templates, literal
from packer.sources.trees.shape import IMAGES
from packer.sources.trees.tokens import tokens, words
from packer.words import listed

_LEAST = 4  # names
_MOST_WORDS = 1_000
_MOST_NUMBERS = 20
_LABEL = re.compile(r"\{label(:letters)?\}")
_NEARLY = 0.9
_SHOWN = 2  # places in the names
_DEVICES = frozenset(  # what cameras, phones and programs call their pictures
    {"img", "image", "dsc", "dscf", "dscn", "pxl", "mvimg", "vid", "screenshot", "photo"}
    | {"picture", "pic", "whatsapp", "snapchat", "fb", "received", "scan", "p", "sam", "gopr"}
    | {"dji", "pano", "burst", "cimg", "frame", "img_", "wp", "signal", "untitled", "file", "rgb"}
    | {"am", "pm", "copy", "edited", "hdr", "portrait", "night", "mp", "edit", "final", "new"}
    | {"train", "val", "test", "x", "sample", "im", "jpg", "jpeg", "png", "page", "pages"}
)
_PROGRAMS = ("screenshot", "screen shot", "snapchat", "screencapture")
_COUNTED = re.compile(  # before a number that counts
    r"(?:frame|page|p|wa|fold|part|seq|sequence|video|clip|scan|img|image|photo|pic|dsc|v|t|z|x|y|row"
    r"|col|scene|shot|take|copy|vol|slice|tile|patch|chunk|nr|no)(\d*)",
    re.IGNORECASE,
)


class Place(NamedTuple):
    """A place in names at which few values repeat."""

    template: str  # with {label} and {key}
    values: Mapping[str, int]
    is_crossed: bool  # whether the rest of names repeats with each value

    def rank(self) -> tuple[bool, int, int]:
        """Sort words before numbers, words without numbers before others, few before many."""
        numbered = sum(any(map(str.isdecimal, value)) for value in self.values)
        return "".join(self.values).isdecimal(), numbered, len(self.values)


def labels_in_names(outcome: Outcome) -> Question | None:
    """Names of samples without labels carry few words or numbers that repeat."""
    if outcome.kind != "folder" or outcome.names or outcome.listing.members:
        return None
    are_of_programs = all(one.stem.lower().startswith(_PROGRAMS) for one in outcome.seen)
    if are_of_programs or (outcome.has_labels and len(outcome.classes) > 1):
        return None
    by_split: dict[str, list[Seen]] = defaultdict(list)
    for one in outcome.seen:
        by_split[one.split].append(one)
    each = {split: _places([one.stem for one in some]) for split, some in by_split.items()}
    found = {split: sorted(places, key=Place.rank) for split, places in each.items() if places}
    if not found or by_split.keys() - outcome.starts.keys():
        return None
    places = next(iter(found.values()))
    ends = {one.ext for one in outcome.seen}
    end = f".{ends.pop()}" if len(ends) == 1 else ""
    readings: dict[str, Sequence[str]] = {}
    for place in places[:_SHOWN]:
        everywhere = [one for some in found.values() for one in some if one.is_crossed]
        same = [one.template for one in everywhere].count(place.template) == len(by_split)
        if same and len(place.values) <= _MOST_NUMBERS and "{folder}" not in outcome.start:
            readings |= _as_parts(outcome, place, end)
        words = [
            (f"{{split={split}}}" if split else "")
            + (f"{start}{place.template}{end}" if split in found else f"{start}{{key}}")
            for split, start in outcome.starts.items()
        ]
        readings[f"{listed(list(place.values))} are classes"] = by_templates(words)
    readings["The names mean nothing"] = ("--as", "flat")
    text = f"the names of the images, such as {outcome.seen[0].name}, repeat "
    text += f"{listed(sorted(places[0].values))}: these may be labels"
    return Question(f"{text}{' or parts of one sample' * places[0].is_crossed}.", readings)


def _as_parts(outcome: Outcome, place: Place, end: str) -> dict[str, Sequence[str]]:
    if re.search(r"\{(?!key\}|label[:}])", place.template):
        return {}
    values = sorted(place.values)
    ways = {
        one: _LABEL.sub(literal(one), f"{outcome.start}{place.template}{end}") for one in values
    }
    members = {one: f"{one.lower()}{end.lower()}" for one in values}
    meaning = "Images have {}, and members of the others"
    return as_parts(meaning, ways, members, *values[:_SHOWN])


def _places(stems: Sequence[str]) -> list[Place]:
    """Return the places at which values repeat."""
    found = []
    for template, values, rests in _cuts(stems) if len(stems) >= _LEAST else ():
        counts = Counter(values)
        if _may_be_labels(counts, len(values)):
            others = Counter(rests)
            is_crossed = len(rests) >= _NEARLY * len(others) * len(counts)
            found.append(Place(template, counts, is_crossed))
    return found


def _cuts(stems: Sequence[str]) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Yield a part of all names by its template, with its values and with the rests of names.

    It is the letters before a number, a word of names that are all divided alike, or the first or
    the last word of others.
    """
    pairs = [parts for parts in map(tokens, stems) if len(parts) == 2]
    if len(pairs) == len(stems) and all(a.isalpha() and b.isdecimal() for a, b in pairs):
        yield "{label:letters}{key}", [a for a, _ in pairs], [b for _, b in pairs]
    divided = [words(stem) for stem in stems]
    ((signs, count),) = Counter(map(_signs, divided)).most_common(1)
    if count >= _NEARLY * len(stems) and signs:
        like = [parts for parts in divided if _signs(parts) == signs]
        for at, word in enumerate(like[0]):
            values, template = [parts[at] for parts in like], _template(like, at)
            is_counted = at > 1 and _COUNTED.fullmatch(like[0][at - 2])
            if "{key}" in template and not (is_counted and "".join(values).isdecimal()):
                rests = [(*parts[:at], *parts[at + 1 :]) for parts in like]
                yield from [(template, values, rests)] * word[0].isalnum()
    elif all(len(parts) > 2 for parts in divided):
        for at, beside, way in ((0, 1, "{label}|{key}"), (-1, -2, "{key}|{label}")):
            between = {parts[beside] for parts in divided}
            values = [parts[at] for parts in divided]
            if len(between) == 1 and not "".join(values).isdecimal():
                rests = [tuple(parts[1:] if at == 0 else parts[:-1]) for parts in divided]
                yield way.replace("|", literal(between.pop())), values, rests


def _signs(parts: Sequence[str]) -> tuple[str, ...]:
    """Return what is between words, with a mark for each word."""
    return tuple("0" if part[0].isalnum() else part for part in parts)


def _template(like: Sequence[Sequence[str]], at: int) -> str:
    """Return the template of names that are divided alike, with ``{label}`` for a word of them."""
    found = ""
    for number, part in enumerate(like[0]):
        if number == at:
            found += "{label}"
        elif len({parts[number] for parts in like}) == 1:
            found += literal(part)
        else:
            found += f"{{part{number}}}" if "{key}" in found else "{key}"
    return found


def _may_be_labels(values: Mapping[str, int], count: int) -> bool:
    """Return whether these are few, repeat, and are neither counters nor names of devices."""
    again = sum(number for number in values.values() if number > 1)
    if len(values) < 2 or again < _NEARLY * count:
        return False
    if "".join(values).isdecimal():
        is_short = all(len(value) <= 2 for value in values)
        return is_short and len(values) <= min(_MOST_NUMBERS, count // 3)
    known = {value.lower() for value in values}
    if known <= (_DEVICES | IMAGES) or all(map(_COUNTED.fullmatch, values)):
        return False
    return len(values) <= min(_MOST_WORDS, count // 2)
