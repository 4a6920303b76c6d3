"""Eight images of a street, with the objects in them that detection layouts describe."""

import json
from typing import Any, NamedTuple

from layouts.images import SIDE
from layouts.row import Truth
from layouts.words import box, plain

CLASSES = ("car", "person", "bicycle")


class Thing(NamedTuple):
    """An object: its class, and its box in pixels."""

    name: str
    x: int
    y: int
    w: int
    h: int

    @property
    def right(self) -> int:
        return self.x + self.w

    @property
    def bottom(self) -> int:
        return self.y + self.h

    @property
    def number(self) -> int:
        return CLASSES.index(self.name)


def _things(number: int) -> tuple[Thing, ...]:
    first = Thing(CLASSES[number % 3], 1 + number % 5, 2 + number % 3, 4 + number, 9 - number)
    if number % 2:
        return (first,)
    other = CLASSES[(number + 1) % 3]
    return first, Thing(other, 9 - number % 4, 11 - number % 3, 3 + number % 3, 4 + number % 2)


STREET = {f"street_{number + 1:02}": _things(number) for number in range(8)}
TRAIN, VAL = list(STREET)[:5], list(STREET)[5:]
PETS = {f"pet_{number + 1:02}": ("cat", "dog", "bird")[number * 2 % 3] for number in range(8)}


def split_of(name: str) -> str:
    """Return the split of an image where a layout has any."""
    return "train" if int(name[-2:]) <= 5 else "val"


def seen(name: str, split: str = "", *further: str) -> Truth:
    """Return the truth of a street: the classes and boxes of its objects."""
    things = STREET[name]
    texts = [thing.name for thing in things]
    for thing in things:
        texts.append(box(thing.x, thing.y, thing.w, thing.h))
        texts += [str(thing.x), str(thing.y)]
    return plain(split, *texts, *further)


def images(folder: str = "", ending: str = ".jpg", names: Any = STREET) -> dict[str, str]:
    """Return an image at each name in `folder`."""
    return {f"{folder}{name}{ending}": "" for name in names}


def truths(folder: str = "", ending: str = ".jpg", split: bool = False) -> dict[str, Truth]:
    """Return the truth of each street in `folder`."""
    return {
        f"{folder}{name}{ending}": seen(name, split_of(name) if split else "") for name in STREET
    }


def in_splits(pattern: str) -> dict[str, Truth]:
    """Return the truth of each street at a path made of its split and name."""
    return {
        pattern.format(split=split_of(name), name=name): seen(name, split_of(name))
        for name in STREET
    }


def corners(thing: Thing) -> list[list[int]]:
    return [
        [thing.x, thing.y],
        [thing.right, thing.y],
        [thing.right, thing.bottom],
        [thing.x, thing.bottom],
    ]


def per(number: float) -> float:
    """Return a fraction of an image's side."""
    return number / SIDE


def dumps(value: Any) -> str:
    return json.dumps(value, indent=1)


def lines(values: Any) -> str:
    """Return JSON Lines."""
    return "".join(json.dumps(value) + "\n" for value in values)
