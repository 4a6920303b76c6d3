"""Loaders mix their batches, the same on every run, and refuse what cannot be mixed."""

from pathlib import Path
from typing import Any

import pytest
import torch
from delivered import Write, digest, epoch_of
from made_images import encode, make_image

from reader import (
    ArgumentError,
    CenterCrop,
    CUDAPrefetcher,
    CutMix,
    Dataset,
    Loader,
    MixUp,
    RandomChoice,
    pad_collate,
)

pytestmark = pytest.mark.usefixtures("no_leftovers")

EITHER = RandomChoice([MixUp(0.5, mode="elem"), CutMix(mode="elem")])
OPTIONS: dict[str, Any] = {
    "batch_size": 4,
    "transforms": [CenterCrop(16)],
    "shuffle": True,
    "workers": 0,
}


def mixed(packed: Path, **options: Any) -> str:
    return digest(epoch_of(packed, **{**OPTIONS, "map_batch": EITHER, **options}))


def test_batches_depend_on_seed_epoch_and_rank_and_not_on_workers(packed: Path) -> None:
    usual = mixed(packed)
    assert mixed(packed) == usual
    assert mixed(packed, workers=2) == usual
    assert mixed(packed, seed=1) != usual
    same: dict[str, Any] = {"shuffle": False, "map_batch": [drop_images, MixUp(num_classes=3)]}
    with Loader(packed, **{**OPTIONS, **same}) as loader:
        first, second = ([labels for _, labels in loader] for _ in range(2))
    assert digest([first]) != digest([second])
    shares = [
        epoch_of(packed, **{**OPTIONS, **same}, rank=rank, world_size=2)[0][1] for rank in range(2)
    ]
    assert not torch.equal(*shares)


def drop_images(batch: Any) -> Any:
    """The same images and labels in each batch."""
    images, labels = batch
    return torch.zeros_like(images).float(), torch.arange(len(labels)) % 3


def test_a_resumed_epoch_is_mixed_the_same(packed: Path) -> None:
    with Loader(packed, **OPTIONS, map_batch=EITHER) as loader:
        whole = list(loader)
    with Loader(packed, **OPTIONS, map_batch=EITHER) as loader:
        batches = iter(loader)
        begun = [next(batches) for _ in range(3)]
        state = loader.state_dict()
    with Loader(packed, **OPTIONS, map_batch=EITHER) as loader:
        loader.load_state_dict(state)
        assert digest([*begun, *loader]) == digest(whole)


def test_a_prefetcher_mixes_the_normalised_images(packed: Path) -> None:
    """And what mixing draws leaves the process's generators as they are."""
    plain: dict[str, Any] = {**OPTIONS, "batch_size": 13}
    with Loader(packed, **plain) as loader:
        expected = list(CUDAPrefetcher(loader, device="cpu"))
    before = torch.get_rng_state()
    with Loader(packed, **plain, map_batch=MixUp()) as loader:
        found = list(CUDAPrefetcher(loader, device="cpu"))
    assert torch.equal(torch.get_rng_state(), before)
    for (images, labels), (image, label) in zip(found, expected, strict=True):
        other = label.roll(1)
        row = int((label != other).nonzero()[0])
        share = labels[row, label[row]]
        torch.testing.assert_close(images, image * share + image.roll(1, 0) * (1 - share))
        one_hot = torch.nn.functional.one_hot(label, 3)
        torch.testing.assert_close(labels, one_hot * share + one_hot.roll(1, 0) * (1 - share))


def test_images_and_labels_are_those_of_the_fields(packed: Path) -> None:
    fields = ("key", "label", "index", "image")
    plain = epoch_of(packed, **OPTIONS, fields=fields)
    found = epoch_of(packed, **OPTIONS, fields=fields, map_batch=CutMix())
    usual = epoch_of(packed, **OPTIONS, map_batch=CutMix())
    for batch, other, (images, labels) in zip(found, plain, usual, strict=True):
        assert isinstance(batch, tuple)
        assert batch[0] == other[0]
        assert torch.equal(batch[2], other[2])
        assert torch.equal(batch[3], images)
        assert torch.equal(batch[1], labels)
        assert labels.shape == (len(images), 3)


def test_functions_and_steps_of_a_list_run_one_after_the_other(packed: Path) -> None:
    def labels(batch: Any) -> Any:
        return batch[1]

    def noisy(batch: Any) -> Any:
        return batch[0].float() + torch.randn(1), batch[1]

    def run(*functions: Any) -> list[Any]:
        return epoch_of(packed, **OPTIONS, map_batch=list(functions))

    assert digest([run(noisy, MixUp(), labels)]) == digest([run(noisy, MixUp(), labels)])
    first, second = epoch_of(packed, **{**OPTIONS, "map_batch": [noisy, noisy]})[:2]
    assert not torch.equal(first[0], second[0])
    with Loader(packed, **OPTIONS, map_batch=EITHER) as loader:
        assert "4 images" in repr(loader.preview())


def test_padded_images_are_mixed(packed: Path) -> None:
    options: dict[str, Any] = {**OPTIONS, "transforms": [], "collate_fn": pad_collate}
    for images, labels in epoch_of(packed, **options, map_batch=MixUp()):
        assert images.dim() == 4
        torch.testing.assert_close(labels.sum(1), torch.ones(len(labels)))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"fields": ("image",)}, "MixUp mixes images and labels. Add 'label' to fields="),
        ({"fields": ("label", "index")}, "Add 'image' to fields="),
        ({"views": 2}, "MixUp does not mix several views"),
        ({"map_batch": MixUp(num_classes=2)}, "there is a label 2, but num_classes is 2"),
        (
            {"map_batch": None, "transforms": [CenterCrop(16), CutMix()]},
            r"CutMix mixes the images of a batch. Write map_batch=reader.CutMix\(...\)",
        ),
        (
            {"map_batch": None, "transforms": [RandomChoice([MixUp(), CutMix()])]},
            r"Write map_batch=reader.MixUp\(...\), and leave it out of transforms=",
        ),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_loader_that_cannot_mix_is_refused_when_it_is_made(
    packed: Path, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason):
        Loader(packed, **{**OPTIONS, "map_batch": MixUp(), **options})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"transforms": []}, "MixUp needs images of one size, a tensor"),
        ({"collate_fn": lambda rows: {"image": 1}}, "the fields image, label, not dict"),
        ({"map_batch": [lambda batch: batch[0], MixUp()]}, "fields image, label, not Tensor"),
        ({"map_batch": [lambda batch: (batch[0], 3), MixUp()]}, r"MixUp needs labels \(B,\)"),
        (
            {"map_batch": [lambda batch: (batch[0], torch.ones(4, 5)), MixUp()]},
            "labels of 5 classes, and num_classes is 3",
        ),
        (
            {"map_sample": lambda sample: sample | {"label": 7}},
            "there is a label 7, but num_classes is 3",
        ),
        (
            {"map_sample": lambda sample: sample | {"label": -2}},
            "there is a label -2, but num_classes is 3",
        ),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_batch_that_cannot_be_mixed_is_an_error_that_says_why(
    packed: Path, options: dict[str, Any], reason: str
) -> None:
    with (
        Loader(packed, **{**OPTIONS, "map_batch": MixUp(), **options}) as loader,
        pytest.raises(ArgumentError, match=reason),
    ):
        list(loader)


def test_samples_without_labels_are_named_and_the_others_can_be_mixed(
    write_samples: Write,
) -> None:
    members = {"jpg": encode(make_image(1), "JPEG")}
    folder = write_samples(dict.fromkeys("abcd", members), labels=[0, 1, -1, 1])
    with pytest.raises(ArgumentError, match=r"1 of 4 samples have no label \(-1\), the first is"):
        Loader(folder, workers=0, map_batch=MixUp())
    dataset = Dataset(folder)
    known = dataset.subset(dataset.labels >= 0)
    ((_, labels),) = epoch_of(known, batch_size=3, map_batch=CutMix())
    assert labels.shape == (3, 2)
