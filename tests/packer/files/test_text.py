import subprocess
from pathlib import Path

import pytest

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import LATIN, decoded, encoding_of, open_text

TEXT = "name,label\nbär.jpg,thé\n"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (TEXT.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "utf-8"),
        (TEXT.encode("utf-16"), "utf-16"),
        (b"\xfe\xff" + TEXT.encode("utf-16-be"), "utf-16"),
        (TEXT.encode("latin-1"), LATIN),
        (TEXT.encode().replace(b"\n", b"\r"), "utf-8"),
        (TEXT.encode("latin-1").replace(b"\n", b"\r"), LATIN),
        (TEXT.replace("\n", "\r").encode("utf-16"), "utf-16"),
    ],
)
def test_text_is_read_as_utf_8_with_line_feeds(tmp_path: Path, data: bytes, name: str) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    file = Watched.of(tmp_path / "x.csv")
    assert encoding_of(file).name == name
    with open_text(file) as content:
        assert content.read().decode() == TEXT


def test_bytes_that_windows_does_not_have_are_read_as_latin_1(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a\x81\n")
    with open_text(Watched.of(tmp_path / "x.csv")) as content:
        assert content.read().decode() == "a\x81\n"


@pytest.mark.parametrize("data", [b"caf\xc3\xa9\n\xff\n", b"a\0\xff\n", b"\xff\n\x01\n"])
def test_damaged_utf_8_is_not_taken_for_latin_1(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.csv").write_bytes(data)
    file = Watched.of(tmp_path / "x.csv")
    assert encoding_of(file).is_plain
    with open_text(file) as content:
        assert content.read() == data


def test_utf_16_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(TEXT.encode("utf-16")[:-1])
    with pytest.raises(UnusableInput, match="not text"):
        open_text(Watched.of(tmp_path / "x.csv"))


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("文件 类别 猫 狗", "gbk"),
        ("ねこ いぬ", "shift_jis"),
        ("고양이", "euc-kr"),
        ("кошка", "cp1251"),
    ],
)
def test_words_of_other_scripts_are_not_taken_for_latin_1(
    tmp_path: Path, words: str, encoding: str
) -> None:
    (tmp_path / "x.csv").write_bytes(f"name,label\na.jpg,{words}\n".encode(encoding) * 3)
    with pytest.raises(UnusableInput, match="neither UTF-8 nor Latin-1"):
        open_text(Watched.of(tmp_path / "x.csv"))
    with pytest.raises(UnicodeDecodeError):
        decoded((tmp_path / "x.csv").read_bytes())


@pytest.mark.parametrize(
    ("words", "encoding", "said"),
    [
        ("文件 类别 猫 狗 鸟类 动物", "gbk", "be GB18030"),
        ("ねこ いぬ", "shift_jis", "be CP932"),
        ("画像 猫 犬 鳥", "shift_jis", "be CP932"),
        ("ねこ 猫の写真", "euc_jp", "be EUC-JP"),
        ("고양이 강아지 동물", "euc-kr", "be CP949 or GB18030"),
        ("圖片 類別 貓 狗", "big5", "be BIG5"),
        ("кошка Собака", "cp1251", "be CP1251"),
        ("КОШКА СОБАКА", "cp1251", "be CP1251"),
        ("кошка собака", "koi8_r", "be KOI8-R"),
        ("γάτα σκύλος", "cp1253", "be CP1253"),
    ],
)
def test_the_encoding_to_convert_from_is_named(
    tmp_path: Path, words: str, encoding: str, said: str
) -> None:
    (tmp_path / "x.csv").write_bytes(f"name,label\na.jpg,{words}\n".encode(encoding))
    with pytest.raises(UnusableInput, match=rf"{said}.*iconv -f {said.split()[1]} ") as refused:
        open_text(Watched.of(tmp_path / "x.csv"))
    line = str(refused.value).partition(": iconv")[2]
    subprocess.run(f"iconv{line}", shell=True, check=True)
    assert (tmp_path / "x.csv").read_text("utf-8") == f"name,label\na.jpg,{words}\n"


def test_damaged_words_of_other_scripts_in_utf_8_are_not_taken_for_another_encoding(
    tmp_path: Path,
) -> None:
    (tmp_path / "x.csv").write_bytes(
        "name,label\na.jpg,猫狗鸟\n".encode() * 9 + b"b.jpg,\xe7\xff\n"
    )
    assert encoding_of(Watched.of(tmp_path / "x.csv")).is_plain
