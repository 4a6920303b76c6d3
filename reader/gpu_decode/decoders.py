"""Choose the decoder of JPEGs for a GPU, and call it on a stream of its own.

Guarantees: results are complete on the current stream, and no memory that queued work still uses is
written to. A library is imported when it is tried, and used only if it decodes test images as
workers do.

Assumptions: a decoder allocates its results on the current stream. nvJPEG's hardware decoder writes
to them when it is called, whatever is queued on that stream. So the stream has only the decoder's
work, and each call waits for it first: torch reuses streams, so other code may get the same one.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import simplejpeg
import torch
from torch import Tensor

from reader.errors import ArgumentError, ReaderError
from reader.gpu_decode.libraries import LIBRARIES, JPEGDecoder

_URGENT = -1  # priority of a stream whose kernels start before those of the training
_MAX_DIFFERENCE = 4.0  # mean, of smooth images: decoders differ in how they upsample chroma


@dataclass(frozen=True)
class ChosenDecoder:
    device: torch.device
    name: str = ""  # empty if no decoder works
    function: JPEGDecoder | None = None
    refused: tuple[str, ...] = ()  # why others were not chosen

    def require(self) -> JPEGDecoder:
        """Return the decoder's function, or raise an error with the reasons against each."""
        if self.function is None:
            raise ReaderError(
                f"No decoder of JPEGs works on {self.device}: {'; '.join(self.refused)}. Run "
                "`pip install 'shardfeed[gpu]'`, or give reader.Loader decode=\"cpu\"."
            )
        return self.function

    def decode(self, jpegs: list[Tensor]) -> list[Tensor]:
        """Decode `jpegs`, uint8 (N,) on the CPU, to uint8 (3, H, W) on the device."""
        function = self.require()
        if self.device.type != "cuda":
            return function(jpegs, self.device, None)
        with torch.cuda.device(self.device):
            consumer, own = torch.cuda.current_stream(self.device), _own_stream(self.device)
            if not own.query():
                own.synchronize()
            with torch.cuda.stream(own):
                images = function(jpegs, self.device, own)
            consumer.wait_stream(own)
            for image in images:
                image.record_stream(consumer)
        return images


@functools.cache
def choose(device: torch.device, wanted: str | JPEGDecoder | None = None) -> ChosenDecoder:
    """Return the first decoder that works on `device`: of all, or only the one `wanted`.

    Raises:
        ArgumentError: no decoder has the name `wanted`.
    """
    if wanted is None:
        return first_working(device, LIBRARIES)
    if not isinstance(wanted, str):
        function = wanted
        return first_working(device, {getattr(wanted, "__name__", "yours"): lambda: function})
    if wanted not in LIBRARIES:
        names = ", ".join(map(repr, LIBRARIES))
        raise ArgumentError(f"decoder is one of {names}, or a function, not {wanted!r:.200}.")
    return first_working(device, {wanted: LIBRARIES[wanted]})


def first_working(
    device: torch.device, libraries: Mapping[str, Callable[[], JPEGDecoder]]
) -> ChosenDecoder:
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    refused: list[str] = []
    for name, make in libraries.items():
        try:
            chosen = ChosenDecoder(device, name, make(), tuple(refused))
            _check(chosen)
        except Exception as error:  # a library may raise anything
            reason = " ".join(str(error).split()) or type(error).__name__
            refused.append(f"{name}: {reason:.200}")
        else:
            return chosen
    return ChosenDecoder(device, refused=tuple(refused))


def _check(chosen: ChosenDecoder) -> None:
    """Raise an error unless test images are decoded nearly as workers decode them."""
    jpegs = list(_test_images())
    found = chosen.decode([torch.from_numpy(jpeg) for jpeg in jpegs])
    for jpeg, image in zip(jpegs, found, strict=True):
        expected = simplejpeg.decode_jpeg(jpeg, "RGB").transpose(2, 0, 1)
        if image.shape != expected.shape or image.device != chosen.device:
            raise RuntimeError(f"an image has the shape {tuple(image.shape)} on {image.device}")
        difference = np.abs(image.cpu().numpy().astype(int) - expected).mean()
        if difference > _MAX_DIFFERENCE:
            raise RuntimeError(f"pixels differ from the CPU's by {difference:.0f} on average")


def _test_images() -> Iterator[Any]:
    """Yield JPEGs of the kinds that workers send: subsampled or not, progressive, grey."""
    down, across = np.mgrid[:74, :106]
    picture = np.stack([across * 2, down * 3, 255 - across - down], -1).astype(np.uint8)
    full, half = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420
    for pixels, sampling, is_progressive in (
        (picture, full, 0),
        (picture, half, 0),
        (picture, half, 1),
        (picture[..., 0], full, 0),
    ):
        options = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, sampling]
        options += [cv2.IMWRITE_JPEG_PROGRESSIVE, is_progressive]
        yield cv2.imencode(".jpg", pixels, options)[1]


@functools.cache
def _own_stream(device: torch.device) -> torch.cuda.Stream:
    return torch.cuda.Stream(device, priority=_URGENT)
