import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_images import make_image
from packing import pack

import packer
import reader
from packer.errors import BadImage, UnusableInput
from packer.options.declared import PackOptions

Opened = Callable[..., Any]
Scanned = Callable[..., Any]

CSV = "path,label,split,caption\n0.jpg,dog,train,A dog\n1.jpg,cat,val,A cat\n2.jpg,dog,train,\n"


@pytest.fixture
def write(images: Path) -> Callable[[str, str | bytes], Path]:
    """`write("list.csv", text)`: a manifest beside the images."""

    def to_file(name: str, content: str | bytes) -> Path:
        path = images / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def test_a_list_whose_images_lie_elsewhere_is_told_by_examples_and_a_hint(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    names = "".join(f"gone/x{number}.jpg\n" for number in range(24))
    path = write("list.csv", f"path\n{names}")
    with pytest.raises(UnusableInput) as error:
        pack(path, tmp_path / "dst", PackOptions(), 1)
    lines = str(error.value).splitlines()
    assert len(lines) == 2 + 10 + 1
    assert "None of the 24 images that it names was found in " in lines[0]
    assert lines[0].endswith(f"{path.parent}. Check --root, the folder of the images.")
    assert lines[1] == "  24 files: ...: it cannot be read: No such file or directory"
    assert lines[-1] == "    and 14 more"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.csv", CSV),
        ("list.csv", "\ufeff" + CSV.replace("\n", "\r\n")),
        ("list.tsv", CSV.replace(",", "\t")),
        ("list.csv", CSV.replace(",", ";")),
        ("list.csv", CSV.replace(",", "\t")),
        (
            "list.jsonl",
            '{"path": "0.jpg", "label": "dog", "split": "train", "caption": "A dog"}\n\n'
            '{"path": "1.jpg", "label": "cat", "split": "val", "caption": "A cat"}\n'
            '{"path": "2.jpg", "label": "dog", "split": "train", "caption": ""}',
        ),
    ],
)
def test_a_manifest_gives_paths_labels_splits_and_json(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    jpegs: list[bytes],
    name: str,
    content: str,
) -> None:
    source = opened(write(name, content))
    samples, skipped = scanned(source)
    assert not skipped
    assert source.classes == ("cat", "dog")
    assert [(s.name, s.key, s.label, s.split) for s in samples.values()] == [
        ("0.jpg", "0", 1, "train"),
        ("1.jpg", "1", 0, "val"),
        ("2.jpg", "2", 1, "train"),
    ]
    assert [source.files.read(sample).image for sample in samples.values()] == jpegs[:3]
    assert [json_of(source, sample) for sample in samples.values()] == [
        {"caption": "A dog"},
        {"caption": "A cat"},
        {"caption": ""},
    ]


def test_a_quoted_field_may_hold_lines_and_commas(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write("l.csv", 'path,text\n0.jpg,"one,\n""two""\n\nthree"\n1.jpg,x\n'))
    samples, skipped = scanned(source)
    assert not skipped
    assert json_of(source, samples["0.jpg"]) == {"text": 'one,\n"two"\n\nthree'}
    assert json_of(source, samples["1.jpg"]) == {"text": "x"}


def test_without_further_columns_there_is_no_json(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    samples, _ = scanned(opened(write("l.csv", "path\n0.jpg\n")))
    assert samples["0.jpg"].members == ()
    assert samples["0.jpg"].label == -1


def test_columns_and_root_can_be_named(
    tmp_path: Path, images: Path, opened: Opened, scanned: Scanned
) -> None:
    manifest = tmp_path / "l.csv"
    manifest.write_text("path,thumbnail,kind,fold\nhttp://x,0.jpg,a,k0\n")
    source = opened(
        manifest,
        root="images",
        image_column="thumbnail",
        label_column="kind",
        split_column="fold",
    )
    samples, _ = scanned(source)
    assert source.classes == ("a",)
    assert samples["0.jpg"].split == "k0"


def test_a_column_that_is_not_there_is_refused_by_name(
    write: Callable[..., Path], opened: Opened
) -> None:
    with pytest.raises(UnusableInput, match="no column for the images: it has 'a', 'b'"):
        opened(write("l.csv", "a,b\nx,1\n"))
    with pytest.raises(UnusableInput, match=r"no column 'c'.*--label-column"):
        opened(write("l.csv", "path,b\n0.jpg,1\n"), label_column="c")
    with pytest.raises(UnusableInput, match="two columns have the name"):
        opened(write("l.csv", "path,b,b\n0.jpg,1,2\n"))


@pytest.mark.parametrize("column", ["labels", "fine_label", "cls", "Class_Label", "label_name"])
def test_labels_are_found_under_the_usual_names(
    write: Callable[..., Path], opened: Opened, column: str
) -> None:
    assert opened(write("l.csv", f"path,{column}\n0.jpg,dog\n")).classes == ("dog",)
    line = json.dumps({"path": "0.jpg", column: "dog"})
    assert opened(write("l.jsonl", line)).classes == ("dog",)


def test_of_several_columns_that_could_be_the_label_one_has_to_be_chosen(
    write: Callable[..., Path], opened: Opened
) -> None:
    path = write("l.csv", "path,class_id,class_name\n0.jpg,0,dog\n")
    with pytest.raises(UnusableInput, match=r"'class_id', 'class_name'.*--label-column"):
        opened(path)
    assert opened(path, label_column="class_name").classes == ("dog",)
    assert opened(write("l.csv", "path,category,label\n0.jpg,0,dog\n")).classes == ("dog",)


@pytest.mark.parametrize("label", ["", "label"])
def test_an_unnamed_column_is_neither_split_nor_label_and_named(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    label: str,
) -> None:
    source = opened(write("l.csv", f",path,{label or 'x'},\n0,0.jpg,dog,7\n1,1.jpg,cat,8\n"))
    samples, skipped = scanned(source)
    assert source.classes == (("cat", "dog") if label else ())
    assert [(item.split, item.label) for item in samples.values()] == (
        [("", 1), ("", 0)] if label else [("", -1), ("", -1)]
    )
    assert json_of(source, samples["0.jpg"]) == (None if label else {"x": "dog"})
    assert skipped == {"l.csv: column 1": "it has no name", "l.csv: column 4": "it has no name"}


def test_lists_of_labels_stay_in_the_json(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write("l.jsonl", '{"path": "0.jpg", "labels": [1, 2]}\n{"path": "1.jpg"}'))
    samples, skipped = scanned(source)
    assert not skipped
    assert json_of(source, samples["0.jpg"]) == {"labels": [1, 2]}


def test_whole_floats_of_text_are_numbers_as_those_of_parquet_are(
    write: Callable[[str, str], Path], opened: Callable[..., Any], scanned: Scanned
) -> None:
    """pandas writes a column of integers so in which one is missing."""
    path = write("l.csv", "path,label\n0.jpg,10.0\n1.jpg,2.0\n2.jpg,\n3.jpg,-1.0\n4.jpg,2\n")
    source = opened(path)
    assert source.classes == ()
    assert [sample.label for sample in scanned(source)[0].values()] == [10, 2, -1, -1, 2]
    assert opened(path, classes=["10.0", "2.0", "-1.0", "2"]).classes[0] == "10.0"
    with pytest.raises(UnusableInput, match="the label 10, and there are at most 3 classes"):
        opened(path, classes=["a", "b", "c"])
    some = write("l.csv", "path,label\n0.jpg,1.5\n1.jpg,1.0\n")
    assert opened(some, classes=["1.0", "1.5"]).classes == ("1.0", "1.5")
    with pytest.raises(UnusableInput, match=r"fractions are not classes\. .* --label-column none"):
        opened(some)


def test_whole_numbers_are_the_labels(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    source = opened(write("l.csv", "path,label\n0.jpg,10\n1.jpg,2\n2.jpg,-1\n3.jpg,\n"))
    samples, _ = scanned(source)
    assert [sample.label for sample in samples.values()] == [10, 2, -1, -1]
    assert source.classes == ()


def test_numbers_with_leading_zeros_are_names(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    source = opened(write("l.csv", "path,label\n0.jpg,010\n1.jpg,2\n"))
    assert source.classes == ("010", "2")


def test_columns_of_0_and_1_that_stand_beside_a_number_in_another_table_are_no_labels(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Callable[..., Path], scan: Any
) -> None:
    src = write_files(tmp_path, make_jpegs("train/0.jpg", "train/1.jpg", "test/2.jpg"))
    (src / "train.csv").write_text("Id,Eyes,Near,Score\n0,1,0,43\n1,1,1,57\n")
    (src / "test.csv").write_text("Id,Eyes,Near\n2,1,0\n")
    found = scan(src)
    assert found.source.classes == ()
    assert [sample.members for sample in found.samples] == [("json",)] * 3


def test_a_table_that_contradicts_class_folders_is_refused_whatever_its_images_are_called(
    tmp_path: Path, make_jpegs: Callable[..., Any], write_files: Callable[..., Path], scan: Any
) -> None:
    names = [f"{kind}/{kind}_{n}.jpg" for kind in ("bird", "cat") for n in range(3)]
    src = write_files(tmp_path, make_jpegs(*names))
    (src / "labels.csv").write_text("file,label\n" + "".join(f"{name},cat\n" for name in names))
    said = "of 3 images of 6: labels.csv:2: bird/bird_0.jpg has the label 'cat', and is in the "
    with pytest.raises(UnusableInput, match=re.escape(said)):
        scan(src)


def test_classes_fix_the_order_and_unknown_ones_are_refused(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    samples, _ = scanned(opened(write("l.csv", CSV), classes=["dog", "fox", "cat"]))
    assert [sample.label for sample in samples.values()] == [0, 2, 0]
    with pytest.raises(UnusableInput, match="not in the list of classes: dog"):
        opened(write("l.csv", CSV), classes=["cat"])


def test_a_number_that_is_no_class_is_refused(write: Callable[..., Path], opened: Opened) -> None:
    for number in ("8812736", "9" * 5000):
        with pytest.raises(UnusableInput, match=r"--classes"):
            opened(write("l.csv", f"path,label\n0.jpg,{number}\n"))
    with pytest.raises(UnusableInput, match="there are at most 2 classes"):
        opened(write("l.csv", "path,label\n0.jpg,2\n"), classes=["a", "b"])


def test_images_that_differ_in_their_extension_alone_keep_it_in_their_keys(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    (images / "0.jpeg").write_bytes(b"x")
    samples, skipped = scanned(opened(write("l.csv", "path\n0.jpg\n1.jpg\n0.jpeg\n")))
    assert {s.name: s.key for s in samples.values()} == {
        "0.jpg": "0%2Ejpg",
        "1.jpg": "1",
        "0.jpeg": "0%2Ejpeg",
    }
    assert not skipped


BAD_CSV = {
    "missing.jpg,cat": "cannot be read: No such file",
    "../secret.jpg,cat": "leads out of",
    "a/../../secret.jpg,cat": "leads out of",
    "/etc/passwd,cat": "leads out of",
    "1.jpg,cat": "an earlier record also names it",
    "./1.jpg,cat": "an earlier record also names it",
    ",cat": "names no image",
    "empty.jpg,cat": "is empty",
    "a,b,c": "it has 3 fields",
    "2\0.jpg,cat": "NUL",
    '"2.jpg"x,cat': "malformed",
    "x" * 17_000_000: "more than",
}


def test_a_bad_line_is_named_and_no_other_is_lost(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    (images / "empty.jpg").touch()
    bad = BAD_CSV
    lines = ["path,label", "1.jpg,cat", *bad, "0.jpg,dog", "\udcff.jpg,cat", "3.jpg,dog", '"4,dog']
    content = "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n5.jpg,dog\n"
    samples, skipped = scanned(opened(write("l.csv", content)))
    assert list(samples) == ["1.jpg", "0.jpg", "3.jpg", "5.jpg"]
    expected = [*bad.values(), "not UTF-8", "malformed"]
    assert len(skipped) == len(expected)
    for (where, reason), part in zip(skipped.items(), expected, strict=True):
        assert part in reason, where
    assert list(skipped) == [f"l.csv:{number + 3}" for number in range(len(bad))] + [
        f"l.csv:{len(bad) + 4}",
        f"l.csv:{len(bad) + 6}",
    ]


def test_a_split_whose_name_no_folder_can_have_is_named(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    rows = [f"{number}.jpg,{'a' * length}" for number, length in enumerate((255, 256))]
    samples, skipped = scanned(opened(write("l.csv", "\n".join(["path,split", *rows]))))
    assert [sample.split for sample in samples.values()] == ["a" * 255]
    assert "of 255 characters at most" in skipped["l.csv:3"]


def test_bad_json_lines_are_named_and_no_other_is_lost(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    bad = {
        '{"path": "0.jpg"': "not JSON",
        "[1]": "not a JSON object",
        '{"path": "0.jpg", "x": ' + "[" * 100_000 + "]" * 100_000 + "}": "nested too deeply",
        '{"path": "\\u0000.jpg"}': "NUL",
        '{"path": "\\ud800.jpg"}': "not text",
        '{"path": 7}': "names no image",
        '{"label": "a"}': "names no image",
        '{"path": "0.jpg", "label": ["a"]}': "neither a name nor a whole number",
        '{"path": "0.jpg", "split": "../.."}': "not a plain name",
        '{"path": "0.jpg", "x": ' + "9" * 5000 + "}": "not JSON",
    }
    good = '{"path": "0.jpg", "label": "a", "x": [NaN, 1e999], "y": "\\ud800"}'
    samples, skipped = scanned(opened(write("l.jsonl", "\n".join([*bad, good]))))
    assert list(samples) == ["0.jpg"]
    assert list(skipped) == [f"l.jsonl:{number + 1}" for number in range(len(bad))]
    for reason, part in zip(skipped.values(), bad.values(), strict=True):
        assert part in reason


def test_what_json_lacks_becomes_null(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write("l.jsonl", '{"path": "1.jpg", "x": [NaN, 1e999, 1.5], "y": {"é": 1}}'))
    samples, _ = scanned(source)
    assert json_of(source, samples["1.jpg"]) == {"x": [None, None, 1.5], "y": {"é": 1}}


def test_absolute_paths_below_the_root_are_taken(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    (images.parent / "linked").symlink_to(images)
    text = f"path\n{images / '0.jpg'}\n{images.parent / 'linked' / '1.jpg'}\n../images/2.jpg\n"
    samples, skipped = scanned(opened(write("l.csv", text)))
    assert list(samples) == ["0.jpg", "1.jpg"]
    assert "leads out" in skipped["l.csv:4"]


def test_a_labelled_table_none_of_whose_images_may_be_read_names_each(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    _, skipped = scanned(opened(write("l.csv", "path,label\n../a.jpg,cat\n../b.jpg,dog\n")))
    assert len([reason for reason in skipped.values() if "leads out" in reason]) == 2


def test_a_changed_image_is_noticed(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    source = opened(write("l.csv", CSV))
    samples, _ = scanned(source)
    later = samples["0.jpg"].mtime_ns + 10**9
    os.utime(images / "0.jpg", ns=(later, later))
    with pytest.raises(BadImage, match="changed"):
        source.files.read(samples["0.jpg"])


def test_what_rows_said_when_they_were_scanned_is_packed(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    path = write("l.csv", CSV)
    source = opened(path)
    samples, _ = scanned(source)
    before = source.files.read(samples["0.jpg"])
    assert before.members
    path.unlink()
    assert source.files.read(samples["0.jpg"]) == before


def test_labels_of_json_are_names_also_if_some_look_like_numbers(
    write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    lines = [{"path": "0.jpg", "label": 3}, {"path": "1.jpg", "label": "x"}, {"path": "2.jpg"}]
    source = opened(write("l.jsonl", "\n".join(map(json.dumps, lines))))
    samples, _ = scanned(source)
    assert source.classes == ("3", "x")
    assert [sample.label for sample in samples.values()] == [0, 1, -1]


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfep\0a\0t\0h\0\n", b'"path'])
def test_a_manifest_without_a_header_is_refused(
    write: Callable[..., Path], opened: Opened, content: bytes
) -> None:
    with pytest.raises(UnusableInput, match=r"l\.csv"):
        opened(write("l.csv", content))


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        ("xmin,ymin,xmax,ymax", "2,4,6,12"),
        ("x,y,width,height", "2,4,4,8"),
        ("x_center,y_center,w,h", "4,8,4,8"),
        ("bbox", '"[2.0, 4.0, 4.0, 8.0]"'),
    ],
)
def test_rows_of_boxes_arrive_in_a_batch_as_those_of_coco_do(
    write: Callable[..., Path], tmp_path: Path, columns: str, row: str
) -> None:
    """The third box tells that a text of four numbers is no two corners."""
    one_text = '"[9, 9, 3, 3]"' if columns == "bbox" else row
    rows = [f"0.jpg,dog,{row}", f"1.jpg,cat,{row}", f"0.jpg,cat,{one_text}"]
    table = write("l.csv", "\n".join([f"path,class,{columns}", *rows]))
    pack(table, tmp_path / "dst", PackOptions(seed=None), 1)
    boxes = reader.Boxes("json", format="xywh", labels="categories")
    with reader.Loader(
        tmp_path / "dst", batch_size=2, shuffle=False, workers=0, fields=(boxes, "key", "label")
    ) as loader:
        ((found, keys, labels),) = list(loader)
        assert loader.dataset.classes == ["cat", "dog"]
    assert sorted(keys) == ["0", "1"]
    assert labels.tolist() == [-1, -1]
    of_0, of_1 = (found[keys.index(key)] for key in ("0", "1"))
    assert of_0["labels"].tolist() == [1, 0]
    assert of_0["boxes"][0].tolist() == of_1["boxes"][0].tolist() == [2, 4, 4, 8]


def test_rows_of_an_image_that_lie_apart_are_found_together(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    rows = [f"{number % 3}.jpg,{number}" for number in range(9)]
    source = opened(write("l.csv", "\n".join(["path,caption", *rows])))
    samples, skipped = scanned(source)
    assert not skipped
    assert {name: json_of(source, sample)["caption"] for name, sample in samples.items()} == {
        f"{number}.jpg": [str(number), str(number + 3), str(number + 6)] for number in range(3)
    }


@pytest.mark.parametrize("column", ["caption", "text", "mask_path", "caption_file", "depth"])
def test_a_cell_may_be_longer_than_any_file_name(column: str, tmp_path: Path) -> None:
    text = "a long text / with, a slash. " * 200
    rows = [f"image,{column},label"]
    for number in range(3):
        make_image(number).save(tmp_path / f"{number}.jpg")
        rows.append(f'{number}.jpg,"{text}",{number}')
    (tmp_path / "list.csv").write_text("\n".join(rows))
    packer.pack(tmp_path / "list.csv", tmp_path / "shards", jobs=1)
    dataset = reader.Dataset(tmp_path / "shards")
    assert json.loads(dataset.read(0, "json"))[column] == text


def test_an_image_whose_path_is_longer_than_any_is_rejected_by_its_row(tmp_path: Path) -> None:
    make_image(0).save(tmp_path / "0.jpg")
    (tmp_path / "list.csv").write_text(f"image,label\n0.jpg,a\n{'x' * 300},b\n")
    with pytest.raises(packer.Rejected, match=r"list.csv:3: .*File name too long"):
        packer.pack(tmp_path / "list.csv", tmp_path / "shards", jobs=1)


@pytest.mark.parametrize(("scale", "normalized"), [(1, True), (16, False)])
def test_boxes_of_fractions_are_recorded_as_normalized(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    scale: int,
    normalized: bool,
) -> None:
    """Open Images has fractions of the image in columns that others fill with pixels."""
    box = [str(number * scale) for number in (0.25, 0.75, 0.5, 1)]
    head = "ImageID,LabelName,XMin,XMax,YMin,YMax"
    source = opened(write("l.csv", f"{head}\n0.jpg,car,{','.join(box)}\n"))
    (encoding,) = source.facts.boxes.values()
    assert encoding.normalized is normalized
    sample = scanned(source)[0]["0.jpg"]
    assert json_of(source, sample)["boxes"] == [[n * scale for n in (0.25, 0.5, 0.5, 0.5)]]


def test_labels_that_were_not_accepted_are_in_the_json_alone(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    rows = [
        {"image": f"{number}.jpg", "label": "CAT", "answer": answer}
        for number, answer in enumerate(("accept", "reject", "ignore"))
    ]
    source = opened(write("l.jsonl", "\n".join(map(json.dumps, rows))))
    samples, _ = scanned(source)
    assert [sample.label for sample in samples.values()] == [0, -1, -1]
    assert json_of(source, samples["1.jpg"]) == {"label": "CAT", "answer": "reject"}
    assert "were not accepted" in source.facts.remarks[0]


def test_beside_a_label_tags_are_remarks(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write("l.csv", 'filepath,tags,weather.label\n0.jpg,"day,wet",cat\n'))
    assert source.classes == ("cat",)
    assert json_of(source, scanned(source)[0]["0.jpg"]) == {"tags": "day,wet"}
