"""Ways to read a dataset: options of Loader, Dataset, Mix and CUDAPrefetcher."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from delivered import damage
from torch.utils.data import DataLoader, SubsetRandomSampler

from crossing.judge import check
from crossing.reading import Given, Loading, Reading, Rows
from crossing.sources import SOURCES
from crossing.world import run_packer
from reader import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    AspectBuckets,
    BlockShuffle,
    ClassBalanced,
    CUDAPrefetcher,
    CutMix,
    Dataset,
    Limits,
    Mix,
    MixUp,
    RandomChoice,
    RandomHorizontalFlip,
    RepeatedAugmentation,
    Resize,
    Weighted,
    pad_collate,
)


def _loader(often: int | None = 1, **given: Any) -> Loading:
    """Return a reading with these options of a Loader; each sample comes `often`, or anyhow."""

    def read(reading: Reading) -> Rows:
        if often is None:
            reading.expected = None
        else:
            reading.expect(often)
        yield from reading.epoch(reading.world.open(), **given)

    return Loading(read)


def _dataset(**given: Any) -> Loading:
    """Return a reading with these options of a Dataset."""

    def read(reading: Reading) -> Rows:
        yield from reading.epoch(reading.world.open(**given))

    return Loading(read)


def _by_numbers(make: Callable[[Dataset], Given], often: int | None = 1) -> Loading:
    """Return a reading with options that know the dataset."""

    def read(reading: Reading) -> Rows:
        dataset = reading.world.open()
        if often is None:
            reading.expected = None
        yield from reading.epoch(dataset, **make(dataset))

    return Loading(read)


def _two_views(reading: Reading) -> Rows:
    reading.expect(2)
    yield from reading.epoch(reading.world.open(), 2, views=2)


def _each_view(reading: Reading) -> Rows:
    """Give each view its transforms; those of the second mirror it."""
    reading.expect(2)
    size = Resize((48, 56))
    each = [[*reading.transforms, size], [*reading.transforms, size, RandomHorizontalFlip(1.0)]]
    yield from reading.epoch(reading.world.open(), 2, views=each, transforms=())


def _of_splits(reading: Reading) -> Rows:
    """Read each split by itself, of the folder."""
    world = reading.world
    splits = world.open().splits or [None]
    for split in splits:
        dataset = world.dst if world.join is None else world.open(split=split)
        for row in reading.epoch(dataset, split=split):
            yield row | {"split": split if "split" in world.source.holds else None}


def _balanced(reading: Reading) -> Rows:
    reading.expected = None
    yield from reading.epoch(reading.world.open(), sampler=ClassBalanced(), seed=1)


def _ranks(reading: Reading) -> Rows:
    for rank in (0, 1):
        yield from reading.epoch(reading.world.open(), rank=rank, world_size=2, shuffle=True)
    if "valid" not in reading.names:
        reading.expected = None  # padding cannot be told from samples


def _resumed(reading: Reading) -> Rows:
    """Read a batch, and the others with another loader."""
    dataset = reading.world.open()
    with reading.loader(dataset, shuffle=True, seed=3) as first:
        batches = iter(first)
        yield from reading.rows([next(batches)])
        state = first.state_dict()
    with reading.loader(dataset, shuffle=True, seed=3) as second:
        second.load_state_dict(state)
        yield from reading.rows(second)


def _pickled(reading: Reading) -> Rows:
    with reading.loader(reading.world.open(), shuffle=True) as first:
        sent = pickle.dumps(first)
    with pickle.loads(sent) as second:
        yield from reading.rows(second)


def _two_epochs(reading: Reading) -> Rows:
    reading.expect(2)
    with reading.loader(reading.world.open(), shuffle=True) as loader:
        for epoch in (0, 1):
            loader.set_epoch(epoch)
            yield from reading.rows(loader)


def _same(sample: Any) -> Any:
    return sample


def _mixed(reading: Reading) -> Rows:
    """Mix each sample with itself, and take the label of the largest share."""
    dataset, names = reading.world.open(), reading.names
    if not {"image", "label"} <= {*names} or (dataset.labels < 0).any():
        yield from reading.epoch(dataset)
        return

    def labelled(batch: Any) -> Any:
        named = dict(zip(names, batch, strict=True))
        return tuple((named | {"label": named["label"].argmax(1)}).values())

    given: dict[str, Any] = {"num_classes": 1000, "mode": "pair", "label_smoothing": 0.1}
    step = RandomChoice([MixUp(**given), CutMix(minmax=(0.2, 0.8), **given)], p=[0.5, 0.5])
    yield from reading.epoch(dataset, batch_size=1, map_batch=[step, labelled])


def _mapped(reading: Reading) -> Rows:
    """Map to the same sample, with a new key."""

    def add(sample: Any) -> Any:
        return {**sample, "mine": 7}

    names = reading.field.fields(reading.world) or ("image", "label")
    with reading.loader(reading.world.open(), fields=(*names, "mine?"), map_sample=add) as loader:
        for *batch, mine in loader:
            check(list(np.asarray(mine)) == [7] * len(mine), "the new key is", mine)
            yield from reading.rows([batch])


def _dropped(reading: Reading) -> Rows:
    """Drop the first sample by its number."""
    dataset = reading.world.open()
    names = reading.names

    def drop(sample: Any) -> Any:
        return None if sample["index"] == 0 else sample

    if "index" not in names:
        drop = _same
    lost = list(reading.epoch(dataset.subset([0]))) if drop is not _same else []
    given = {"map_sample": drop, "on_error": "mask", "max_bad": 1.0}
    yield from reading.epoch(dataset, **given)
    yield from lost


def _collated(reading: Reading) -> Rows:
    with reading.loader(reading.world.open(), collate_fn=list) as loader:
        for batch in loader:
            yield from (dict(zip(reading.names, sample, strict=True)) for sample in batch)


def _damaged(on_error: str, **more: Any) -> Callable[[Reading], Rows]:
    """Return a reading of a copy whose first sample is damaged."""

    def read(reading: Reading) -> Rows:
        world = reading.world
        lost = list(reading.epoch(world.open().subset([0])))
        copied = world.copy("damaged")
        damage(copied, 0)
        rows = list(
            reading.epoch(world.open(folder=copied), on_error=on_error, max_bad=1.0, **more)
        )
        if on_error == "substitute":
            reading.expected = None
            check(len(rows) == len(world.scenes), "an epoch of", len(rows))
        yield from rows
        yield from lost

    return read


def _subset(reading: Reading) -> Rows:
    """Read the dataset in two parts."""
    dataset = reading.world.open()
    half = len(dataset) // 2
    yield from reading.epoch(reading.world.open(subset=range(half)))
    yield from reading.epoch(
        dataset.subset(lambda columns: columns["label"] < 9).subset(range(half, len(dataset)))
    )


def _url(reading: Reading) -> Rows:
    world = reading.world
    cache, url = world.root / "cache", world.dst.as_uri()
    given = {"cache_dir": cache, "cache_limit": 10**8, "storage_options": {}}
    yield from reading.epoch(world.open(folder=url, **given))


def _mix(reading: Reading, **given: Any) -> Rows:
    """Mix the dataset's halves."""
    dataset = reading.world.open()
    half = len(dataset) // 2
    parts = {"a": dataset.subset(range(half)), "b": dataset.subset(range(half, len(dataset)))}
    mixed = Mix(parts, **given)
    classes = reading.world.named([name.split("/")[-1] for name in mixed.classes])
    for row in reading.epoch(mixed, shuffle=True):
        yield row | {"classes": classes}


def _mix_drawn(reading: Reading) -> Rows:
    reading.expected = None
    dataset = reading.world.open()
    mixed = Mix([(dataset, 2), (dataset.subset([0]), 1)], by="proportion", replacement=True)
    yield from reading.epoch(mixed, epoch_size=12)


def _mix_repeated(reading: Reading) -> Rows:
    reading.expect(2)
    dataset = reading.world.open()
    yield from reading.epoch(Mix([(dataset, 2)], by="repeat"), shuffle=True)


def _mix_of_forms(reading: Reading) -> Rows:
    """Mix the dataset with one of the same samples whose boxes have another form."""
    reading.expect(2)
    world, dataset = reading.world, reading.world.open()
    name = "coco" if dataset.box_encodings["json"].format == "xyxy" else "voc"
    place = SOURCES[name].make(world.root / name, world.scenes, world.picture)
    run_packer("pack", place, world.root / "other", "--jobs", 1)
    mixed = Mix([dataset, Dataset(world.root / "other")])
    for row in reading.epoch(mixed, shuffle=True):
        yield row | {"classes": world.named(mixed.classes)}


def _prefetched(mean: Any, std: Any, **given: Any) -> Callable[[Reading], Rows]:
    """Return a reading by a CUDAPrefetcher on the CPU, with its images made uint8 again."""

    def read(reading: Reading) -> Rows:
        with reading.loader(reading.world.open(), shuffle=True) as loader:
            prefetcher = CUDAPrefetcher(loader, mean, std, device="cpu", **given)
            for row in reading.rows(prefetcher):
                yield {
                    name: _as_bytes(value, mean, std) if name in ("image", "right") else value
                    for name, value in row.items()
                }

    return read


def _as_bytes(image: Any, mean: Any, std: Any) -> Any:
    scale, shift = (
        torch.tensor(one or default).view(-1, 1, 1)
        for one, default in ((std, [1.0]), (mean, [0.0]))
    )
    return ((image.float() * scale + shift) * 255).round().clip(0, 255).to(torch.uint8)


def _previewed(reading: Reading) -> Rows:
    with reading.loader(reading.world.open(), shuffle=True, seed=2) as loader:
        loader.preview(reading.world.root / "preview.png")
        yield from reading.rows(loader)


def _items(reading: Reading) -> Rows:
    """Read by number, as torch's DataLoader does, with the transforms of a script."""
    given = {"transform": np.array, "target_transform": int}
    dataset = reading.world.open(**given)
    for image, label in DataLoader(dataset, batch_size=None, shuffle=True):
        yield {"image": image.permute(2, 0, 1), "label": label}


def _coco_target(reading: Reading) -> Rows:
    """Read as torchvision's CocoDetection does."""
    dataset = reading.world.open(target="coco", transform=np.array)
    for image, objects in (dataset[number] for number in range(len(dataset))):
        rows = [one["bbox"] for one in objects]
        corners = [[x, y, x + w, y + h] for x, y, w, h in rows]
        boxes = {"boxes": np.reshape(corners, (-1, 4)), "kept": np.arange(len(corners))}
        yield {"image": torch.tensor(image).permute(2, 0, 1), "coco": boxes}


def _webdataset(reading: Reading) -> Rows:
    pipeline = reading.world.open().webdataset().decode("rgb8")
    for sample in pipeline:
        kinds = [kind for kind in ("png", "jpg", "webp") if kind in sample]
        if kinds:
            yield {
                "image": torch.tensor(sample[kinds[0]]).permute(2, 0, 1),
                "key": sample["__key__"],
            }


LOADINGS: dict[str, Loading] = {
    "plain": _loader(),
    "one": _loader(batch_size=1),
    "all": _loader(batch_size=64),
    "splits": Loading(_of_splits),
    "shuffled": _loader(shuffle=True, seed=5),
    "blocks": _loader(shuffle=BlockShuffle(1)),
    "buckets": _loader(shuffle=AspectBuckets(4), collate_fn=pad_collate),
    "weighted": _by_numbers(lambda d: {"sampler": Weighted(np.arange(1, len(d) + 1))}, None),
    "balanced": Loading(_balanced, needs="label"),
    "repeated": _loader(sampler=RepeatedAugmentation(3), epoch_size=9, often=None),
    "given_order": _by_numbers(lambda d: {"sampler": [*range(len(d))][::-1]}),
    "torch_sampler": _by_numbers(lambda d: {"sampler": SubsetRandomSampler(range(len(d)))}),
    "given_batches": _by_numbers(
        lambda d: {"batch_sampler": [[n] for n in range(len(d))], "batch_size": 1}
    ),
    "drop_last": _loader(drop_last=True, batch_size=3),
    "epoch_size": _loader(epoch_size=18, shuffle=True, often=2),
    "epochs": _loader(epochs=2, shuffle=True, often=2),
    "two_epochs": Loading(_two_epochs),
    "ranks": Loading(_ranks),
    "resumed": Loading(_resumed),
    "pickled": Loading(_pickled),
    "workers": _loader(workers=2, shuffle=True),
    "num_workers": _loader(num_workers=1, workers=None, pin_memory=False, timeout=300),
    "auto": _loader(workers="auto", batches_ahead=2),
    "ahead": _loader(batches_ahead=1),
    "same": _loader(map_sample=_same),
    "mapped": Loading(_mapped),
    "dropped": Loading(_dropped, may_be_black=True),
    "map_batch": _loader(map_batch=_same),
    "mixed": Loading(_mixed),
    "padded": _loader(collate_fn=pad_collate, shuffle=True),
    "collated": Loading(_collated),
    "substituted": Loading(_damaged("substitute")),
    "masked": Loading(_damaged("mask"), may_be_black=True),
    "masked_padded": Loading(_damaged("mask", collate_fn=pad_collate), may_be_black=True),
    "cached": _loader(cache="decoded", epochs=2, often=2),
    "decode_auto": _loader(decode="auto"),
    "decode_gpu": _loader(decode="gpu", shuffle=True),
    "views": Loading(_two_views),
    "each_view": Loading(_each_view),
    "subset": Loading(_subset),
    "stored": _dataset(upright=False),
    "grey": _dataset(channels=1),
    "in_memory": _dataset(cache="ram", cache_limit=10**8),
    "limited": _dataset(limits=Limits(pixels=10**6)),
    "url": Loading(_url),
    "mix": Loading(_mix),
    "mix_apart": Loading(lambda r: _mix(r, classes="apart"), needs="label"),
    "mix_of_forms": Loading(_mix_of_forms, needs="recorded"),
    "mix_drawn": Loading(_mix_drawn),
    "mix_repeated": Loading(_mix_repeated),
    "prefetched": Loading(_prefetched(IMAGENET_MEAN, IMAGENET_STD, dtype=torch.float32, depth=1)),
    "contiguous": Loading(_prefetched(None, None, memory_format=torch.contiguous_format)),
    "previewed": Loading(_previewed),
    "items": Loading(_items, is_of_loader=False),
    "coco_target": Loading(_coco_target, is_of_loader=False, needs="coco"),
    "webdataset": Loading(_webdataset, is_of_loader=False),
}
