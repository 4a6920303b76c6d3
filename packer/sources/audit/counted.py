"""Folders that are counted by several words, each with a part of all samples: Slide_01 and GT_01.

The folders of one number hold the same names. As class folders may, too, either the words are those
of parts, or the names of each number differ from those of the others (pure).
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from packer.sources.audit.outcome import AS_READ, Outcome, Question, Seen, as_parts, member_of, rank
from packer.sources.trees.names import have_roles, nearly_all
from packer.sources.trees.outright import literal
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.sources.trees.tokens import Affix
from packer.words import listed

_LEAST, _MOST = 2, 6  # numbers, and words
_NUMBER = re.compile(r"\d+")

_Folders = Mapping[str, Mapping[str, Sequence[Seen]]]  # word -> number -> images; "#" for a number


def counted_parts(outcome: Outcome) -> Question | None:
    """Each number is in the names of several folders, whose images have the same names."""
    if outcome.listing.members or not outcome.label_depth:
        return None
    found: dict[str, dict[str, list[Seen]]] = defaultdict(lambda: defaultdict(list))
    for one in outcome.seen:
        name = "".join(one.folders[:1])
        own = _NUMBER.findall(name)
        if len(one.folders) != 1 or len(own) != 1:
            return None
        found[_NUMBER.sub("#", name)][own[0]].append(one)
    if not 2 <= len(found) <= _MOST:
        return None
    numbers = set.intersection(*(set(each) for each in found.values()))
    if len(numbers) < max(_LEAST, nearly_all(max(map(len, found.values())))):
        return None
    each = {word: [one.stem for some in found[word].values() for one in some] for word in found}
    affixes = {word: Affix.of(stems) for word, stems in each.items()}
    is_common = [len(set(texts)) == 1 for texts in zip(*affixes.values(), strict=True)]
    affixes = {
        word: Affix(*("" if same else text for same, text in zip(is_common, affix, strict=True)))
        for word, affix in affixes.items()
    }
    keys = {
        word: {n: {affixes[word].strip(one.stem) for one in found[word][n]} for n in numbers}
        for word in found
    }
    if not _are_parts(list(found), keys):
        return None
    return _asked(outcome, found, affixes)


def _are_parts(words: Sequence[str], keys: Mapping[str, Mapping[str, set[str]]]) -> bool:
    first = keys[words[0]]
    for number in first:
        each = [keys[word][number] for word in words]
        if len(set.intersection(*each)) < max(1, nearly_all(max(map(len, each)))):
            return False
    texts = [word.replace("#", "") for word in words]
    are_called = have_roles(texts) or any(may_be_masks(text) for text in texts)
    return are_called or sum(map(len, first.values())) == len(set().union(*first.values()))


def _asked(outcome: Outcome, found: _Folders, affixes: Mapping[str, Affix]) -> Question:
    words = sorted(found, key=lambda word: (*rank(word.replace("#", "")), word))
    texts = {word: word.replace("#", "").strip("_-. ") for word in words}
    ways = {
        word: outcome.start
        + literal(word).replace("#", "{number}")
        + f"/{affixes[word].put('{key}')}"
        for word in words
    }
    images = [word for word in words if plain(texts[word]) in IMAGES]
    mains = images or [word for word in words if not may_be_masks(texts[word])] or words
    members = {word: member_of(texts[word], is_optional=_lacks(found, word)) for word in words}
    readings: dict[str, Sequence[str]] = {}
    for main in mains:
        readings |= as_parts("Each image in {} has members of the others", ways, members, main)
    readings["They are classes"] = AS_READ
    shown = [f"{word.replace('#', min(found[word]))}" for word in words]
    return Question(
        f"the folders {listed(shown)} and those of other numbers hold images of the same names, "
        f"such as {next(iter(found[words[0]].values()))[0].name}: they may be parts of one sample.",
        {meaning.replace("#", "*"): way for meaning, way in readings.items()},
    )


def _lacks(found: _Folders, word: str) -> bool:
    """Return whether a folder of another word has an image that none of this one belongs to."""
    counts = {n: len(some) for n, some in found[word].items()}
    return any(len(some) > counts.get(n, 0) for each in found.values() for n, some in each.items())
