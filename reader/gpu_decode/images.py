"""Batches of images as JPEGs, to be decoded on any device."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import simplejpeg
import torch
from numpy.typing import NDArray
from torch import Tensor

from reader.errors import SampleError, warn
from reader.gpu_decode.decoders import ChosenDecoder, choose
from reader.gpu_decode.libraries import JPEGDecoder
from reader.gpu_decode.parcels import Parcel, parcels
from reader.gpu_decode.resample import Source, resample, sent

_GROUP_BYTES = 1 << 28  # of decoded pixels at a time


class EncodedImages:
    """The images of a batch as JPEGs, reduced to the tiles that their crops touch.

    With ``decode="auto"``, the first ones may be decoded already.

    Attributes:
        size: (height, width) of the decoded images, in pixels.
        table: int64 (B, F), a `reader.gpu_decode.parcels.Parcel` in each row: offset of the image
            in the bytes, and its crop.

    Example:
        >>> with reader.Loader(
        ...     "shards", batch_size=4, transforms=[reader.RandomResizedCrop(64)], decode="gpu"
        ... ) as loader:
        ...     images, labels = next(iter(loader))
        >>> type(images), images.size
        (<class 'reader.EncodedImages'>, (64, 64))
    """

    __module__ = "reader"

    def __init__(
        self,
        size: tuple[int, int],
        table: NDArray[np.int64],
        content: NDArray[Any],
        loose: Sequence[bytes | None],
        keys: Sequence[str],
        numbers: NDArray[np.int64],
    ) -> None:
        """Store the parts of a batch, and keep its memory while this object exists.

        `content` is uint8, the bytes of the images; `loose` those that did not fit into it. `keys`
        are of all samples, for errors; `numbers` are the batch's samples.
        """
        self.size = size
        self.table = table
        self._content = torch.from_numpy(content)
        self._loose = loose
        self._keys = keys
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self.table)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """(B, 3, H, W) of the decoded images."""
        return len(self), 3, *self.size

    def __getitem__(self, rows: slice) -> "EncodedImages":
        return EncodedImages(
            self.size,
            self.table[rows],
            self._content.numpy(),
            self._loose[rows],
            self._keys,
            self._numbers[rows],
        )

    def decode(
        self, device: torch.device | str = "cpu", decoder: "str | JPEGDecoder | None" = None
    ) -> Tensor:
        """Return the images, uint8 (B, 3, H, W) in channels_last memory on `device`.

        For a GPU, `decoder` decodes them (see `CUDAPrefetcher`), and this call waits for the
        current stream. For other devices, the CPU decodes them unless `decoder` is given.

        Raises:
            SampleError: an image is damaged.
            ReaderError: `device` is a GPU, and no decoder works on it.
        """
        device = torch.device(device)
        images = self.queue(device, decoder)
        if device.type == "cuda":
            torch.cuda.current_stream(device).synchronize()
        return images

    def queue(self, device: torch.device, decoder: "str | JPEGDecoder | None" = None) -> Tensor:
        """Decode without waiting: keep this batch until the current stream has done the work."""
        if device.type not in ("cpu", "cuda"):
            return self.queue(torch.device("cpu"), decoder).to(device)
        chosen = choose(device, decoder) if device.type == "cuda" or decoder else None
        finished, first = self._finished(), int(self.table[0, 0])
        pixels = self._content[first:][: finished * 3 * math.prod(self.size)]
        pixels = pixels.view(finished, *self.size, 3)
        if finished == len(self):
            return pixels.to(device, non_blocking=True).permute(0, 3, 1, 2)
        out = torch.empty((len(self), *self.size, 3), dtype=torch.uint8, device=device)
        out[:finished].copy_(pixels, non_blocking=True)
        for rows in self._groups(finished):
            group = self[rows]
            columns = parcels(group.table)
            resample(group._sources(columns, chosen, device), columns, out[rows])
        return out.permute(0, 3, 1, 2)

    @property
    def encoded(self) -> int:
        """Number of images that are still JPEGs."""
        return int(np.count_nonzero(parcels(self.table).is_jpeg))

    def _finished(self) -> int:
        """Return how many of the first images are finished pixels that follow each other."""
        columns = parcels(self.table)
        size = 3 * math.prod(self.size)
        follow = columns.offset == columns.offset[0] + size * np.arange(len(self))
        is_finished = follow & (columns.offset >= 0)  # else sent by message
        is_finished &= (columns.is_jpeg == 0) & (columns.length == size)
        return len(self) if is_finished.all() else int(np.argmin(is_finished))

    def _groups(self, first: int) -> Iterator[slice]:
        columns = parcels(self.table[first:])
        start, size = first, 0
        for row, more in enumerate((columns.height * columns.width * 3).tolist(), first):
            if size and size + more > _GROUP_BYTES:
                yield slice(start, row)
                start, size = row, 0
            size += more
        yield slice(start, len(self))

    def _sources(
        self, columns: Parcel, decoder: ChosenDecoder | None, device: torch.device
    ) -> list[Source | None]:
        seen = [row for row, length in enumerate(columns.length.tolist()) if length]
        encoded = [row for row in seen if columns.is_jpeg[row]]
        images: dict[int, Tensor] = {}
        if encoded and decoder is not None:
            try:
                images = dict(zip(encoded, self._decoded(encoded, columns, decoder), strict=True))
            except RuntimeError as error:
                warn(
                    f"{decoder.name} cannot decode a batch ({error}). The CPU decodes it instead.",
                    RuntimeWarning,
                )
        for row in set(seen) - images.keys():
            pixels = sent(self._by_cpu(row, columns), device)
            images[row] = pixels.permute(2, 0, 1).contiguous()
        return [
            Source(images[row], self._shifts(row, columns)) if row in images else None
            for row in range(len(self))
        ]

    def _decoded(self, rows: list[int], columns: Parcel, decoder: ChosenDecoder) -> list[Tensor]:
        images = decoder.decode([self._jpeg(row, columns) for row in rows])
        for row, image in zip(rows, images, strict=True):
            expected = 3, int(columns.height[row]), int(columns.width[row])
            if image.shape != expected:
                raise RuntimeError(f"{self._key(row)!r} has the shape {tuple(image.shape)}")
        return images

    def _by_cpu(self, row: int, columns: Parcel) -> Tensor:
        shape = int(columns.height[row]), int(columns.width[row]), 3
        data = self._jpeg(row, columns)
        if not columns.is_jpeg[row]:
            return data.reshape(shape)
        try:
            pixels = simplejpeg.decode_jpeg(data.numpy(), "RGB")
        except ValueError as error:
            raise self._error(row, str(error)) from error
        if pixels.shape != shape:
            raise self._error(row, f"its own header has {pixels.shape[1]} x {pixels.shape[0]}")
        return torch.from_numpy(pixels)

    def _error(self, row: int, reason: str) -> SampleError:
        return SampleError(
            f"Sample {self._key(row)!r} cannot be decoded ({reason}). No worker decoded it, so "
            "on_error= does not apply. `packer verify --decode FOLDER` lists all damaged samples, "
            "and `packer repair FOLDER` restores them."
        )

    def _key(self, row: int) -> str:
        return self._keys[int(self._numbers[row])]

    def _jpeg(self, row: int, columns: Parcel) -> Tensor:
        return self._bytes(row, columns, 0, int(columns.length[row]))

    def _shifts(self, row: int, columns: Parcel) -> NDArray[np.int64] | None:
        start, count = int(columns.length[row]), int(columns.shifted[row])
        if not count:
            return None
        found = self._bytes(row, columns, start, start + 4 * count).numpy().copy()
        return found.view(np.int32).astype(np.int64)

    def _bytes(self, row: int, columns: Parcel, start: int, stop: int) -> Tensor:
        offset, loose = int(columns.offset[row]), self._loose[row]
        if loose is not None:
            return torch.frombuffer(bytearray(loose[start:stop]), dtype=torch.uint8)
        return self._content[offset + start : offset + stop]
