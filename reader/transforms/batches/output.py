"""What the images of a batch become after the workers' transforms."""

from dataclasses import dataclass, replace

import torch

from reader.transforms.batches.channels import Channels, by_channel
from reader.transforms.batches.erasing import BatchErasing


@dataclass(frozen=True)
class Output:
    """Floats: ``(x / 255 - mean) / std``, and then erased boxes."""

    dtype: torch.dtype
    mean: Channels = (0.0,)
    std: Channels = (1.0,)
    erasings: tuple[BatchErasing, ...] = ()

    @property
    def is_normalised(self) -> bool:
        return (set(self.mean), set(self.std)) != ({0.0}, {1.0})

    def normalised(self, mean: Channels, std: Channels) -> "Output":
        """Return this output, and ``(x - mean) / std`` of it."""
        erasings = tuple(erasing.normalised(mean, std) for erasing in self.erasings)
        means = tuple(a + s * b for a, s, b in by_channel(self.mean, self.std, mean))
        stds = tuple(a * b for a, b in by_channel(self.std, std))
        return replace(self, mean=means, std=stds, erasings=erasings)
