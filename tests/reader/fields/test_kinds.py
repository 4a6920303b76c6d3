"""A kind of field is one class, in one file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import only
from made_images import npy, png

from reader import CenterCrop, Loader, RandomHorizontalFlip, Resize
from reader.decode.decoder import draw_mask
from reader.decode.formats import part
from reader.fields.columns import Column, NumberColumn, StoredBatch
from reader.fields.field import Field, Seen, Tools
from reader.fields.members import MemberField
from reader.fields.pixels import Planned

pytestmark = pytest.mark.usefixtures("no_leftovers")

FAR = 100.0  # what lies outside of the image


@dataclass(frozen=True)
class Depth(MemberField):
    """Depth maps, arrays over the image, in float16."""

    member: str

    follows_image = True

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        depth = self.decoder(data).astype(np.float16)
        return [draw_mask(view, part(depth, view.box), FAR) for view in planned.views]

    def column(self, seen: Seen) -> Column:
        return DepthColumn(seen.name(self), dtype="<f2", shape=seen.room)

    def draw(self, tile: Any, value: Any, classes: Sequence[str], boxes: str) -> None:
        tile.lines.append(f"to {float(value.max()):g} m")


class DepthColumn(NumberColumn):
    def deliver(self, batch: StoredBatch) -> Any:
        return super().deliver(batch).unsqueeze(1)


@pytest.fixture
def folder(write_samples: Callable[..., Path]) -> Path:
    """Three images of 20 x 30 pixels, and arrays of the same values over them."""
    samples = {}
    for number in range(3):
        values = np.arange(600, dtype=np.float32).reshape(20, 30) / 8 + number
        samples[f"s{number}"] = {"png": png(values.astype(np.uint8)), "depth.npy": npy(values)}
    return write_samples(samples)


def test_a_new_kind_of_field_goes_through_the_transforms_into_batches_and_views(
    folder: Path,
) -> None:
    fields: Any = ("image", Depth("depth.npy"))
    options: dict[str, Any] = {"batch_size": 3, "workers": 0, "fields": fields}
    halved = [Resize((10, 15), interpolation="nearest"), RandomHorizontalFlip(p=1)]
    images, depths = only(folder, transforms=halved, **options)
    assert (depths.shape, depths.dtype) == ((3, 1, 10, 15), torch.float16)
    whole = torch.arange(600).reshape(20, 30) / 8
    for number in range(3):
        expected = (whole + number).half()[1::2, 1::2].flip(1)
        assert torch.equal(depths[number, 0], expected)
        assert torch.equal(images[number, 0], expected.to(torch.uint8))
    _, (first, second) = only(folder, views=[halved, [CenterCrop((10, 40))]], **options)
    assert torch.equal(first, depths)
    assert second.shape == (3, 1, 10, 40)
    assert (second[..., :5] == FAR).all()
    assert torch.equal(second[0, 0, :, 5:35], whole.half()[5:15])


def test_a_preview_draws_a_field_as_its_kind_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(
        "reader.look.batch.Sheet",
        lambda tiles, head: drawn.extend(line for tile in tiles for line in tile.lines),
    )
    fields: Any = ("image", Depth("depth.npy"))
    with Loader(folder, batch_size=3, workers=0, fields=fields) as loader:
        loader.preview()
    assert drawn == ["to 74.875 m", "to 75.875 m", "to 76.875 m"]


class Parity(Field):
    """Whether a sample's number is odd: a field without a member."""

    name = "parity"

    def read(self, planned: Planned, tools: Tools) -> int:
        return planned.number % 2

    def column(self, seen: Seen) -> Column:
        return NumberColumn(self.name)


def test_a_new_kind_of_field_needs_no_member_and_map_sample_gets_it(folder: Path) -> None:
    fields: Any = (Parity(), "index")
    parities, numbers = only(folder, batch_size=3, workers=1, fields=fields)
    assert parities.tolist() == [number % 2 for number in numbers.tolist()]
    seen: list[int] = []
    options: dict[str, Any] = {"map_sample": lambda s: seen.append(s["parity"]) or s}
    with Loader(folder, batch_size=3, workers=0, fields=fields, **options) as loader:
        list(loader)
    assert set(seen) == {0, 1}
