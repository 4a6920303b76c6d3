import json

import pytest

from packer.options import PackOptions, SourceOptions


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
