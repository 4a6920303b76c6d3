from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.sources.readings.exports.known import form_of, forms
from packer.sources.readings.exports.readers import READERS
from packer.sources.trees.folder import FolderTree


def test_every_reader_is_that_of_a_form() -> None:
    assert {form.reader for form in forms()} == set(READERS.values())


def test_no_form_comes_twice() -> None:
    needs = [(form.needs, form.suffixes, form.of) for form in forms()]
    assert len(set(needs)) == len(needs)


def test_a_file_that_is_gone_when_its_form_is_looked_for_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match=r"gone\.json: it cannot be read"):
        form_of(FolderTree(tmp_path), "gone.json")
