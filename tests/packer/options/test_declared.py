import json
from typing import Any

import pytest

from packer.options.declared import PackOptions, SourceOptions


@pytest.mark.parametrize(
    "options",
    [
        PackOptions(),
        PackOptions(
            seed=None,
            shard_samples=3,
            raw=(32, 16),
            split={"train": 0.9, "val": 0.1},
            dedupe=True,
            source=SourceOptions(pairs={"mask": "../masks"}, root="images", label_column="y"),
        ),
    ],
)
def test_options_come_back_from_what_dataset_json_holds(options: PackOptions) -> None:
    assert PackOptions.load(json.loads(json.dumps(options.dump()))) == options


@pytest.mark.parametrize(
    "changes",
    [
        *({"shard_size": value} for value in ("1GB", 0, [])),
        *({"shard_samples": value} for value in ("x", -1, 1.5)),
        *({"seed": value} for value in ("x", [], float("inf"))),
        *({"max_side": -1}, {"quality": "x"}, {"quality": 101}),
        *({"raw": value} for value in ([0, 5], ["a", "b"], [float("inf"), 3], [1], "12", 7)),
        *({"split": value} for value in ("train", [1], {}, {"train": "x"})),
        *({"limits": value} for value in ([], {"pixels": "x", "bytes": 1}, {"pixels": -1})),
        *({"source": value} for value in (None, {"pairs": 5}, {"pairs": {"a": 1}}, {"root": 5})),
    ],
    ids=str,
)
def test_options_that_no_command_line_gives_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises((TypeError, KeyError, ValueError)):
        PackOptions.load(PackOptions().dump() | changes)


def test_what_is_not_chosen_of_a_source_is_kept_as_it_was_before_it_could_be() -> None:
    assert not {"kind", "class_depth"} & PackOptions().dump()["source"].keys()
    chosen = PackOptions(source=SourceOptions(kind="folder", class_depth=-1))
    assert PackOptions.load(chosen.dump()) == chosen


@pytest.mark.parametrize("source", [{"kind": "guess"}, {"class_depth": "x"}], ids=str)
def test_a_kind_of_source_that_there_is_not_is_refused(source: dict[str, Any]) -> None:
    content = PackOptions().dump()
    with pytest.raises((TypeError, ValueError)):
        PackOptions.load({**content, "source": {**content["source"], **source}})
