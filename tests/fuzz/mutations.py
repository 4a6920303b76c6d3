"""Changes to valid inputs that keep most of their structure: what a damaged or hostile file has."""

import re
import struct
from collections.abc import Sequence

from hypothesis import strategies as st

_NUMBERS = (0, 1, 2, 7, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63)
_TEXTS = (b"-1", b"0", b"1e9", b"99999999999999999999", b"null", b"[]", b"{}", b'""', b"NaN")
_TEXTS += (b"true", b'"../../x.tar"', b'"/etc/passwd"', b'"\\ud800"', b"[" * 2000, b"9" * 5000)
_WORDS = re.compile(rb'-?\d+|"[^"]*"|[a-z]+')
_MOST = 6  # changes of one input


def mutated(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """A seed with some changes; seldom bytes without any structure."""
    changed = st.builds(_changed, st.sampled_from(seeds), st.lists(_changes(seeds), max_size=_MOST))
    return st.one_of(changed, changed, changed, st.binary(max_size=64))


def _changes(seeds: Sequence[bytes]) -> st.SearchStrategy[tuple[str, float, object]]:
    """(what, where as a share of the input, with what)."""
    where = st.floats(0, 1, exclude_max=True)
    numbers = st.tuples(st.sampled_from(_NUMBERS), st.sampled_from("bhiqBHIQ"), st.booleans())
    return st.one_of(
        st.tuples(st.just("flip"), where, st.integers(1, 255)),
        st.tuples(st.just("number"), where, numbers),
        st.tuples(st.just("word"), where, st.sampled_from(_TEXTS)),
        st.tuples(st.just("cut"), where, st.none()),
        st.tuples(st.just("drop"), where, st.integers(1, 600)),
        st.tuples(st.just("repeat"), where, st.integers(1, 600)),
        st.tuples(st.just("insert"), where, st.binary(min_size=1, max_size=8)),
        st.tuples(st.just("splice"), where, st.sampled_from(seeds)),
    )


def _changed(data: bytes, changes: Sequence[tuple[str, float, object]]) -> bytes:
    for what, share, value in changes:
        data = _change(data, what, int(share * len(data)), value)
    return data


def _change(data: bytes, what: str, at: int, value) -> bytes:
    match what:
        case "flip":
            return data[:at] + bytes(byte ^ value for byte in data[at : at + 1]) + data[at + 1 :]
        case "number":
            number, size, is_big = value
            width = struct.calcsize(size)
            number &= (1 << 8 * width) - 1
            return (
                data[:at]
                + number.to_bytes(width, "big" if is_big else "little")
                + data[at + width :]
            )
        case "word":  # a number, a text or a name of a textual format
            found = _WORDS.search(data, at)
            return data[: found.start()] + value + data[found.end() :] if found else data
        case "cut":
            return data[:at]
        case "drop":
            return data[:at] + data[at + value :]
        case "repeat":
            return data[: at + value] + data[at:]
        case "insert":
            return data[:at] + value + data[at:]
        case _:
            return data[:at] + value[at:]
