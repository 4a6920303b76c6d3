"""Numbers as people say them."""

import ast
import pickle
import re
from pathlib import Path

import pytest

import packer
from packer.cli.main import main
from packer.errors import UnusableInput, call, said
from packer.options.chosen import PythonCall
from packer.words import (
    Command,
    Message,
    Shell,
    bounded,
    choices,
    command,
    in_bytes,
    listed,
    many,
    option,
    share,
    typed,
)

ROOT = Path(packer.__file__).parent
PATHS = {path.relative_to(ROOT).as_posix(): path for path in sorted(ROOT.rglob("*.py"))}
NODES = [
    (name, node)
    for name, path in PATHS.items()
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
]


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (999, "999 bytes"),
        (1000, "1 kB"),
        (999_950, "1000 kB"),
        (1_234_000, "1.234 MB"),
        (5 * 10**15, "5000 TB"),
    ],
)
def test_bytes_come_in_the_unit_that_people_would_choose(count: int, said: str) -> None:
    assert in_bytes(count) == said


def test_nouns_follow_their_number() -> None:
    said = [many(count, "class") for count in (0, 1, 2000)]
    assert said == ["0 classes", "1 class", "2,000 classes"]
    assert many(2, "box") == "2 boxes"
    assert many(1, "shard") == "1 shard"


def test_a_share_of_what_is_there_is_never_nothing() -> None:
    said = [share(0, 9), share(1, 10**6), share(1, 30), share(1, 2)]
    assert said == ["0%", "less than 0.1%", "3.3%", "50%"]


def test_of_many_names_the_first_are_told() -> None:
    assert listed(list("abcde")) == "a, b, c, d, e"
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"


def test_a_message_keeps_its_sentence_whatever_names_it_quotes() -> None:
    found = bounded(f"unlike: {'x' * 10**6}, dog.\n  Give {'y ' * 10**6}classes.")
    first, second = found.split("\n")
    assert first.startswith("unlike: xxx")
    assert first.endswith("xxx, dog.")
    assert len(first) < 500
    assert second.endswith("y classes.")
    assert len(second) < 9_000
    assert bounded("images/a.jpg: it is empty") == "images/a.jpg: it is empty"


def test_a_message_has_options_and_commands_as_its_caller() -> None:
    columns = Message.of("Pass {} or {}.", option("label_column", "a b"), option("append", True))
    text = columns + " Or:" + choices("it's", {"None": ("--label-column", "none")})
    given = {"--seed": ["--seed", "3"], "--label-column": ["--label-column", "x"]}
    assert Shell("to", given).written(text) == (
        "Pass --label-column 'a b' or --append. Or:\n"
        "  None: packer pack 'it'\"'\"'s' to --seed 3 --label-column none"
    )
    assert PythonCall("to", {"seed": 3, "label_column": "x"}).written(text) == (
        'Pass label_column="a b" or append=True. Or:\n'
        '  None: packer.pack("it\'s", "to", seed=3, label_column="none")'
    )


def test_a_message_keeps_its_commands_in_other_processes() -> None:
    text = "Pass " + Message(option("jobs"), ": ", command("src", "--jobs", "1"))
    assert text == "Pass --jobs: packer pack src DST --jobs 1"
    assert pickle.loads(pickle.dumps(text)).commands == [Command("src", ("--jobs", "1"))]


def test_an_error_names_a_source_as_people_know_it() -> None:
    error = UnusableInput("/tmp/1/x is odd: ", command("/tmp/1/x"), option("root", "/tmp/1"))
    call(error, Path("/tmp/1"), "s3://a")
    assert str(error) == "s3://a/x is odd: packer pack s3://a/x DST--root s3://a"
    spoken = said(error, PythonCall("to"))
    assert spoken == 's3://a/x is odd: packer.pack("s3://a/x", "to")root="s3://a"'


def test_other_commands_than_pack_are_typed_whoever_calls() -> None:
    again = Message("Run ", typed("verify", Path("a b")))
    for caller in (PythonCall("to"), Shell("to")):
        assert caller.written(again) == "Run packer verify 'a b'"


def test_options_and_commands_are_parts_of_messages_until_these_are_printed() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, node in NODES
        if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Call)
        if isinstance(node.value.func, ast.Name)
        if node.value.func.id in ("option", "command", "choices")
    ]
    assert found == []


def test_commands_are_written_as_data() -> None:
    command_line = re.compile(rf"\bpacker ({'|'.join(main.commands)})\b")
    docstrings = {
        id(node.body[0].value)
        for _, node in NODES
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body
        if isinstance(node.body[0], ast.Expr)
    }
    found = [
        f"{path}:{node.lineno}"
        for path, node in NODES
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in docstrings and command_line.search(node.value)
        if not path.startswith("cli/")  # the text of --help
    ]
    assert [place.partition(":")[0] for place in found] == ["words.py"]


def test_no_regular_expression_reads_a_finished_message() -> None:
    messages = {"reason", "message", "sentence", "remark", "remarks", "why", "str(error)"}
    found = [
        (path, subject)
        for path, node in NODES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        if node.func.attr in ("match", "search", "fullmatch", "findall", "finditer", "sub")
        for subject in map(ast.unparse, node.args)
        if subject.rpartition(".")[2] in messages
    ]
    # Reasons that indexes keep as text, and the messages of libraries.
    assert sorted(found) == [("errors.py", "reason"), ("errors.py", "str(error)")]
