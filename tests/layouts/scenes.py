"""Eight images of a street, with the objects in them that detection layouts describe."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from layouts.images import SIDE
from layouts.row import box

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


def filled(text: str, fields: Mapping[str, Any]) -> str:
    """Return `text` with its loops and fields.

    ``«street: ...»`` is said for each image of the street, ``«train: ...»`` and ``«val: ...»`` for
    those of a split, ``«three: ...»`` for the first three, ``«pets: ...»`` for each pet,
    ``«pets_train: ...»`` and ``«pets_val: ...»`` for those of a split, ``«classes: ...»`` for each
    class, ``«captions: ...»`` for each of five, ``«6: ...»`` for the numbers below 6, and
    ``«thing: ...»`` for each object of the image, or of all; ``«$1: ...»`` is for the split that
    the path says. With a comma or semicolon in place of the colon, that stands between.
    ``{x + w / 2}`` is an expression of the fields.
    """

    def repeated(found: re.Match[str]) -> str:
        each, sign, inner = found.groups()
        said = (filled(inner, {**fields, **one}) for one in _looped(each, fields))
        return ("" if sign == ":" else f"{sign} ").join(said)

    def meant(found: re.Match[str]) -> str:
        return str(eval(f'f"""{found[0]}"""', {**_KNOWN, **fields}))

    return _FIELD.sub(meant, _LOOP.sub(repeated, text))


_LOOP = re.compile(r"«(\w+)([:,;]) ((?:[^«»]|«[^»]*»)*)»")
_FIELD = re.compile(r"\{[a-z_(][^{}\"]*\}")


def fields_of(path: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of each image that `path` stands for.

    Those are the pets, if ``{pet}`` or ``{kind}`` is in it, those of a split, if ``{train}`` or
    ``{val}`` is, all of the street, if it has another field, and otherwise one.
    """
    if not _FIELD.search(path):
        yield {}
    else:
        kinds = {"pet": "pets", "kind": "pets", "train": "train", "val": "val"}
        named = re.findall(r"\{(\w+)", path)
        yield from _looped(next((kinds[one] for one in named if one in kinds), "street"), {})


def _looped(each: str, fields: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    each = re.sub("valid(ation)?$", "val", each)
    if each.isdigit():
        yield from ({"n": n} for n in range(int(each)))
    elif each.startswith("pets"):
        for i, (pet, kind) in enumerate(PETS.items()):
            if each in ("pets", f"pets_{split_of(pet)}"):
                number = ("bird", "cat", "dog").index(kind)
                yield {"pet": pet, "kind": kind, "i": i, "number": number} | _placed(pet)
    elif each == "classes":
        for n, name in enumerate(CLASSES):
            yield {"name": name, "n": n, "mid": _MIDS[name]}
    elif each == "captions":
        for n in range(5):
            said = f"A child {fields['at']} and a dog {n} play , in the grass ."
            yield {"n": n, "caption": said}
    elif each == "thing" and "image" in fields:
        for n, one in enumerate(STREET[fields["image"]]):
            beside = {"right": one.right, "bottom": one.bottom, "number": one.number}
            beside["mid"] = _MIDS[one.name]
            yield {**one._asdict(), **beside, "n": n, "k": fields["k"] + n, "corners": corners(one)}
    elif each == "thing":
        for image in _looped("street", {}):
            yield from ({**image, **thing} for thing in _looped("thing", image))
    else:
        before = 0
        for i, (image, things) in enumerate(STREET.items()):
            split, names = split_of(image), [one.name for one in things]
            if each in ("street", split) or (each == "three" and i < 3):
                told = {"image": image, split: image, "i": i, "k": before} | _placed(image)
                told |= {"at": i + 1, "word": f"Word{i + 1:02}x"}
                yield told | {
                    "count": len(things),
                    "names": names,
                    "first": things[0],
                    "seen": _holding(*names, *(text for one in things for text in _seen(one))),
                    "things": _holding(*names, *map(_box, things)),
                }
            before += len(things)


def _placed(name: str) -> dict[str, str]:
    """Return the split of an image, as it is also called, and its name in Roboflow's exports."""
    split = split_of(name)
    folder, valid = {"train": ("train", "train"), "val": ("validation", "valid")}[split]
    rf = f"{name}_jpg.rf.{hashlib.md5(name.encode()).hexdigest()}"
    return {"split": split, "folder": folder, "valid": valid, "rf": rf}


def coco(names: Iterable[str], file_name: str = "%s.jpg", **of_image: str) -> str:
    """Return a COCO annotation file for these streets."""
    ids = {name: int(name[-2:]) * 10 for name in names}
    found = [
        {
            "id": number * 10 + at,
            "image_id": number,
            "category_id": one.number + 1,
            "bbox": [one.x, one.y, one.w, one.h],
            "area": one.w * one.h,
            "iscrowd": 0,
            "segmentation": [[v for point in corners(one) for v in point]],
        }
        for name, number in ids.items()
        for at, one in enumerate(STREET[name])
    ]
    listed = []
    for name, number in ids.items():
        entry: dict[str, Any] = {"id": number, "height": SIDE, "width": SIDE}
        if file_name:
            patch = file_name.replace("#", str(number // 10 % 2))
            entry["file_name"] = patch.replace("%rf", _placed(name)["rf"]).replace("%s", name)
        listed.append(entry | {key: value.replace("%s", name) for key, value in of_image.items()})
    categories = [{"id": at, "name": name} for at, name in enumerate(CLASSES, 1)]
    return json.dumps(
        {"info": {}, "images": listed, "annotations": found, "categories": categories}
    )


_MIDS = dict(zip(CLASSES, ("/m/0k4j", "/m/01g317", "/m/0199g"), strict=True))
_KNOWN = {
    "per": per,
    "coco": coco,
    "train": TRAIN,
    "val": VAL,
    "valid": VAL,
    "street": [*TRAIN, *VAL],
}


def _seen(one: Thing) -> tuple[str, ...]:
    return _box(one), str(one.x), str(one.y)


def _box(one: Thing) -> str:
    return box(one.x, one.y, one.w, one.h)


def _holding(*texts: str) -> str:
    return "; ".join(f"~{text}" for text in texts)
