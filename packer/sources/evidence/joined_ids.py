"""Texts whose ids join an image with a word: ``ID_0001_cat,1``, a row for each class (pure)."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from packer.sources.tables.image_names import Packed
from packer.sources.tables.name_tokens import stem_hashes
from packer.sources.tables.texts import LINE, Evidence, Text
from packer.sources.trees.walk import is_named_as_image
from packer.words import listed, many, shortened

_TOKEN = re.compile(r"[^\s,;\"'{}\[\]()<>=:|]+")
_SIGN = re.compile(r"[_\-./#@]+")
_WORD = re.compile(r"[^\W\d][\w .-]{0,39}")
_HEAD = 1 << 16  # bytes that are looked at
_MOST, _MOST_WORDS = 4_000, 100  # tokens of these, and words that are joined
_SHARE = 0.3  # of the tokens of a text


def joined_ids(text: Text, packed: Packed) -> Evidence | None:
    """Return a text as evidence if its ids have the stems of most images, and two words or more."""
    if text.paths[1:] or text.is_binary:
        return None
    content = text.text[:_HEAD].decode("utf-8", "replace")
    tokens = list(dict.fromkeys(_TOKEN.findall(content)))[:_MOST]
    cuts = list(_cuts(tokens))
    hashes = stem_hashes([os.fsencode(stem) for stem, _, _ in cuts])
    known = np.isin(hashes, packed.stems).tolist() if cuts else []
    images: dict[bool, dict[str, set[str]]] = {True: defaultdict(set), False: defaultdict(set)}
    for (stem, word, is_first), is_known in zip(cuts, known, strict=False):
        if is_known:
            images[is_first][word].add(stem)
    for words in images.values():
        named = set[str]().union(*words.values())
        least = min(packed.count, len(tokens) // max(1, len(words))) / 2
        if (
            2 <= len(words) <= _MOST_WORDS
            and sum(map(len, words.values())) >= _SHARE * len(tokens)
            and len(named) >= max(2, least)
        ):
            few = sorted(words)[:2]
            lines = tuple(islice(filter(str.strip, content.split("\n")), 2))
            reason = (
                f"has ids that join the names of images with words, such as {listed(few)}, "
                f"for {len(named):,} of the {many(packed.count, 'image')}"
            )
            shown = tuple(shortened(line.strip(), LINE) for line in lines)
            table = ",".join(["file", *few])
            return Evidence(text.paths, len(named), lines=shown, reason=reason, table=table)
    return None


def _cuts(tokens: Iterable[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield what may be the name of an image and a word behind or before it."""
    for token in tokens:
        for sign in _SIGN.finditer(token) if not is_named_as_image(token) else ():
            before, behind = token[: sign.start()], token[sign.end() :]
            for name, word in ((before, behind), (behind, before)):
                if name and _WORD.fullmatch(word):
                    stem = os.path.splitext(name)[0] if is_named_as_image(name) else name
                    yield stem, word, name is before
