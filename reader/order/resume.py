"""Save a loader's position as a small dict, and check that another loader can resume from it.

The position is one integer, counted over all epochs. The other entries of a state identify the
order; world size, batch size and workers may change between two runs.
"""

from collections.abc import Mapping
from typing import Any

from reader.checks import is_number
from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError
from reader.order.shuffle import Order

_VERSION = 1

State = dict[str, int | float | str | None]

_SHARE = "decode_share"  # a state has it only if it is settled, and workers share decoding


def state_at(
    position: int, share: float | None, dataset: Dataset, order: Order, seed: int
) -> State:
    epoch, inside = divmod(position, order.count)
    identity = _identity(dataset, order, seed, epoch if inside else None)
    shared: State = {} if share is None else {_SHARE: share}
    return {"version": _VERSION, **identity, "epoch": epoch, "position": inside, **shared}


def decode_share_of(state: Mapping[str, Any]) -> float | None:
    """Return the share of each batch that workers are to decode, None if it is not settled."""
    share = state.get(_SHARE)
    if share is None or (is_number(share) and 0 <= share <= 1):
        return share
    raise ArgumentError(
        f"The state is damaged: its {_SHARE} is {share!r:.99}. Load an earlier checkpoint."
    )


def position_of(state: Mapping[str, Any], dataset: Dataset, order: Order, seed: int) -> int:
    if not isinstance(state, Mapping):
        raise ArgumentError(
            f"A state is the dict that loader.state_dict() returned, not {state!r:.200}."
        )
    if "version" not in state:
        raise ArgumentError(
            f"The state is not one that loader.state_dict() returned: {state!r:.200}."
        )
    if state["version"] != _VERSION:
        raise ArgumentError(
            f"The state has version {state['version']!r:.99}; this reader supports {_VERSION}. "
            "Load it with the release of shardfeed that saved it."
        )
    epoch, inside = state.get("epoch"), state.get("position")
    if not (isinstance(epoch, int) and isinstance(inside, int) and min(epoch, inside) >= 0):
        raise ArgumentError(
            f"The state is damaged: its epoch is {epoch}, its position {inside}. Load an earlier "
            "checkpoint."
        )
    identity = _identity(dataset, order, seed, epoch if inside else None)
    differ = [name for name, value in identity.items() if state.get(name) != value]
    if differ:
        which = ""
        if "dataset" in differ and "split" not in differ:  # a split has a fingerprint of its own
            which = (
                f" This loader reads {dataset.source} ({order.count} samples an epoch), the state "
                f"is of another dataset ({state.get('samples')} samples an epoch), or it was "
                "packed again since."
            )
        raise ArgumentError(
            f"The state was saved with {_listed(state, differ)}, but this loader has "
            f"{_listed(identity, differ)}.{which} Load it into a loader with the same dataset and "
            "arguments."
        )
    if inside >= order.count:
        raise ArgumentError(
            f"The state is damaged: its position is {inside} of {order.count}. Load an earlier "
            "checkpoint."
        )
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
