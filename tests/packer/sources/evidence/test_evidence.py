"""No file that names the images of a source is ignored, and no other file stops a run."""

import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
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


def spreadsheet(texts: list[str]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        items = "".join(f"<si><t>{text}</t></si>" for text in texts)
        archive.writestr("xl/sharedStrings.xml", f"<sst>{items}</sst>")
    return made.getvalue()


def of_each(form: str, path: str) -> dict[str, str]:
    return {path.format(name): form.format(name) for name in NAMES}


BOX = {"label": "cat", "coordinates": {"x": 3, "y": 4, "width": 2, "height": 2}}
FORMS: dict[str, Mapping[str, str | bytes]] = {
    "CreateML": {"a.json": json.dumps([{"image": f, "annotations": [BOX]} for f in FILES])},
    "keras-yolo3, as Roboflow has it": {"_annotations.txt": lines("{0} 1,2,3,4,0 5,6,7,8,1")},
    "CVAT for images": {
        "annotations.xml": "<annotations><version>1.1</version>"
        + lines('<image id="0" name="images/{0}"><box label="{1}" xtl="1"></box></image>')
        + "</annotations>"
    },
    "Datumaro": {
        "annotations/default.json": json.dumps(
            {"items": [{"id": n, "annotations": [{"label_id": 0}]} for n in NAMES]}
        )
    },
    "Label Studio": {
        "export.json": json.dumps(
            [
                {"data": {"image": f"/data/upload/1/{f}"}, "annotations": [{"result": ["cat"]}]}
                for f in FILES
            ]
        )
    },
    "Labelbox": {"x.ndjson": lines('{{"data_row": {{"external_id": "{0}"}}, "projects": "{1}"}}')},
    "VIA": {
        "via.json": json.dumps({f"{f}123": {"filename": f, "regions": [], "t": "x"} for f in FILES})
    },
    "SageMaker": {"out.manifest": lines('{{"source-ref": "s3://bucket/a/{0}", "label": "{1}"}}')},
    "FiftyOne": {
        "samples.json": json.dumps({"samples": [{"filepath": f"data/{f}"} for f in FILES[:4]]})
    },
    "FiftyOne's labels": {
        "labels.json": json.dumps({"classes": ["a"], "labels": dict.fromkeys(NAMES, 0)})
    },
    "BDD100K": {"det.json": json.dumps([{"name": f, "attributes": {"w": "clear"}} for f in FILES])},
    "Visual Genome": {
        "image_data.json": json.dumps([{"url": f"https://x/VG/{f}", "width": 3} for f in FILES])
    },
    "WIDER FACE": {"wider_face.txt": lines("{0}\n1\n449 330 122 149 0 0 0 0 0 0")},
    "CrowdHuman": {"a.odgt": lines('{{"ID": "{0}", "gtboxes": [{{"tag": "{1}"}}]}}', NAMES)},
    "xView": {
        "x.geojson": json.dumps(
            {"features": [{"properties": {"image_id": f, "type_id": 3}} for f in FILES]}
        )
    },
    "COCO-Text": {
        "cocotext.json": json.dumps(
            {"imgs": {str(n): {"file_name": f, "set": "train"} for n, f in enumerate(FILES)}}
        )
    },
    "ICDAR": of_each("1,2,3,4,5,6,7,8,word", "gt/gt_{}.txt"),
    "ICDAR's words": {"gt.txt": lines('{0}, "{1}"')},
    "IAM": {"lines.txt": "#--- lines.txt ---#\n" + lines("{0} ok 154 19 408 746 A|{1}", NAMES)},
    "RVL-CDIP": {"labels/train.txt": lines("imagesq/q/o/c/{0} 15")},
    "Flickr8k": {"captions.txt": "image,caption\n" + lines("{0},A {1} runs")},
    "Flickr8k's tokens": {"Flickr8k.token.txt": lines("{0}#0\tA {1} runs .\n{0}#1\tA thing .")},
    "Flickr30k": {"results.txt": "image_name| comment_number| comment\n" + lines("{0}| 0| A {1}")},
    "LLaVA": {"llava.json": json.dumps([{"id": n, "image": f"x/{n}.jpg", "c": []} for n in NAMES])},
    "TextCaps": {
        "cap.json": json.dumps({"data": [{"image_id": n, "caption": "x"} for n in NAMES]})
    },
    "DiffusionDB": {"part-000001.json": json.dumps({f: {"p": "a cat", "se": 1} for f in FILES})},
    "path label": {"list.txt": lines("{0} {1}")},
    "with a slash before": {"list.txt": lines("/images/{0} 3")},
    "a header": {"list.txt": "filename label\n" + lines("{0} 1")},
    "the label first": {"list.txt": lines("{1} {0}")},
    "a number of a class": {"list.txt": lines("{0};0")},
    "a title": {"list.csv.txt": "The labels of our images\n\n" + lines("{0},{1}")},
    "a dict": {"labels.json": json.dumps(dict(zip(FILES, LABELS, strict=True)))},
    "a list": {"labels.json": json.dumps([list(pair) for pair in zip(FILES, LABELS, strict=True)])},
    "pandas": {
        "df.json": json.dumps(
            {"image": dict(enumerate(f"a/{f}" for f in FILES)), "label": dict(enumerate(LABELS))}
        ).replace("/", "\\/")
    },
    "a spreadsheet": {"labels.xlsx": spreadsheet([*FILES, *LABELS])},
    "YAML": {"labels.yaml": lines("{0}: {1}")},
    "a split": {"train.txt": lines("{0}")[:45], "val.txt": lines("{0}")[45:]},
    "a split by stems": {"train.txt": "\n".join(NAMES[:4])},
    "CamVid": {"train.txt": lines("/SegNet/CamVid/train/{0} /SegNet/CamVid/trainannot/{0}")[:200]},
    "UTF-16": {"labels.txt": lines("{0} {1}").encode("utf-16")},
    "UTF-16 without a mark": {"labels.txt": lines("{0} {1}").encode("utf-16-be")},
    "Latin-1": {"labels.txt": lines("{0} M\xe4dchen").encode("latin-1")},
    "CR": {"labels.txt": lines("{0} {1}").replace("\n", "\r")},
    "another case": {"labels.txt": lines("{0} {1}").upper()},
    "backslashes": {"labels.txt": lines("C:\\data\\{0} {1}")},
    "another extension": {"labels.txt": lines("{0}.png {1}", NAMES)},
    "XML of each": of_each("<a><filename>{}.jpg</filename><n>cat</n></a>", "ann/{}.xml"),
    "XML of other names": {
        f"ann/{n}.xml": f"<a><filename>{f}</filename><n>cat</n></a>" for n, f in enumerate(FILES)
    },
    "JSON of each": of_each('{{"shapes": []}}', "ann/{}.json"),
    "a table in Markdown": {"labels.md": "|file|label|\n|-|-|\n" + lines("| {0} | {1} |")},
    "sqlite-like dump": {"dump.sql": lines("INSERT INTO t VALUES ('{0}', '{1}');")},
}

README = f"""# Our images

Look at {FILES[0]}: it shows a cat. And ![this]({FILES[1]}) is a dog.

    python train.py --image {FILES[0]}

Much more text follows here, and none of it is of any image.
"""
NOTEBOOK = json.dumps(
    {"cells": [{"source": [f"show('{FILES[0]}')\n", f"show('{FILES[1]}')\n"]}]}, indent=1
)
ALARMS: dict[str, Mapping[str, str | bytes]] = {
    "README.md": {"README.md": README},
    "README": {"README": README},
    "a notebook": {"look.ipynb": NOTEBOOK},
    "code": {"train.py": f"A = '{FILES[0]}'\nB = '{FILES[1]}'\n" + "print(1)\n" * 9},
    "a script": {"get.sh": "cd /tmp\n" * 9 + f"rm {FILES[0]} {FILES[1]}\n"},
    "HTML": {"index.html": f"<html>\n<body>\n<img src='{FILES[0]}'>\n</body>\n</html>"},
    "a log": {"run.log": lines("2024-01-01 12:00:01 INFO packed {0} in 3 ms")},
    "a notebook that shows two": {
        "look.ipynb": json.dumps({"cells": [{"source": [f"show('{f}')"]} for f in FILES[:2]]})[:-1]
        + ', "nbformat": 4}'
    },
    "a README that shows two": {"README.md": "".join(f"![]({f})\n" for f in FILES[:2])},
    "a log of two": {
        "a.log": "".join(f"2024-01-01 12:00:01 WARNING {f}: no EXIF\n" for f in FILES[:2])
    },
    "checksums beside notes": {
        "md5sums.txt": lines("{0}").replace("img", f"{hashlib.md5(b'').hexdigest()}  img"),
        "notes.txt": f"To do:\nTake {FILES[1]} again.\n",
    },
    "weights of Keras": {"m.h5": b"\x89HDF\r\n\x1a\n" + bytes(88) + b"keras_version\0layer_names"},
    "MD5": {"md5sums.txt": lines("{0}").replace("img", f"{hashlib.md5(b'').hexdigest()}  img")},
    "SHA-256 of a few": {
        "SHA256SUMS": "".join(f"{hashlib.sha256(f.encode()).hexdigest()} *{f}\n" for f in FILES[:3])
    },
    "CRC-32": {"x.sfv": "; by a program\n" + lines("{0} 1A2B3C4D")},
    "RECORD": {"RECORD": lines("{0},sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,1234")},
    "a list of all": {"files.txt": lines("{0}")},
    "a list of all, with a folder": {"files.txt": lines("./images/{0}")},
    "a list of all, by stems": {"files.txt": lines("{0}", NAMES)},
    "a list of all, counted": {"files.txt": "".join(f"{n} {f}\n" for n, f in enumerate(FILES, 1))},
    "a list of all, as JSON": {"files.json": json.dumps(FILES)},
    "a list of all, as objects": {"files.json": json.dumps([{"file": f} for f in FILES])},
    "a list of addresses": {"urls.txt": lines("https://example.org/a/{0}")},
    "what ls -l prints": {
        "ls.txt": "total 6\n" + lines("-rw-r--r-- 1 me us 1234 Jan  3 10:00 {0}")
    },
    "what dir prints": {
        "dir.txt": " Directory of D:\\images\n\n" + lines("03.01.2023  10:00    1.234 {0}")[:120]
    },
    "notes": {"notes.txt": f"Removed img_17.jpg, a dog. Have a look at {FILES[1]} again.\n"},
    "thumbnails": {"thumbs.txt": lines("thumbs/{0}")},
    "SOURCES.txt": {"SOURCES.txt": "setup.py\nREADME.md\na/b.py\na/c.py\n" + "\n".join(FILES[:3])},
    "numbers": {"loss.txt": "".join(f"{n} {n / 7:.3f}\n" for n in range(20))},
    "classes": {"classes.txt": "cat\ndog\nbird\n"},
    "a license": {"LICENSE": "Permission is hereby granted\n" * 20},
    "binary": {"weights.bin": bytes(range(256)) * 8},
}


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


def packed(scan: Callable[..., Any], src: Path) -> Any:
    """What is read of a source; None if nothing is packed, with a command that goes on."""
    try:
        found = scan(src)
    except UnusableInput as error:
        text = str(error)
    else:
        return None if found.skipped or not found.samples else found
    assert "--" in text or "packer pack" in text
    return None


@pytest.mark.parametrize("folder", ["", "images/"])
@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_names_the_images_is_read_or_refused(
    form: str, folder: str, tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    src = laid_out(tmp_path, jpegs, FORMS[form], folder)
    if found := packed(scan, src):
        assert not found.ignored, found.ignored
        assert set(found.labels.values()) != {-1} or found.samples[0].members


@pytest.mark.parametrize("folder", ["", "images/"])
@pytest.mark.parametrize("form", ALARMS)
def test_other_files_stop_no_run(
    form: str, folder: str, tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    found = scan(laid_out(tmp_path, jpegs, ALARMS[form], folder))
    assert len(found.samples) == len(FILES)
    assert found.ignored


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
    write_files: Write, tmp_path: Path, jpegs: list[bytes], run_packer: Callable[..., Any]
) -> None:
    files = {f"{kind}/{n}.jpg": jpegs[n] for kind in "123" for n in range(3)}
    names = json.dumps({"1": "rose", "2": "lily", "3": "orchid"}).encode()
    src = write_files(tmp_path / "src", files | {"cat_to_name.json": names})
    done = run_packer("pack", src, tmp_path / "dst")
    assert done.returncode == 0, done.stderr
    assert "cat_to_name.json is not read" in done.stderr + done.stdout
    assert "rose for 1" in done.stderr + done.stdout


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


def test_files_of_the_images_stems_are_one_folder_to_ignore(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    src = laid_out(tmp_path, jpegs, of_each("[]", "ann/a_{}_b.json"), "images/")
    with pytest.raises(UnusableInput, match=r"ann/a_img_0000_b\.json and 5 files beside") as caught:
        scan(src, options=SourceOptions(kind="flat"))
    assert "--ignore 'ann/**'" in str(caught.value)


def test_a_list_beside_the_folder_of_a_template_is_refused(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    src = laid_out(tmp_path, jpegs, {"lists/all.lst": lines("{0}|{1}")}, "images/")
    with pytest.raises(UnusableInput, match=r"lists/all\.lst names 6 of the 6 images"):
        scan(src, options=SourceOptions(images=("images/{key}",)))


def test_a_list_of_pairs_of_one_name_is_refused(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    files: dict[str, Any] = {f"b/{name}": jpegs[0] for name in FILES}
    for form, is_refused in (("a/{0} b/{0}", True), ("a/{0}\nb/{0}", False)):
        listed = {"pairs.lst": lines(form)}
        src = laid_out(tmp_path / str(is_refused), jpegs, {**files, **listed}, "a/")
        if is_refused:
            with pytest.raises(UnusableInput, match=r"pairs\.lst names 12 of the 12 images"):
                scan(src, options=SourceOptions(kind="folder"))
        else:
            assert len(scan(src, options=SourceOptions(kind="folder")).samples) == 12


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


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.json", "a.jsonl"])
def test_an_empty_table_is_an_error(
    name: str, tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    with pytest.raises(UnusableInput, match=r"(?s)a\.(csv|tsv|jsonl?)(: it has no rows| is empty)"):
        scan(laid_out(tmp_path, jpegs, {name: "\n"}))


def test_a_column_that_comes_twice_is_an_error(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    table = "file,label,label\n" + lines("{0},{1},{1}")
    with pytest.raises(UnusableInput, match="twice"):
        scan(laid_out(tmp_path, jpegs, {"labels.csv": table}))


def test_names_with_blanks_and_commas_are_found(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    names = ["a cat, (1).jpg", "a dog, (2).jpg", "27,aa12.jpg"]
    files = {name: jpegs[n] for n, name in enumerate(names)}
    for form in ("{0}\t{1}\n", '{{"f": "{0}", "l": "{1}"}}\n', "{0} {1}\n"):
        text = "".join(form.format(name, "cat") for name in names)
        src = laid_out(tmp_path / str(len(form)), jpegs, {**files, "labels.txt": text})
        with pytest.raises(UnusableInput, match=r"labels\.txt names [2-4] of the 9 images"):
            scan(src)


def test_a_list_of_what_a_split_already_is_says_nothing(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    src = tmp_path / "src"
    for n, split in enumerate(["train", "train", "val"]):
        (path := src / split / f"photo{n}.jpg").parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpegs[n])
    (src / "train.txt").write_text("train/photo0.jpg\ntrain/photo1.jpg\n")
    assert len(scan(src).samples) == 3
    (src / "train.txt").write_text("train/photo0.jpg\nval/photo2.jpg\n")
    with pytest.raises(UnusableInput, match=r"train\.txt names 2 of the 3 images"):
        scan(src)


def test_a_list_that_repeats_the_classes_says_nothing(
    tmp_path: Path, jpegs: list[bytes], scan: Callable[..., Any]
) -> None:
    names = [f"{split}/{kind}/{n}.jpg" for split in ("train", "val") for kind in "ab" for n in "12"]
    numbers = {name: " 0" if "/a/" in name else " 1" for name in names}
    for split in ("train", "val"):
        text = "".join(f"{n}{numbers[n]}\n" for n in names if n.startswith(split))
        src = laid_out(tmp_path, jpegs, {f"{split}.txt": text} | dict.fromkeys(names, "x"))
    for name in FILES:
        (src / name).unlink()
    assert len(scan(src).samples) == len(names)
    (src / "val.txt").write_text((src / "val.txt").read_text().replace("b/2.jpg 1", "b/2.jpg 0"))
    with pytest.raises(UnusableInput, match=r"val\.txt names 4 of the 8 images"):
        scan(src)


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
