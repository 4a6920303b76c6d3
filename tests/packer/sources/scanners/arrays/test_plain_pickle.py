import os
import pickle
import pickletools
from pathlib import Path

import numpy as np
import pytest

from packer.errors import UnusableInput
from packer.sources.scanners.arrays.plain_pickle import load_plain


class Attack:
    """What runs a command if it is unpickled."""

    def __init__(self, *call: object) -> None:
        self.call = call

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call[0], self.call[1:]


def test_containers_and_byte_arrays_are_read() -> None:
    data = np.arange(12, dtype=np.uint8).reshape(3, 4)
    content = {"data": data, "labels": [1, 2, 3], "names": [b"a", "b"]}
    for protocol in range(5):  # the first three write bytes as Python 2 reads them
        loaded = load_plain(pickle.dumps(content, protocol), "file")
        np.testing.assert_array_equal(loaded.pop("data"), data)
        assert loaded == {"labels": [1, 2, 3], "names": [b"a", "b"]}


def test_texts_of_python_2_are_bytes() -> None:
    # pickle.dumps({"label_names": ["cat", "\xe9"]}, 2) by Python 2.7
    data = b"\x80\x02}q\x01U\x0blabel_namesq\x02]q\x03(U\x03catq\x04U\x01\xe9q\x05es."
    assert [opcode.name for opcode, _, _ in pickletools.genops(data)][-1] == "STOP"
    assert load_plain(data, "file") == {"label_names": [b"cat", b"\xe9"]}


@pytest.mark.parametrize(
    "call",
    [
        (os.system, "touch {}"),
        (eval, "open('{}', 'w')"),
        (exec, "open('{}', 'w')"),
        (open, "{}", "w"),
        (np.fromfile, "{}"),
        (getattr, os, "system"),
    ],
    ids=lambda call: call[0].__name__,
)
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_call_is_refused_by_name_and_does_not_run(
    tmp_path: Path, call: tuple[object, ...], protocol: int
) -> None:
    witness = tmp_path / "witness"
    given = [part.format(witness) if isinstance(part, str) else part for part in call[1:]]
    if os in given:
        data = b"cbuiltins\ngetattr\n(cos\nsystem\nVx\ntR."
    else:
        data = pickle.dumps({"data": Attack(call[0], *given)}, protocol)
    with pytest.raises(UnusableInput, match=r"data_batch_1 .* it would call "):
        load_plain(data, "data_batch_1")
    assert not witness.exists()


@pytest.mark.parametrize(
    "array",
    [
        np.array([{}], dtype=object),
        np.zeros(3, np.int32),
        np.asfortranarray(np.zeros((2, 3), np.uint8)),
    ],
)
def test_an_array_of_anything_but_bytes_is_refused(array: np.ndarray) -> None:
    with pytest.raises(UnusableInput, match="file is not a pickle"):
        load_plain(pickle.dumps({"data": array}, 3), "file")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x02",
        b"text",
        pickle.dumps([1, 2]),
        pickle.dumps({"a": np.zeros(4, np.uint8)}, 3)[:-20],
        b"cnumpy.core.multiarray\n_reconstruct\n}(U\x01xK\x01ub.",  # a state for the class
        b"cnumpy\ndtype\n(Nd}b.",
        b"cnumpy\nndarray\n)R.",
        b"Pimages\n.",  # a persistent id
        b"\x80\x02})" + b"2\x86" * 90 + b"Ns.",  # a key of 2**90 tuples, whose hash never ends
        b"\x80\x02()" + b"2\x86" * 90 + b"Nd.",
        b"\x80\x02}K\x01Ns.",
        b"\x80\x04\x8f()" + b"2\x86" * 90 + b"\x90.",  # the same in a set
        b"\x80\x04()" + b"2\x86" * 90 + b"\x91.",
        b"\x80\x02}c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00zip\x86Rs.",
    ],
)
def test_a_damaged_or_odd_pickle_is_refused(data: bytes) -> None:
    with pytest.raises(UnusableInput, match="file is not a pickle"):
        load_plain(data, "file")


def test_a_shape_that_the_bytes_do_not_fill_is_refused() -> None:
    data = pickle.dumps({"a": np.zeros((2, 4), np.uint8)}, 3).replace(b"K\x02K\x04", b"K\x02K\xff")
    with pytest.raises(UnusableInput, match="whole rows"):
        load_plain(data, "file")
