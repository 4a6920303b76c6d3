from collections.abc import Callable
from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.run.pack import PackReport
from packer.sources.scanners.tars.dots import keys_end_at_last_dot

WriteTar = Callable[..., Path]


@pytest.mark.parametrize(
    ("names", "is_last"),
    [
        ("a.jpg a.txt b.jpg", False),
        ("a.b.jpg a.b.txt", False),
        ("a.mask.png a.jpg", False),
        ("a.v1.jpg a.v1.txt a.v2.jpg a.v2.txt", True),
        ("a.0.jpg a.1.jpg b.7.jpg", True),
        ("a.left.jpg a.right.jpg b.left.jpg b.right.jpg", False),
        ("a.left.jpg a.right.jpg a.txt b.left.jpg b.txt", False),
        ("d.1/a.v1.jpg d.1/a.v1.txt d.1/a.v2.jpg d.1/a.v2.txt", True),
    ],
)
def test_the_last_dot_ends_keys_only_where_the_first_one_joins_samples(
    tmp_path: Path, write_tar: WriteTar, names: str, is_last: bool
) -> None:
    tar = write_tar(tmp_path / "a.tar", dict.fromkeys(names.split(), b"x"))
    assert keys_end_at_last_dot(tar) is is_last


@pytest.mark.parametrize("names", ["a.0.jpg a.1.jpg", "a.0.jpg a.1.jpg a.2.txt b.3.jpg"])
def test_a_tar_that_fits_no_rule_is_refused_with_what_to_do(
    tmp_path: Path, write_tar: WriteTar, names: str
) -> None:
    tar = write_tar(tmp_path / "a.tar", dict.fromkeys(names.split(), b"x"))
    with pytest.raises(UnusableInput, match=r"a\.0\.jpg and a\.1\.jpg are one.*tar -xf"):
        keys_end_at_last_dot(tar)


def test_the_rule_is_said_and_keys_are_reversible(
    tmp_path: Path,
    write_tar: WriteTar,
    make_jpegs: Callable[..., dict[str, bytes]],
    run_pack: Callable[..., PackReport],
) -> None:
    files = {}
    for name, image in make_jpegs("a.v1.jpg", "a.v2.jpg").items():
        files |= {name: image, name.replace(".jpg", ".cls"): b"1"}
    report = run_pack(write_tar(tmp_path / "a.tar", files), tmp_path / "dst")
    assert report.samples == 2
    assert any("Keys in a.tar end at the last dot" in remark for remark in report.remarks)
    again = run_pack(tmp_path / "dst", tmp_path / "again")
    assert again.samples == 2
    assert not any("last dot" in remark for remark in again.remarks)
