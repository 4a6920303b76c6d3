"""No file that names the images is ignored: `layouts/details/evidence.rows` has more."""

import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from layouts.alone import only_folders
from layouts.row import Row
from layouts.scanned import lay_out

import packer
from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.evidence import gathered

Write = Callable[..., Path]

NAMES = [f"img_{number:04}" for number in range(6)]
FILES = [f"{name}.jpg" for name in NAMES]
LABELS = ["cat", "dog", "cat", "bird", "dog", "cat"]


def lines(form: str, names: list[str] = FILES) -> str:
    return "".join(form.format(n, label) + "\n" for n, label in zip(names, LABELS, strict=False))


def laid_out(
    tmp_path: Path, jpegs: list[bytes], files: Mapping[str, str | bytes], folder: str = ""
) -> Path:
    src = tmp_path / "src"
    images = {f"{folder}{name}": jpegs[n] for n, name in enumerate(FILES)}
    for name, content in {**images, **files}.items():
        path = src / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return src


_BOXES = "0 0.5 0.5 0.2 0.2\n1 0.4 0.4 0.1 0.1\n"


@pytest.mark.parametrize(
    ("images", "texts", "said"),
    [
        (
            [f"img/v{v}/{n}.jpg" for v in "12" for n in range(3)],
            {f"ann/v{v}.xml": "<boxes><box/></boxes>" for v in "12"},
            r"2 files \.xml in \.\./ann are named as folders of images",
        ),
        (
            [f"{a}/{b}/{n}.jpg" for a in "ab" for b in ("x", "y") for n in range(2)],
            {"names.txt": "/a/x\n/a/y\n/b/x\n/b/y\n"},
            "lists 4 folders of images, and these have 1 class",
        ),
        (
            [f"img{n}.jpg" for n in range(3)],
            {f"img{n}.txt": _BOXES for n in range(3)} | {"obj.names": "car\nperson\n"},
            "has a name for each number of a class",
        ),
        (
            [f"{name}/{n}.jpg" for name in ("ann", "bob", "eve", "zoe") for n in (1, 2)],
            {"peopleTrain.txt": "2\nann\t2\nbob\t2\n", "peopleTest.txt": "2\neve\t2\nzoe\t2\n"},
            "names 2 of the 4 folders, and others do not",
        ),
        (
            [f"frames/v_{name}_{n}/1.jpg" for name in ("ox", "yak") for n in (1, 2)],
            {
                "trainlist01.txt": "ox/v_ox_1.avi 1\nyak/v_yak_1.avi 2\n",
                "testlist01.txt": "ox/v_ox_2.avi\nyak/v_yak_2.avi\n",
            },
            "names 2 of the 4 folders, and others do not",
        ),
    ],
)
def test_texts_of_folders_and_of_numbers_are_evidence(
    images: list[str],
    texts: dict[str, str],
    said: str,
    tmp_path: Path,
    scan: Callable[..., Any],
) -> None:
    row = Row("x", " ".join(images), "", contents=texts)
    kind = "flat" if "class" in said and "number" not in said else None
    with only_folders(), pytest.raises(UnusableInput, match=said):
        scan(lay_out(row, tmp_path), options=SourceOptions(kind=kind))


def test_other_names_of_the_classes_are_said(
    write_files: Write, tmp_path: Path, jpegs: list[bytes]
) -> None:
    files = {f"{kind}/{n}.jpg": jpegs[n] for kind in ("ka", "lo", "mi") for n in range(3)}
    names = json.dumps({"ka": "rose", "lo": "lily", "mi": "orchid"}).encode()
    src = write_files(tmp_path / "src", files | {"cat_to_name.json": names})
    done = call_packer("pack", src, tmp_path / "dst", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert "cat_to_name.json is not read" in done.stderr + done.stdout
    assert "rose for ka" in done.stderr + done.stdout


def test_the_refusal_says_what_to_type(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    src = laid_out(tmp_path, jpegs, {"x/my list.txt": lines("{0}|{1}")}, "images/")
    with pytest.raises(UnusableInput) as caught:
        scan(src, options=SourceOptions(kind="flat"))
    text = str(caught.value)
    assert "x/my list.txt names 6 of the 6 images" in text
    assert "img_0000.jpg|cat\n" in text
    assert f"packer pack {src} DST --ignore 'x/my list.txt'" in text
    found = scan(src, options=SourceOptions(kind="flat", ignore=("x/my list.txt",)))
    assert len(found.samples) == 6
    assert found.reasons == {"x/my list.txt": "--ignore 'x/my list.txt'"}


def test_texts_share_what_is_searched_and_the_rest_is_counted(
    tmp_path: Path, jpegs: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = "nothing of interest\n" * 100
    texts = {f"logs{n}/{k}.dat": log for n in range(3) for k in range(4)}
    src = laid_out(tmp_path, jpegs, texts | {"z/a.lst": lines("{0}|{1}")}, "images/")
    monkeypatch.setattr(gathered, "MOST_FILES", 4)
    monkeypatch.setattr(gathered, "MOST_BYTES", 2000)
    with pytest.raises(UnusableInput, match=r"z/a\.lst names 6 of the 6 images"):
        packer.pack(src, tmp_path / "dst", kind="flat", jobs=1)
    remarks = packer.pack(src, tmp_path / "dst", kind="flat", jobs=1, ignore=("z",)).remarks
    assert "9 files are not searched for labels of the images: at most 4 are." in remarks
    assert "3 texts are searched for labels of the images in the first 666 bytes only." in remarks


WORDS = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789_-", min_size=1, max_size=9)


@given(
    stems=st.lists(WORDS, min_size=2, max_size=9, unique_by=str.lower),
    folder=st.sampled_from(["", "images/", "a/b/"]),
    where=st.sampled_from(["", "meta/", "images/"]),
    form=st.sampled_from(
        ["{0} {1}", "{1}\t{0}", "{0};{1}", "/x/{0},{1}", "C:\\{0}|{1}", "{0}: {1}"]
    ),
    shape=st.sampled_from(["lines", "dict", "list", "objects", "XML"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"]),
    newline=st.sampled_from(["\n", "\r\n", "\r"]),
    header=st.sampled_from(["", "file label\n", "# A title\n\n"]),
    extension=st.sampled_from([".txt", ".lst", "", ".dat", ".json", ".xml"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_list_is_ignored(
    stems: list[str],
    folder: str,
    where: str,
    form: str,
    shape: str,
    encoding: str,
    newline: str,
    header: str,
    extension: str,
    jpegs: list[bytes],
    scan: Callable[..., Any],
) -> None:
    names = [f"{stem}.jpg" for stem in stems]
    pairs = {name: f"class{n % 2}" for n, name in enumerate(names)}
    text = {
        "lines": header + "".join(form.format(*pair) + "\n" for pair in pairs.items()),
        "dict": json.dumps(pairs),
        "list": json.dumps([list(pair) for pair in pairs.items()]),
        "objects": json.dumps([{"image": name, "c": label} for name, label in pairs.items()]),
        "XML": "".join(f"<i n='{name}'><c>{label}</c></i>" for name, label in pairs.items()),
    }[shape]
    with tempfile.TemporaryDirectory() as made:
        src = Path(made)
        listing = text.replace("\n", newline).encode(encoding)
        files = {f"{folder}{name}": jpegs[0] for name in names}
        for name, data in {**files, f"{where}labels{extension}": listing}.items():
            (src / name).parent.mkdir(parents=True, exist_ok=True)
            (src / name).write_bytes(data)
        try:
            found = scan(src)
        except UnusableInput:
            return
        if found.skipped or not found.samples:
            return
        assert not any("labels" in name for name in found.ignored)


def test_a_list_without_a_label_is_said(
    write_files: Write, tmp_path: Path, jpegs: list[bytes]
) -> None:
    files = {f"images/{n}.jpg": jpegs[n] for n in range(4)}
    each = {f"id{n}": {"path": f"images/{n}.jpg", "mood": f"mood {n}"} for n in range(4)}
    src = write_files(tmp_path / "src", files | {"all.json": json.dumps(each).encode()})
    done = call_packer("pack", src, tmp_path / "dst", "--jobs", 1, code=0)
    assert "No sample has a label: the fields mood are in the json" in done.stderr + done.stdout
