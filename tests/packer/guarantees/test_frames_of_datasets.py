"""What a dataset knows of the pictures that its annotations are of, whatever is done with it."""

import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from called_packer import call_packer
from drawn_objects import assert_near, delivered, drawn, png, seen, shape, write_coco

import packer
import reader
from reader.format import Index

FIELD = reader.Boxes("json", out="xyxy")
NAMES = {f"{n}.png": drawn(n, is_upright=n >= 5) for n in (1, 2, 6, 8)}
SMALL = ("--max-side", 48, "--jpeg", "verbatim", "--jobs", 1)
FITTED = ("--raw", "40x60", "--jobs", 1)


def run(*arguments: object) -> Any:
    done = call_packer(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_right(dataset: Any, field: Any = FIELD) -> None:
    found = delivered(dataset, field)
    assert len(found) == len(NAMES)
    for key, (image, boxes) in found.items():
        assert_near(boxes["boxes"], seen(image), key)


def files_of(dataset: Path) -> dict[str, bytes]:
    return {str(p.relative_to(dataset)): p.read_bytes() for p in dataset.rglob("*") if p.is_file()}


@pytest.mark.parametrize("options", [SMALL, FITTED], ids=["smaller", "fitted"])
def test_appended_repaired_and_joined_samples_are_right(
    options: tuple[object, ...], tmp_path: Path
) -> None:
    few = dict(list(NAMES.items())[:2])
    src, dst = write_coco(tmp_path / "src", few), tmp_path / "shards"
    run("pack", src, dst, *options)
    shutil.rmtree(src)
    write_coco(src, NAMES)
    run("pack", src, dst, *options, "--append")
    assert_right(dst)
    before = files_of(dst)
    for path in dst.glob("shard-*.tar"):
        path.unlink()
    run("repair", dst, "--from", src, "--jobs", 1)
    assert files_of(dst) == before
    members = tmp_path / "members"
    members.mkdir()
    for name, one in NAMES.items():
        width, height = one.size
        given = {"boxes": [list(one.box)], "width": width, "height": height}
        (members / name.replace(".png", ".more.json")).write_text(json.dumps(given))
        (members / name.replace(".png", ".mask.png")).write_bytes(one.mask)
    run("pack", members, tmp_path / "extra", "--keys-of", dst, "--jobs", 1)
    joined = reader.Dataset(dst, join=tmp_path / "extra")
    assert_right(joined, reader.Boxes("more.json"))
    for key, (image, mask) in delivered(joined, reader.Mask("mask.png")).items():
        assert_near(seen(np.asarray(mask).squeeze()), seen(image), key)


def test_the_same_bytes_come_of_parts_and_of_many_jobs(tmp_path: Path) -> None:
    src = write_coco(tmp_path / "src", NAMES)
    how = (*SMALL, "--shard-samples", 2)
    run("pack", src, tmp_path / "one", *how)
    for part in ("2/2", "1/2"):
        run("pack", src, tmp_path / "parts", *how, "--part", part)
    run("pack", src, tmp_path / "parts", *how)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "parts")
    assert_right(tmp_path / "parts")


def test_frames_that_are_doubtful_are_told_by_all_commands(tmp_path: Path) -> None:
    square = drawn(3, is_upright=False)
    other = drawn(1, is_upright=False)._replace(size=(960, 720))
    src = write_coco(tmp_path / "src", {**NAMES, "x.png": square, "y.png": other})
    dst = tmp_path / "shards"
    told = run("pack", src, dst, "--jobs", 1, "--png", "verbatim")["remarks"][-2:]
    assert "of 2 samples ('2.png' and others) fit an image that EXIF turns both" in told[0]
    assert "of 1 sample ('y.png') gives another width and height" in told[1]
    assert run("verify", dst, "--jobs", 1)["frames"] == told
    assert run("pack", src, dst, "--jobs", 1, "--png", "verbatim")["remarks"][-2:] == told
    page = tmp_path / "page.html"
    findings = run("report", dst, "-o", page, "--jobs", 1)["findings"]
    [found] = [one for one in findings if one["kind"] == "frames"]
    assert (found["count"], found["sentence"]) == (3, " ".join(told))


def test_a_sound_dataset_has_no_column_more(tmp_path: Path) -> None:
    dst = tmp_path / "shards"
    run("pack", write_coco(tmp_path / "src", {"1.png": NAMES["1.png"]}), dst, "--jobs", 1)
    columns = Index(dst / "shard-000000.safetensors", mapped=False).columns
    assert not [name for name in columns if name.startswith("source_") or name.endswith(".frame")]


def test_an_index_of_tars_tells_whose_pixels_their_numbers_are(tmp_path: Path) -> None:
    tars = tmp_path / "tars"
    tars.mkdir()
    with tarfile.open(tars / "000.tar", "w") as tar:
        for name, one in NAMES.items():
            width, height = one.size
            content = {"boxes": [list(one.box)], "image": {"width": width, "height": height}}
            members = {name: one.image, name.replace("png", "json"): json.dumps(content).encode()}
            for member, data in members.items():
                info = tarfile.TarInfo(member)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    run("index", tars)
    assert_right(tars)


@pytest.mark.parametrize("ext", ["csv", "json"])
def test_a_dataset_of_smaller_images_is_not_packed_again(ext: str, tmp_path: Path) -> None:
    src, dst = write_coco(tmp_path / "src", NAMES), tmp_path / "shards"
    if ext == "csv":  # without a size
        (src / "_annotations.coco.json").unlink()
        rows = "".join(f"{name},{','.join(map(str, one.box))}\n" for name, one in NAMES.items())
        (src / "boxes.csv").write_text(f"file,xmin,ymin,xmax,ymax\n{rows}")
    run("pack", src, dst, *SMALL)
    done = call_packer("pack", dst, tmp_path / "again", "--jobs", 1)
    assert done.returncode == 2
    assert "Pack its source instead" in done.stderr
    run("pack", src, tmp_path / "whole", "--jobs", 1)
    run("pack", tmp_path / "whole", tmp_path / "again", *SMALL)


def test_smaller_images_without_boxes_are_packed_again(tmp_path: Path) -> None:
    src, dst = write_coco(tmp_path / "src", NAMES), tmp_path / "shards"
    (src / "_annotations.coco.json").unlink()
    run("pack", src, dst, *SMALL)
    run("pack", dst, tmp_path / "again", "--jobs", 1)


def test_a_crop_of_packing_drops_boxes_without_a_warning(tmp_path: Path) -> None:
    src, dst = write_coco(tmp_path / "src", {"1.png": NAMES["1.png"]}), tmp_path / "shards"
    run("pack", src, dst, "--raw", "60x8", "--jobs", 1)
    with reader.Loader(dst, batch_size=1, workers=0, fields=("image", FIELD)) as loader:
        [(_, [boxes])] = list(loader)
        assert (len(boxes["boxes"]), loader.statistics().dropped_boxes) == (1, 0)
    sparse = reader.Boxes("json", min_visible=0.5)
    [(_, boxes)] = delivered(dst, sparse).values()
    assert len(boxes["boxes"]) == 0
    findings = run("report", dst, "-o", tmp_path / "page.html", "--jobs", 1)["findings"]
    assert not {"boxes_outside", "boxes_in_corner"} & {one["kind"] for one in findings}


def test_extract_and_export_tell_whose_pixels_the_numbers_count(tmp_path: Path) -> None:
    src, dst = write_coco(tmp_path / "src", NAMES), tmp_path / "shards"
    run("pack", src, dst, *SMALL)
    done = call_packer("extract", dst, tmp_path / "out", "--jobs", 1)
    assert "4 images of another size than in the source" in done.stdout
    remarks = run("export", dst, "--to", "wids")["remarks"]
    assert any(one.startswith("4 images of another size than in the source") for one in remarks)


@pytest.mark.parametrize("options", [{}, {"max_side": 48}, {"raw": (40, 60)}], ids=str)
def test_the_target_of_coco_is_of_the_picture_as_it_is_delivered(
    options: dict[str, Any], tmp_path: Path
) -> None:
    src, dst = write_coco(tmp_path / "src", NAMES), tmp_path / "shards"
    packer.pack(src, dst, jobs=1, progress=False, **options)
    for is_upright in (True, False):
        dataset = reader.Dataset(dst, target="coco", upright=is_upright)
        for number in range(len(dataset)):
            image, [target] = dataset[number]
            wanted, name = seen(image), dataset.names[number]
            x, y, width, height = target["bbox"]
            assert_near([x, y, x + width, y + height], wanted, name)
            outline = np.reshape(target["segmentation"][0], (-1, 2))
            assert_near([*outline.min(axis=0), *outline.max(axis=0)], wanted, name)


@pytest.mark.parametrize(
    ("counts", "turned"),
    [
        ([6, 1, 40, 4, 5, 4, 5, 4, 21], [21, 4, 5, 4, 5, 4, 40, 1, 6]),
        ("61X13mN000`0", "e045000S1MnN"),
    ],
    ids=["numbers", "compressed"],
)
def test_run_lengths_of_cocos_target_are_turned(counts: Any, turned: Any, tmp_path: Path) -> None:
    image = png(np.zeros((9, 10, 3), np.uint8), 3)
    one = drawn(3, is_upright=False)._replace(image=image, size=(10, 9), box=(0, 0, 10, 9))
    more = {"segmentation": {"size": [9, 10], "counts": counts}, "iscrowd": 1}
    src = write_coco(tmp_path / "src", {"a.png": one}, **more)
    packer.pack(src, tmp_path / "shards", jobs=1, progress=False)
    _, [target] = reader.Dataset(tmp_path / "shards", target="coco")[0]
    assert target["segmentation"] == {"size": [9, 10], "counts": turned}


def test_objects_without_a_field_have_none(tmp_path: Path) -> None:
    src = write_coco(tmp_path / "src", NAMES)
    content = json.loads((src / "_annotations.coco.json").read_text())
    things = content["annotations"]
    del things[1]["segmentation"], things[1]["keypoints"], things[2]
    things[2]["keypoints"] = []
    (src / "_annotations.coco.json").write_text(json.dumps(content))
    dst = tmp_path / "shards"
    packer.pack(src, dst, jobs=1, progress=False, shuffle=False)
    fields = (
        reader.Polygons("json", labels="category_id"),
        reader.Points("json", labels="categories"),
        reader.Boxes("json", labels="category_id"),
    )
    rows = list(delivered(dst, *fields).values())
    assert [len(polygons["kept"]) for _, polygons, _, _ in rows] == [1, 0, 0, 1]
    assert [points["keypoints"].shape for _, _, points, _ in rows] == [
        (1, 2, 3),
        *[(1, 2, 3), (0, 2, 3)],
        (1, 2, 3),
    ]
    assert [points["keypoints"].max() > 0 for _, _, points, _ in rows if len(points["labels"])] == [
        *[True, False],
        False,
    ]
    assert [boxes["labels"].tolist() for *_, boxes in rows] == [[1], [1], [], [1]]


@pytest.mark.parametrize("field", [reader.Polygons, reader.Points])
def test_a_path_that_no_sample_has_is_refused_at_the_start(field: Any, tmp_path: Path) -> None:
    dst = tmp_path / "shards"
    packer.pack(write_coco(tmp_path / "src", NAMES), dst, jobs=1, progress=False)
    with pytest.raises(reader.ArgumentError, match=r"'segmentaton' in its \.json, which has image"):
        delivered(dst, field("json", path="segmentaton"))


def test_what_is_recorded_of_a_picture_precedes_an_argument(tmp_path: Path) -> None:
    dst = tmp_path / "shards"
    both = {"6": drawn(6, is_upright=True), "7": drawn(7, is_upright=False)}
    src = write_coco(tmp_path / "src", {f"{name}.png": one for name, one in both.items()})
    packer.pack(src, dst, jobs=1, progress=False)
    for is_upright in (True, False):
        field = reader.Boxes("json", out="xyxy", upright=is_upright)
        for key, (image, boxes) in delivered(dst, field).items():
            assert_near(boxes["boxes"], seen(image), key)


def test_a_writers_samples_are_right(tmp_path: Path) -> None:
    with packer.Writer(tmp_path / "shards", max_side=48, progress=False) as writer:
        for name, one in NAMES.items():
            objects = {"bbox": [shape(one.box)["bbox"]], "category": [0]}
            size = dict(zip(("width", "height"), one.size, strict=True))
            writer.write({"key": name[:-4], "image": one.image, "objects": objects, **size})
    field = reader.Boxes("json", path="objects.bbox", format="xywh", out="xyxy")
    assert_right(tmp_path / "shards", field)


def test_the_matrix_of_the_geometry_begins_in_the_source(tmp_path: Path) -> None:
    src, dst = write_coco(tmp_path / "src", NAMES), tmp_path / "shards"
    packer.pack(src, dst, jobs=1, progress=False, max_side=48)
    for key, (image, given) in delivered(dst, "geometry").items():
        matrix = np.asarray(given)
        left, top, right, bottom = drawn(int(key), is_upright=True).box
        corners = np.array([(left, top), (right, bottom)]) @ matrix[:, :2].T + matrix[:, 2]
        assert_near(np.sort(corners, axis=0), seen(image), key)
