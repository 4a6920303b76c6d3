"""Which decoder is chosen: the first that imports and gives the workers' pixels."""

from typing import Any

import pytest
import simplejpeg
import torch

from reader import ArgumentError, ReaderError
from reader.gpu_decode.decoders import choose, first_working
from reader.gpu_decode.libraries import LIBRARIES

CPU = torch.device("cpu")
Images = list[torch.Tensor]


def exact(jpegs: Images, device: torch.device, stream: Any) -> Images:
    return [
        torch.from_numpy(simplejpeg.decode_jpeg(jpeg.numpy(), "RGB")).permute(2, 0, 1)
        for jpeg in jpegs
    ]


def by_one_off(jpegs: Images, device: torch.device, stream: Any) -> Images:
    return [image ^ 1 for image in exact(jpegs, device, stream)]


def in_bgr(jpegs: Images, device: torch.device, stream: Any) -> Images:
    return [image.flip(0) for image in exact(jpegs, device, stream)]


def in_grey(jpegs: Images, device: torch.device, stream: Any) -> Images:
    return [image[:1] for image in exact(jpegs, device, stream)]


def one_less(jpegs: Images, device: torch.device, stream: Any) -> Images:
    return exact(jpegs[:-1], device, stream)


def nothing(jpegs: Images, device: torch.device, stream: Any) -> Images:
    raise RuntimeError("no such\n  device")


@pytest.mark.parametrize("decoder", [exact, by_one_off])
def test_a_decoder_with_nearly_the_workers_pixels_is_used(decoder: Any) -> None:
    chosen = choose(CPU, decoder)
    assert (chosen.name, chosen.function, chosen.refused) == (decoder.__name__, decoder, ())


@pytest.mark.parametrize(
    ("decoder", "reason"),
    [
        (in_bgr, "in_bgr: pixels differ from the CPU's by"),
        (in_grey, "in_grey: an image has the shape (1, 74, 106) on cpu"),
        (one_less, "one_less: zip() argument 2 is shorter"),
        (nothing, "nothing: no such device"),
    ],
)
def test_a_decoder_with_other_pixels_is_refused_with_the_reason(decoder: Any, reason: str) -> None:
    chosen = choose(CPU, decoder)
    assert not chosen.name
    [refused] = chosen.refused
    assert refused.startswith(reason)
    with pytest.raises(ReaderError, match=r"works on cpu: .*pip install 'shardfeed\[gpu\]'"):
        chosen.decode([])


def missing() -> Any:
    raise ModuleNotFoundError("No module named 'fast'")


def test_the_first_that_works_is_used_and_those_before_it_are_named() -> None:
    makers = {"fast": missing, "wrong": lambda: in_bgr, "good": lambda: exact, "other": missing}
    chosen = first_working(CPU, makers)
    assert (chosen.name, chosen.function) == ("good", exact)
    fast, wrong = chosen.refused
    assert fast == "fast: No module named 'fast'"
    assert wrong.startswith("wrong: pixels differ")


@pytest.mark.parametrize("name", LIBRARIES)
def test_only_the_one_that_is_named_is_tried(name: str) -> None:
    [refused] = choose(CPU, name).refused or [f"{name}: "]
    assert refused.startswith(f"{name}: ")


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'torchvision', or a function, not 'nvjpeg'"):
        choose(CPU, "nvjpeg")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("name", LIBRARIES)
def test_every_installed_library_works_on_a_gpu(name: str) -> None:
    chosen = choose(torch.device("cuda"), name)
    if chosen.refused and "No module named" in chosen.refused[0]:
        pytest.skip(chosen.refused[0])
    assert (chosen.name, chosen.refused) == (name, ())
