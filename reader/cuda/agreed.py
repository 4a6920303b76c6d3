"""What a prefetcher does with images, by its own arguments and by its loader's transforms."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch

from reader.errors import ArgumentError
from reader.loader.delivery import Delivery
from reader.transforms.batches.channels import by_channel
from reader.transforms.batches.normalisation import Normalisation, normalisation
from reader.transforms.batches.output import Output


class Source(Protocol):
    """What has batches."""

    @property
    def channels(self) -> int | None: ...

    @property
    def delivery(self) -> Delivery | None: ...

    @property
    def is_delivered(self) -> bool:
        """Whether its batches have the output's images already."""


def agreed(
    source: Source, mean: Any, std: Any, dtype: torch.dtype | None
) -> tuple[Any, Any, torch.dtype, Callable[..., None] | None]:
    """Return mean, std and dtype, and what is done with the normalised batch.

    Raises:
        ArgumentError: the transforms normalise by other numbers.
    """
    delivery = source.delivery
    if delivery is None:
        return mean, std, dtype or torch.float32, None
    output = delivery.output
    dtype = dtype or output.dtype
    if mean is not None or std is not None:
        given = normalisation(mean, std, dtype, torch.preserve_format, source.channels)
        if output.is_normalised:
            _check_equal(given, output)
        else:  # the transforms leave it to the prefetcher
            output = output.normalised(given.mean, given.std)
    if source.is_delivered:
        is_done = delivery.output.is_normalised
        return *((None, None) if is_done else (mean, std)), dtype, None
    if delivery.output.is_normalised:
        mean, std = output.mean, output.std
    return mean, std, dtype, partial(delivery.erase, output=output)


def _check_equal(given: Normalisation, output: Output) -> None:
    pairs = by_channel(given.mean, output.mean) + by_channel(given.std, output.std)
    if any(np.float32(one) != np.float32(other) for one, other in pairs):
        raise ArgumentError(
            f"The Loader's transforms normalise with mean={output.mean} and std={output.std}, not "
            f"with mean={given.mean} and std={given.std}. Leave out mean= and std= here, or "
            "Normalize there."
        )
