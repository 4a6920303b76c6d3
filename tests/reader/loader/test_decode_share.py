"""decode="auto": which images workers decode, how the share is found, kept and resumed."""

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simplejpeg
import torch
from delivered import damage

from reader import ArgumentError, CenterCrop, CUDAPrefetcher, EncodedImages, Loader
from reader.loader.decode_share import Seen, balanced

CROP = CenterCrop((48, 64))
OPTIONS: dict[str, Any] = {"batch_size": 5, "transforms": [CROP], "shuffle": True, "workers": 1}
SEEN = Seen(workers=4, drawing=1e-3, other=0.1e-3, gpu=0.25e-3, step=0.0)
ENOUGH = 40  # batches, after which the share is settled


def off_by_one(jpegs: list[torch.Tensor], device: torch.device, stream: Any) -> list[torch.Tensor]:
    """Stand in for a GPU: its pixels can be told from the workers', and are near to them."""
    pixels = [simplejpeg.decode_jpeg(jpeg.numpy(), "RGB") for jpeg in jpegs]
    return [torch.from_numpy(image ^ 1).permute(2, 0, 1).contiguous() for image in pixels]


def prefetcher(loader: Loader, decoder: Any = off_by_one) -> CUDAPrefetcher:
    return CUDAPrefetcher(loader, (0, 0, 0), (1 / 255,) * 3, device="cpu", decoder=decoder)


def by_gpu(images: torch.Tensor, expected: torch.Tensor) -> list[bool]:
    """Of each image of a batch, whether the GPU decoded it and not a worker."""
    odd = [(image - other).abs().round() for image, other in zip(images, expected, strict=True)]
    assert all((image == image[0, 0, 0]).all() for image in odd)
    return [bool(image.any()) for image in odd]


def decoded(packed: Path, **options: Any) -> list[torch.Tensor]:
    with Loader(packed, **{**OPTIONS, **options}) as loader:
        return [images.float() for images, _ in loader]


def test_the_share_grows_until_workers_fall_behind_the_gpu() -> None:
    share = balanced(SEEN)
    assert 0 < share < 1
    assert (share * SEEN.drawing + SEEN.other) / 4 == pytest.approx(
        (1 - share) * SEEN.gpu, rel=0.05
    )


def test_the_share_follows_the_speeds() -> None:
    def share(**changed: Any) -> float:
        return balanced(SEEN._replace(**changed))

    assert min(share(gpu=1e-3), share(workers=16)) > share() > share(drawing=3e-3)
    assert share() < share(step=0.24e-3) < 1
    assert share(step=1e-3) == 1  # workers keep up with the loop
    assert share(other=4e-3) == 0  # they cannot even splice in time


def test_without_a_gpu_workers_decode_all(packed: Path) -> None:
    with Loader(packed, decode="auto", **OPTIONS) as loader:
        found = [images for images, _ in loader]
        assert "decode_share" not in loader.state_dict()
        assert loader.statistics().decode_share == 1
        assert loader.statistics().drawn >= sum(map(len, found))  # and of the next epoch
    assert all(isinstance(images, EncodedImages) for images in found)
    assert [images.encoded for images in found] == [0] * len(found)
    for images, expected in zip(found, decoded(packed), strict=True):
        assert torch.equal(images.decode().float(), expected)


def test_a_decoder_that_does_not_work_leaves_all_to_the_workers(packed: Path) -> None:
    def broken(jpegs: Any, device: Any, stream: Any) -> Any:
        raise RuntimeError("no engine")

    with Loader(packed, decode="auto", **OPTIONS) as loader:
        for (images, _), expected in zip(prefetcher(loader, broken), decoded(packed), strict=True):
            assert not any(by_gpu(images, expected))
        assert "broken: no engine" in str(loader.statistics())
        assert loader.state_dict().get("decode_share") is None


def test_the_share_is_measured_once_and_then_kept(packed: Path) -> None:
    with Loader(packed, decode="auto", epochs=None, **OPTIONS) as loader:
        batches = iter(prefetcher(loader))
        assert loader.statistics().decode_share == 0.5
        next(batches)
        assert "decode_share" not in loader.state_dict()
        for _ in itertools.islice(batches, ENOUGH):
            pass
        state = loader.state_dict()
        share = state["decode_share"]
        for _ in itertools.islice(batches, ENOUGH):
            assert loader.state_dict()["decode_share"] == share
        assert isinstance(share, float)
        assert 0 <= share <= 1
        text = str(loader.statistics())
    assert f"workers {share:.0%}, off_by_one on the GPU the rest" in " ".join(text.split()) or (
        not share and "off_by_one on the GPU" in text
    )


def given_share(loader: Loader, share: float) -> None:
    loader.load_state_dict({**loader.state_dict(), "decode_share": share})


@pytest.mark.parametrize(
    ("share", "expected", "workers"), [(0, 0, 0), (0.2, 1, 2), (0.61, 3, 0), (1, 5, 2)]
)
def test_the_first_images_of_each_batch_are_the_workers(
    packed: Path, share: float, expected: int, workers: int
) -> None:
    with Loader(packed, decode="auto", **{**OPTIONS, "workers": workers}) as loader:
        batches = prefetcher(loader)
        given_share(loader, share)
        for (images, _), same in zip(batches, decoded(packed), strict=True):
            count = round(share * len(images))
            assert count == expected or len(images) < 5
            assert by_gpu(images, same) == [row >= count for row in range(len(images))]


def test_a_share_that_is_loaded_before_a_gpu_is_there_is_used_with_it(packed: Path) -> None:
    with Loader(packed, decode="auto", **OPTIONS) as loader:
        given_share(loader, 0.4)
        assert loader.statistics().decode_share == 1
        assert loader.state_dict()["decode_share"] == 0.4
        images, _ = next(iter(prefetcher(loader)))
    assert by_gpu(images, decoded(packed)[0]) == [False, False, True, True, True]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_resumed_run_has_the_same_pixels(packed: Path, is_first: bool) -> None:
    with Loader(packed, decode="auto", **OPTIONS) as loader:
        batches = prefetcher(loader)
        given_share(loader, 0.6)
        running = iter(batches)
        next(running)
        state = batches.state_dict()
        expected = [images for images, _ in running]
    with Loader(packed, decode="auto", **OPTIONS) as loader:
        if is_first:
            loader.load_state_dict(state)
        batches = prefetcher(loader)
        if not is_first:
            batches.load_state_dict(state)
        with pickle.loads(pickle.dumps(loader)) as copy:
            assert copy.state_dict() == loader.state_dict()
        found = [images for images, _ in batches]
        assert loader.state_dict()["decode_share"] == 0.6
    assert all(map(torch.equal, found, expected))


@pytest.mark.parametrize("decode", ["cpu", "gpu"])
def test_a_run_is_resumed_where_workers_or_the_gpu_decode_all_and_back(
    packed: Path, decode: Any
) -> None:
    whole = decoded(packed)
    with Loader(packed, decode="auto", **OPTIONS) as loader:
        batches = prefetcher(loader)
        given_share(loader, 0.6)
        next(iter(batches))
        state = batches.state_dict()
    with Loader(packed, decode=decode, **OPTIONS) as loader:
        loader.load_state_dict(state)
        batches = iter(prefetcher(loader, off_by_one if decode == "gpu" else None))
        for expected in whole[1:4]:
            images, _ = next(batches)
            assert by_gpu(images, expected) == [decode == "gpu"] * len(images)
        state = loader.state_dict()
        assert "decode_share" not in state
    with Loader(packed, decode="auto", **OPTIONS) as loader:  # which measures the share anew
        loader.load_state_dict(state)
        for (images, _), expected in zip(prefetcher(loader), whole[4:], strict=True):
            assert (by_gpu(images, expected)[0], by_gpu(images, expected)[-1]) == (False, True)
        assert "decode_share" not in loader.state_dict()


@pytest.mark.parametrize("share", [1.2, -0.1, "half", True, float("nan")])
def test_a_damaged_share_is_refused(packed: Path, share: Any) -> None:
    with (
        Loader(packed, decode="auto", **OPTIONS) as loader,
        pytest.raises(ArgumentError, match="damaged: its decode_share is"),
    ):
        given_share(loader, share)


def test_a_decoder_for_workers_that_decode_all_is_refused(packed: Path) -> None:
    with Loader(packed, **OPTIONS) as loader, pytest.raises(ArgumentError, match="decoder= needs"):
        prefetcher(loader)


@pytest.mark.parametrize("on_error", ["mask", "substitute"])
@pytest.mark.parametrize("share", [0, 1])
def test_a_damaged_sample_is_replaced_whoever_decodes(
    packed_copy: Path, on_error: str, share: float
) -> None:
    damage(packed_copy, 3)
    options = {**OPTIONS, "shuffle": False, "on_error": on_error, "fields": ("image", "valid")}
    with Loader(packed_copy, **options) as loader:
        expected = [(images.float(), valid) for images, valid in loader]
    with Loader(packed_copy, decode="auto", **options) as loader:
        batches = prefetcher(loader)
        given_share(loader, share)
        for (images, valid), (others, same) in zip(batches, expected, strict=True):
            assert torch.equal(valid, same)
            seen = np.array(by_gpu(images, others))
            assert not (seen & ~valid.numpy()).any()
            assert (seen[valid.numpy()] == (share == 0)).all()
