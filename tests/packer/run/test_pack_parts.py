import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import PIL
import pytest
from layouts import huggingface
from layouts.outcome import lay_out
from layouts.packed import all_layouts
from packing import files_of, pack, pack_part

from packer.errors import Rejected, UnusableInput
from packer.options.declared import PackOptions
from packer.options.part import Part
from packer.progress import Advance, Progress
from packer.run.report import PartReport
from packer.run.run import busy, hold_part

EIGHT = PackOptions(shard_samples=20)  # shards of `many`


class Phases(Progress):
    """Notes which phases there are, and does something as packing begins."""

    def __init__(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        super().__init__(quiet=True)
        self.names: list[str] = []
        self.notes: list[str] = []
        self._meanwhile = meanwhile

    @contextmanager
    def phase(self, name: str, *_: object) -> Iterator[Advance]:
        self.names.append(name)
        if name == "pack":
            self._meanwhile()
        yield lambda count: None

    def note(self, text: str) -> None:
        self.notes.append(text)

    def announce(self, *lines: str) -> None:
        """Leave it out of the notes."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, many: Path) -> Path:
    """`many`, packed by one command."""
    dst = tmp_path_factory.mktemp("whole") / "shards"
    pack(many, dst, EIGHT, 1)
    return dst


def packed(src: Path, dst: Path, part: str, options: PackOptions = EIGHT, **more: Any) -> Any:
    return pack_part(src, dst, options, part, **more)


def tars(dst: Path) -> list[str]:
    return sorted(path.name for path in dst.glob("*.tar"))


def counts(report: PartReport) -> tuple[int, int, int]:
    return report.shards, report.shards_written, report.missing


def test_parts_and_a_last_command_write_what_one_writes(dst: Path, many: Path, whole: Path) -> None:
    assert counts(packed(many, dst, "2/3")) == (3, 3, 5)
    assert tars(dst) == [f"shard-{number:06d}.tar" for number in (1, 4, 7)]
    assert counts(packed(many, dst, "2/3")) == (3, 0, 5)
    assert counts(packed(many, dst, "3/3")) == (2, 2, 3)
    assert not (dst / "dataset.json").exists()
    assert pack(many, dst, EIGHT, 1).shards_written == 3
    assert files_of(dst) == files_of(whole)
    late = packed(many, dst, "1/3")
    assert counts(late) == (3, 0, 0)
    assert late.committed
    assert files_of(dst) == files_of(whole)


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_a_scan_that_was_cut_is_made_again(dst: Path, many: Path, whole: Path, cut: int) -> None:
    progress = Phases()
    packed(many, dst, "1/2")
    kept = dst / ".packing.scan"
    os.truncate(kept, cut % kept.stat().st_size)
    packed(many, dst, "2/2", progress=progress)
    assert progress.names == ["scan", "pack"]
    pack(many, dst, EIGHT, 1)
    assert files_of(dst) == files_of(whole)


def test_two_parts_of_one_number_are_not_at_work_at_once(dst: Path, many: Path) -> None:

    def again() -> None:
        with pytest.raises(UnusableInput, match=rf"part 1/2 \(process {os.getpid()} on .*\) is"):
            packed(many, dst, "1/2")
        assert counts(packed(many, dst, "2/2"))[1] == 4

    assert counts(packed(many, dst, "1/2", progress=Phases(again))) == (4, 4, 0)


def test_nothing_is_committed_while_a_part_is_at_work(dst: Path, many: Path, whole: Path) -> None:

    def commit() -> None:
        (dst / ".shard-000000.tar.tmp-elsewhere-7-0a").write_bytes(b"half")
        for overwrite in (False, True):
            with pytest.raises(UnusableInput, match=r"part 1/2 \(process .*\) is at work there\."):
                pack(many, dst, EIGHT, 1, overwrite=overwrite)
        assert (dst / ".shard-000000.tar.tmp-elsewhere-7-0a").exists(), "it may be at work"

    packed(many, dst, "1/2", progress=Phases(commit))
    pack(many, dst, EIGHT, 1)
    assert files_of(dst) == files_of(whole)


def test_a_part_does_not_begin_while_all_is_packed(dst: Path, many: Path) -> None:

    def part() -> None:
        with pytest.raises(UnusableInput, match="another packer is at work there"):
            packed(many, dst, "1/2")

    report = pack(many, dst, EIGHT, 1, progress=Phases(part))
    assert report.shards_written == 8
    assert not [path for path in dst.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"options": PackOptions(shard_samples=20, seed=3)}, r"other options \(seed\)"),
        ({"classes": ["dog", "cat"]}, r"other options \(classes\)"),
        ({"version": "99.0"}, "has Pillow 99.0 instead of"),
    ],
)
def test_a_part_with_other_options_or_versions_is_refused_by_name(
    dst: Path, many: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any], told: str
) -> None:
    packed(many, dst, "1/2")
    before = files_of(dst)
    if version := other.pop("version", None):
        monkeypatch.setattr(PIL, "__version__", version)
    with pytest.raises(UnusableInput, match=told):
        packed(many, dst, "2/2", **other)
    assert files_of(dst) == before


def test_a_file_that_changes_between_parts_is_named(tmp_path: Path, many: Path) -> None:
    src, dst = shutil.copytree(many, tmp_path / "src"), tmp_path / "dst"
    packed(src, dst, "1/2")
    changed = []
    for file in src.rglob("*.jpg"):  # whichever part it is in
        file.write_bytes(file.read_bytes() + b"\0")
        changed.append(str(file.relative_to(src)))
    with pytest.raises(Rejected) as caught:
        packed(src, dst, "2/2")
    assert len(caught.value.files) == 80
    assert {name for name, _ in caught.value.files} < set(changed)
    progress = Phases()
    packed(src, dst, "2/2", progress=progress)
    assert progress.names == ["scan", "pack"]
    assert progress.notes == ["The source has changed: 4 finished shards are packed again."]
    packed(src, dst, "1/2")
    pack(src, dst, EIGHT, 1)
    pack(src, tmp_path / "whole", EIGHT, 1)
    assert files_of(dst) == files_of(tmp_path / "whole")


def test_while_others_work_a_changed_source_is_not_scanned(tmp_path: Path, many: Path) -> None:
    src, dst = shutil.copytree(many, tmp_path / "src"), tmp_path / "dst"

    def others() -> None:
        for file in src.rglob("*.jpg"):
            os.utime(file, (0, 0))
        with pytest.raises(Rejected):
            packed(src, dst, "2/3")
        with pytest.raises(UnusableInput, match=r"source has changed after .* part 1/3 .* Wait"):
            packed(src, dst, "2/3")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        packed(src, dst, "1/3", progress=Phases(others))
    assert counts(packed(src, dst, "2/3")) == (3, 3, 5)


def test_the_last_command_packs_anew_what_changed_after_parts(tmp_path: Path, many: Path) -> None:
    src, dst = shutil.copytree(many, tmp_path / "src"), tmp_path / "dst"
    for part in ("1/2", "2/2"):
        packed(src, dst, part)
    (src / "cat" / "000.jpg").unlink()
    shutil.copy2(many / "cat" / "001.jpg", src / "dog" / "new.jpg")
    progress = Phases()
    assert pack(src, dst, EIGHT, 1, progress=progress).shards_written > 0
    assert [note for note in progress.notes if "packed again" in note]
    pack(src, tmp_path / "whole", EIGHT, 1)
    assert files_of(dst) == files_of(tmp_path / "whole")


def test_a_rejected_file_stops_every_part_at_once(dst: Path, own_source: Path) -> None:
    (own_source / "stray.jpg").write_bytes(b"above the classes")
    for part in ("1/2", "2/2"):
        with pytest.raises(Rejected, match="Nothing was packed, because 1 file"):
            packed(own_source, dst, part)
        assert list(dst.iterdir()) == []
    assert packed(own_source, dst, "1/2", skip_rejected=True).rejected == []
    report = pack(own_source, dst, EIGHT, 1, skip_rejected=True)
    assert [name for name, _ in report.rejected] == ["stray.jpg"]


def test_a_part_packs_what_it_rejected_once_it_is_mended(tmp_path: Path, own_source: Path) -> None:
    dst, bad = tmp_path / "dst", own_source / "class0" / "bad.jpg"
    bad.write_bytes(bytes(100))
    with pytest.raises(Rejected, match="Nothing was committed, because 1 file"):
        packed(own_source, dst, "1/1")
    assert [name for name, _ in packed(own_source, dst, "1/1", skip_rejected=True).rejected] == [
        "class0/bad.jpg"
    ]
    shutil.copy2(own_source / "class0" / "image000.jpg", bad)
    with pytest.raises(Rejected):
        packed(own_source, dst, "1/1")
    assert packed(own_source, dst, "1/1").rejected == []
    pack(own_source, dst, EIGHT, 1)
    pack(own_source, tmp_path / "whole", EIGHT, 1)
    assert files_of(dst) == files_of(tmp_path / "whole")


def test_a_scan_that_somebody_else_could_have_written_is_not_opened(dst: Path, many: Path) -> None:
    packed(many, dst, "1/2")
    (dst / ".packing.scan").chmod(0o666)
    with pytest.raises(UnusableInput, match="other users can write it"):
        packed(many, dst, "2/2")


def test_another_dataset_is_not_touched(dst: Path, many: Path) -> None:
    pack(many, dst, PackOptions(seed=3), 1)
    before = files_of(dst)
    with pytest.raises(UnusableInput, match="already holds a dataset"):
        packed(many, dst, "1/2")
    assert files_of(dst) == before
    (dst / "dataset.json").unlink()
    with pytest.raises(UnusableInput, match="already holds shard-000000"):
        packed(many, dst, "1/2")
    del before["dataset.json"]
    assert files_of(dst) == before


@pytest.mark.parametrize(("count", "more"), [(3, ") are at work"), (5, ") and 2 more are at work")])
def test_of_parts_at_work_three_are_named(tmp_path: Path, count: int, more: str) -> None:
    with ExitStack() as held:
        for number in range(1, count + 1):
            held.enter_context(hold_part(tmp_path, Part(number, count)))
        said = str(busy(tmp_path))
    assert more in said
    assert [n for n in range(1, count + 1) if f"part {n}/{count} (process" in said] == [1, 2, 3]


@pytest.mark.parametrize(
    "name",
    [
        "parquet",
        "arrays: KMNIST, npz",
        "bdd100k: det_20",
        "datumaro: boxes, coco",
        "tables: labels of two words only",
        "webdataset_like: cls beside jpg",
    ],
)
def test_a_scan_of_each_kind_of_source_is_kept_for_all_parts(name: str, tmp_path: Path) -> None:
    source, dst = tmp_path / "source", tmp_path / "dst"
    if name == "parquet":
        source.mkdir()
        data = huggingface.parquet(json.dumps({"image": [1, 2, 3, 4], "text": list("abcd")}))
        (source / "train-00000-of-00001.parquet").write_bytes(data)
    else:
        layout = all_layouts()[name]
        lay_out(layout, source)
        source /= layout.src
    options = PackOptions(shard_samples=2)
    for part in ("1/2", "2/2"):
        pack_part(source, dst, options, part)
    assert pack(source, dst, options, 1).shards_written == 0
