from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput
from packer.options.chosen import run_options
from packer.options.declared import RunOptions
from packer.options.part import Part


def test_what_is_given_of_a_run_is_in_the_one_object_that_is_passed_on() -> None:
    given: dict[str, Any] = {
        "classes": ("cat", "dog"),
        "on_error": "skip",
        "jobs": 3,
        "executor": "ray",
        "scratch": Path("scratch"),
        "append": True,
        "progress": False,
    }
    how = run_options({**given, "part": None, "quality": 5})
    assert {name: getattr(how, name) for name in given} == given
    assert how.skips
    assert how.processes == 3


def test_what_is_not_given_has_its_default() -> None:
    assert run_options({"on_error": None, "jobs": None}) == RunOptions()
    assert RunOptions().processes >= 1


@pytest.mark.parametrize(
    "given",
    [{"append": True, "overwrite": True}, {"part": Part(1, 2), "append": True}],
    ids=["append and overwrite", "part and append"],
)
def test_options_that_exclude_each_other_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UnusableInput, match=r"give only one|no --append or --overwrite"):
        run_options(given)
