"""`pack --append`: what is new goes into new shards."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_images import make_image, write_files
from packing import files_of, pack, samples_of

from packer.errors import UnusableInput
from packer.files.atomic import write_file
from packer.images import tiling
from packer.options.declared import PackOptions
from packer.run.report import PackReport
from reader.format import Manifest


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., PackReport]:
    """`run(src, append=True)`: pack into one destination, 10 samples a shard."""

    def to_dst(src: Path, **options: Any) -> PackReport:
        policy = {"shard_samples": 10, "jpeg": "verbatim"} | options.pop("policy", {})
        return pack(src, tmp_path / "dst", PackOptions(**policy), 1, **options)

    return to_dst


def add(source: Path, name: str, copy_of: str) -> None:
    (source / name).parent.mkdir(exist_ok=True)
    shutil.copy(source / copy_of, source / name)


def test_only_what_is_new_goes_into_new_shards(own_source: Path, dst: Path, run: Any) -> None:
    run(own_source)
    before = files_of(dst)
    add(own_source, "class1/new.jpg", "class1/image000.jpg")
    report = run(own_source, append=True)
    assert (report.samples, report.shards, report.shards_written) == (40, 5, 1)
    after = files_of(dst)
    assert set(after) - set(before) == {"shard-000004.tar", "shard-000004.safetensors"}
    assert all(after[name] == before[name] for name in before if name != "dataset.json")
    assert samples_of(dst)[-1].key == "class1/new"
    assert run(own_source, append=True).shards_written == 0
    assert run(own_source).shards_written == 0
    assert files_of(dst) == after


def test_what_packing_has_found_to_need_is_not_another_option(own_source: Path, run: Any) -> None:
    images = [str(path.relative_to(own_source)) for path in sorted(own_source.rglob("*.jpg"))]
    captions = {name: f"photograph {number}" for number, name in enumerate(images)}
    (own_source / "captions.json").write_text(json.dumps(captions))
    run(own_source)
    add(own_source, "class0/new.jpg", "class0/image000.jpg")
    captions["class0/new.jpg"] = "a new one"
    (own_source / "captions.json").write_text(json.dumps(captions))
    report = run(own_source, append=True)
    assert (report.samples, report.shards_written) == (40, 1)
    with pytest.raises(UnusableInput, match="packed with other options: seed"):
        run(own_source, append=True, policy={"seed": 3})


def test_a_crash_right_after_the_commit_leaves_nothing_behind_once_run_again(
    own_source: Path, dst: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_and_crash(path: Path, content: bytes) -> None:
        write_file(path, content)
        raise KeyboardInterrupt

    run(own_source)
    add(own_source, "class1/new.jpg", "class1/image000.jpg")
    with monkeypatch.context() as context:
        context.setattr("packer.shards.joined.write_file", write_and_crash)
        with pytest.raises(KeyboardInterrupt):
            run(own_source, append=True)
    left = files_of(dst)
    assert ".packing.json" in left
    assert run(own_source, append=True).shards_written == 0
    del left[".packing.json"]
    assert files_of(dst) == left


def test_finding_nothing_new_keeps_another_run(own_source: Path, dst: Path, run: Any) -> None:
    run(own_source)
    journal = dst / ".packing.json"
    journal.write_text('{"settings": {}, "source": "another"}')
    before = files_of(dst)
    run(own_source, append=True)
    run(own_source)
    assert files_of(dst) == before


def test_a_new_class_comes_behind_the_others(own_source: Path, dst: Path, run: Any) -> None:
    run(own_source)
    add(own_source, "aardvark/1.jpg", "class1/image000.jpg")
    run(own_source, append=True)
    classes = ("class0", "class1", "class2", "aardvark")
    assert Manifest.load(dst).classes == classes
    for sample in samples_of(dst):
        assert sample.name.startswith(classes[sample.label])


def test_a_sample_whose_file_is_gone_stays_and_is_named(own_source: Path, run: Any) -> None:
    run(own_source)
    (own_source / "class1/image001.jpg").unlink()
    add(own_source, "class2/new.jpg", "class2/image000.jpg")
    report = run(own_source, append=True)
    assert report.samples == 40
    assert [remark for remark in report.remarks if "class1/image001" in remark] == [
        "1 sample is in the dataset and not in the source: class1/image001. Samples that were "
        "removed or moved in the source stay in the dataset. To remove them, pack again with "
        "--overwrite."
    ]


def test_another_source_calls_nothing_gone(own_source: Path, tmp_path: Path, run: Any) -> None:
    run(own_source)
    files = {f"class{n % 2 + 3}/{n}.jpg": make_image(100 + n) for n in range(8)}
    assert not run(write_files(tmp_path / "other", files), append=True).remarks


@pytest.mark.parametrize("jpeg", ["tiled", "verbatim"])
def test_files_that_changed_are_named(own_source: Path, run: Any, jpeg: str) -> None:
    for number in (1, 2):
        (own_source / f"class1/image00{number}.json").write_text("{}")
    run(own_source, policy={"jpeg": jpeg})
    assert not run(own_source, append=True, policy={"jpeg": jpeg}).remarks
    shutil.copyfile(own_source / "class2/image000.jpg", own_source / "class1/image000.jpg")
    (own_source / "class1/image001.json").unlink()
    (own_source / "class1/image003.json").write_text("{}")
    (remark,) = run(own_source, append=True, policy={"jpeg": jpeg}).remarks
    assert remark.startswith(
        "3 samples are already in the dataset and have files that were written, "
        "added or removed since: class1/image000, class1/image001, class1/image003."
    )


def test_a_copy_of_the_source_has_not_changed(own_source: Path, tmp_path: Path, run: Any) -> None:
    run(own_source)
    shutil.copytree(own_source, tmp_path / "again", copy_function=shutil.copyfile)
    assert not run(tmp_path / "again", append=True).remarks


@pytest.mark.parametrize(
    ("column", "change", "told"),
    [
        ("label", "bird", "class0/image000 (cat in the dataset, bird in the source)"),
        ("label", "", "class0/image000 (cat in the dataset, no label in the source)"),
        ("split", "val", "class0/image000 (train in the dataset, val in the source)"),
    ],
)
def test_samples_with_another_label_or_split_are_refused_with_nothing_written(
    own_source: Path, dst: Path, run: Any, column: str, change: str, told: str
) -> None:
    def write(**changed: str) -> None:
        rows = [{"label": "cat", "split": "train"} for _ in range(3)]
        rows[1] = {"label": "dog", "split": "val"}
        rows[0] |= changed
        lines = [f"class0/image00{n}.jpg,{','.join(row.values())}" for n, row in enumerate(rows)]
        table.write_text("\n".join(["file,label,split", *lines]) + "\n")

    table = own_source / "t.csv"
    write()
    run(table)
    before = files_of(dst)
    assert not run(table, append=True).remarks
    write(**{column: change})
    with pytest.raises(UnusableInput) as error:
        run(table, append=True)
    assert f"the dataset and has another label or split in the source: {told}" in str(error.value)
    assert files_of(dst) == before


@pytest.mark.parametrize("late", [False, True], ids=["as it was", "a file more"])
def test_an_interrupted_append_is_continued_by_the_same_command(
    own_source: Path, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    run(own_source)
    for number in range(25):
        add(own_source, f"class1/new{number}.jpg", "class1/image000.jpg")
    shutil.copytree(tmp_path / "dst", tmp_path / "other")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("packer.run.destination.Destination.commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(own_source, append=True)
    assert sum(shard.samples for shard in Manifest.load(tmp_path / "dst").shards) == 39
    if late:
        add(own_source, "class1/late.jpg", "class1/image000.jpg")
    assert (run(own_source, append=True).shards_written == 0) == (not late)  # all were finished
    policy = PackOptions(shard_samples=10, jpeg="verbatim")
    pack(own_source, tmp_path / "other", policy, 1, append=True)
    assert files_of(tmp_path / "dst") == files_of(tmp_path / "other")


@pytest.mark.parametrize("divided_first", [True, False])
def test_appending_adds_splits_and_never_mixes_samples_with_and_without_one(
    own_source: Path, tmp_path: Path, run: Any, divided_first: bool
) -> None:
    train, val, plain = (tmp_path / name for name in ("with_train", "with_val", "plain"))
    shutil.copytree(own_source, train / "train")
    for seed, folder in ((100, val / "val"), (200, plain)):
        write_files(folder, {f"class{n % 3}/{n}.jpg": make_image(seed + n) for n in range(9)})
    first, second = (train, plain) if divided_first else (plain, train)
    run(first)
    before = files_of(tmp_path / "dst")
    with pytest.raises(UnusableInput, match="is not divided into splits"):
        run(second, append=True)
    assert files_of(tmp_path / "dst") == before
    if divided_first:
        assert run(val, append=True).splits == {"train": 39, "val": 9}


def test_both_versions_are_told_where_a_tiler_has_changed_since(
    own_source: Path, run: Any, dst: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"policy": {"jpeg": "tiled"}}
    run(own_source, **options)
    add(own_source, "class0/new.jpg", "class0/image000.jpg")
    before = tiling.VERSION
    monkeypatch.setattr(tiling, "VERSION", "9")
    run(own_source, append=True, **options)
    assert Manifest.load(dst).transcoders["tiler"] == f"{before}, 9"
