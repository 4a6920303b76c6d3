"""What a user's function draws depends on seed, epoch and position, and on nothing else."""

import io
import random
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import CROP, load
from made_images import encode, make_image

import reader
from reader import CUDAPrefetcher
from reader.fields.field import Field

COUNT = 24
Options = dict[str, Any]


@pytest.fixture
def dataset(write_samples: Callable[..., Path]) -> Path:
    """Samples with an image, a text and an array over the image."""
    file = io.BytesIO()
    np.save(file, np.zeros((64, 80), np.uint8))
    image = encode(make_image(0, 64, 80), "PNG")
    members = {"png": image, "txt": b"x", "npy": file.getvalue()}
    return write_samples({f"{number:03d}": members for number in range(COUNT)})


def options_of(kind: str) -> Options:
    """A loader with one function that draws, and returns what it drew."""

    def draws() -> list[float]:  # pickled by value, with all below
        return [random.random(), float(np.random.random_sample()), float(torch.rand(()))]

    def box(data: bytes) -> dict[str, Any]:
        return {"found": [[1, 2, *(30 + value for value in draws()[:2])]]}

    def corners(data: bytes) -> dict[str, Any]:
        first, second, third = draws()
        return {"found": [[1 + first, 2, 30, 3 + second, 9, 40 + third]]}

    class Shifted:
        def apply(self, geometry: reader.Geometry, rng: Any) -> None:
            geometry.resize(*(50 + int(value * 1e6) % 900 for value in draws()[:2]))

    class Own(Field):
        name = "own"

        def read(self, planned: Any, tools: Any) -> Any:
            return draws()

        def column(self, seen: Any) -> Any:
            from reader.fields.columns import ValuesColumn

            return ValuesColumn(self.name)

    def of_field(field: Any) -> Options:
        return {"fields": (field,), "transforms": [CROP] if kind == "bands" else []}

    return {
        "member": lambda: of_field(reader.Member("txt", decode=lambda data: np.array(draws()))),
        "optional": lambda: of_field(reader.Member("txt?", decode=lambda data: tuple(draws()))),
        "boxes": lambda: of_field(reader.Boxes("txt", "found", decode=box, labels=None)),
        "points": lambda: of_field(reader.Points("npy", "found", decode=corners)),
        "polygons": lambda: of_field(reader.Polygons("npy", "found", decode=corners)),
        "bands": lambda: of_field(
            reader.Bands("npy", decode=lambda data: np.full((64, 80), draws()[0]))
        ),
        "a field of one's own": lambda: of_field(Own()),
        "a transform of one's own": lambda: {"fields": ("geometry",), "transforms": [Shifted()]},
        "map_sample": lambda: {
            "fields": ("index", "drawn?"),
            "map_sample": lambda sample: {**sample, "drawn": np.array(draws())},
        },
        "map_batch": lambda: {"map_batch": lambda batch: draws()},
        "collate_fn": lambda: {"collate_fn": lambda samples: draws()},
    }[kind]()


KINDS = (
    *("member", "optional", "boxes", "points", "polygons", "bands", "a field of one's own"),
    *("a transform of one's own", "map_sample", "map_batch", "collate_fn"),
)


def texts(batches: Any) -> list[str]:
    """What each sample of each batch drew; a batch, where a function gets batches."""
    return [
        repr(row)
        for batch in batches
        for row in ([batch] if isinstance(batch, list) else batch[-1])
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_users_function_draws_the_same_on_every_run_and_each_time_anew(
    dataset: Path, kind: str
) -> None:
    options = options_of(kind)
    with load(dataset, seed=3, **options) as loader:
        epochs = [texts(loader) for _ in range(2)]
    whole = [*epochs[0], *epochs[1]]
    assert len(set(whole)) == len(whole)
    random.seed(5)
    with load(dataset, seed=3, workers=1, **options) as loader:
        iterator = iter(loader)
        first = texts(islice(iterator, 2))
        state = loader.state_dict()
    with load(dataset, seed=3, workers=0, **options) as loader:
        loader.load_state_dict(state)
        before = random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()
        assert [first + texts(loader), texts(loader)] == epochs
        after = random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()
    assert before == after
    with load(dataset, seed=4, **options) as loader:
        assert not set(texts(loader)) & set(whole)


def test_two_functions_do_not_draw_the_same(dataset: Path) -> None:
    def draw(value: Any) -> Any:
        return random.random()

    fields = (reader.Member("txt", decode=draw), reader.Member("npy", decode=draw), "mine?")
    mapped = {"map_sample": lambda sample: {**sample, "mine": draw(sample)}}
    with load(dataset, fields=fields, batch_size=COUNT, **mapped) as loader:
        ((texts, arrays, mine),) = loader
    assert len({*texts, *arrays, *mine.tolist()}) == 3 * COUNT
    with load(dataset, fields=fields[:1], batch_size=COUNT) as loader:
        assert next(iter(loader))[0].tolist() == [*map(float, texts)]  # whatever else there is


def test_a_prefetcher_and_a_preview_leave_what_map_batch_draws(dataset: Path) -> None:
    drawn: list[float] = []

    def change(batch: Any) -> Any:
        drawn.append(random.random())
        return batch

    with load(dataset, batch_size=12, fields=("image",), map_batch=change) as loader:
        random.seed(1)
        expected = random.random(), random.random()
        random.seed(1)
        assert random.random() == expected[0]
        list(loader)
        loader.set_epoch(0)
        list(CUDAPrefetcher(loader, device="cpu"))
        loader.set_epoch(0)
        loader.preview()
        assert random.random() == expected[1]
    assert drawn[:2] == drawn[2:4] == [drawn[4], drawn[1]]
