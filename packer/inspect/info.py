"""`packer info`: the content of a dataset, from its indexes only."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from packer.inspect.dataset import SplitInfo, count_listed, members_in, splits_of, values_in
from packer.plan.plan import default_shard_size
from packer.run.report import rejected_files
from packer.storage.dataset import Finished
from reader.format import FORMATS

BATCH = 256
CROP = 224
_SIDES = (-np.inf, 32, 64, 128, 224, 256, 384, 512, 768, 1024, 2048, np.inf)
_ASPECTS = (-np.inf, 0.5, 0.67, 0.8, 0.95, 1.05, 1.25, 1.5, 2.0, np.inf)


@dataclass
class Info:
    dataset: str
    packer: str
    samples: int = 0
    shards: int = 0
    bytes: int = 0  # bytes, index_bytes: of the tars and of the indexes
    index_bytes: int = 0
    images: bool = True  # False: the samples' images are in another dataset
    rejected: int = 0  # files of the source that are not in the dataset
    rejected_reasons: Mapping[str, int] = field(default_factory=dict)  # ``...`` for names, numbers
    rejected_files: list[tuple[str, str]] = field(default_factory=list)  # the first thousand
    splits: dict[str, SplitInfo] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)  # samples of each class, in label order
    unlabeled: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    members: dict[str, int] = field(default_factory=dict)  # samples with such a further member
    columns: dict[str, int] = field(default_factory=dict)  # samples with a value, by JSON field
    tiled: int = 0  # JPEGs with a segment table
    dropped: Mapping[str, int] = field(default_factory=dict)  # images by what no reader shows
    banded: int = 0  # PNGs with a table of bands, members aside
    short_sides: dict[str, int] = field(default_factory=dict)  # by pixels, as "256 up to 384"
    aspects: dict[str, int] = field(default_factory=dict)  # width / height as people see them
    decoded_bytes: int = 0  # all images as stored, decoded to RGB
    batch_bytes: dict[str, int] = field(default_factory=dict)  # of 256, mean size and cropped
    gpu_batch_bytes: dict[str, int] = field(default_factory=dict)  # of 256 crops of 224, by dtype
    shard_size: int = 0  # what `packer pack` chooses for so many bytes
    shard_size_reason: str = ""


def info(dataset: Finished) -> Info:
    """Sum up the indexes of a dataset, one after the other."""
    content = dataset.content
    found = Info(str(dataset), content.packer, images=content.images, splits=splits_of(content))
    found.dropped = content.dropped
    rejected: list[tuple[str, str]] = []
    labels = np.zeros(len(content.classes) + 1, np.int64)
    formats = np.zeros(len(FORMATS), np.int64)
    sides, aspects = np.zeros(len(_SIDES) - 1, np.int64), np.zeros(len(_ASPECTS) - 1, np.int64)
    members: Counter[str] = Counter()
    fields: Counter[str] = Counter()
    for shard, index in dataset.indexes():
        columns = index.columns
        rejected += index.rejected
        found.index_bytes += shard.index_bytes
        members.update(members_in(index))
        fields.update(values_in(index))
        if not content.images:
            continue
        if content.classes:
            labels += np.bincount(columns["label"] + 1, minlength=len(labels))
        else:
            labels[0] += int((columns["label"] < 0).sum())
        formats += np.bincount(columns["format"], minlength=len(formats))
        found.tiled += count_listed(index, "segment")
        found.banded += count_listed(index, "band")
        height, width = (columns[name].astype(np.int64) for name in ("height", "width"))
        sides += np.histogram(np.minimum(height, width), _SIDES)[0]
        upright = np.where(columns["orientation"] > 4, height / width, width / height)
        aspects += np.histogram(upright, _ASPECTS)[0]
        found.decoded_bytes += int((height * width).sum()) * 3
    lost = rejected_files(content, rejected)
    found.rejected, found.rejected_reasons = lost.count, lost.reasons
    found.rejected_files = list(lost.files)
    found.shards = len(content.shards)
    found.samples = sum(split.samples for split in found.splits.values())
    found.bytes = sum(split.bytes for split in found.splits.values())
    found.unlabeled = int(labels[0])
    found.classes = dict(zip(content.classes, labels[1:].tolist(), strict=True))
    found.formats = {name: n for name, n in zip(FORMATS, formats.tolist(), strict=True) if n}
    found.members, found.columns = dict(members), dict(sorted(fields.items()))
    found.short_sides, found.aspects = _named(sides, _SIDES), _named(aspects, _ASPECTS)
    crops = BATCH * CROP * CROP * 3
    mean = found.decoded_bytes // max(found.samples, 1)
    found.batch_bytes = {"as stored": BATCH * mean, f"at {CROP}": crops}
    found.gpu_batch_bytes = {"uint8": crops, "float16": 2 * crops, "float32": 4 * crops}
    found.shard_size, found.shard_size_reason = default_shard_size(found.bytes)
    return found


def _named(counts: NDArray[np.int64], edges: Sequence[float]) -> dict[str, int]:
    """Return a histogram's counts by what they span, without the empty ones at both ends."""
    between = [f"{low} up to {high}" for low, high in pairwise(edges[1:-1])]
    names = [f"under {edges[1]}", *between, f"{edges[-2]} and more"]
    used = np.flatnonzero(counts)
    places = range(used[0], used[-1] + 1) if len(used) else ()
    return {names[place]: int(counts[place]) for place in places}
