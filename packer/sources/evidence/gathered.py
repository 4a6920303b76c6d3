"""The texts among ignored files, each up to a limit.

If limits are reached, each folder and each text has a fair share of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from packer.errors import BadImage
from packer.sources.tables.name_tokens import CHUNK
from packer.sources.tables.texts import Text, strings_of, text_of
from packer.sources.trees.tree import Tree
from packer.words import are, in_bytes, many

MOST_BYTES = 100 * CHUNK  # of all texts
MOST_OF_EACH = CHUNK
MOST_FILES = 4096
_OF_EACH = 32  # files of one extension in one folder that are read
_SPREADSHEET = 16 * CHUNK
_SPREADSHEETS = (".xlsx", ".xlsm", ".ods")


def few_of(groups: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the files of each group that are read: as many of each."""
    of_each = min(_OF_EACH, MOST_FILES // max(len(groups), 1))
    step = 1 if of_each else -(-len(groups) // MOST_FILES)
    return [
        () if number % step else paths[: max(of_each, 1)] for number, paths in enumerate(groups)
    ]


def _share(sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return how many bytes are read of each text, and of each spreadsheet."""
    most = {True: _SPREADSHEET, False: MOST_OF_EACH}
    wanted = sorted(min(size, most[path.endswith(_SPREADSHEETS)]) for path, size in sizes.items())
    left = MOST_BYTES
    for number, size in enumerate(wanted):
        share = left // (len(wanted) - number)
        if size > share:
            return min(share, MOST_OF_EACH), share
        left -= size
    return MOST_OF_EACH, _SPREADSHEET


def texts_of(
    tree: Tree, groups: Iterable[Sequence[str]], few: Sequence[Sequence[str]]
) -> Iterator[Text]:
    """Yield the texts of a `few` files of each group, separately, and those of a group together."""
    sizes = {}
    for path in chain.from_iterable(few):
        with suppress(BadImage, OSError):  # the scan has named it
            sizes[path] = tree.measure(path)[0]
    most = _share(sizes)
    for paths, chosen in zip(groups, few, strict=True):
        parts = []
        for path in filter(sizes.__contains__, chosen):
            try:
                data = tree.begin(path, most[path.endswith(_SPREADSHEETS)])
            except (BadImage, OSError):
                continue
            text = text_of(data)
            is_binary = text is None or data.startswith(b"PK\3\4")
            if not (text := text or strings_of(data)):
                continue
            text, share = text[:CHUNK], min(1.0, min(len(data), CHUNK) / max(sizes[path], 1))
            parts.append(text)
            yield Text((path,), text, share, is_binary)
        if len(parts) > 1:
            joined = b"\n".join(part[: CHUNK // len(parts)] for part in parts)[:CHUNK]
            yield Text(tuple(paths), joined, len(parts) / len(paths))


def remarks_on(
    groups: Iterable[Sequence[str]], few: Iterable[Sequence[str]], texts: Iterable[Text]
) -> Iterator[str]:
    """Yield remarks on files that were not searched, or only in part."""
    searched = "searched for labels of the images"
    if count := sum(min(len(paths), _OF_EACH) for paths in groups) - sum(map(len, few)):
        yield f"{many(count, 'file')} {are(count)} not {searched}: at most {MOST_FILES:,} are."
    if cut := [text for text in texts if text.share < 1 and not text.paths[1:]]:
        most = max(len(text.text) for text in cut)
        count = len(cut)
        yield f"{many(count, 'text')} {are(count)} {searched} in the first {in_bytes(most)} only."
