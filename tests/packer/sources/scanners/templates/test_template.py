"""Templates: what they match, what they make, and where their faults are."""

import os
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import UnusableInput
from packer.sources.scanners.templates.template import Field, Member, Template, parse

NAMES = st.text("abc .-_1{}", min_size=1, max_size=6).filter(
    lambda name: name.strip(".") and name[:2] != ".."
)


def template(text: str) -> Template:
    return Template.of(text, "--images")


@pytest.mark.parametrize(
    ("text", "path", "fields"),
    [
        ("{key}", "a/b/1.jpg", {"key": "a/b/1"}),
        (
            "{split}/{label}/{key}",
            "train/cat/a/b.1.jpg",
            {"split": "train", "label": "cat", "key": "a/b.1"},
        ),
        ("{label}/{key}", "1.jpg", None),
        ("{label}/images/{key}.png", "x/images/1.png", {"label": "x", "key": "1"}),
        ("{label}/images/{key}.png", "x/images/1.jpg", None),
        ("./img/{key}.*", "img/1.jpg", {"key": "1"}),
        ("{label}_{key}", "golden_retriever_01.jpg", {"label": "golden_retriever", "key": "01"}),
        ("{_}/{key}_{label}.png", "x/7_cat.png", {"key": "7", "label": "cat"}),
        ("{split}/{split}/{key}", "seg/seg/1.jpg", {"split": "seg", "key": "1"}),
        ("{split}/{split}/{key}", "seg/sea/1.jpg", None),
        ("**/{label}/{key}.jpg", "cat/1.jpg", {"label": "cat", "key": "1"}),
        ("**/{label}/{key}.jpg", "a/b/cat/1.jpg", {"label": "cat", "key": "1"}),
        ("*/{key}", "a/1.jpg", {"key": "1"}),
        ("fold*/{key}", "fold3/1.jpg", {"key": "1"}),
        ("{label:2}/{key}", "a/b/c/1.jpg", {"label": "a/b", "key": "c/1"}),
        ("{label:all}/{key}", "a/b/c/1.jpg", {"label": "a/b/c", "key": "1"}),
        ("{split=train}seg_train/{key}", "seg_train/1.jpg", {"split": "train", "key": "1"}),
        ("{key}{split=train}", "1.jpg", {"split": "train", "key": "1"}),
        ("{key}_image", "1_image.jpg", {"key": "1"}),
        ("a{{b}}/{key}", "a{b}/1.jpg", {"key": "1"}),
        ("a[*]/{key}", "a*/1.jpg", {"key": "1"}),
        ("a[*]/{key}", "ab/1.jpg", None),
        ("{key}", "a/..jpg", {"key": "a/."}),
        ("{key}", "a/.hidden", {"key": "a/.hidden"}),
    ],
)
def test_a_template_fits_a_path_or_does_not(
    text: str, path: str, fields: dict[str, str] | None
) -> None:
    assert template(text).match(path) == fields


@given(st.lists(NAMES, min_size=3, max_size=5))
def test_the_fields_of_split_folders_are_their_names(names: list[str]) -> None:
    path = "/".join(names)
    found = template("{split}/{label}/{key}").match(path)
    key = os.path.splitext("/".join(names[2:]))[0]
    assert found == {"split": names[0], "label": names[1], "key": key}


@given(NAMES, NAMES, st.sampled_from(["masks/{a}/{b}.png", "{a}/{b}", "{b}/{a}/x"]))
def test_a_filled_template_fits_what_it_made(first: str, second: str, text: str) -> None:
    member = Template.of(text, "--member", needs_key=False)
    path = member.fill({"a": first, "b": second})
    assert member.match(path) is not None


@given(st.text("{}a:=_/.*1 ", max_size=12))
def test_any_text_is_a_template_or_is_refused_with_the_option(text: str) -> None:
    with suppress(UnusableInput):
        template(text)
    with pytest.raises(UnusableInput, match="--images"):
        template(f"/{text}")


@given(st.text("ab{}", max_size=8))
def test_a_brace_is_written_twice(text: str) -> None:
    assert "".join(map(str, parse(text.replace("{", "{{").replace("}", "}}"), "x"))) == text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{split/{key}", "character 1: {split/{key} is no field"),
        ("a/{key", "character 3: this brace is not closed. For a brace in a name, write {{"),
        ("a}/{key}", "character 2: this brace closes nothing"),
        ("{a b}/{key}", "{a b} is no field. A field is a name, such as {label} or {_}"),
        ("{label=}/{key}", "nothing follows the =. Write {label}, or complete it"),
        ("{label:0}/{key}", "{label:0} is no number of folders from 1 on, nor all"),
        ("images/", "character 7: a folder. Append {key}"),
        ("/images/{key}", "is not a path in the source"),
        ("{label}/*", "has no {key}. {key} stands once for the name of the image"),
        ("{key}/{key}", "has several {key}"),
        ("a**/{key}", "character 2: ** stands for whole folders, as in **/{key}"),
    ],
)
def test_a_fault_is_named_with_its_position_and_what_would_be_right(text: str, told: str) -> None:
    with pytest.raises(UnusableInput, match=re.escape(told)):
        template(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("masks/{id}.png", "character 7: {id} is not among the fields of --images: {key}, {label}"),
        ("masks/*.png", "character 7: one path is meant, and * fits several"),
        ("{_}/{key}.png", "character 1: {_} is not among"),
    ],
)
def test_a_member_is_at_one_path_made_of_the_fields_of_images(text: str, told: str) -> None:
    with pytest.raises(UnusableInput, match=re.escape(told)):
        list(Member.all_of({"mask": text}, {"key", "label"}))


@pytest.mark.parametrize(
    ("name", "ext", "member"),
    [("mask", "png", "mask.png"), ("mask.png", "png", "mask.png"), ("txt", "txt", "txt")],
)
def test_a_member_is_named_by_its_name_and_the_extension(name: str, ext: str, member: str) -> None:
    (one,) = Member.all_of({name: "masks/{key}"}, {"key"})
    assert one.extension(ext) == member
    assert not one.is_optional


def test_a_question_mark_makes_a_member_optional() -> None:
    (one,) = Member.all_of({"mask?.png": "masks/{key}.png"}, {"key"})
    assert one.is_optional
    assert one.name == "mask.png"


def test_folders_are_sorted_as_those_of_classes_are() -> None:
    folders = ["b", "a/x", "a", "a b", "a/x y", "c/d"]
    rank = template("{label}/{key}").rank
    assert sorted(folders, key=rank) == ["a", "a/x", "a/x y", "a b", "b", "c/d"]


def test_fields_have_their_position() -> None:
    assert parse("a{b}", "x") == ("a", Field("b", 2))
