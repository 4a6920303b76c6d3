from packer.layouts.exports.known import forms
from packer.layouts.exports.readers import READERS


def test_every_reader_is_that_of_a_form() -> None:
    assert {form.reader for form in forms()} == set(READERS.values())


def test_no_form_comes_twice() -> None:
    needs = [(form.needs, form.suffixes, form.of) for form in forms()]
    assert len(set(needs)) == len(needs)
