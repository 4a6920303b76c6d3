"""Folders that divide the samples as no label does, or deeper than it (pure)."""

import glob
from collections import defaultdict
from itertools import islice

import numpy as np

from packer.layouts.audit.outcome import Outcome, Question, below
from packer.trees.names import are_counters, chunks, splits_of
from packer.trees.outright import by_templates
from packer.trees.shape import IMAGES, plain
from packer.trees.walk import names_an_image
from packer.words import listed, many

_FEW = 0.1  # of the samples that most classes have
_LEAST = 5  # samples that most classes have, beside which few are strange
_SEVERAL = 10  # classes: of so many, most have more than one sample
_ASIDE = frozenset(  # what holds pictures about a dataset, or of programs
    {"docs", "doc", "assets", "figures", "figure", "figs", "fig", "media", "readme", "static"}
    | {"screenshots", "teaser", "logo", "logos", "demo", "demos", "resources", "website", "paper"}
    | {"venv", "env", "nodemodules", "src", "code", "scripts", "notebooks", "logs", "runs", "wandb"}
    | {"results", "outputs", "output", "plots", "checkpoints", "lib"}
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
            "Folders mean nothing": ("--as", outcome.kind),
        },
    )


def _mean_nothing(outcome: Outcome) -> bool:
    names = outcome.names
    if any(len(folders) != 1 for folders in outcome.by_folder):
        return True  # images lie beside them, or in folders of theirs
    words = {plain(name).strip("0123456789") for name in names}
    if splits_of(names) or any(plain(name) in IMAGES for name in names) or len(words) < 2:
        return True
    return bool(chunks(names, outcome.images_in)) or are_counters(names)


def deeper_folders(outcome: Outcome) -> Question | None:
    """The same folders divide the samples of most classes, such as ``amazon/images/bike``."""
    depth = outcome.label_depth
    within: dict[tuple[str, ...], set[str]] = defaultdict(set)
    levels = set()
    for folders in outcome.by_folder:
        if depth and len(folders) > depth:
            within[folders[:depth]].add(folders[-1])
            levels.add(len(folders))
    divided = [names for names in within.values() if len(names) > 1]
    if not divided or 2 * len(divided) < len(outcome.names) or len(levels) > 1:
        return None
    names = set.union(*divided)
    shared = {name for name in names if sum(name in each for each in divided) > 1}
    if 2 * len(shared) < len(names) or are_counters(names) or splits_of(sorted(names)):
        return None
    (level,) = levels
    folders = next(folders for folders in outcome.by_folder if len(folders) == level)
    above, last = "/".join(folders[:depth]), folders[-1]
    fields = [f"{{folder{n}}}" if level > 2 else "{folder}" for n in range(1, level)]
    for at in range(1, level - 1):  # a folder that all have means nothing
        if len({each[at] for each in outcome.by_folder if len(each) == level}) == 1:
            fields[at] = below(folders[at])
    inner = "/".join([*fields, "{label}"])
    one = "{label}" if depth == 1 else f"{{label:{depth}}}"
    joined = f"{{label:{level}}}"
    return Question(
        f"the folders {listed(sorted(names))} divide the images of {above} and others further.",
        {
            f"{last} is a class": by_templates([f"{outcome.start}{inner}/{{key}}"]),
            f"{'/'.join(folders)} is a class": by_templates([f"{outcome.start}{joined}/{{key}}"]),
            f"{above} is a class": by_templates([f"{outcome.start}{one}/{{key}}"]),
        },
    )


def strange_class(outcome: Outcome) -> Question | None:
    """Few pictures lie in a folder that is called as those about a dataset are: docs."""
    if not outcome.label_depth:
        return None
    counts = outcome.counts()
    usual = float(np.median(counts[counts > 0]))
    few = np.flatnonzero((counts > 0) & (counts <= _FEW * usual)) if usual >= _LEAST else ()
    each = {outcome.classes[int(number)]: int(counts[number]) for number in few}
    found = [name for name in each if plain(name.rpartition("/")[2]) in _ASIDE]
    if not found:
        return None
    images = many(sum(map(each.__getitem__, found)), "image")
    text = f"{listed(found)} would be a class with {images}; most have {usual:.0f}."
    ignoring = [word for name in found for word in ("--ignore", f"**/{name}/**")]
    return Question(text, {"Leave it out": ignoring, "It is a class": ("--as", "folder")})


def single_samples(outcome: Outcome) -> Question | None:
    """Nearly each folder that would be a class holds one image."""
    counts = outcome.counts()
    used = counts[counts > 0]
    if not outcome.label_depth or len(used) < _SEVERAL or (used == 1).mean() < 1 - _FEW:
        return None
    names = list(islice(outcome.classes, 3))
    return Question(
        f"most of the folders, such as {listed(names)}, hold a single image: they may be samples "
        "instead of classes.",
        {
            "Folders mean nothing": by_templates([f"{outcome.start}{{key}}"]),
            "They are classes": ("--as", "folder"),
        },
    )


def partly_split(outcome: Outcome) -> Question | None:
    """Some samples have a split, and others none."""
    counts = {name: len(numbers) for name, numbers in outcome.listing.by_split().items()}
    without = counts.pop("", 0)
    if not without or not counts:
        return None
    example = next((one for one in outcome.seen if not one.split), None)
    such = f", such as {outcome.example(example)}" if example else ""
    return Question(
        f"{many(without, 'image')}{such}, would have no split, and others are in "
        f"{listed(sorted(counts))}: a Loader of a split would not read them.",
        {"They have none": ("--as", outcome.kind)},
    )


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
    readings: dict[str, tuple[str, ...]] = {"It is a class": ("--as", "folder")}
    if outcome.names and not any(map(str.isdecimal, "".join(outcome.names))):
        inner = by_templates([f"{outcome.start}{{label}}/{{key}}"])
        beside, meaning = outcome.by_folder.get((), ()), f"The folders in {name} are classes"
        if beside:
            meaning += f", without {outcome.example(beside[0])} and the files beside it"
            inner += ("--ignore", f"{glob.escape(folder)}/*")
        readings[meaning] = inner
    readings["It means nothing"] = ("--as", "flat")
    return Question(f"all images are in {folder or name}, which would be the only class.", readings)
