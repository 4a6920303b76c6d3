"""What a person may choose when packing."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from packer.images.encode import Policy
from packer.sources.options import KINDS, PYTHON, SourceOptions
from reader.format import Limits


@dataclass(frozen=True)
class PackOptions:
    """The options that shape the shards' bytes; they are kept in dataset.json.

    Attributes:
        shard_size: bytes a shard should not exceed; None: see `default_shard_size`.
        shard_samples: samples a shard may hold, None for any number.
        seed: of the shuffle; None keeps the source's order.
        jpeg: "tiled" or "verbatim".
        png: "banded" or "verbatim".
        max_side, quality, check, raw: see `packer.images.encode.Policy`.
        split: each split's share of the samples; None: the source's own splits.
        dedupe: skip images whose bytes are those of an earlier one.
        source: how the source is to be understood.
        limits: what exceeds them is skipped.
    """

    shard_size: int | None = None
    shard_samples: int | None = None
    seed: int | None = 0
    jpeg: str = "tiled"
    png: str = "banded"
    max_side: int | None = None
    quality: int | None = None
    check: bool = False
    raw: tuple[int, int] | None = None
    split: Mapping[str, float] | None = None
    dedupe: bool = False
    source: SourceOptions = field(default_factory=SourceOptions)
    limits: Limits = field(default_factory=Limits)

    @property
    def policy(self) -> Policy:
        """What is done with each image."""
        return Policy(
            self.jpeg == "tiled",
            self.png == "banded",
            self.max_side,
            self.quality,
            self.check,
            self.raw,
            self.limits,
        )

    @property
    def raw_bytes(self) -> int | None:
        """What every image takes with `raw`."""
        return None if self.raw is None else 3 * self.raw[0] * self.raw[1]

    def dump(self) -> dict[str, Any]:
        """As dataset.json has them."""
        return dict(json.loads(json.dumps({**asdict(self), "source": self.source.dump()})))

    @classmethod
    def load(cls, content: Mapping[str, Any]) -> "PackOptions":
        """The options that `dump` gave.

        Raises:
            TypeError, KeyError, ValueError: they are of another version, or no command line's.
        """
        raw = content["raw"]
        options = cls(
            **{
                **content,
                "raw": None if raw is None else tuple(raw),
                "source": SourceOptions(**content["source"]),
                "limits": Limits(**content["limits"]),
            }
        )
        options._check()
        return options

    def _check(self) -> None:
        """Compare kinds and bounds: a stranger's dataset.json may hold anything.

        Raises:
            TypeError, ValueError: a command line would not have given this.
        """
        source, limits = self.source, self.limits
        counts = [limits.pixels, limits.bytes, *(self.raw or ())]
        further = (self.shard_size, self.shard_samples, self.max_side, self.quality)
        if source.kind not in (None, PYTHON, *KINDS):
            raise ValueError("there is no such kind of source")
        counts += [count for count in further if count is not None]
        names = [source.root, source.image_column, source.label_column, source.split_column]
        names += [source.label_separator, source.box_format]
        texts = [name for name in names if name is not None]
        texts += [text for pair in dict(source.pairs).items() for text in pair]
        shares = [1.0] if self.split is None else list(dict(self.split).values())
        integers = [*counts, 0 if self.seed is None else self.seed, source.class_depth or 0]
        for kind, values in ((int, integers), (str, texts), ((int, float), shares)):
            if not all(isinstance(value, kind) for value in values):
                raise TypeError("an option is of another kind")
        sides = len(self.raw or (1, 1))
        if min(counts) < 1 or (self.quality or 1) > 100 or not shares or sides != 2:
            raise ValueError("an option is beyond its bounds")


def by_name(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `PackOptions.dump` gave by name, those of the source and the limits among the others."""
    found: dict[str, Any] = {}
    for name, value in options.items():
        is_group = name in ("source", "limits") and isinstance(value, Mapping)
        found |= value if is_group else {name: value}
    return found
