"""`packer report`: from a dataset to a page."""

import html
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from made_images import write_files
from packing import run_pack
from PIL import Image
from store_server import serving

import packer
from packer.errors import UnusableInput
from packer.inspect.report.findings import WEIGHTS, Finding
from packer.inspect.report.report import Reported, report

Reporting = Callable[..., tuple[Reported, str]]
Shown = tuple[Reported, str]


def the(made: Reported, kind: str) -> Finding:
    """The finding of a kind."""
    [finding] = [finding for finding in made.findings if finding.kind == kind]
    return finding


def names(made: Reported, page: str, kind: str) -> set[str]:
    """The images that a finding shows, by the beginning of their names."""
    number = [finding.kind for finding in made.findings].index(kind) + 1
    article = page.split(f'id="finding-{number}"')[1].split("</article>")[0]
    return set(re.findall(r'data-copy="\w+2017/([a-z]+)\d\.jpg"', article))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("tiny", "tiny"),
        ("huge", "huge"),
        ("extreme_ratio", "long"),
        ("uniform", "uniform"),
        ("grey", "grey"),
        ("duplicates", "copy"),
        ("leakage", "leak"),
        ("cut_off", "half"),
        ("without_boxes", "bare"),
        ("boxes_outside", "outside"),
    ],
)
def test_both_images_of_a_fault_are_shown(of_planted: Shown, kind: str, name: str) -> None:
    made, page = of_planted
    finding = the(made, kind)
    assert finding.count == (4 if kind in ("duplicates", "leakage") else 2)
    assert names(made, page, kind) == {name}


def test_near_copies_are_found_also_if_they_are_mirrored(of_planted: Shown) -> None:
    made, page = of_planted
    finding = the(made, "near_duplicates")
    assert finding.count == 8
    assert names(made, page, "near_duplicates") == {"near", "mirror"}


def test_of_copies_it_is_said_whether_their_boxes_agree(of_planted: Shown) -> None:
    by_kind = {finding.kind: finding for finding in of_planted[0].findings}
    assert "What differs: the classes of the boxes in 1 group." in by_kind["leakage"].sentence
    mirrored = by_kind["near_duplicates"]  # whose boxes lie where they lay before
    assert "What differs: the boxes in 2 groups" in mirrored.sentence
    assert mirrored.weight == "doubtful"


def test_within_a_weight_leakage_comes_first_and_then_what_concerns_most(of_planted: Shown) -> None:
    findings = of_planted[0].findings
    assert findings[0].kind == "leakage"
    weights = [finding.weight for finding in findings]
    assert weights == sorted(weights, key=WEIGHTS.index)
    for weight in WEIGHTS:
        counts = [each.count for each in findings[1:] if each.weight == weight]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.usefixtures("undrawn")
def test_options_are_named_as_on_a_command_line_if_somebody_chose_them(
    of_planted: Shown, source: Path, tmp_path: Path, reported: Reporting
) -> None:
    run_pack(source, tmp_path / "shards", shard_samples=7, split={"a": 0.5, "b": 0.5})
    about = html.unescape(reported(tmp_path / "shards")[1]).split('id="about"')[1]
    shown = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", about))
    assert shown["Order"] == "shuffled by the seed 0"
    assert shown["--shard-samples"] == "7"
    assert shown["--split"] == "a: 0.5, b: 0.5"
    usual = html.unescape(of_planted[1]).split('id="about"')[1]
    assert "<dt>--split" not in usual
    assert "<dt>--max-pixels" not in usual


def test_an_empty_class_and_rejected_files_are_named(of_planted: Shown) -> None:
    made, page = of_planted
    by_kind = {finding.kind: finding for finding in made.findings}
    assert by_kind["rejected"].sentence.startswith("2 files of the source are not in the dataset.")
    assert ": c." in by_kind["empty_classes"].sentence
    rejected = {name for name, _ in by_kind["rejected"].lines}
    assert rejected == {f"train2017/damaged{number}.jpg" for number in (0, 1)}
    assert "damaged0.jpg" in page


def test_a_class_that_is_rare_or_that_a_split_lacks_is_shown_by_a_sample(of_planted: Shown) -> None:
    made, page = of_planted
    by_kind = {finding.kind: finding for finding in made.findings}
    assert ": d (2)." in by_kind["rare_classes"].sentence
    assert ": d." in by_kind["class_missing_in_split"].sentence
    assert names(made, page, "rare_classes") == {"rare"}
    assert names(made, page, "class_missing_in_split") == {"rare"}


@pytest.mark.usefixtures("undrawn")
def test_of_many_samples_some_keys_are_listed_and_all_numbers_told(
    tmp_path: Path,
    photograph: Callable[..., Any],
    reported: Reporting,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("packer.inspect.report.report._KEYS", 30)
    write_files(tmp_path / "images", {f"{at:03d}.png": photograph(1, 60, 80) for at in range(40)})
    run_pack(tmp_path / "images", tmp_path / "shards", png="verbatim")
    made, page = reported(tmp_path / "shards")
    [finding] = made.findings
    assert asdict(made)["findings"][0]["groups"] == [sorted(finding.samples)]
    assert len(finding.samples) == 40
    assert "40 keys (4 as pictures)" in page
    assert len(page.split("<pre>")[1].split("</pre>")[0].split()) == 30
    assert "10 more: <code>packer report --json</code>" in page


def test_nothing_else_is_found(of_planted: Shown) -> None:
    kinds = sorted(finding.kind for finding in of_planted[0].findings)
    assert len(kinds) == len(set(kinds)) == 15


def test_the_page_is_one_file_that_names_no_other(of_planted: Shown) -> None:
    made, page = of_planted
    assert made.bytes < 10_000_000
    assert "default-src 'none'" in html.unescape(page)
    places = re.findall(r'(?:src|href|action)\s*=\s*"([^"]*)"', page)
    assert places
    assert all(place.startswith(("data:", "#")) for place in places)


def test_a_page_is_always_the_same(hostile: Path, of_hostile: Shown, reported: Reporting) -> None:
    made = re.compile(r"Made \d+-\d+-\d+ \d+:\d+")
    assert made.sub("", reported(hostile)[1]) == made.sub("", of_hostile[1])


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_some_samples_says_so(planted: Path, reported: Reporting) -> None:
    made, page = reported(planted, samples=30)
    assert made.looked == 30
    assert "the images of 30 samples of 88 by their checksums: all right" in page
    assert re.search(r"30 of 88 samples, chosen by the seed 0, were read", page)


@pytest.mark.usefixtures("undrawn")
def test_damaged_samples_are_named(tmp_path: Path, packed: Path, reported: Reporting) -> None:
    shutil.copytree(packed, tmp_path / "shards")
    tar = next((tmp_path / "shards").glob("*.tar"))
    content = bytearray(tar.read_bytes())
    content[700:720] = bytes(20)
    tar.write_bytes(content)
    made, page = reported(tmp_path / "shards")
    finding = the(made, "damaged")
    assert finding.count == 1
    assert "its bytes are not those that were packed" in page
    assert "by their checksums: 1 sample damaged" in page


@pytest.mark.usefixtures("extra")
def test_a_file_that_is_no_report_is_not_replaced(tmp_path: Path, planted: Path) -> None:
    out = tmp_path / "thesis.html"
    out.write_text("mine")
    with pytest.raises(UnusableInput, match="is not a report"):
        report(planted, out, 1)
    assert out.read_text() == "mine"


@pytest.mark.usefixtures("undrawn")
def test_a_dataset_in_a_store_is_shown_as_one_in_a_folder(
    planted: Path, reported: Reporting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore", reason="the extra `remote` is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    here, _ = reported(planted, samples=9)
    with serving(planted) as server:
        there, page = reported(server.url, samples=9)
        fetched = sum(stop - start for _, start, stop in server.tars)
    assert there.findings == here.findings
    assert (there.samples, there.looked) == (88, 9)
    assert fetched > 0
    assert server.url in page
    assert "<dt>opening</dt>" in page


@pytest.mark.usefixtures("extra", "undrawn")
def test_the_command_prints_what_it_found(planted: Path, tmp_path: Path) -> None:
    done = call_packer("report", planted, "-o", tmp_path / "a.html", "--jobs", 1, "--json", code=0)
    found = json.loads(done.stdout)
    assert {"kind", "weight", "sentence", "groups"} <= found["findings"][0].keys()


@pytest.mark.usefixtures("extra", "undrawn")
def test_packing_ends_with_a_report(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.html"
    done = call_packer("pack", source, tmp_path / "shards", "--report", out, "--jobs", 1, code=0)
    assert "39 samples, 39 looked at" in done.stdout
    assert "<h1>" in out.read_text("utf-8")


def test_a_page_says_what_reading_takes_as_plan_does(planted: Path, of_planted: Shown) -> None:
    page = html.unescape(of_planted[1]).split('id="costs"')[1].split("</section>")[0]
    shown = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    done = call_packer("plan", planted, "--split", "train")
    planned = dict(
        re.split(r"\s{2,}", line, maxsplit=1)
        for line in done.stdout.split("\n\n")[0].splitlines()
        if "  " in line
    )
    assert shown.pop("read") == "the split train"
    assert shown["read by"].endswith("batches of 256 images of 224 x 224 pixels")
    assert shown["an epoch"].endswith("; no padding")
    assert shown["time"] == "not estimated; pass --rate or --gpu-rate to packer plan"
    assert {"an epoch", "mixing", "a rank", "a GPU"} < shown.keys()
    assert "opening" not in shown  # it lies in a folder
    assert {about: planned[about] for about in shown if about in planned} == shown


@pytest.mark.usefixtures("undrawn")
def test_boxes_that_are_not_recorded_are_asked_for_and_read_as_is_said(
    tmp_path: Path, photograph: Callable[..., Any], reported: Reporting
) -> None:
    with packer.Writer(tmp_path / "shards", progress=False) as writer:
        for seed in range(3):
            boxes = {"boxes": [[0.1, 0.2, 0.5, 0.6]], "labels": [seed]}
            writer.write({"image": photograph(seed), "json": boxes})
    made, page = reported(tmp_path / "shards")
    (asked,) = [each for each in made.findings if each.kind == "unread_annotations"]
    assert asked.count == 3
    assert "pass --box-format" in asked.lines[0][1]
    assert "Boxes are those of" not in page
    made, page = reported(tmp_path / "shards", box_format="xyxy", normalized=True)
    assert not [each for each in made.findings if each.kind == "unread_annotations"]
    assert "Boxes are those of .json, read as xyxy in fractions, as passed on the command" in page


def test_boxes_are_read_as_dataset_json_records(of_planted: Shown) -> None:
    told = "Boxes are those of .json, read as xywh in pixels, as dataset.json records."
    assert told in of_planted[1]


@pytest.mark.usefixtures("undrawn")
def test_pictures_of_depths_and_of_colours_are_no_masks(
    tmp_path: Path, photograph: Callable[..., Any], reported: Reporting
) -> None:
    for stem in "abc":
        image = photograph(ord(stem), 60, 80)
        grey = dict.fromkeys(("mask.png", "depth.png", "trimap.png"), image.convert("L"))
        coloured = dict.fromkeys(("jpg", "segmentation.png", "normal.png"), image)
        files = {f"{stem}.{name}": picture for name, picture in (grey | coloured).items()}
        write_files(tmp_path / "images", files)
    run_pack(tmp_path / "images", tmp_path / "shards")
    _, page = reported(tmp_path / "shards")
    assert page.count('<img class="mask"') == 3 * 3  # mask, trimap, segmentation


@pytest.mark.usefixtures("undrawn")
def test_a_small_file_that_decodes_to_many_pixels_is_named(
    tmp_path: Path, photograph: Callable[..., Image.Image], reported: Reporting
) -> None:
    images = {f"{seed}.jpg": photograph(seed) for seed in range(3)}
    images["bomb.jpg"] = Image.new("RGB", (3000, 2000))
    run_pack(write_files(tmp_path / "src", images), tmp_path / "dst")
    made, page = reported(tmp_path / "dst")
    finding = the(made, "bomb")
    assert finding.count == 1
    assert "up to 18 MB of memory" in finding.sentence
    assert "bomb.jpg" in page
