"""The pairs of lines in docs/coming-from, theirs and ours, run as they stand: the same samples.

Each image has one colour, which no crop, flip or resize changes, so that a batch tells its samples.
What a page takes for granted (imports, a peer's own files) is made here.
"""

import importlib
import multiprocessing
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from functools import reduce
from io import BytesIO
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from image_folder import ImageFolder
from packing import run_pack
from PIL import Image
from torch.utils.data import DataLoader

import reader
from reader.cuda.device import default_device

FOLDER = Path(__file__).parents[3] / "docs/coming-from"
LEVELS = (20, 70, 120, 170, 220)
COLOURS = list(product(LEVELS, LEVELS, LEVELS[::2]))  # of two batches
CLASSES = 3
SAMPLES = sorted((number % CLASSES, colour) for number, colour in enumerate(COLOURS))

Sample = tuple[int, tuple[int, ...]]  # label and colour
Names = dict[str, Any]


def blocks_of(page: str) -> list[str]:
    """The blocks of Python in docs/coming-from/PAGE.md: the peer's lines, then ours."""
    return re.findall(r"```python\n(.*?)```", (FOLDER / f"{page}.md").read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the lines run: `images`, a folder of class folders, and `shards`, the same packed."""
    root = tmp_path_factory.mktemp("coming_from")
    for number, colour in enumerate(COLOURS):
        path = root / f"images/class{number % CLASSES}/{number:03d}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (40 + number % 9, 32), colour).save(path, quality=95)
    run_pack(root / "images", root / "shards", shard_samples=20)
    return root


@pytest.fixture
def forked() -> Iterator[None]:
    """Workers are forked: what `exec` defines, no other process could import."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


@pytest.fixture
def run_lines(
    folder: Path, forked: None, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[Sample]]:
    """`run_lines(code, names)`: the samples that lines of a page trained with, in order."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))  # where some peers leave files

    def run(code: str, names: Names) -> list[Sample]:
        seen: list[Sample] = []
        names = {**common_names(), **names, "train": lambda *batch: seen.extend(look_at(*batch))}
        exec(*blocks_of("index"), names)
        exec(code, names)
        return seen

    return run


def look_at(images: torch.Tensor, labels: torch.Tensor) -> Iterator[Sample]:
    """The samples of a normalised batch."""
    assert images.dtype == torch.float32
    assert images.shape == (len(labels), 3, 224, 224)
    assert labels.dtype == torch.int64
    some = images.cpu()[:, :, ::9, ::9]
    pixels = (some * planes(reader.IMAGENET_STD) + planes(reader.IMAGENET_MEAN)) * 255
    known = torch.tensor(COLOURS, dtype=torch.float32)
    nearest = torch.cdist(pixels.mean((2, 3)), known).argmin(1)
    assert (pixels - known[nearest][:, :, None, None]).abs().max() < 8
    return zip(labels.tolist(), (COLOURS[number] for number in nearest), strict=True)


def common_names() -> Names:
    return {
        "reader": reader,
        "torch": torch,
        "np": np,
        "Image": Image,
        "BytesIO": BytesIO,
        "DataLoader": DataLoader,
        "ImageFolder": ImageFolder,
        "transforms": TRANSFORMS,
        "device": default_device(),
    }


class Compose:
    def __init__(self, transforms: list[Callable[[Any], Any]]) -> None:
        self.transforms = transforms

    def __call__(self, value: Any) -> Any:
        return reduce(lambda made, change: change(made), self.transforms, value)


class RandomResizedCrop:
    scale, ratio, interpolation, antialias = (0.08, 1.0), (3 / 4, 4 / 3), "bilinear", True

    def __init__(self, size: int) -> None:
        self.size = size

    def __call__(self, image: Image.Image) -> Image.Image:
        side = random.randint(16, image.height)
        left, top = random.randint(0, image.width - side), random.randint(0, image.height - side)
        return image.resize((self.size, self.size), box=(left, top, left + side, top + side))


class RandomHorizontalFlip:
    p = 0.5

    def __call__(self, image: Image.Image) -> Image.Image:
        flip = Image.Transpose.FLIP_LEFT_RIGHT
        return image.transpose(flip) if random.random() < self.p else image


class ToTensor:
    def __call__(self, image: Image.Image) -> torch.Tensor:
        return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255


class Normalize:
    def __init__(self, mean: Any, std: Any) -> None:
        self.mean, self.std = mean, std

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        return (image - planes(self.mean)) / planes(self.std)


def planes(values: Any) -> torch.Tensor:
    return torch.tensor(values)[:, None, None]


_LIKE_TORCHVISIONS = (Compose, RandomResizedCrop, RandomHorizontalFlip, ToTensor, Normalize)
for _kind in _LIKE_TORCHVISIONS:
    _kind.__module__ = "torchvision.transforms.transforms"  # by which a Loader knows them
TRANSFORMS = SimpleNamespace(**{kind.__name__: kind for kind in _LIKE_TORCHVISIONS})


class DataPrefetcher:
    """apex's data_prefetcher (examples/imagenet/main_amp.py), without its stream."""

    def __init__(self, loader: Any) -> None:
        self.loader = iter(loader)
        self.mean, self.std = planes(reader.IMAGENET_MEAN) * 255, planes(reader.IMAGENET_STD) * 255
        self.preload()

    def preload(self) -> None:
        try:
            self.next_input, self.next_target = next(self.loader)
        except StopIteration:
            self.next_input = self.next_target = None
            return
        self.next_input = self.next_input.float().sub_(self.mean).div_(self.std)

    def next(self) -> tuple[Any, Any]:
        batch = self.next_input, self.next_target
        self.preload()
        return batch


def fast_collate(batch: list[tuple[Image.Image, int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """As in apex's example."""
    images = torch.from_numpy(np.stack([np.asarray(image) for image, _ in batch]))
    return images.permute(0, 3, 1, 2), torch.tensor([label for _, label in batch])


def ffcv_names() -> Names:
    # numba refuses more workers than cores, unless it is told otherwise before it is imported.
    os.environ["NUMBA_NUM_THREADS"] = "4"
    pytest.importorskip("ffcv")
    names = {
        name: getattr(importlib.import_module(f"ffcv.{module}"), name)
        for module, chosen in FFCV_NAMES.items()
        for name in chosen.split()
    }
    fields = {"image": names["RGBImageField"](), "label": names["IntField"]()}
    names["DatasetWriter"]("images.beton", fields).from_indexed_dataset(ImageFolder("images"))
    mean, std = (255 * np.array(x) for x in (reader.IMAGENET_MEAN, reader.IMAGENET_STD))
    return {**names, "IMAGENET_MEAN": mean, "IMAGENET_STD": std}


FFCV_NAMES = {
    "fields": "RGBImageField IntField",
    "fields.decoders": "IntDecoder RandomResizedCropRGBImageDecoder",
    "loader": "Loader OrderOption",
    "transforms": "NormalizeImage RandomHorizontalFlip Squeeze ToDevice ToTensor ToTorchImage",
    "writer": "DatasetWriter",
}


def dali_names() -> Names:
    dali = pytest.importorskip("nvidia.dali")
    from nvidia.dali.plugin.base_iterator import LastBatchPolicy
    from nvidia.dali.plugin.pytorch import DALIClassificationIterator

    return {
        "fn": dali.fn,
        "pipeline_def": dali.pipeline_def,
        "LastBatchPolicy": LastBatchPolicy,
        "DALIClassificationIterator": DALIClassificationIterator,
    }


def mosaic_names() -> Names:
    streaming = pytest.importorskip("streaming")
    with streaming.MDSWriter(out="mds", columns={"image": "jpeg", "label": "int"}) as writer:
        for path, label in ImageFolder("images").samples:
            with Image.open(path) as image:
                writer.write({"image": image, "label": label})
    return streaming_names(streaming)


def streaming_names(package: Any) -> Names:
    return {name: getattr(package, name) for name in ("StreamingDataset", "StreamingDataLoader")}


def litdata_names() -> Names:
    litdata = pytest.importorskip("litdata")
    litdata.optimize(
        fn=as_litdata,
        inputs=ImageFolder("images").samples,
        output_dir="chunks",
        chunk_size=7,
        num_workers=1,
        start_method="fork",
        verbose=False,
    )
    return streaming_names(litdata)


def as_litdata(sample: tuple[str, int]) -> dict[str, Any]:
    path, label = sample
    return {"image": Path(path).read_bytes(), "label": label}


def spdl_names() -> Names:
    pipeline = pytest.importorskip("spdl.pipeline")
    samples = ImageFolder("images").samples
    random.shuffle(samples)
    batches = [samples[first : first + 8] for first in range(0, len(samples), 8)]
    return {"PipelineBuilder": pipeline.PipelineBuilder, "batches_of_paths": batches}


PEERS: dict[str, Callable[[], Names]] = {
    "imagefolder": dict,
    "apex": lambda: {"data_prefetcher": DataPrefetcher, "fast_collate": fast_collate},
    "webdataset": lambda: {"wds": pytest.importorskip("webdataset")},
    "ffcv": ffcv_names,
    "dali": dali_names,
    "mosaicml": mosaic_names,
    "litdata": litdata_names,
    "spdl": spdl_names,
}


def test_every_peer_of_the_page_is_tested() -> None:
    assert {page.stem for page in FOLDER.glob("*.md")} == {"index", *PEERS}


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.filterwarnings("ignore")  # the peers' own
def test_their_lines_give_every_sample(peer: str, run_lines: Callable[..., list[Sample]]) -> None:
    their_lines, *_ = blocks_of(peer)
    assert "reader.Loader" not in their_lines
    assert sorted(run_lines(their_lines, PEERS[peer]())) == SAMPLES


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.filterwarnings("ignore:.*pin_memory:UserWarning")  # there may be no GPU
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # and fewer cores
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_our_lines_give_every_sample(peer: str, run_lines: Callable[..., list[Sample]]) -> None:
    _, *ours = blocks_of(peer)
    for lines in ours:
        assert "reader." in lines
        assert sorted(run_lines(lines, {})) == SAMPLES
