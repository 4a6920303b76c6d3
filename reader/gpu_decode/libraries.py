"""The libraries that decode JPEGs on a GPU; each is imported when its decoder is made."""

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.utils.dlpack import from_dlpack


class JPEGDecoder(Protocol):
    """A function that decodes JPEGs on a device."""

    def __call__(self, jpegs: list[Tensor], device: torch.device, stream: Any, /) -> list[Tensor]:
        """Return uint8 (3, H, W) on `device` for each of `jpegs`, uint8 (N,) on the CPU.

        `stream` is the current CUDA stream, None on a CPU. After a RuntimeError, the CPU decodes
        these images.
        """

    def __hash__(self) -> int: ...


def nvimgcodec() -> JPEGDecoder:
    """Return the decoder of nvImageCodec, 0.9 or newer: whole batches, on the given stream."""
    from nvidia import nvimgcodec

    planes = nvimgcodec.DecodeParams(
        apply_exif_orientation=False,
        color_spec=nvimgcodec.ColorSpec.SRGB,
        sample_format=nvimgcodec.SampleFormat.P_RGB,
    )
    made: dict[torch.device, Any] = {}

    def decode(jpegs: list[Tensor], device: torch.device, stream: Any) -> list[Tensor]:
        if device not in made:  # with one thread: the cores are for the workers
            made[device] = nvimgcodec.Decoder(device_id=device.index, max_num_cpu_threads=1)
        sources = [nvimgcodec.CodeStream(jpeg.numpy()) for jpeg in jpegs]
        images = made[device].decode(sources, params=planes, cuda_stream=stream.cuda_stream)
        if any(image is None for image in images):
            raise RuntimeError("nvImageCodec cannot decode one of the images")
        # Its memory is freed in the order of `stream`, whoever else reads it: copy it there.
        own = [from_dlpack(image) for image in images]
        parts = torch.cat([image.reshape(-1) for image in own]).split([i.numel() for i in own])
        return [part.view(image.shape) for part, image in zip(parts, own, strict=True)]

    return decode


def torchcodec() -> JPEGDecoder:
    """Return the decoder of TorchCodec, 0.16 or newer: whole batches, on the current stream."""
    from torchcodec.decoders import decode_jpeg

    return lambda jpegs, device, stream: decode_jpeg(jpegs, mode="RGB", device=device)


def torchvision() -> JPEGDecoder:
    """Return the decoder of torchvision, 0.20 or newer: the fallback.

    It decodes on its own stream, which it waits for, of ordinary priority: its kernels wait for the
    training's. It keeps one decoder in a process and leaks it when the device changes, so a process
    should decode on one GPU.
    """
    from torchvision.io import ImageReadMode, decode_jpeg

    return lambda jpegs, device, stream: decode_jpeg(jpegs, mode=ImageReadMode.RGB, device=device)


# From the best to the fallback.
LIBRARIES: dict[str, Callable[[], JPEGDecoder]] = {
    "nvimgcodec": nvimgcodec,
    "torchcodec": torchcodec,
    "torchvision": torchvision,
}
