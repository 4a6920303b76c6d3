"""Lists: the forms of their lines, and what is refused."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import UnusableInput
from packer.sources.scanners.templates.lines import ListTemplate, divider
from packer.sources.scanners.templates.lists import read_lists
from packer.sources.scanners.templates.template import Form, parse
from packer.sources.trees.folder import FolderTree

Write = Callable[..., Path]


@pytest.mark.parametrize(
    ("form", "line", "fields"),
    [
        (
            "{key} {label}",
            "a.jpg   golden retriever",
            {"key": "a.jpg", "label": "golden retriever"},
        ),
        ("{key},{label}", '"a,1.jpg",cat', {"key": "a,1.jpg", "label": "cat"}),
        ("{label}|{key}", "cat | a b.jpg", {"label": "cat", "key": "a b.jpg"}),
        ("{_} {key} {label}", "17 a.jpg 3", {"key": "a.jpg", "label": "3"}),
        ("{key} {split=train}", "a.jpg", {"key": "a.jpg", "split": "train"}),
        ("<{key}> {label};", "<a> cat;", {"key": "a", "label": "cat"}),
        ("{key} {label}", "a.jpg", None),
        ("<{key}>", "a", None),
    ],
)
def test_a_line_is_divided_where_the_texts_between_its_fields_come(
    form: str, line: str, fields: dict[str, str] | None
) -> None:
    assert divider(Form(form, parse(form, "x")))(line) == fields


@given(st.lists(st.text("abc./", min_size=1), min_size=3, max_size=3), st.sampled_from(",|; \t"))
def test_what_is_joined_by_a_separator_is_divided_by_it(values: list[str], sign: str) -> None:
    text = sign.join(["{a}", "{b}", "{c}"])
    divide = divider(Form(text, parse(text, "x")))
    assert divide(sign.join(values)) == dict(zip("abc", values, strict=True))


OBJECTS = [{"f": "a.jpg", "of": {"c": "cat"}}, {"f": "b.jpg", "of": {"c": "dog"}}]


@pytest.mark.parametrize(
    ("text", "content", "values"),
    [
        ("l.txt: {key} {label}", "a.jpg cat\n\nb.jpg dog\n", [["a.jpg", "cat"], ["b.jpg", "dog"]]),
        ("l.csv: {key:f} {label:c}", "c;n;f\ncat;1;a.jpg\n", [["a.jpg", "cat"]]),
        ("l.tsv: {key:f} {label:c}", 'f\tc\na.jpg\t"x\ty"\n', [["a.jpg", "x\ty"]]),
        ("l.json: {key}: {label}", '{"a.jpg": "cat", "b": 3}', [["a.jpg", "cat"], ["b", 3]]),
        ("l.json: {label}: {key}", '{"cat": ["a", "b"]}', [["a", "cat"], ["b", "cat"]]),
        ("l.json: {key}: {label:x.y}", '{"a": {"x": {"y": 1}}}', [["a", 1]]),
        ("l.json: {key:f} {label:of.c}", json.dumps(OBJECTS), [["a.jpg", "cat"], ["b.jpg", "dog"]]),
        ("l.json: {key} {label}", '[["a", 1], ["b", 2]]', [["a", 1], ["b", 2]]),
        (
            "l.jsonl: {key:f} {label:of.c}",
            "\n".join(map(json.dumps, OBJECTS)),
            [["a.jpg", "cat"], ["b.jpg", "dog"]],
        ),
        ("l.jsonl: {key}: {label}", '{"a": 1}\n{"b": 2}', [["a", 1], ["b", 2]]),
        ("l.txt: {key} {label}", "a.jpg café".encode("utf-16"), [["a.jpg", "café"]]),
        ("l.txt: {key} {label}", b"\xef\xbb\xbfa.jpg cat", [["a.jpg", "cat"]]),
        ("l.txt: {key} {label}", "a.jpg café".encode("latin-1"), [["a.jpg", "café"]]),
        ("{label}.txt: {key}", "a\nb", [["a", "l"], ["b", "l"]]),
    ],
)
def test_the_lines_of_a_list(
    text: str, content: str | bytes, values: Any, write_files: Write, tmp_path: Path
) -> None:
    name = text.partition(": ")[0].replace("{label}", "l")
    data = content if isinstance(content, bytes) else content.encode()
    tree = FolderTree(write_files(tmp_path, {name: data}))
    (rows,) = read_lists(tree, [ListTemplate.of(text)])
    assert rows.names == ("key", "label")
    assert [list(rows[row].values()) for row in range(len(rows))] == values
    is_latin = data == "a.jpg café".encode("latin-1")
    assert rows.remarks == ["l.txt is not UTF-8. It is read as Latin-1."] * is_latin


def test_lists_of_the_same_fields_follow_each_other(write_files: Write, tmp_path: Path) -> None:
    tree = FolderTree(write_files(tmp_path, {"a.txt": b"1\n2", "b.txt": b"3", "c.txt": b"1 x"}))
    texts = ["a.txt: {key} {split=train}", "c.txt: {key} {label}", "b.txt: {key} {split=val}"]
    first, second = read_lists(tree, list(map(ListTemplate.of, texts)))
    assert [first[row]["split"] for row in range(3)] == ["train", "train", "val"]
    assert first.where(2) == "b.txt:1"
    assert len(second) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("list.txt", "is not of the form 'FILE: FIELDS', such as 'list.txt: {key} {label}'"),
        ("l.txt: {key}{label}", "character 6: no text separates this field"),
        ("l.txt: {key} {key}", "character 1: {key} comes twice. Write {_} for one"),
        ("l.txt: key", "has no field"),
        ("none.txt: {key}", "has no file none.txt. FILE is a path relative to SRC"),
        ("{split}.lst: {key}", "no file of .* has this name"),
        ("l.txt: {key};{label}", "l.txt has no line of the form"),
        ("l.csv: {key:g} {label:c}", "l.csv has no column 'g'. It has f, c"),
        ("l.json: {key:f} {label:c}", "l.json is no JSON list"),
        ("m.json: {key}: {label}", "m.json is no JSON object"),
        ("n.json: {key}: {label}", "n.json is not JSON"),
    ],
)
def test_a_list_that_cannot_be_read_is_refused(
    text: str, told: str, write_files: Write, tmp_path: Path
) -> None:
    files = {"l.txt": b"a b\n", "l.csv": b"f,c\n1,2\n", "l.json": b"{}", "m.json": b"[]"}
    tree = FolderTree(write_files(tmp_path, files | {"n.json": b"{"}))
    with pytest.raises(UnusableInput, match=told.replace("{", "\\{")):
        read_lists(tree, [ListTemplate.of(text)])


def test_a_line_of_another_form_is_named(write_files: Write, tmp_path: Path) -> None:
    tree = FolderTree(write_files(tmp_path, {"l.txt": b"202599\na cat\nb\n"}))
    (rows,) = read_lists(tree, [ListTemplate.of("l.txt: {key} {label}")])
    assert [(item.name, item.reason) for item in rows.skipped] == [
        ("l.txt:3", "it is not of the form {key} {label}")
    ]
    assert rows.remarks == ["The first line of l.txt is read as a header."]


def test_rows_know_their_lines(write_files: Write, tmp_path: Path) -> None:
    tree = FolderTree(write_files(tmp_path, {"l.csv": b'f,c\na,"x\ny"\nb,z\n'}))
    (rows,) = read_lists(tree, [ListTemplate.of("l.csv: {key:f} {label:c}")])
    assert re.findall(r"\d+", rows.where(1)) == ["4"]


@pytest.mark.parametrize(
    ("text", "count"),
    [("id name\n1 cat\n2 dog\n", 2), ("1 cat\n2 dog\n", 2), ("cat tabby\ndog pug\n", 2)],
)
def test_words_above_numbers_are_a_header(
    text: str, count: int, write_files: Write, tmp_path: Path
) -> None:
    tree = FolderTree(write_files(tmp_path, {"l.txt": text.encode()}))
    (rows,) = read_lists(tree, [ListTemplate.of("l.txt: {label} {class}")])
    assert len(rows) == count
    assert len(rows.remarks) == text.startswith("id")
