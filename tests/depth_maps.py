"""A kind of field that reader does not have: depth maps, arrays over the image, in float16."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reader.decode.decoder import draw_mask
from reader.decode.formats import part
from reader.fields.columns import Column, NumberColumn, StoredBatch
from reader.fields.field import Seen, Tools
from reader.fields.members import MemberField
from reader.fields.pixels import Planned

FAR = 100.0  # what lies outside of the image


@dataclass(frozen=True)
class Depth(MemberField):
    """The depth of each pixel of the image, as it is stored."""

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
