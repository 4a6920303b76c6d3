import contextlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.sources.readings.coco import json_stream
from packer.sources.readings.coco.json_stream import elements, parsed

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(
    content=st.dictionaries(st.text(max_size=3), values, max_size=4),
    indent=st.none() | st.integers(0, 2),
    ascii_only=st.booleans(),
    chunk=st.integers(1, 9),
)
def test_every_element_of_every_list_comes_with_its_place(
    tmp_path_factory: pytest.TempPathFactory,
    content: dict[str, Any],
    indent: int | None,
    ascii_only: bool,
    chunk: int,
) -> None:
    path = tmp_path_factory.mktemp("json") / "a.json"
    data = json.dumps(content, indent=indent, ensure_ascii=ascii_only)
    data = data.encode("utf-8", "surrogatepass")
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        found = list(elements(Watched.of(path), set()))
    expected = [item for value in content.values() if isinstance(value, list) for item in value]
    assert [item.load() for item in found] == expected
    for item in found:
        assert json.loads(data[item.offset : item.offset + item.size]) == item.load()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "too early"),
        (b"[1]", "'{' is missing"),
        (b'{"a": [1, 2', "too early"),
        (b'{"a": [1 2]}', "',' is missing"),
        (b'{"a": [{"b": ]}', "at byte 7"),
        (b'{"a" 1}', "':' is missing"),
        (b'{"a": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}", "nested too deeply"),
        (b'{"a": ' + b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": [' + b"9" * 5000 + b"]}", "at byte 7"),
    ],
)
def test_unsound_json_is_refused_with_its_place(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(UnusableInput, match=r"a\.json is not valid JSON at byte \d+") as caught:
        list(elements(Watched.of(path), set()))
    assert reason in str(caught.value)


def test_an_element_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "_CHUNK", 100)
    monkeypatch.setattr(json_stream, "MAX_ELEMENT", 1000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"a": ["x" * 10_000]}))
    with pytest.raises(UnusableInput, match="more than 1,000 bytes"):
        list(elements(Watched.of(path), set()))


def test_an_element_that_was_read_already_has_the_same_largest_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "MAX_ELEMENT", 1000)
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"info": "x" * 2000, "a": ["x" * 998, "y" * 999]}))
    found = elements(Watched.of(path), set())
    assert next(found).size == 1000
    with pytest.raises(UnusableInput, match="a value of 1,001 bytes; 1,000 are the most"):
        next(found)


def test_damaged_files_give_elements_or_a_sentence(tmp_path: Path) -> None:
    rng = random.Random(0)
    data = json.dumps({"a": [{"b": "é", "c": [1.5, None]}] * 5, "d": {}}).encode()
    path = tmp_path / "a.json"
    for _ in range(100):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(damaged)
        with contextlib.suppress(UnusableInput):
            list(elements(Watched.of(path), set()))


def test_what_is_nested_too_deeply_is_no_value() -> None:
    assert parsed(b'{"a": [1]}') == {"a": [1]}
    with pytest.raises(ValueError, match="nested too deeply"):
        parsed(b"[" * 200_000 + b"]" * 200_000)


def test_a_name_that_is_not_text_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b'{"images": [], "\xdd(": []}')
    with pytest.raises(UnusableInput, match=r"not valid JSON at byte 19: a name .* not UTF-8"):
        list(elements(Watched.of(tmp_path / "a.json"), set()))
