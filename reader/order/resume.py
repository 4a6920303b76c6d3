"""Where a run is, as a small dict, and whether a loader can go on from there.

A place is one integer, the position counted over all epochs. The rest of a state says which order
it belongs to; world size, batch size and workers may change between two runs.
"""

from collections.abc import Mapping
from typing import Any

from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError
from reader.order.shuffle import Order

_VERSION = 1

State = dict[str, int | str | None]


def state_at(position: int, dataset: Dataset, order: Order, seed: int) -> State:
    epoch, inside = divmod(position, order.count)
    identity = _identity(dataset, order, seed, epoch if inside else None)
    return {"version": _VERSION, **identity, "epoch": epoch, "position": inside}


def position_of(state: Mapping[str, Any], dataset: Dataset, order: Order, seed: int) -> int:
    if not isinstance(state, Mapping):
        raise ArgumentError(f"A state is what state_dict() gave, a dict, not {state!r:.200}.")
    if "version" not in state:
        raise ArgumentError(
            f"This is not a state of a Loader, which loader.state_dict() gives: {state!r:.200}."
        )
    if state["version"] != _VERSION:
        raise ArgumentError(
            f"The state is of version {state['version']!r:.99}; this reader knows {_VERSION}. Load "
            "it by the release that saved it."
        )
    epoch, inside = state.get("epoch"), state.get("position")
    if not (isinstance(epoch, int) and isinstance(inside, int) and min(epoch, inside) >= 0):
        raise ArgumentError(f"The state is damaged: its epoch is {epoch}, its position {inside}.")
    identity = _identity(dataset, order, seed, epoch if inside else None)
    differ = [name for name, value in identity.items() if state.get(name) != value]
    if differ:
        raise ArgumentError(
            f"The state was saved with {_listed(state, differ)}, this loader has "
            f"{_listed(identity, differ)}. Load it into a loader like the one that saved it."
        )
    if inside >= order.count:
        raise ArgumentError(f"The state is damaged: its position is {inside} of {order.count}.")
    return epoch * order.count + inside


def _identity(dataset: Dataset, order: Order, seed: int, epoch: int | None) -> State:
    return {
        "dataset": dataset.fingerprint,
        "split": dataset.split,
        "samples": order.count,
        "seed": seed,
        "shuffle": None,
        "subset": dataset.places.description,
        "weights": None,
        "sampler": None,
        "batch_sampler": None,
        **order.options(epoch),
    }


def _listed(values: Mapping[str, Any], names: list[str]) -> str:
    return " and ".join(f"{name}={values.get(name)}" for name in names)
