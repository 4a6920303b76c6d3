"""What a user's function holds: it comes to each worker whole, and large arrays only once."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from reader import Loader

pytestmark = pytest.mark.usefixtures("no_leftovers")

_NUMBERS = np.arange(40_000, dtype=np.float64).reshape(200, 200)
_FROZEN = _NUMBERS.copy()
_FROZEN.flags.writeable = False
_PARAMETER = torch.nn.Parameter(torch.from_numpy(_NUMBERS.copy()))
_TENSOR = torch.arange(40_000, dtype=torch.float32)

# With whether it is shared by all workers.
HELD: dict[str, tuple[Any, bool]] = {
    "numbers": (_NUMBERS, True),
    "by columns": (np.asfortranarray(_NUMBERS), True),
    "read-only": (_FROZEN, True),
    "with names": (np.zeros(9_000, [("a", "<i4"), ("b", "S12")]), True),
    "with holes": (_NUMBERS[::2, ::2], False),
    "objects": (np.array([{"a": 1}, None], object), False),
    "small": (np.arange(5), False),
    "empty": (np.empty((0, 7)), False),
    "tensor": (_TENSOR.reshape(100, 20, 20), True),
    "half a tensor": (torch.arange(90_000, dtype=torch.float32).to(torch.bfloat16), True),
    "truths": (torch.ones(300, 300, dtype=torch.bool), True),
    "turned tensor": (torch.ones(300, 400).T, False),
    "parameter": (_PARAMETER, True),
    "small tensor": (torch.tensor(3.5), False),
    "table": ({f"key{n}": (n, [n]) for n in range(1000)}, False),
}


def is_mapped(address: int) -> bool:
    with open("/proc/self/maps", encoding="utf-8") as lines:
        for line in lines:
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if first <= address < last:
                return "memfd:shardfeed" in line
    return False


class Held:
    """Put what a worker holds into its first sample, and note what is shared."""

    def __init__(self, found: Path) -> None:
        self.held = {name: value for name, (value, _) in HELD.items()}
        self.found = found

    def __call__(self, sample: dict[str, Any]) -> dict[str, Any]:
        place = self.found / str(os.getpid())
        if str(os.getpid()) != self.found.parent.name and not place.exists():
            shared = {}
            for name, value in self.held.items():
                if isinstance(value, np.ndarray):
                    shared[name] = is_mapped(value.ctypes.data)
                else:
                    shared[name] = hasattr(value, "data_ptr") and is_mapped(value.data_ptr())
            place.write_bytes(pickle.dumps((self.held, shared), 5))
            self.held["numbers"][0, 0] = os.getpid()  # a copy of its own from here on
            self.held["tensor"][0, 0, 0] = os.getpid()
        return sample


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        is_like = one.dtype == other.dtype and one.requires_grad == other.requires_grad
        return type(one) is type(other) and is_like and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        is_like = one.dtype == other.dtype and one.flags.writeable == other.flags.writeable
        return is_like and one.shape == other.shape and bool((one == other).all())
    return bool(one == other)


def test_what_a_function_holds_comes_whole_and_large_arrays_are_shared(
    packed: Path, tmp_path: Path
) -> None:
    found = tmp_path / str(os.getpid()) / "found"
    found.mkdir(parents=True)
    with Loader(packed, workers=2, batch_size=1, epochs=3, map_sample=Held(found)) as loader:
        for _ in loader:
            pass
    workers = [*found.iterdir()]
    assert workers
    for place in workers:
        held, shared = pickle.loads(place.read_bytes())
        assert shared == {name: is_shared for name, (_, is_shared) in HELD.items()}
        for name, (value, _) in HELD.items():
            assert is_same(held[name], value), name
    assert _NUMBERS[0, 0] == 0
    assert float(_TENSOR[0]) == 0


@pytest.mark.parametrize("workers", [0, 1])
def test_a_read_only_array_stays_so(packed: Path, workers: int) -> None:
    def write(sample: dict[str, Any]) -> dict[str, Any]:
        with pytest.raises(ValueError, match="read-only"):
            _FROZEN[0] = 1
        return sample

    with Loader(packed, workers=workers, map_sample=write) as loader:
        next(iter(loader))
