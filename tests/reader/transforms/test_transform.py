"""A transform may come from outside, and states what it is."""

import ast
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

import packer
import reader
from reader import (
    Geometry,
    Loader,
)
from reader.rng import SampleRandom
from reader.transforms.transform import states


class LowerRight:
    """A transform of a script's own, which states what it is."""

    is_fixed = takes_arrays = True

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        geometry.crop(geometry.height - 8, geometry.width - 8, 8, 8)


class Elsewhere(LowerRight):
    """Derived from it, and states nothing."""


def test_a_class_states_what_it_is_and_a_derived_one_states_it_anew() -> None:
    traits = ("is_fixed", "is_mirror", "takes_arrays")
    assert [states(LowerRight(), trait) for trait in traits] == [True, False, True]
    assert not any(states(Elsewhere(), trait) for trait in traits)


def test_a_transform_from_outside_is_kept_decoded_and_applied_to_whole_batches(
    tmp_path: Path, packed: Path
) -> None:
    pixels = np.arange(6 * 10 * 12 * 3, dtype=np.uint8).reshape(6, 10, 12, 3)
    items = [{"image": Image.fromarray(one), "label": 0} for one in pixels]
    packer.pack(items, tmp_path / "raw", raw=(10, 12), shuffle=False)
    for folder, is_raw in ((tmp_path / "raw", True), (packed, False)):
        found = []
        for options in ({}, {"cache": "decoded"}):
            given: dict[str, Any] = {"transforms": [LowerRight()], "workers": 0, **options}
            with Loader(folder, batch_size=3, **given) as loader:
                found.append([[batch[0] for batch in loader] for _ in range(2)])
                kept = loader.statistics().cached  # images, which are read one by one
            assert bool(kept) == (bool(options) and not is_raw)
        plain, cached = found
        pairs = zip(chain(*plain), chain(*cached), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)
        if is_raw:
            images = torch.cat(plain[0]).permute(0, 2, 3, 1)
            assert np.array_equal(images.numpy(), pixels[:, 2:, 4:])


def test_a_transform_is_known_to_its_room_and_to_the_list_of_public_names() -> None:
    package = Path(reader.__file__).parent
    naming: dict[str, set[str]] = {"Letterbox": set(), "RandomVerticalFlip": set()}
    for file in package.rglob("*.py"):
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if any(name in text for name in naming) else ():
            found = {getattr(node, part, "") for part in ("id", "name", "attr")}
            found |= {getattr(one, "value", "") for one in getattr(node, "elts", ())}
            for name in naming.keys() & found:
                naming[name].add(file.relative_to(package).parts[0])
    assert all(places == {"__init__.py", "transforms"} for places in naming.values())
