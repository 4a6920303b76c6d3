import os
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from packer.keys import KeySet, clashing, escape, hashes_of, unescape

WHITE_OR_CONTROL = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")

# Names as the file system has them: any bytes but "/" and NUL. The second kind is full of what
# the escaping is about, so that clashes are likely.
components = st.one_of(
    st.binary(min_size=1, max_size=12),
    st.text("aA.% \t\u3000\u0085_25E中é", min_size=1, max_size=6).map(str.encode),
).filter(lambda name: b"/" not in name and b"\0" not in name)
paths = st.lists(components, min_size=1, max_size=4).map(b"/".join).map(os.fsdecode)


@given(paths)
@settings(deadline=None)
def test_a_key_gives_back_the_path_it_was_made_from(path: str) -> None:
    assert unescape(escape(path)) == path


@given(st.lists(paths, unique=True, min_size=2, max_size=20))
@settings(deadline=None)
def test_different_paths_have_different_keys(stems: list[str]) -> None:
    assert len({escape(stem) for stem in stems}) == len(stems)


@given(paths)
@settings(deadline=None)
def test_a_key_holds_nothing_that_a_tar_reader_would_trip_over(path: str) -> None:
    key = escape(path)
    assert "." not in key.rpartition("/")[2]
    assert not WHITE_OR_CONTROL.search(key)
    assert key.encode("utf-8").decode("utf-8") == key
    assert key.count("/") == path.count("/")


@given(st.lists(st.sampled_from(["__", "a", "_", "__a__"]), min_size=1, max_size=4))
@settings(deadline=None)
def test_no_key_looks_like_metadata_that_webdataset_skips(parts: list[str]) -> None:
    for path in ("".join(parts), "/".join(parts)):
        key = escape(path)
        assert not re.match(r"__[^/]*__($|/)", f"{key}.jpg")
        assert unescape(key) == path


@pytest.mark.parametrize(
    ("stem", "key"),
    [
        ("cat/image001", "cat/image001"),
        ("cat.v2/a.b", "cat.v2/a%2Eb"),
        ("a cat/b\tc", "a%20cat/b%09c"),
        ("50%", "50%25"),
        ("猫/é", "猫/é"),
        ("a\u3000b", "a%E3%80%80b"),
        (os.fsdecode(b"\xff/\xe9"), "%FF/%E9"),
        (".hidden", "%2Ehidden"),
    ],
)
def test_keys_stay_readable(stem: str, key: str) -> None:
    assert escape(stem) == key


@pytest.mark.parametrize(
    ("names", "clash"),
    [
        (["a.jpg", "b.jpg", "a.b.jpg", "a.c.jpg", "A.jpg"], set()),
        (["x.jpg", "x.png", "y.jpg"], {"x.jpg", "x.png"}),
        (["x.jpg", "x.png", "x.jpg.png"], {"x.jpg", "x.png", "x.jpg.png"}),
    ],
    ids=["they differ without it", "they differ in it alone", "another keeps it, too"],
)
def test_names_clash_that_differ_only_in_their_extension(names: list[str], clash: set[str]) -> None:
    assert clashing(names) == clash


@given(st.sets(st.text("x.jp", min_size=1, max_size=6), max_size=12))
@settings(deadline=None)
def test_all_names_of_a_folder_have_different_keys(names: set[str]) -> None:
    whole = clashing(names)
    keys = {escape(name if name in whole else os.path.splitext(name)[0]) for name in names}
    assert len(keys) == len(names)


def test_a_set_of_keys_tells_which_are_there_also_when_they_are_many() -> None:
    keys = KeySet([hashes_of([b"a", b"b"])])
    assert not keys.add("a")
    assert all(keys.add(f"{number}") for number in range(150_000))
    assert not any(keys.add(f"{number}") for number in range(0, 150_000, 1000))
    assert keys.add("c")


def test_a_set_of_a_million_keys_takes_some_megabytes() -> None:
    hashes = np.random.default_rng(0).integers(1 << 62, size=300_000).tolist()
    tracemalloc.start()
    keys = KeySet()
    keys.update(hashes)
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert taken < 30 * len(hashes)
