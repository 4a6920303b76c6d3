"""Words or numbers in the names of samples without labels, which may be these (pure)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from packer.layouts.audit.outcome import Outcome, Question, Seen
from packer.layouts.audit.tokens import tokens, words, written
from packer.trees.outright import by_templates, literal
from packer.trees.shape import IMAGES
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
_COUNTED = (  # before a number that counts
    r"frame|page|p|wa|fold|part|seq|sequence|video|clip|scan|img|image|photo|pic|dsc|v|t|z|x|y|row"
    r"|col|scene|shot|take|copy|vol|slice|tile|patch|chunk|nr|no"
)
_COUNTS = re.compile(rf"({_COUNTED})\d+", re.IGNORECASE)
_COUNTED_WORD = re.compile(_COUNTED, re.IGNORECASE)


class Place(NamedTuple):
    """A place in names at which few values repeat."""

    template: str  # with {label} and {key}
    values: Mapping[str, int]
    is_crossed: bool  # whether the rest of names repeats with each value

    def rank(self) -> tuple[bool, int, int]:
        """Sort words before numbers, words without numbers before others, few before many."""
        return _are_numbers(self.values), _numbered(self.values), len(self.values)


def labels_in_names(outcome: Outcome) -> Question | None:
    """Names of samples without labels carry few words or numbers that repeat."""
    if outcome.kind != "folder" or outcome.names or outcome.listing.members:
        return None
    if outcome.has_labels and len(outcome.classes) > 1:
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
        if place.is_crossed and len(place.values) <= _MOST_NUMBERS and len(by_split) == 1:
            readings |= _as_parts(outcome, place, end)
        ways = {
            split: place.template + end if split in found else "{key}" for split in outcome.starts
        }
        words = [
            f"{{split={split}}}{start}{ways[split]}" if split else start + ways[split]
            for split, start in outcome.starts.items()
        ]
        readings[f"{listed(list(place.values))} are classes"] = by_templates(words)
    readings["The names mean nothing"] = ("--as", "flat")
    text = f"the names of the images, such as {outcome.example(next(iter(by_split.values()))[0])}"
    text += f", repeat {listed(sorted(places[0].values))}: these may be labels"
    return Question(f"{text}{' or parts of one sample' * places[0].is_crossed}.", readings)


def _as_parts(outcome: Outcome, place: Place, end: str) -> dict[str, Sequence[str]]:
    readings: dict[str, Sequence[str]] = {}
    if re.search(r"\{(?!key\}|label[:}])", place.template):
        return {}
    ways = {each: _LABEL.sub(literal(each), place.template) for each in place.values}
    for main in sorted(ways)[:_SHOWN]:
        members = {
            f"{value.lower()}{end.lower()}": f"{outcome.start}{way}{end}"
            for value, way in sorted(ways.items())
            if value != main
        }
        image = f"{outcome.start}{ways[main]}{end}"
        readings[f"Images have {main}, and members of the others"] = by_templates([image], members)
    return readings


def _are_numbers(values: Mapping[str, int]) -> bool:
    return all(map(str.isdecimal, values))


def _places(stems: Sequence[str]) -> list[Place]:
    """Return the places at which values repeat: words, from both ends; letters before a number."""
    return list(_places_in(stems)) if len(stems) >= _LEAST else []


def _places_in(stems: Sequence[str]) -> Iterator[Place]:
    divided = [words(stem) for stem in stems]
    if place := _letters(stems):
        yield place
    signs = Counter(tuple(_signs(parts)) for parts in divided).most_common(1)[0]
    if signs[1] >= _NEARLY * len(stems) and len(signs[0]) > 0:
        like = [parts for parts in divided if tuple(_signs(parts)) == signs[0]]
        for at in range(len(like[0])):
            if like[0][at][0].isalnum() and (place := _at(like, at)):
                yield place
        return
    for at in (0, -1):
        if place := _at_end(divided, at):
            yield place


def _signs(parts: Sequence[str]) -> Iterator[str]:
    """Yield what is between words, with a mark for each word."""
    yield from (part if not part[0].isalnum() else "0" for part in parts)


def _at(divided: Sequence[Sequence[str]], at: int) -> Place | None:
    """Return the place of one word of names that are all divided alike."""
    values = Counter(parts[at] for parts in divided)
    if not _may_be_labels(values, len(divided)):
        return None
    if _are_numbers(values) and at > 1 and _COUNTED_WORD.fullmatch(divided[0][at - 2]):
        return None
    rests = Counter((*parts[:at], *parts[at + 1 :]) for parts in divided)
    template, has_key = "", False
    for number, part in enumerate(divided[0]):
        if number == at:
            template += "{label}"
        elif len({parts[number] for parts in divided}) == 1:
            template += literal(written(part))
        elif not has_key:
            template, has_key = template + "{key}", True
        else:
            template += f"{{part{number}}}"
    return Place(template, values, _cross(rests, values)) if has_key else None


def _at_end(divided: Sequence[Sequence[str]], at: int) -> Place | None:
    """Return the place of the first or the last word of names that differ otherwise."""
    if any(len(parts) < 3 for parts in divided):
        return None
    beside = {parts[1 if at == 0 else -2] for parts in divided}
    values = Counter(parts[at] for parts in divided)
    if len(beside) != 1 or not _may_be_labels(values, len(divided)) or _are_numbers(values):
        return None
    sign = literal(beside.pop())
    rests = Counter(tuple(parts[1:] if at == 0 else parts[:-1]) for parts in divided)
    template = f"{{label}}{sign}{{key}}" if at == 0 else f"{{key}}{sign}{{label}}"
    return Place(template, values, _cross(rests, values))


def _letters(stems: Sequence[str]) -> Place | None:
    """Return letters right before a number: ``cat1``."""
    each = [tokens(stem) for stem in stems]
    if not all(len(parts) == 2 and parts[0].isalpha() and parts[1].isdecimal() for parts in each):
        return None
    values = Counter(parts[0] for parts in each)
    if not _may_be_labels(values, len(stems)):
        return None
    rests = Counter((parts[1],) for parts in each)
    return Place("{label:letters}{key}", values, _cross(rests, values))


def _cross(rests: Mapping[Any, int], values: Mapping[str, int]) -> bool:
    return sum(rests.values()) >= _NEARLY * len(rests) * len(values)


def _may_be_labels(values: Mapping[str, int], count: int) -> bool:
    """Return whether these are few, repeat, and are neither counters nor names of devices."""
    again = sum(number for number in values.values() if number > 1)
    if len(values) < 2 or again < _NEARLY * count:
        return False
    if _are_numbers(values):
        is_short = all(len(value) <= 2 for value in values)
        return is_short and len(values) <= min(_MOST_NUMBERS, count // 3)
    known = {value.lower() for value in values}
    if known <= (_DEVICES | IMAGES) or all(map(_COUNTS.fullmatch, values)):
        return False
    return len(values) <= min(_MOST_WORDS, count // 2)


def _numbered(values: Iterable[str]) -> int:
    """Return how many words have a number in them."""
    return sum(any(map(str.isdecimal, value)) for value in values)
