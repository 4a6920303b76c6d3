"""What is proposed to read a list; `layouts/packed/texts.rows` runs such commands."""

import json

import pytest

from packer.sources.scanners.templates.proposed import proposed

NAMES = {f"{number:03}.jpg": "cat" if number % 3 else "dog" for number in range(6)}
ITEMS = [{"file": name, "class": label, "score": 0.5} for name, label in NAMES.items()]


@pytest.mark.parametrize(
    "content",
    [
        json.dumps({"items": ITEMS, "categories": [{"id": 1, "name": "cat"}]}),
        json.dumps([{"file": name, "a.b": 1} for name in NAMES]),
        json.dumps({name: [label] for name, label in NAMES.items()}),
        json.dumps("text"),
        "{",
    ],
)
def test_nothing_is_proposed_where_something_would_be_lost(content: str) -> None:
    assert proposed("list.json", content, NAMES.__contains__) is None


def test_several_records_of_an_image_are_its_rows_and_equal_ones_are_one() -> None:
    once = proposed("list.json", json.dumps(ITEMS), NAMES.__contains__)
    assert proposed("list.json", json.dumps([*ITEMS, ITEMS[0]]), NAMES.__contains__) == once
    twice = json.dumps([*ITEMS, ITEMS[0] | {"score": 0.1}])
    form = "list.json: {key+:file} {class_:class} {score:score}"
    assert proposed("list.json", twice, NAMES.__contains__) == form


def test_a_list_named_as_a_split_gives_the_split() -> None:
    found = proposed("lists/val.txt", "000.jpg\n001.jpg\n", NAMES.__contains__)
    assert found == "lists/val.txt: {key} {split=val}"
    assert proposed("lists/some.txt", "000.jpg\n001.jpg\n", NAMES.__contains__) is None
