"""Finds the files that belong to an image: those that continue its stem (pure).

A picture beside a picture, such as ``x.right.png`` beside ``x.jpg``, is a member or a sample; which
one is decided once for the whole source, by `members_named`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packer.errors import UnusableInput
from packer.words import Message, are, choices, command, many
from reader.format.members import PICTURES

SHARED = "more than one image has its name"
MAPS = frozenset({"mask", "seg", "depth"})  # x.mask.png beside x.jpg belongs to it always
EXTENSION = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_LETTER = re.compile("[a-z]")  # x.001.jpg beside x.jpg is another picture, which a number counts
_NAMED = 5  # words that a command may have


@dataclass(frozen=True)
class Companions:
    """The pictures of a folder that continue another's stem: ``x.right.png`` beside ``x.jpg``."""

    owners: int = 0  # how many pictures continue no other's stem
    counts: Counter[str] = field(default_factory=Counter)  # by the word between, such as "right"
    example: tuple[str, str] = ("", "")  # such a name, behind that of its owner; without extensions

    @classmethod
    def of(cls, stems: Sequence[str]) -> "Companions":
        """Count them among the stems of a folder's pictures."""
        if not any("." in stem for stem in stems):
            return cls(len(stems))
        known, counts, examples, others = set(stems), Counter[str](), [], 0
        for stem in stems:
            word = _word(stem, known)
            others += word is not None
            if word is not None and word not in MAPS:
                counts[word] += 1
                examples.append((stem[: -len(word) - 1], stem))
        return cls(len(stems) - others, counts, max(examples, default=("", "")))


def members_named(
    found: Iterable[Companions],
    where: object,
    *,
    chosen: frozenset[str] = frozenset(),
    unpack: str = "",
) -> frozenset[str]:
    """Return the words whose pictures are members: those `chosen`, and those that all images have.

    `unpack` is the command that makes a folder of an archive.
    """
    owners, counts, example = 0, Counter[str](), ("", "")
    for one in found:
        owners += one.owners
        counts += one.counts
        example = max(example, one.example)
    words = {word: count for word, count in counts.items() if word not in chosen}
    if not words or (owners > 1 and set(words.values()) == {owners}):
        return MAPS | chosen | words.keys()
    raise UnusableInput(
        _both_readings({**dict.fromkeys(chosen, 0), **words}, owners, example, where, unpack)
    )


def _both_readings(
    words: Mapping[str, int], owners: int, example: tuple[str, str], where: object, unpack: str
) -> str:
    folder = "FOLDER" if unpack else str(where)
    count = sum(words.values())
    text = (
        f"{where}: the picture {example[1]!r} is named after {example[0]!r}. "
        f"{many(count, 'picture')} {are(count)} named so, beside {many(owners, 'other')}. They "
        "become members only if each of at least two other images has one. Choose:"
    )
    if len(words) <= _NAMED:
        pairs = (part for word in sorted(words) for part in ("--pair", f"{word}?={folder}"))
        text += Message(f"\n  They belong to those: {unpack}", command(folder, *pairs))
    return text + choices(where, {"Each is a sample of its own": ("--as", "folder")})


def _word(stem: str, stems: Collection[str]) -> str | None:
    """Return what follows the longest of `stems` that this one continues; None if it does not."""
    word = next((rest for start, rest in _divided(stem) if start in stems), "")
    return word if EXTENSION.fullmatch(word) and _LETTER.search(word) else None


@dataclass(frozen=True)
class Grouping:
    """The files of one folder."""

    samples: dict[str, dict[str, str]]  # sorted, each with its members: extension -> file
    refused: dict[str, str]  # files of an image's stem that cannot be its members, with the reason


def group(
    names: Iterable[str], words: Collection[str] = MAPS, kinds: Collection[str] = PICTURES
) -> Grouping:
    """Sort a folder's file names into images, which have the extensions `kinds`, and their members.

    A file belongs to an image if its name is the image's stem, a dot and an extension: ``x.json``,
    ``x.tokens.npy``, ``x.mask.png``. Files that belong to no image count as samples of their own;
    `walk.not_an_image` decides whether they are.
    """
    names = sorted(names)
    images: dict[str, list[str]] = defaultdict(list)
    rest: list[str] = []
    for name in names:
        stem, _, ext = name.rpartition(".")
        is_picture = ext.lower() in kinds and stem.strip(".")
        (images[stem] if is_picture else rest).append(name)
    for stem in [stem for stem in images if "." in stem and _word(stem, images) in words]:
        rest += images.pop(stem)
    owners: dict[str, dict[str, str]] = {name: {} for name in names}
    refused = {}
    for name in sorted(rest):
        stem, ext = _owner(name, images)
        if len(images.get(stem, ())) > 1:
            refused[name] = SHARED
        elif stem:
            members = owners[images[stem][0]]
            if ext in members:  # x.JSON beside x.json
                refused[name] = f"its image has another .{ext}"
            else:
                members[ext] = name
        else:
            continue
        del owners[name]
    return Grouping(owners, refused)


def _owner(name: str, images: dict[str, list[str]]) -> tuple[str, str]:
    """Return the longest stem of an image that `name` continues with an extension, and that."""
    found = (part for part in _divided(name) if part[0] in images and EXTENSION.fullmatch(part[1]))
    return next(found, ("", ""))


def _divided(name: str) -> Iterator[tuple[str, str]]:
    """Yield the parts before and after each dot, the last dot first."""
    end = len(name)
    while (end := name.rfind(".", 0, end)) > 0:
        yield name[:end], name[end + 1 :].lower()
