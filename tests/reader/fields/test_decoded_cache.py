"""Decoded images in memory: the same pixels, decoded once, whatever happens in between."""

import json
import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from delivered import Write, damage
from live_workers import workers
from made_images import encode, make_image, turned
from numpy.typing import NDArray

from reader import (
    Boxes,
    CenterCrop,
    Dataset,
    Letterbox,
    Loader,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    ReaderError,
    Resize,
    SampleError,
    Statistics,
    Transform,
)
from reader.fields.decoded_cache import hold_decoded
from reader.fields.field import Recipe
from reader.fields.kinds import parse_fields
from reader.fields.sample import SampleReader

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs memfd"),
    pytest.mark.usefixtures("shared_memory_alone", "no_leftovers"),
]

COUNT = 39
PHOTOS = 14
EPOCHS = 2
FORKED = multiprocessing.get_context("fork")
FLIPS = [RandomHorizontalFlip(), RandomVerticalFlip()]

Pixels = NDArray[Any]
Pipelines = Sequence[Sequence[Transform]]

# What is shown is the same in every epoch, but for mirroring.
RESULTS: list[Pipelines] = [
    [[Resize((20, 24)), *FLIPS]],
    [[Letterbox(33), RandomVerticalFlip()]],
    [[Resize(40, antialias=True), CenterCrop((31, 52))]],
]
# The whole image is needed; always at its full scale.
WHOLE: list[Pipelines] = [
    [[RandomCrop(32), *FLIPS]],
    [[RandomResizedCrop(64), RandomHorizontalFlip()]],
    [[]],
    [[RandomHorizontalFlip(), CenterCrop(21)]],
    [[RandomResizedCrop(64, antialias=True)], [RandomCrop(17), RandomHorizontalFlip()]],
]
# Some crops are decoded at a smaller scale, which the whole image does not give.
SCALED: list[Pipelines] = [
    [[RandomResizedCrop(12), *FLIPS]],
    [[RandomResizedCrop(12)], [RandomResizedCrop(20)], [RandomResizedCrop(9)]],
]
LOADED: list[Mapping[str, Any]] = [{"transforms": RESULTS[0][0]}, {"transforms": WHOLE[1][0]}]


def flat(batch: Any) -> Iterator[Any]:
    """What a batch consists of, arrays as their shape and bytes."""
    if isinstance(batch, (tuple, list)):
        for part in batch:
            yield from flat(part)
    elif isinstance(batch, dict):
        yield from flat(list(batch.values()))
    else:
        array = np.asarray(batch)
        yield array.shape, array.tobytes() if array.dtype != object else batch


def epochs(dataset: Any, count: int = EPOCHS, **options: Any) -> tuple[list[Any], Statistics]:
    """The batches of some epochs, and what the loader did."""
    with Loader(dataset, **{"batch_size": 13, "shuffle": True, "workers": 0, **options}) as loader:
        return [list(flat(batch)) for _ in range(count) for batch in loader], loader.statistics()


def samples(
    folder: Path,
    pipelines: Pipelines,
    fields: Sequence[Any] = (),
    is_cached: bool = True,
    upright: bool = True,
) -> tuple[list[Any], int]:
    """What every sample is in some epochs, and how many images came from memory."""
    dataset = Dataset(folder, upright=upright)
    first, *further = map(tuple, pipelines)
    decoded = hold_decoded(dataset, pipelines) if is_cached else None
    recipe = Recipe(first, 0, parse_fields(("image", *fields), dataset), further=tuple(further))
    opened = SampleReader(dataset, recipe, decoded)
    found = [
        list(flat(opened.read(opened.plan(number, epoch, number))))
        for epoch in range(EPOCHS)
        for number in range(len(dataset))
    ]
    if decoded is not None:
        decoded.close()
    return found, opened.source.cached


@pytest.fixture(scope="module")
def photographs(request: pytest.FixtureRequest, make_dataset: Write) -> Path:
    """JPEGs of many sizes, tiled or not, one grey, one CMYK, three to be turned; and a PNG."""
    files = {}
    for number in range(PHOTOS - 1):
        mode = {3: "L", 5: "CMYK"}.get(number, "RGB")
        image = make_image(number, 60 + 7 * (number % 5), 64 + 9 * (number % 4), mode)
        exif = turned({7: 6, 8: 3, 9: 5}.get(number, 1))
        files[f"{number:03d}.jpg"] = encode(image, "JPEG", quality=90, exif=exif)
    files["last.png"] = encode(make_image(99), "PNG")
    return make_dataset(files, jpeg=request.param, shard_samples=5)


@pytest.mark.parametrize(
    ("photographs", "pipelines"),
    [
        *(pytest.param("tiled", each, id=str(each)) for each in (*RESULTS, *WHOLE, *SCALED)),
        *(("verbatim", each[0]) for each in (RESULTS, WHOLE, SCALED)),
    ],
    indirect=["photographs"],
)
def test_every_pixel_is_the_one_without_the_cache(photographs: Path, pipelines: Pipelines) -> None:
    expected, _ = samples(photographs, pipelines, is_cached=False)
    seen, cached = samples(photographs, pipelines)
    assert seen == expected
    assert cached == PHOTOS if pipelines not in SCALED else 0 < cached < PHOTOS


@pytest.mark.parametrize("options", LOADED, ids=str)
def test_after_the_first_epoch_nothing_is_read_or_decoded_any_more(
    packed: Path, options: Mapping[str, Any]
) -> None:
    expected, none = epochs(packed, **options)
    seen, now = epochs(packed, cache="decoded", workers=1, **options)
    assert seen == expected
    assert none.cached == 0
    assert now.cached >= COUNT
    assert "of the images were decoded already" in now.bottleneck
    assert epochs(packed, 1, cache="decoded", **options)[1].read_bytes == now.read_bytes > 0


@pytest.mark.parametrize("pipeline", [[Letterbox(96), *FLIPS], [RandomCrop(50), *FLIPS]], ids=str)
def test_masks_boxes_and_other_pictures_move_with_images_from_memory(
    write_samples: Write, pipeline: Sequence[Any]
) -> None:
    files = {}
    for orientation in range(1, 9):
        files[f"s{orientation}"] = {
            "png": encode(make_image(orientation), "PNG", exif=turned(orientation)),
            "mask.png": encode(make_image(orientation, mode="L"), "PNG"),
            "night.jpg": encode(make_image(10 + orientation), "JPEG"),
            "json": json.dumps({"boxes": [[9, 5, 20, 30]], "labels": [orientation]}).encode(),
        }
    dataset = write_samples(files)
    fields = ("mask.png", "night.jpg", Boxes("json", format="xywh", labels="labels"))
    expected, _ = samples(dataset, [pipeline], fields, is_cached=False)
    seen, cached = samples(dataset, [pipeline], fields)
    assert seen == expected
    assert cached == len(files)


@pytest.mark.parametrize(("on_error", "options"), [("mask", LOADED[0]), ("substitute", LOADED[1])])
def test_a_bad_sample_is_never_kept(
    packed_copy: Path, on_error: str, options: Mapping[str, Any]
) -> None:
    damage(packed_copy, 5)
    damage(packed_copy, 17)
    errors: dict[str, Any] = {"on_error": on_error, "max_bad": 0.1}
    fields = ("image", "index", "valid")
    expected, _ = epochs(packed_copy, fields=fields, **errors, **options)
    seen, _ = epochs(packed_copy, cache="decoded", fields=fields, **errors, **options)
    assert seen == expected
    with Loader(packed_copy, batch_size=13, cache="decoded", workers=0, **options) as loader:
        for _ in range(2):
            with pytest.raises(SampleError, match=Dataset(packed_copy).keys[5]):
                list(loader)


def test_a_crop_beside_the_damage_is_decoded_as_without_the_cache(make_dataset: Write) -> None:
    image = encode(make_image(0, 64, 640), "JPEG", quality=90)
    folder = make_dataset({"a.jpg": image}, jpeg="tiled")
    shard, row = Dataset(folder).locate(0)
    with shard.path.open("r+b") as file:  # in the last of the tiles
        file.seek(int(shard.index.columns["offset"][row] + shard.index.columns["size"][row]) - 40)
        file.write(b"\xff\xd9" * 10)
    options: dict[str, Any] = {"transforms": [RandomCrop(24)], "on_error": "mask", "max_bad": 1.0}
    expected, _ = epochs(folder, 8, fields=("image", "valid"), **options)
    seen, _ = epochs(folder, 8, fields=("image", "valid"), cache="decoded", **options)
    assert seen == expected
    assert b"\1" in [valid for _, (_, valid) in seen]


def test_workers_that_are_killed_while_they_fill_it_change_nothing(packed: Path) -> None:
    options = LOADED[1]
    expected, _ = epochs(packed, **options)
    found = []
    with Loader(
        packed, batch_size=13, shuffle=True, workers=2, cache="decoded", **options
    ) as loader:
        for _ in range(EPOCHS):
            for batch in loader:
                found.append(list(flat(batch)))
                for worker in workers()[:1]:
                    with suppress(psutil.NoSuchProcess):  # one that was killed before ends now
                        worker.kill()
        assert loader.statistics().restarts
    assert found == expected


def test_what_a_killed_worker_has_half_written_is_not_there(packed: Path) -> None:
    held = hold_decoded(Dataset(packed), [[Resize((8, 8))]])

    class Halved:
        shape = (8, 8, 3)

        def __array__(self, dtype: Any = None, copy: Any = None) -> Pixels:
            held._room(5, 8, 8)[:4] = 1
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

    def write() -> None:
        held.keep(4, np.full((8, 8, 3), 9, np.uint8))
        held.keep(5, Halved())  # type: ignore[arg-type]

    worker = FORKED.Process(target=write)
    worker.start()
    worker.join()
    assert worker.exitcode == -signal.SIGKILL
    whole = held.find(4, 8, 8)
    assert whole is not None
    assert (whole == 9).all()
    assert held.find(5, 8, 8) is None
    assert held._room(5, 8, 8).any()
    held.close()


def read_and_hold(dataset: Path, parent: Connection) -> None:
    """Read an epoch, say so, and hold on to the loader until the parent says something."""
    transforms, rank = [RandomCrop(32)], {"rank": 0, "world_size": 1}
    with Loader(dataset, workers=0, transforms=transforms, cache="decoded", **rank) as loader:
        parent.send(sum(len(label) for _, label in loader))
        parent.recv()


def bytes_read(dataset: Path, **options: Any) -> int:
    """What one batch of the whole dataset needs from the disk."""
    with Loader(dataset, batch_size=COUNT, workers=1, cache="decoded", **options) as loader:
        next(iter(loader))
        return loader.statistics().read_bytes


def test_the_processes_of_a_machine_decode_each_image_once(packed_copy: Path) -> None:
    options: dict[str, Any] = {"transforms": [RandomCrop(32)]}
    expected, _ = epochs(packed_copy, 1, **options)
    here, there = FORKED.Pipe()
    other = FORKED.Process(target=read_and_hold, args=(packed_copy, there))
    other.start()
    try:
        assert here.recv() == COUNT
        seen, now = epochs(packed_copy, 1, cache="decoded", **options)
        assert seen == expected
        assert now.cached >= COUNT
        # Whole images serve other crops as well; a result is something else.
        assert bytes_read(packed_copy, transforms=[RandomCrop(9)]) == 0
        assert bytes_read(packed_copy, transforms=[Resize((8, 8))]) > 0
    finally:
        here.send("end")
        other.join()
    assert bytes_read(packed_copy, **options) > 0, "it is gone with those who held it"


def memfds() -> set[str]:
    """The anonymous files of this project that this process holds."""
    links = (
        os.readlink(f"/proc/self/fd/{fd.name}")
        for fd in os.scandir("/proc/self/fd")
        if os.path.lexists(f"/proc/self/fd/{fd.name}")
    )
    return {link for link in links if link.startswith("/memfd:shardfeed-")}


def test_a_closed_loader_lets_go_of_the_memory(packed: Path) -> None:
    loader = Loader(packed, batch_size=13, transforms=[CenterCrop(8)], cache="decoded")
    ((image, _), *_) = loader
    assert len(memfds()) == 1
    kept = image.clone()
    loader.close()
    assert not memfds()
    assert torch.equal(image, kept)


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (LOADED[0], r"60,\d{3} bytes for 39 images of 20 x 24 pixels of /"),
        (LOADED[1], r"\d{3},\d{3} bytes for 39 whole images, decoded, of /"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_with_the_numbers(
    packed: Path, monkeypatch: pytest.MonkeyPatch, options: Mapping[str, Any], numbers: str
) -> None:
    took = rf'cache="decoded" needs {numbers}.*; '
    with pytest.raises(ReaderError, match=took + "60,000 bytes are allowed by cache_limit="):
        Loader(Dataset(packed, cache_limit=60_000), cache="decoded", **options)
    monkeypatch.setattr("reader.dataset.shared_memory.available_memory", lambda: 50_000)
    for limit in (None, 10**9):
        with pytest.raises(ReaderError, match=took + "50,000 bytes are available"):
            Loader(Dataset(packed, cache_limit=limit), cache="decoded", **options)
    assert not memfds()


def test_images_as_they_are_stored_and_upright_ones_are_kept_apart(make_dataset: Write) -> None:
    dataset = make_dataset({"a.jpg": encode(make_image(0), "JPEG", exif=turned(6))})
    for pipelines in ([[Resize((30, 30))]], [[RandomCrop(40)]]):
        held = hold_decoded(Dataset(dataset), pipelines)
        stood, _ = samples(dataset, pipelines)
        expected, _ = samples(dataset, pipelines, is_cached=False, upright=False)
        seen, _ = samples(dataset, pipelines, upright=False)
        held.close()
        assert seen == expected
        assert stood != expected


@pytest.mark.parametrize("transforms", [[], [RandomCrop(8, padding=2)]], ids=str)
def test_raw_images_that_need_no_decoding_are_read_as_they_lie(
    write_samples: Write, transforms: Sequence[Any]
) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (COUNT, 8, 8, 3), np.uint8)
    raw = {f"k{n}": {"raw": image.tobytes()} for n, image in enumerate(pixels)}
    dataset = write_samples(raw, raw=(8, 8, 3))
    expected, _ = epochs(dataset, transforms=transforms)
    with Loader(dataset, cache="decoded", transforms=transforms):
        assert not memfds()
    seen, now = epochs(dataset, cache="decoded", transforms=transforms)
    assert seen == expected
    assert now.cached == 0
    # Where they are scaled, they are kept like others.
    assert samples(dataset, [[Resize((4, 4))]])[1] == COUNT


def test_labels_alone_need_no_memory(packed: Path) -> None:
    dataset = Dataset(packed, cache_limit=1)
    with Loader(dataset, fields=("label",), cache="decoded") as loader:
        assert len(list(loader)) == COUNT
