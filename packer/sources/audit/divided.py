"""Folders that divide the samples as no label does, or deeper than it (pure)."""

import glob
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from packer.sources.audit.outcome import AS_READ, Outcome, Question
from packer.sources.trees.names import (
    PARTS,
    are_counters,
    chunks,
    nearly_all,
    split_of,
    splits_of,
)
from packer.sources.trees.outright import by_templates, literal
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.sources.trees.walk import names_an_image
from packer.words import listed, many

_SAME = {"valid": "val", "validation": "val"}
_SPLITS = ("train", "test", "val", "valid", "validation")
_FEW, _FEWER = 0.1, 0.5  # of the samples that most classes have
_FEWEST = 2  # samples that most classes have, beside which others are strange
_BALANCED = 2  # times the samples that the smallest class has
_SEVERAL = 8  # classes: of so many, most have more than one sample
_CAMERA = "DCIM"  # the folder of all pictures of a camera
_ASIDE = frozenset(  # what holds pictures about a dataset, or of programs
    {"docs", "doc", "assets", "figures", "figure", "figs", "fig", "media", "readme", "static"}
    | {"screenshots", "teaser", "logo", "logos", "demo", "demos", "resources", "website", "paper"}
    | {"venv", "env", "nodemodules", "src", "code", "scripts", "notebooks", "logs", "runs", "wandb"}
    | {"results", "outputs", "output", "plots", "checkpoints", "lib", "thumbs", "thumbnails"}
)


def unlabelled_folders(outcome: Outcome) -> Question | None:
    """Two or more folders divide the samples, which have no label from them."""
    names = outcome.names
    if outcome.has_labels or outcome.listing.members or len(names) < 2 or _mean_nothing(outcome):
        return None
    return Question(
        f"the folders {listed(names)} divide the images, but give no label.",
        {
            "Folders are classes": by_templates([f"{outcome.start}{{label}}/{{key}}"]),
            "Folders are a field of the json": by_templates([f"{outcome.start}{{folder}}/{{key}}"]),
            "Folders mean nothing": AS_READ,
        },
    )


def _mean_nothing(outcome: Outcome) -> bool:
    names, by_folder = outcome.names, outcome.by_folder
    if any(len(folders) != 1 for folders in by_folder):
        return True  # images lie beside them, or in folders of theirs
    words = {plain(name).strip("0123456789") for name in names}
    if splits_of(names) or any(plain(name) in IMAGES for name in names) or len(words) < 2:
        return True
    in_parts = chunks(names, lambda name: [(name, one.stem) for one in by_folder[(name,)]])
    return bool(in_parts) or are_counters(names)


def domains(outcome: Outcome) -> Question | None:
    """The names of folders are splits and domains: trainA, trainB, testA and testB."""
    found: dict[str, set[str]] = defaultdict(set)  # split -> domains
    for name in outcome.names:
        split = next((word for word in _SPLITS if name.lower().startswith(word)), "")
        found[name[: len(split)]].add(name[len(split) :])
    first, *others = found.values() or [set()]
    if any(outcome.listing.by_split()) or "" in found or not others or len(first) < 2:
        return None
    if "" in first or any(other != first for other in others):
        return None
    ways = [
        f"{{split={splits_of([s])[s]}}}{outcome.start}{literal(s)}{{label}}/{{key}}" for s in found
    ]
    return Question(
        f"the names of the folders {listed(outcome.names)} start with names of splits.",
        {
            "They are splits of classes": by_templates(ways),
            "They are classes": AS_READ,
        },
    )


def numbered_parts(outcome: Outcome) -> Question | None:
    """Folders divide the samples without a meaning: numbers, dates, letters of a hash."""
    below: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in outcome.seen:
        below["".join(one.folders[:1])].append(("/".join(one.folders), one.stem))
    what = chunks(outcome.names, below.__getitem__) if outcome.label_depth else ""
    above = "/".join([*outcome.where.parts, *filter(None, [outcome.prefix]), *outcome.top])
    if outcome.label_depth and len(outcome.names) > 1 and above.endswith(f"/{_CAMERA}"):
        what = "the folders of a camera"
    if not what:
        return None
    readings = {"Folders mean nothing": ("--as", "flat"), "They are classes": AS_READ}
    counts = outcome.counts()
    if what == PARTS and counts.max() <= _BALANCED * counts.min():
        readings = dict(reversed(readings.items()))  # which keeps what there may be
    return Question(
        f"the folders {listed(outcome.names)} look like {what} instead of classes.", readings
    )


def deeper_folders(outcome: Outcome) -> Question | None:
    """The same folders divide the samples of most classes, such as ``amazon/images/bike``."""
    depth = outcome.label_depth
    inner = [folders for folders in outcome.by_folder if 0 < depth < len(folders)]
    within: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for folders in inner:
        within[folders[:depth]].add(folders[-1])
    divided = [names for names in within.values() if len(names) > 1]
    if not divided or 2 * len(divided) < len(outcome.names) or len(set(map(len, inner))) > 1:
        return None
    names = set.union(*divided)
    shared = {name for name in names if sum(name in each for each in divided) > 1}
    if 2 * len(shared) < len(names) or are_counters(names) or splits_of(sorted(names)):
        return None
    folders, level = inner[0], len(inner[0])
    above, last = "/".join(folders[:depth]), folders[-1]
    fields = [f"{{folder{n}}}" if level > 2 else "{folder}" for n in range(1, level)]
    for at in range(1, level - 1):  # a folder that all have means nothing
        if len({each[at] for each in inner}) == 1:
            fields[at] = literal(folders[at])
    alone, joined = "/".join([*fields, "{label}"]), f"{{label:{level}}}"
    one = "{label}" if depth == 1 else f"{{label:{depth}}}"
    return Question(
        f"the folders {listed(sorted(names))} divide the images of {above} and others further.",
        {
            f"{last} is a class": by_templates([f"{outcome.start}{alone}/{{key}}"]),
            f"{'/'.join(folders)} is a class": by_templates([f"{outcome.start}{joined}/{{key}}"]),
            f"{above} is a class": by_templates([f"{outcome.start}{one}/{{key}}"]),
        },
    )


def strange_class(outcome: Outcome) -> Question | None:
    """Few pictures lie in a folder that is called as those about a dataset are: docs, _trash.

    So does a single one of another format, if all other classes have many.
    """
    if not outcome.label_depth:
        return None
    counts = outcome.counts()
    usual = float(np.median(counts[counts > 0]))
    each = {name: int(count) for name, count in zip(outcome.classes, counts, strict=True) if count}
    found = [name for name, count in each.items() if _is_aside(name, count < _FEWER * usual)]
    single = [name for name, count in each.items() if count == 1]
    if not found and len(single) == 1 and _has_own_format(outcome, single[0]):
        found = single if _FEW * usual >= 1 else []
    if not found or len(found) == len(each) or usual < _FEWEST:
        return None
    images = many(sum(map(each.__getitem__, found)), "image")
    text = f"{listed(found)} would be a class with {images}; most have {usual:.0f}."
    ignoring = [word for name in found for word in ("--ignore", f"**/{name}/**")]
    return Question(text, {"Leave it out": ignoring, "It is a class": AS_READ})


def _is_aside(name: str, is_small: bool) -> bool:
    last = name.rpartition("/")[2]
    words = {plain(last), *re.split(r"[^a-z0-9]+", last.lower())}
    return last.startswith("_") or (is_small and not words.isdisjoint(_ASIDE))


def nested_classes(outcome: Outcome) -> Question | None:
    """A folder below a class has the name of another class: ``elm/oak``, ``backup/dog``."""
    depth, classes = outcome.label_depth, {name.lower() for name in outcome.classes}
    inner = [
        folders
        for folders in outcome.by_folder
        for part in map(str.lower, folders[depth:] if depth else ())
        if part in classes and part != folders[0].lower()
    ]
    if not inner:
        return None
    first = inner[0]
    below = "/".join(first)
    deepest = f"{outcome.start}{{folder}}/{'*/' * (len(first) - 2)}{{label}}/{{key}}"
    ways = [deepest, f"{outcome.start}{{label}}/{{key}}"]
    above = "/".join(first[:depth])
    is_aside = all(folders[depth:] for folders in outcome.by_folder if folders[0] == first[0])
    left_out = f"**/{above if is_aside else below}/**"
    readings: dict[str, Sequence[str]] = {}
    names = {(folders[-1], one.stem) for folders in inner for one in outcome.by_folder[folders]}
    known = {(*one.folders, one.stem) for one in outcome.seen}
    if may_be_masks(above) and len(first) == 2 and len(names & known) >= nearly_all(len(names)):
        members = {"mask?": f"{outcome.start}{literal(above)}/{{label}}/{{key}}"}
        readings[f"{above} has masks of the classes"] = by_templates(ways[1:], members)
    return Question(
        f"{below} has the name of the class {first[-1]}, but would belong to {above}.",
        readings
        | {
            f"Its class is {first[-1]}": by_templates(ways),
            f"Its class is {above}": AS_READ,
            "Leave it out": ("--ignore", left_out),
        },
    )


def _has_own_format(outcome: Outcome, name: str) -> bool:
    """Return whether pictures of a class have an extension that no others have."""
    exts: dict[str, set[int]] = defaultdict(set)
    for one in outcome.seen:
        exts[one.ext.lower()].add(one.label)
    return {outcome.classes.index(name)} in exts.values()


def single_samples(outcome: Outcome) -> Question | None:
    """Nearly each folder that would be a class holds one image."""
    counts = outcome.counts()
    used = counts[counts > 0]
    if not outcome.label_depth or len(used) < _SEVERAL or (used == 1).mean() < 1 - _FEW:
        return None
    return Question(
        f"most of the folders, such as {listed(list(outcome.classes)[:3])}, hold a single image: "
        "they may be samples instead of classes.",
        {
            "Folders mean nothing": by_templates([f"{outcome.start}{{key}}"]),
            "They are classes": AS_READ,
        },
    )


def partly_split(outcome: Outcome) -> Question | None:
    """Some samples have a split, and others none."""
    by_split = outcome.listing.by_split()
    if len(by_split) < 2 or "" not in by_split:
        return None
    without, others = by_split[""], listed(sorted(by_split.keys() - {""}))
    example = outcome.listing.name_of(int(without[0]))
    return Question(
        f"{many(len(without), 'image')}, such as {example}, would have no split, and others are in "
        f"{others}: a Loader of a split would not read them.",
        {"They have none": AS_READ},
    )


def same_splits(outcome: Outcome) -> Question | None:
    """Two splits have the same meaning: ``val`` and ``valid``, or ``Train`` and ``train``."""
    alike: dict[str, list[str]] = defaultdict(list)
    for name in sorted(outcome.listing.by_split()):
        alike[_SAME.get(split := split_of(name), split)].append(name)
    same = next((names for split, names in alike.items() if split and names[1:]), None)
    if same is None or outcome.is_divided:
        return None
    one = "val" if "val" in same else same[-1]
    end = "{label}/{key}" if outcome.label_depth == 1 else "{key}"
    ways = [
        f"{{split={one if split in same else split}}}{start}{end}"
        for split, start in outcome.starts.items()
    ]
    readings: dict[str, Sequence[str]] = {"Each is a split of its own": AS_READ}
    if outcome.kind == "folder" and outcome.label_depth < 2 and not outcome.listing.members:
        readings = {f"They are one split, {one}": by_templates(ways), **readings}
    return Question(f"the splits {listed(same)} have names of one meaning.", readings)


def only_class(outcome: Outcome) -> Question | None:
    """All images are in one folder, which would be the only class."""
    if outcome.kind != "folder" or len(outcome.classes) != 1 or not outcome.has_labels:
        return None
    if any(outcome.listing.by_split()):
        return None
    rejected = (name for name, _ in outcome.listing.rejected if names_an_image(name))
    if any(name.rpartition("/")[0] not in outcome.paths for name in rejected):
        return None  # another class has lost its images
    (name,) = outcome.classes
    folder = "/".join([*filter(None, [outcome.prefix]), *outcome.top])
    readings: dict[str, Sequence[str]] = {"It is a class": AS_READ}
    if outcome.names and not any(map(str.isdecimal, "".join(outcome.names))):
        inner = by_templates([f"{outcome.start}{{label}}/{{key}}"])
        beside, meaning = outcome.by_folder.get((), ()), f"The folders in {name} are classes"
        if beside:
            meaning += f", without {beside[0].name} and the files beside it"
            inner += ("--ignore", f"{glob.escape(folder)}/*")
        readings[meaning] = inner
    readings["It means nothing"] = ("--as", "flat")
    return Question(f"all images are in {folder or name}, which would be the only class.", readings)
