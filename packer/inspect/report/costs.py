"""What reading the dataset will take, as `packer plan` counts it for one GPU."""

from pathlib import Path

from packer.inspect.plan.estimate import estimate
from packer.inspect.plan.setting import Setting
from packer.inspect.plan.stored import Stored, usual_split
from packer.inspect.plan.told import Line, told
from reader.system import usable_cores


def costs(folder: Path, *, is_far: bool) -> list[Line]:
    """The plan of a Loader with its usual batches; nothing of a dataset without samples.

    Args:
        folder: of dataset.json and the indexes.
        is_far: it is read from a store.

    Raises:
        FormatError: an index is damaged.
    """
    split = usual_split(folder)
    stored = Stored.of(folder, split)
    if not len(stored):
        return []
    setting = Setting(workers=usable_cores())
    what = f"the split {split}" if split else "all samples"
    return [("read", what), *told(stored, setting, estimate(stored, setting), is_far=is_far)]
