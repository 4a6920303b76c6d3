"""Every order of every source: every sample once, the same by any workers, ranks, and after stops.

A row is a sample's number and all that belongs to it, its augmented pixels included.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain, cycle, islice, product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import AUGMENT, CROP, EVERYTHING, augmented
from made_images import encode, make_image
from orders import SHUFFLES, options_of
from store_server import serving

import packer
from reader import Dataset, Loader, Mix, RandomCrop, RandomHorizontalFlip

Row = tuple[object, ...]
EXTRA = {"joined": ("txt", "json.number"), "mix": ("source",), "mix with numbers": ("source",)}
SOURCES = ("folder", "memory", "decoded", "subset", "raw", *EXTRA)
ORDERS = options_of(1).keys()
STRIPES = {"in streams": 4, "repeated": 8}  # ranks, at most, that take turns
ONCE = {*SHUFFLES, "in buckets", "by numbers"}  # orders that have every sample once
# Each source, and each order, by some of the others; the other pairs are slow.
FIRST = {"folder": ORDERS, "mix": ("by blocks", "in streams", "in buckets", "by weight")}
AS_OTHERS_FAR = ("in turn", "in buckets", "of another length", "balanced")
CASES = [
    pytest.param(source, order, marks=[pytest.mark.slow] * (not is_first))
    for source, order in product(SOURCES, ORDERS)
    if source != "mix with numbers" or order in {*SHUFFLES, "of another length"}
    for is_first in [order in FIRST.get(source, ("shuffled",))]
]
# Ranks, the batch size of each, workers, and the steps after which all are stopped.
CUTS = [(2, 7, 0, 0), (2, 4, 0, 2), (8, 1, 0, 1), (1, 5, 2, None)]


@pytest.fixture(scope="module")
def texts(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text for each sample of `packed`, its key, and its number as JSON."""
    root = tmp_path_factory.mktemp("texts")
    for number, key in enumerate(Dataset(packed).keys):
        (root / "files" / key).parent.mkdir(parents=True, exist_ok=True)
        (root / "files" / f"{key}.txt").write_text(key)
        (root / "files" / f"{key}.json").write_text(json.dumps({"number": number}))
    packer.pack(root / "files", root / "packed", keys_of=packed, jobs=1, progress=False)
    return root / "packed"


@pytest.fixture(scope="module")
def raw(make_dataset: Callable[..., Path]) -> Path:
    """23 raw images of one size, in three shards."""
    files = {f"{n % 2}/{n}.png": encode(make_image(n, 50, 66), "PNG") for n in range(23)}
    return make_dataset(files, shard_samples=9, raw=(50, 66))


@pytest.fixture(scope="module")
def origin(
    request: pytest.FixtureRequest,
    packed: Path,
    others: Path,
    texts: Path,
    raw: Path,
) -> tuple[str, Dataset | Mix]:
    """The name of a source, and it."""
    whole = Dataset(packed)
    makers: dict[str, Callable[[], Dataset | Mix]] = {
        "folder": lambda: whole,
        "memory": lambda: Dataset(packed, cache="ram"),
        "decoded": lambda: Dataset(packed),  # which the loader keeps decoded
        "subset": lambda: whole.subset([*range(35, 3, -2)]),
        "raw": lambda: Dataset(raw),
        "joined": lambda: Dataset(packed, join=texts),
        "mix": lambda: Mix([whole, Dataset(others)]),
        "mix with numbers": lambda: Mix([(whole, 24), (Dataset(others), 8)], by="choose"),
    }
    return request.param, makers[request.param]()


def load(name: str, dataset: Dataset | Mix, order: str, **options: Any) -> Loader:
    # Raw images are gathered many at a time by the transforms that can do so, others kept whole.
    is_cropped = name in ("raw", "decoded")
    crop = (RandomCrop((24, 32)), RandomHorizontalFlip()) if is_cropped else AUGMENT
    fields = (*EVERYTHING, "name", *EXTRA.get(name, ()))
    options |= {"cache": "decoded"} if name == "decoded" else {}
    arguments = {"transforms": crop, "seed": 5, **options_of(len(dataset))[order], **options}
    return Loader(dataset, fields=fields, **arguments)


def rows_of(batch: Sequence[Any]) -> list[Row]:
    image, label, index, valid, key, name, *more = batch
    return [
        (
            int(index[row]),
            int(label[row]),
            key[row],
            name[row],
            hashlib.sha256(image[row].numpy().tobytes()).hexdigest(),
            *(field[row] if isinstance(field, list) else int(field[row]) for field in more),
        )
        for row in np.flatnonzero(valid).tolist()
    ]


def merged(step: Sequence[Sequence[Any]], stripes: int) -> list[Row]:
    """Return the rows of all ranks in the order of the epoch."""
    rows = [rows_of(batch) for batch in step]
    if stripes:  # the ranks take turns; of those that share a stream one comes later
        shared = max(len(rows) // stripes, 1)
        turns = [rows[rank] for first in range(shared) for rank in range(first, len(rows), shared)]
        rows = [[row for row in turn if row is not None] for turn in zip_longest(*turns)]
    return [*chain(*rows)]


def deliver(
    makers: Sequence[Callable[..., Loader]], cuts: Sequence[Any], stripes: int
) -> list[Row]:
    """Return the rows of all ranks; each cut resumes the one before, by another maker in turn."""
    state, found = None, []
    for make, (world_size, batch_size, workers, stop) in zip(cycle(makers), cuts, strict=False):
        share = {"batch_size": batch_size, "workers": workers, "world_size": world_size}
        with ExitStack() as opened:
            ranks = [opened.enter_context(make(rank=rank, **share)) for rank in range(world_size)]
            for loader in ranks if state is not None else ():
                loader.load_state_dict(state)
                assert loader.state_dict() == state
            for step in islice(zip(*ranks, strict=True), stop):
                assert len({len(batch[0]) for batch in step}) == 1
                found += merged(step, stripes)
            states = [loader.state_dict() for loader in ranks]
            assert states == states[:1] * world_size
            state = json.loads(json.dumps(states[0]))
    return found


@pytest.mark.parametrize(("origin", "order"), CASES, indirect=["origin"])
def test_rows_and_their_order_depend_on_no_workers_batches_ranks_and_stops(
    request: pytest.FixtureRequest, origin: tuple[str, Dataset | Mix], order: str
) -> None:
    kind, dataset = origin
    if kind == "decoded":
        request.getfixturevalue("shared_memory_alone")

    make, stripes = partial(load, kind, dataset, order, epochs=2), STRIPES.get(order, 0)
    whole = deliver([make], [(1, 8, 0, None)], stripes)
    assert deliver([make], CUTS, stripes) == whole
    first = [row[0] for row in whole[: len(whole) // 2]]
    if kind != "mix with numbers" and order in ONCE:
        assert Counter(first) == Counter(range(len(dataset)))
    targets, keys, names = dataset.targets, [*dataset.keys], [*dataset.names]
    for number, label, key, name, *_ in whole:
        assert (label, key, name) == (targets[number], keys[number], names[number])


@pytest.mark.usefixtures("needs_store", "no_leftovers")
@pytest.mark.parametrize(
    ("order", "join"),
    [
        pytest.param(order, join, marks=[pytest.mark.slow] * (order in AS_OTHERS_FAR))
        for order, join in zip(ORDERS, cycle(["far", "near", "far"]), strict=False)
    ],
)
def test_rows_are_the_same_from_a_folder_a_store_and_a_cache_in_part_and_whole(
    packed: Path, texts: Path, tmp_path: Path, order: str, join: str
) -> None:
    with serving(packed) as server, serving(texts) as members:
        places = {"near": texts, "far": members.url}
        far = Dataset(server.url, join=places[join], cache_dir=tmp_path)
        datasets = (Dataset(packed, join=texts), far)
        makers = [partial(load, "joined", dataset, order, epochs=2) for dataset in datasets]
        stripes = STRIPES.get(order, 0)
        whole = deliver(makers, [(1, 8, 0, None)], stripes)
        assert deliver(makers, CUTS, stripes) == whole
        for number in range(len(far)):  # the rest, of an order that repeats some
            assert far.read(number, "txt") is not None
            assert np.array_equal(far[number][0], datasets[0][number][0])
        fetched = sum(stop - first for _, first, stop in server.tars)
        assert fetched <= sum(path.stat().st_size for path in packed.glob("*.tar"))
        asked = len(server.tars)
        assert deliver(makers[1:], [(2, 4, 1, None)], stripes) == whole
        assert len(server.tars) == asked
        for fetching, _ in far.fetchings:
            fetching.close()


@pytest.mark.parametrize("origin", SOURCES, indirect=True)
def test_each_sample_comes_with_its_own_pixels_and_members(
    request: pytest.FixtureRequest, origin: tuple[str, Dataset | Mix]
) -> None:
    name, dataset = origin
    if name == "decoded":
        request.getfixturevalue("shared_memory_alone")
    with load(name, dataset, "shuffled", transforms=[CROP], batch_size=7, workers=0) as loader:
        for images, _, index, _, keys, _, *more in loader:
            for row, number in enumerate(index.tolist()):
                pixels = dataset[number][0]
                top, left = round((pixels.shape[0] - 48) / 2), round((pixels.shape[1] - 64) / 2)
                pixels = pixels[top : top + 48, left : left + 64]
                assert np.array_equal(images[row].permute(1, 2, 0), pixels)
                if name == "joined":
                    assert (more[0][row], more[1][row]) == (keys[row], number)
                elif more:
                    assert more[0][row] == (number >= 39)


def test_more_ranks_than_samples_pad_whole_batches(make_dataset: Callable[..., Path]) -> None:
    folder = make_dataset({f"{n}.png": encode(make_image(n), "PNG") for n in range(2)})
    valid = []
    for rank in range(3):
        with augmented(folder, workers=0, rank=rank, world_size=3) as loader:
            ((image, _, _, rows, _),) = loader
            valid += rows.tolist()
            assert image.any()
    assert valid == [True, True, False]
