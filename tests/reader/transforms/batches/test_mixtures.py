"""Images and labels of a loader's batches are mixed alike, with the partner that is documented."""

from pathlib import Path
from typing import Any

import pytest
import torch
from delivered import epoch_of
from torch import Tensor

from reader import CenterCrop, CUDAPrefetcher, CutMix, Loader, MixUp, RandomApply, RandomChoice

pytestmark = pytest.mark.usefixtures("no_leftovers")

ROWS, SIZE, CLASSES = 9, (18, 26), 39
OPTIONS: dict[str, Any] = {
    "transforms": [CenterCrop(SIZE)],
    "batch_size": ROWS,
    "drop_last": True,
    "workers": 0,
}
MODES = ("batch", "pair", "elem")
NEEDS_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def numbered(batch: Any) -> Any:
    """Images of one value, their number, which is also their label."""
    images, index = batch
    return torch.ones_like(images).float() * index.reshape(-1, 1, 1, 1), index


def mixed(packed: Path, step: Any) -> list[tuple[Tensor, Tensor]]:
    """The batches of a loader that mixes numbers: numbers (B, H, W), and labels (B, CLASSES)."""
    fields = ("image", "label")

    def labelled(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"label": sample["index"]}

    found = epoch_of(
        packed,
        **OPTIONS,
        fields=(*fields, "index"),
        map_sample=labelled,
        map_batch=[lambda batch: (*numbered(batch[:2]), batch[2]), step],
    )
    assert all(torch.equal(image[:, :1].expand_as(image), image) for image, _, _ in found)
    return [(image[:, 0], label) for image, label, _ in found]


def partners(mode: str) -> Tensor:
    rows = torch.arange(ROWS)
    return rows.roll(1) if mode == "batch" else rows.flip(0)


def own_shares(labels: Tensor, first: int) -> Tensor:
    """The share of each row's own label; the others are all of its partner's."""
    rows = torch.arange(len(labels))
    assert torch.allclose(labels.sum(1), torch.ones(len(labels)))
    return labels[rows, first + rows]


@pytest.mark.parametrize("mode", MODES)
def test_mix_up_gives_the_means_of_images_and_labels(packed: Path, mode: Any) -> None:
    for number, (images, labels) in enumerate(mixed(packed, MixUp(0.5, CLASSES, mode))):
        own = torch.arange(ROWS) + number * ROWS
        other = own[partners(mode)]
        share = own_shares(labels, number * ROWS)
        share[own == other] = 1
        expected = torch.zeros(ROWS, CLASSES)
        expected[torch.arange(ROWS), other] += 1 - share
        expected[torch.arange(ROWS), own] += share
        torch.testing.assert_close(labels, expected)
        values = own * share + other * (1 - share)
        torch.testing.assert_close(images, values.reshape(-1, 1, 1).expand_as(images))
        assert len(share.unique()) == {"batch": 1, "pair": 5, "elem": 9}[mode]
        assert mode != "pair" or torch.equal(share, share.flip(0))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("minmax", [None, (0.3, 0.8)])
def test_cut_mix_shows_a_box_of_another_image_and_mixes_labels_by_its_area(
    packed: Path, mode: Any, minmax: Any
) -> None:
    boxes = set()
    for number, (images, labels) in enumerate(mixed(packed, CutMix(1.0, CLASSES, mode, 0, minmax))):
        own = torch.arange(ROWS) + number * ROWS
        other = own[partners(mode)]
        is_box = images != own.reshape(-1, 1, 1)
        assert torch.equal(images, torch.where(is_box, other.reshape(-1, 1, 1), images))
        share = own_shares(labels, number * ROWS)
        torch.testing.assert_close(share, 1 - is_box.float().mean((1, 2)))
        # The rows and columns with a pixel of the box have all of them together.
        down, across = is_box.any(2), is_box.any(1)
        assert torch.equal(is_box, down[:, :, None] & across[:, None])
        boxes |= {(*down[row].tolist(), *across[row].tolist()) for row in range(ROWS)}
        if minmax:
            for sides in (down, across):
                extent = sides.sum(1)[own != other]
                least, most = (int(sides.shape[1] * share) for share in minmax)
                assert ((extent >= least) & (extent < most)).all()
    assert len(boxes) >= {"batch": 3, "pair": 9, "elem": 15}[mode]


@pytest.mark.parametrize("mode", MODES)
def test_a_choice_is_drawn_for_each_group(packed: Path, mode: Any) -> None:
    either = RandomChoice([MixUp(0.4, CLASSES, mode), CutMix(1.0, CLASSES, mode)], p=[0.6, 0.4])
    kinds = set()
    for number, (images, labels) in enumerate(mixed(packed, RandomApply([either], p=0.7))):
        classes = torch.arange(CLASSES).float()
        torch.testing.assert_close(images.mean((1, 2)), labels @ classes)
        own = torch.arange(ROWS) + number * ROWS
        is_flat = (images == images[:, :1, :1]).all(2).all(1)
        is_own = (images == own.reshape(-1, 1, 1)).all(2).all(1)
        kinds |= {*torch.where(is_own, 0, torch.where(is_flat, 1, 2)).tolist()}
    assert kinds == {0, 1, 2} or mode == "batch"


def test_labels_are_smoothed_as_timm_smooths_them(packed: Path) -> None:
    for smoothing in (0, 0.1):
        step = MixUp(0.5, CLASSES, "elem", smoothing)
        found = [labels for _, labels in mixed(packed, step)]
        plain = [labels for _, labels in mixed(packed, MixUp(0.5, CLASSES, "elem"))]
        for labels, sharp in zip(found, plain, strict=True):
            expected = sharp * (1 - smoothing) + smoothing / CLASSES
            torch.testing.assert_close(labels, expected)


def test_images_of_bytes_are_rounded_and_keep_their_memory(packed: Path) -> None:
    def batches(step: Any) -> list[Any]:
        return epoch_of(packed, **OPTIONS, map_batch=step)

    floats = [lambda batch: (batch[0].float(), batch[1]), MixUp(1.0, 3, "elem")]
    for (image, label), (other, same) in zip(
        batches([lambda batch: batch, MixUp(1.0, 3, "elem")]), batches(floats), strict=True
    ):
        assert image.dtype == torch.uint8
        assert torch.equal(image, other.round().to(torch.uint8))
        assert torch.equal(label, same)
    for step in (MixUp(), CutMix()):
        for image, _ in batches(step):
            assert image.is_contiguous(memory_format=torch.channels_last)


def test_rows_without_a_sample_are_mixed_with_none_and_have_labels_of_zeros(packed: Path) -> None:
    """A row that is masked has the label -1."""
    first = 4

    def without(sample: dict[str, Any]) -> dict[str, Any] | None:
        return None if sample["index"] == first else sample | {"label": sample["index"]}

    found = epoch_of(
        packed,
        **OPTIONS,
        fields=("label", "image", "index"),
        map_sample=without,
        on_error="mask",
        map_batch=[
            lambda batch: (batch[0], numbered((batch[1], batch[2]))[0], batch[2]),
            CutMix(1.0, CLASSES, "batch", 0, (0.5, 0.9)),
        ],
    )
    labels, images, index = found[0]
    assert not labels[first].any()
    for row in (first, first + 1):  # it, and the one whose partner it would be
        assert (images[row] == index[row]).all()
    assert labels[first + 1, first + 1] == 1
    assert (labels[:first].count_nonzero(1) == 2).all()


def test_shares_of_classes_are_mixed_as_they_are(packed: Path) -> None:
    def shares(batch: Any) -> Any:
        images, labels = batch
        return images, torch.nn.functional.one_hot(labels, 3) * 0.8 + 0.2 / 3

    (plain, *_), (found, *_) = (
        epoch_of(packed, **OPTIONS, shuffle=True, map_batch=[lambda batch: batch, step])
        for step in (MixUp(label_smoothing=0.2), MixUp())
    )
    (given, *_) = epoch_of(packed, **OPTIONS, shuffle=True, map_batch=[shares, MixUp()])
    torch.testing.assert_close(given[1], plain[1])
    assert not torch.allclose(found[1], plain[1])


@pytest.mark.gpu
@NEEDS_GPU
@pytest.mark.parametrize("mode", MODES)
def test_a_gpu_mixes_the_same_without_waiting(packed: Path, mode: Any) -> None:
    either = RandomApply([RandomChoice([MixUp(mode=mode), CutMix(mode=mode)])], p=0.9)

    def checked(batch: Any) -> Any:
        torch.cuda.set_sync_debug_mode("error" if batch[0].is_cuda else "default")
        return batch

    def unchecked(batch: Any) -> Any:
        torch.cuda.set_sync_debug_mode("default")
        return batch

    seen = []
    for device in ("cpu", "cuda"):
        with Loader(packed, **OPTIONS, map_batch=[checked, either, unchecked]) as loader:
            seen.append([(x.cpu(), y.cpu()) for x, y in CUDAPrefetcher(loader, device=device)])
    for (image, label), (other, same) in zip(*seen, strict=True):
        torch.testing.assert_close(other, image)
        torch.testing.assert_close(same, label)


@pytest.mark.gpu
@NEEDS_GPU
def test_a_label_of_no_class_gives_nan_on_a_gpu(packed: Path) -> None:
    def wrong(batch: Any) -> Any:
        return batch[0], batch[1] + 1

    with Loader(packed, **OPTIONS, map_batch=[wrong, MixUp(num_classes=3)]) as loader:
        labels = torch.cat([y.cpu() for _, y in CUDAPrefetcher(loader)])
    assert labels.isnan().any()
