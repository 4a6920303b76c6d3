"""The dataset in torch's own DataLoader: as ImageFolder would be, whatever the sampler."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from image_folder import ImageFolder
from packing import run_pack
from PIL import Image
from torch.utils.data import DataLoader, RandomSampler

import reader
from reader import Dataset

COUNT = 39


def to_tensor(image: Image.Image) -> torch.Tensor:
    return torch.from_numpy(np.array(image.crop((0, 0, 32, 32)))).permute(2, 0, 1)


def plus_ten(label: int) -> int:
    return label + 10


@pytest.fixture
def both(source: Path, tmp_path: Path) -> tuple[ImageFolder, Dataset]:
    """ImageFolder over the source, and our dataset of it in the same order."""
    run_pack(source, tmp_path / "shards", shard_samples=10, seed=None)
    options = {"transform": to_tensor, "target_transform": plus_ten}
    return ImageFolder(source, **options), Dataset(tmp_path / "shards", **options)


def test_a_dataset_has_what_an_image_folder_has(both: tuple[ImageFolder, Dataset]) -> None:
    theirs, ours = both
    assert ours.classes == theirs.classes
    assert ours.class_to_idx == theirs.class_to_idx
    assert ours.targets == theirs.targets
    assert ours.imgs == ours.samples
    for (name, label), (path, expected) in zip(ours.samples, theirs.samples, strict=True):
        assert path.endswith(f"/images/{name}")
        assert label == expected


# A pickled dataset is read in `reader/cache/test_client.py`, too.
@pytest.mark.parametrize("context", [None, "fork", pytest.param("spawn", marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_data_loader_gives_the_same_as_over_an_image_folder(
    both: tuple[ImageFolder, Dataset], context: str | None
) -> None:
    ours: list[Any] = []
    theirs: list[Any] = []
    assert both[1][0][1] == 10  # shards that are open already are not obstacle
    for dataset, seen in zip(both, (theirs, ours), strict=True):
        workers = 0 if context is None or dataset is both[0] else 1
        generator = torch.Generator().manual_seed(3)
        sampler = RandomSampler(dataset, generator=generator)
        loader = DataLoader(
            dataset,
            batch_size=8,
            sampler=sampler,
            num_workers=workers,
            multiprocessing_context=context if workers else None,
            persistent_workers=bool(workers),
        )
        seen += [batch for _ in range(2) for batch in loader]
    assert len(ours) == len(theirs) == 10
    for (image, label), (expected_image, expected_label) in zip(ours, theirs, strict=True):
        assert label.tolist() == expected_label.tolist()
        difference = (image.int() - expected_image.int()).abs().float()
        assert difference.mean() < 1  # Pillow brings a JPEG decoder of its own


def labels(batches: Any) -> list[int]:
    return [label for _, numbers in batches for label in numbers.tolist()]


def test_torchdatas_nodes_take_a_dataset_and_resume_over_a_loader(packed: Path) -> None:
    nodes = pytest.importorskip("torchdata.nodes")
    dataset = Dataset(packed)
    node = nodes.MapStyleWrapper(map_dataset=dataset, sampler=RandomSampler(dataset))
    assert sorted(label for _, label in nodes.Loader(node)) == sorted(dataset.targets)

    def opened() -> tuple[reader.Loader, Any]:
        crop = [reader.CenterCrop(16)]
        loader = reader.Loader(dataset, batch_size=8, shuffle=True, workers=0, transforms=crop)
        return loader, nodes.Loader(nodes.IterableWrapper(loader))

    loader, wrapped = opened()
    with loader:
        batches = iter(wrapped)
        next(batches)
        state = wrapped.state_dict()
        rest = labels(batches)
    loader, wrapped = opened()
    with loader:
        wrapped.load_state_dict(state)
        assert labels(wrapped) == rest
    assert len(rest) == COUNT - 8
