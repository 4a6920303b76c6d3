"""Makes a case, and judges all of its samples."""

import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from crossing.fields import FIELDS, pixels_of
from crossing.judge import Seen, check, judge_basics, judge_boxes
from crossing.loading import LOADINGS
from crossing.options import OPTIONS_OF_PACKING
from crossing.reading import Reading
from crossing.scenes import PICTURES, scenes_of
from crossing.sources import SOURCES
from crossing.transforms import TRANSFORMS
from crossing.world import Refused, World
from reader import ShardfeedError


class Packed:
    """Datasets, each packed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._worlds: dict[tuple[str, str, str], World | Exception] = {}

    def __call__(self, case: Mapping[str, str]) -> World:
        names = case["source"], case["picture"], case["option"]
        if names not in self._worlds:
            try:
                self._worlds[names] = self._pack(*names)
            except Exception as error:
                self._worlds[names] = error
        found = self._worlds[names]
        if isinstance(found, Exception):
            raise found
        return found

    def _pack(self, source: str, picture: str, option: str) -> World:
        root = self._root / f"{source}-{picture}-{option}"
        shutil.rmtree(root, ignore_errors=True)
        form, drawn = SOURCES[source], PICTURES[picture]
        scenes = scenes_of(drawn, form.is_one_size)
        world = World(root, form, drawn, option, scenes)
        OPTIONS_OF_PACKING[option].pack(world)
        return world


def try_case(case: Mapping[str, str], packed: Packed) -> int:
    """Read what a case says, judge each sample, and return how many there were."""
    world = packed(case)
    loading, field = LOADINGS[case["loading"]], FIELDS[case["field"]]
    reading = Reading(world, field, TRANSFORMS[case["transform"]])
    names = world.names_of(world.open())
    has_label = "label" in world.source.holds
    counts: Counter[int] = Counter()
    try:
        rows = list(loading.read(reading))
    except ShardfeedError as error:
        raise Refused(str(error)) from error
    for row in rows:
        if not row.get("valid", True):
            continue
        image = pixels_of(row["image"])
        if loading.may_be_black and int(row.get("label", -1)) == -1 and not image.any():
            continue
        seen = Seen(image, world.scenes, world.is_cut, row)
        classes = row.get("classes") or names
        judge_basics(seen, classes, is_named=not world.source.is_one_size, has_label=has_label)
        if row.get("split") is not None:
            check(row["split"] == seen.scene.split, "it is of the split", row["split"])
        if "coco" in row:
            judge_boxes(seen, row["coco"], classes, 4.0)
        if loading.is_of_loader:
            field.judge(world, seen, classes)
        counts[seen.scene.number] += 1
    check(reading.expected in (None, counts), f"samples come {counts}, not {reading.expected}")
    return sum(counts.values())
