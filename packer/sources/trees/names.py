"""Kinds of names of folders and images: splits, counters, parts of a set, roles (pure)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise
from math import gcd

from packer.sources.trees.shape import IMAGES, may_be_masks, plain

SPLITS = frozenset({"train", "val", "valid", "validation", "test"})
_ALIASES = {"training": "train", "testing": "test", "crossval": "val"} | {s: s for s in SPLITS}
_BESIDE_SPLITS = frozenset(  # which are splits beside others, and alone mean nothing
    {"trainval", "dev", "eval", "pred", "extra", "holdout", "unlabeled", "unlabelled"}
)
_TRANSLATED = {  # without accents; Spanish, Portuguese, French, Italian, German, Chinese
    word: split
    for split, words in {
        "train": "entrenamiento treino treinamento entrainement addestramento"
        " 训练 训练集 訓練 訓練集",
        "val": "validacion validacao validazione validierung 验证 验证集 校验集 驗證 驗證集",
        "test": "prueba pruebas teste testes essai essais prova prufung 测试 测试集 測試 測試集",
    }.items()
    for word in words.split()
}
_OF_PARTS = re.compile(  # in the names of lists
    r"train|val|test|dev(?![a-z])|seen|known|query|gallery|probe|label(l)?ed|support|novel|base"
    r"|fold|part|split|set|batch|easy|hard|source|target|holdout|in_?domain|ood"
)
_SHORT = {"tr": "train", "te": "test"}  # which may be languages, if there are others
_YEAR = re.compile(r"[_-]?\d{1,4}$")
_SEPARATORS = re.compile(r"[_\-. ]+")
_ROLES = frozenset(  # what a picture is to the others of its sample
    {"a", "b", "input", "output", "target", "gt", "groundtruth", "truth", "label", "labels"}
    | {"mask", "masks", "lr", "hr", "lq", "hq", "low", "high", "hazy", "haze", "clear", "clean"}
    | {"noisy", "noise", "sharp", "blur", "blurred", "blurry", "rainy", "original", "originals"}
    | {"resized", "cropped", "thumb", "thumbs", "thumbnail", "thumbnails", "small", "preview"}
    | {"previews", "before", "after", "depth", "edges", "source", "reference", "ref", "degraded"}
    | {"l", "r", "left", "right", "front", "rear", "color", "colour", "rgb", "ir", "infrared"}
    | {
        "thermal",
        "restored",
        "annotation",
        "annotations",
        "seg",
        "segmentation",
        "semantic",
        "truths",
    }
)
GLUED = (  # letters behind a number, or in capitals behind others; and those before a number
    r"()(?:(?<=\d)[^\W\d_]+|(?<=[a-z])(?:[A-Z]+|[A-Z][a-z]+))?$",
    r"^([^\W\d_]*)()(?=\d)",
)
_PARTS = IMAGES | {  # what a set is divided into without a meaning
    *("chunk", "part", "batch", "shard", "folder", "dir", "directory", "block", "archive", "zip"),
    *("tar", "bucket", "data", "dataset", "ds", "subset", "fold", "video", "clip", "sequence"),
}
PARTS = "numbered parts of a set"
_VIEWS = frozenset({"cam", "camera", "webcam", "view", "viewpoint", "sensor"})
_TOKENS = re.compile(r"[^\W_]+")
_COUNTER = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)
_PART = re.compile(r"([^\W\d][^\d]*?)[_\-. ]*(\d+)")
_DATE = re.compile(r"(19|20)\d\d(?:([-_. ]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?)?")
_DAY = re.compile(r"\b\d{1,2}\.? [^\W\d]+ (19|20)\d\d\b|\b[^\W\d]+ \d{1,2}, (19|20)\d\d\b")
_WHEN = re.compile(  # a day in a name, and the time behind it
    r"(?:19|20)\d\d([-_. ]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])"
    r"(?:[-_T. ]*(?:[01]\d|2[0-3])[-_.h:]?[0-5]\d(?:[-_.m:]?[0-5]\d)?)?(?!\d)"
)
_SECONDS = re.compile(r"1\d{9}(?:\d{3}){0,3}(?:[._]\d+)?")  # since 1970
_OF_CAMERAS = re.compile(r"(?=\d*[A-Z_])\d{3}[A-Z0-9_]{5}|20\d{4}_[_a-z]")  # 100APPLE, 202401__
_HEX = re.compile(r"[0-9a-f]+")
_NUMBERED = re.compile(r"[A-Za-z]+\d{3,}")  # WA0001
_STEP = 100  # between the numbers of chunks
_FEW = 6  # pictures of one sample beside each other
_LEAST = 4  # pictures
_LOOKED_AT = 600  # names of a folder
_NEARLY = 0.9  # of the names
_SAMPLES = 3  # with the same parts


def splits_of(names: Sequence[str]) -> dict[str, str]:
    """Return those of the names that are those of splits, each with the split's usual name.

    Case, a year behind the name, and words that all names share (``seg_train``, ``seg_test``) are
    ignored.
    """
    found = {name: split for name in names if (split := split_of(name))}
    either = {name: split for name in names if (split := split_of(name) or translated(name))}
    if len(set(either.values())) > 1 or (len(names) == 1 and set(either.values()) != {"test"}):
        found = either  # alone, a word for test may be a class
    if any(split in SPLITS for split in found.values()):
        return found
    for group in _apart(names, lambda token: split_of(token) or translated(token)):
        if len(group) > 1 and SPLITS.intersection(group.values()):
            return group
    for group in _apart(names, lambda token: _SHORT.get(token.lower(), "")):
        if len(group) == len(names) == len(_SHORT):
            return group
    return {}


def _apart(names: Sequence[str], split: Callable[[str], str]) -> Iterable[dict[str, str]]:
    """Return the names that differ in the word of their split, each with the split."""
    apart: dict[tuple[str, ...], dict[str, str]] = {}
    for name in names:
        tokens = _SEPARATORS.split(name)
        words = [number for number, token in enumerate(tokens) if split(token)]
        if len(words) == 1 and len(tokens) > 1:
            rest = (*tokens[: words[0]], "", *tokens[words[0] + 1 :])
            apart.setdefault(rest, {})[name] = split(tokens[words[0]])
    return apart.values()


def split_of(name: str) -> str:
    """Return the split that a name stands for by itself, "" for none."""
    word = _YEAR.sub("", name.lower())
    return _ALIASES.get(word, word if word in _BESIDE_SPLITS else "")


def translated(name: str) -> str:
    """Return the split that a word of another language than English stands for, "" for none."""
    signs = unicodedata.normalize("NFKD", name.lower())
    word = "".join(sign for sign in signs if not unicodedata.combining(sign))
    return _TRANSLATED.get(word, "")


def are_named_as_splits(names: Sequence[str]) -> bool:
    """Return whether all names of lists beside each other have a word for parts of a set."""
    return all(
        _OF_PARTS.search(word) or split_of(word) for name in names for word in [name.lower()]
    )


def are_named_after(names: Sequence[str], things: Collection[str]) -> bool:
    """Return whether each name has that of another one of the things in it."""
    longest = sorted(map(plain, things), key=len, reverse=True)
    found = [next((one for one in longest if one and one in plain(name)), "") for name in names]
    return "" not in found and len(set(found)) == len(found)


def nearly_all(count: int) -> float:
    """Return how many of so many names are nearly all: nine of ten, and of few all but one."""
    return min(_NEARLY * count, count - 1)


def are_counters(stems: Collection[str]) -> bool:
    """Return whether names only count: one text, and numbers at equal steps with few gaps.

    ``1``, ``2`` and ``image_0001`` are such; folders that have them in common may be classes.
    """
    folders: dict[str, list[str]] = defaultdict(list)
    for stem in stems:
        folder, _, name = stem.rpartition("/")
        folders[folder].append(name)
    return all(map(_count, folders.values()))


def _count(names: Sequence[str]) -> bool:
    if all(len(name) == 1 for name in names):
        return True
    found = list(map(_COUNTER.fullmatch, names))
    if not all(found) or len({(one[1], one[3]) for one in found if one}) > 1:
        return False
    numbers = sorted(int(one[2]) for one in found if one)
    step = gcd(*(b - a for a, b in pairwise(numbers))) or 1
    return (numbers[-1] - numbers[0]) // step < 2 * len(numbers)


def have_roles(names: Collection[str]) -> bool:
    """Return whether folders are named after what their pictures are to each other's: LR, HR.

    The common part of all names is ignored: ``mask`` and ``no_mask`` are classes.
    """
    tokens = [[token.lower() for token in _TOKENS.findall(name)] for name in names]
    shared = set.intersection(*map(set, tokens))
    rests = [[token for token in each if token not in shared] for each in tokens]
    sizes = all(token.isdigit() for rest in rests for token in rest)
    if shared and shared <= IMAGES and sizes:
        return True  # images, images_2 and images_4
    return all(_ROLES.intersection(map(_unnumbered, rest)) for rest in rests)


def share_a_word(names: Collection[str]) -> bool:
    """Return whether all names have a word in common, but for numbers: ``ds1`` and ``ds2``."""
    words = [set(map(_unnumbered, _TOKENS.findall(name.lower()))) for name in names]
    return bool(set.intersection(*words) - {""})


def is_role(name: str) -> bool:
    """Return whether a single name is a role."""
    return not _ROLES.isdisjoint(map(_unnumbered, _TOKENS.findall(name.lower())))


def is_of_masks(ending: str) -> bool:
    """Return whether the end of a name is that of a mask, or another kind than photographs have."""
    word = _unnumbered(ending.rpartition(".")[0].strip("_- ").lower())
    return may_be_masks(word) or (not word and not ending.lower().endswith((".jpg", ".jpeg")))


def is_named_as_mask(name: str) -> bool:
    """Return whether the last word of a picture's name, behind others, is one for masks."""
    words = _TOKENS.findall(name.rpartition(".")[0].lower())
    return len(words) > 1 and may_be_masks(words[-1])


def _unnumbered(token: str) -> str:
    return token.strip("0123456789")


def chunks(names: Sequence[str], images: Callable[[str], Iterable[tuple[str, str]]]) -> str:
    """Return what names of folders are instead of classes, such as "dates"; "" for classes.

    `images` gives the folders of some images below one, relative to all, each with a stem.
    """
    if len(names) < 2:
        return ""
    if all(_DATE.fullmatch(name) or _DAY.search(name) for name in names):
        return "dates"
    if len({re.sub(r"\d", "", _WHEN.sub("", name)) for name in names}) == 1 and all(
        map(_WHEN.search, names)
    ):
        return "dates and times"
    if all(map(_SECONDS.fullmatch, names)) and len(set(map(len, names))) == 1:
        return "times"
    if all(map(_OF_CAMERAS.fullmatch, names)):
        return "the folders of a camera"
    if all(_VIEWS.intersection(map(_unnumbered, _TOKENS.findall(name.lower()))) for name in names):
        return "cameras or views"
    parts = [_PART.fullmatch(name) for name in names]
    words = {one[1].lower() for one in parts if one is not None}
    if all(parts) and len(words) == 1 and not _PARTS.isdisjoint(_TOKENS.findall(words.pop())):
        return PARTS
    if all(map(str.isdecimal, names)) and len(set(map(len, names))) == 1 and min(names)[0] == "0":
        numbers = sorted(map(int, names))
        if not any(number % _STEP for number in numbers) and len(names[0]) > 2:
            return PARTS
        if _run_on(sorted(names), images):
            return "numbered parts of a set, whose images are numbered throughout"
    if all(map(_HEX.fullmatch, names)) and len(set(map(len, names))) == 1 and len(names[0]) <= 3:
        found = [each for name in names for each in images(name)]
        rests = {stem[len(folder) :] for folder, stem in found}
        if found and all(map(_is_hashed, found)) and not "".join(rests).isdecimal():
            return "the first letters of the names in them"
    return ""


def _is_hashed(image: tuple[str, str]) -> bool:
    folder, stem = image[0].replace("/", ""), image[1].lower()
    return len(stem) > len(folder) and stem.startswith(folder) and _is_hash(stem)


def _is_hash(stem: str) -> bool:
    return bool(_HEX.fullmatch(stem)) and not stem.isdecimal()


def _run_on(names: Sequence[str], images: Callable[[str], Iterable[tuple[str, str]]]) -> bool:
    last = -1
    for name in names:
        stems = [stem for _, stem in images(name)]
        if len(stems) < 2 or not all(map(str.isdecimal, stems)):
            return False
        numbers = sorted(map(int, stems))
        if numbers[0] <= last:
            return False
        last = numbers[-1]
    return True


def endings(folders: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return the endings by which the pictures of one sample differ.

    ``_sat.jpg`` and ``_mask.png`` behind the name that they share; ``.jpg`` and ``.png``; ``.jpg``
    and ``_thumb.jpg``. At least half of the pictures have them, of all `folders` or of those in
    which several do.
    """
    counts = [(_endings(names), len(names)) for names in folders]
    total = sum(size for _, size in counts)
    for some, count in sum((own for own, _ in counts), Counter()).most_common(1):
        several = [(own[some], size) for own, size in counts if own[some] > 1]
        ways = [(count, total), tuple(map(sum, zip(*several, strict=True))) or (0, 1)]
        if count > 1 and any(2 * held * len(some) >= size for held, size in ways):
            return some
    return ()


def _endings(names: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return how often pictures of a folder differ in the same endings."""
    found: dict[str, set[str]] = defaultdict(set)
    for name in names:
        stem, dot, ext = name.rpartition(".")
        found[stem].add(dot + ext)
        if (at := _last_token(stem)) > 0:
            found[stem[:at]].add(name[at:])
    return Counter(tuple(sorted(some)) for some in found.values() if 1 < len(some) <= _FEW)


def glued(folders: Collection[Sequence[str]], *, has_begins: bool) -> tuple[str, ...]:
    """Return what is before and behind what pictures of nearly all samples share: *r.png, *d.png.

    No sign is between. `has_begins`: whether it may be before, too.
    """
    for pattern in GLUED[: 1 + has_begins]:
        found = Counter[frozenset[str]]()
        for names in folders:
            each: dict[str, set[str]] = defaultdict(set)
            for name in names:
                stem, _, ext = name.rpartition(".")
                match = re.search(pattern, stem)
                before, both = (match[1], match[0]) if match else ("", "")
                behind = both[len(before) :]
                key = stem[len(before) : len(stem) - len(behind)]
                each[key].add(f"{before}*{behind}.{ext}")
            found.update(map(frozenset, each.values()))
        for some, count in found.most_common(1):
            if 1 < len(some) <= _FEW and count >= max(_SAMPLES, nearly_all(found.total())):
                return tuple(some)
    return ()


def windows(names: Sequence[str]) -> Sequence[str]:
    """Return some runs of names: those that share a beginning follow each other."""
    if len(names) <= _LOOKED_AT:
        return names
    size, last = _LOOKED_AT // 3, len(names) - _LOOKED_AT // 3
    return [name for at in (0, last // 2, last) for name in names[at : at + size]]


def _last_token(stem: str) -> int:
    """Return where the last word of a name begins, with its separator; 0 for none or a number."""
    at = max(stem.rfind(sign) for sign in "_- ")
    is_word = any(map(str.isalpha, stem[at:])) and not _NUMBERED.fullmatch(stem[at + 1 :])
    return at if at > 0 and is_word else 0


def infixes(names: Sequence[str]) -> tuple[str, ...]:
    """Return the words within names by which the pictures of one sample differ: ``_GT_``."""
    some = [name.split("_") for name in names[:: len(names) // _LOOKED_AT + 1]]
    if len(names) < _LEAST or len(set(map(len, some))) > 1:
        return ()
    for at in range(1, len(some[0]) - 1):
        words = sorted({tokens[at] for tokens in some})
        texts = {_unnumbered(word) for word in words}  # one text is a counter's
        if not 2 <= len(words) <= _FEW or "" in texts or len(texts) < 2:
            continue
        known = set(names)
        others = ("_".join([*t[:at], word, *t[at + 1 :]]) for t in some for word in words)
        if sum(other in known for other in others) >= _NEARLY * len(some) * len(words):
            return tuple(f"_{word}_" for word in words)
    return ()
