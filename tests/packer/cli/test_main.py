import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import psutil
import pytest

import packer
from packer.cli.params import ByteSize
from packer.packing import PackReport
from packer.writing import journal
from reader.format import Manifest

StartPacker = Callable[..., "subprocess.Popen[str]"]
RunPacker = Callable[..., "subprocess.CompletedProcess[str]"]
FilesOf = Callable[[Path], dict[str, bytes]]

# Enough shards of the fixture `many` to be interrupted among.
SMALL_SHARDS = ("--shard-samples", 1, "--jpeg", "verbatim")


@pytest.fixture(scope="module")
def packed_many(
    tmp_path_factory: pytest.TempPathFactory,
    many: Path,
    run_pack: Callable[..., PackReport],
    files_of: FilesOf,
) -> dict[str, bytes]:
    """The files of `many` packed with SMALL_SHARDS and never interrupted."""
    dst = tmp_path_factory.mktemp("packed") / "many"
    run_pack(many, dst, jobs=2, shard_samples=1, jpeg="verbatim")
    return files_of(dst)


@pytest.fixture
def bad_source(own_source: Path) -> Path:
    """A source with two bad files."""
    (own_source / "class0" / "text.jpg").write_text("text")
    (own_source / "class1" / os.fsdecode(b"\xff empty.jpg")).touch()
    return own_source


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.002)


def packing_processes(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """Those of the packer's processes that pack."""
    found = []
    for child in psutil.Process(process.pid).children(recursive=True):
        try:
            if "packer.processes" in " ".join(child.cmdline()):
                found.append(child)
        except psutil.Error:
            continue
    return found


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs; one that has ended may wait for its parent to notice."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def send_until_it_ends(process: "subprocess.Popen[str]", number: signal.Signals) -> None:
    """Send all its processes the signal, again and again."""
    while process.poll() is None:
        os.killpg(process.pid, number)
        time.sleep(0.002)


def shards(dst: Path) -> int:
    return len(list(dst.glob("shard-*.safetensors")))


def test_packing_tells_what_it_did_and_exits_0(
    tmp_path: Path, source: Path, run_packer: RunPacker
) -> None:
    done = run_packer("pack", source, tmp_path / "dst", "--jobs", 1, "--shard-samples", 10)
    assert done.returncode == 0
    assert re.fullmatch(
        r".*/dst: 39 samples in 3 classes, 4 shards \(4 written now\), .* 0 files rejected.*\n",
        done.stdout,
    )
    assert Manifest.load(tmp_path / "dst").classes == ("class0", "class1", "class2")


def test_the_command_line_and_the_function_write_the_same(
    tmp_path: Path, source: Path, packed: Path, run_packer: RunPacker, files_of: FilesOf
) -> None:
    run_packer("pack", source, tmp_path / "dst", "--jobs", 3, "--shard-samples", 10)
    assert files_of(tmp_path / "dst") == files_of(packed)


def test_a_second_run_writes_nothing(source: Path, packed: Path, run_packer: RunPacker) -> None:
    done = run_packer("pack", source, packed, "--shard-samples", 10)
    assert done.returncode == 0
    assert "4 shards (0 written now)" in done.stdout


def test_piped_progress_is_plain_lines(tmp_path: Path, source: Path, run_packer: RunPacker) -> None:
    done = run_packer("pack", source, tmp_path / "dst", "--jobs", 2)
    assert re.search(r"^scan: 39 files, \d+/s$", done.stderr, re.MULTILINE)
    assert re.search(r"^pack: 39 of 39 samples, \d+/s, 0 s left$", done.stderr, re.MULTILINE)
    assert "\r" not in done.stderr + done.stdout
    assert "\x1b" not in done.stderr + done.stdout


def test_quiet_prints_nothing(tmp_path: Path, source: Path, run_packer: RunPacker) -> None:
    done = run_packer("pack", source, tmp_path / "dst", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_quiet_still_names_what_is_wrong(
    tmp_path: Path, bad_source: Path, run_packer: RunPacker
) -> None:
    done = run_packer("pack", bad_source, tmp_path / "dst", "-q", "--on-error", "skip")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 2


def test_json_is_the_whole_of_the_output(
    tmp_path: Path, bad_source: Path, run_packer: RunPacker
) -> None:
    done = run_packer("pack", bad_source, tmp_path / "dst", "--json", "--on-error", "skip")
    report = json.loads(done.stdout)
    assert done.returncode == 1
    assert (report["committed"], report["samples"], report["classes"]) == (True, 39, 3)
    assert report["dataset"] == str(tmp_path / "dst")
    assert {entry["file"]: entry["reason"] for entry in report["rejected"]} == {
        "class0/text.jpg": "it is not an image of a known format",
        os.fsdecode(b"class1/\xff empty.jpg"): "it is empty",
    }


def test_bad_files_stop_and_can_then_be_skipped(
    tmp_path: Path, bad_source: Path, run_packer: RunPacker
) -> None:
    dst = tmp_path / "dst"
    command = ("pack", bad_source, dst, "--shard-samples", 10, "--json")
    empty = bad_source / "class1" / os.fsdecode(b"\xff empty.jpg")
    stopped = run_packer(*command, "--on-error", "stop")
    assert stopped.returncode == 2
    assert r"class1/\xff empty.jpg: it is empty" in stopped.stderr
    assert "class0/text.jpg" not in stopped.stderr
    assert len(json.loads(stopped.stdout)["rejected"]) == 1
    assert not dst.exists()
    empty.unlink()
    stopped = run_packer(*command, "--on-error", "stop")
    assert stopped.returncode == 2
    assert "class0/text.jpg: it is not an image" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    assert json.loads(stopped.stdout)["committed"] is False
    assert len(json.loads(stopped.stdout)["rejected"]) == 1
    assert not (dst / "dataset.json").exists()
    before = {path: path.stat() for path in dst.glob("shard-*")}
    skipped = run_packer(*command, "--on-error", "skip")
    assert skipped.returncode == 1
    assert json.loads(skipped.stdout)["shards_written"] == 0
    assert len(before) == 8
    for path, stat in before.items():
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (stat.st_ino, stat.st_mtime_ns)
    assert run_packer(*command, "--on-error", "skip").returncode == 1


def test_many_strange_files_take_a_few_lines_and_all_of_the_json(
    tmp_path: Path, own_source: Path, run_packer: RunPacker
) -> None:
    for number in range(300):
        (own_source / "class0" / f"{number}.txt").write_text("notes")
        (own_source / "class1" / f"{number}.jpg").touch()
    stopped = run_packer("pack", own_source, tmp_path / "dst", "--json")
    assert stopped.returncode == 2
    assert "rejected: 300 files: it is empty\n  class1/0.jpg\n" in stopped.stderr
    assert len(stopped.stderr.splitlines()) < 20
    assert len(json.loads(stopped.stdout)["rejected"]) == 300
    assert not (tmp_path / "dst").exists()
    done = run_packer("pack", own_source, tmp_path / "dst", "--on-error", "skip")
    assert done.returncode == 1
    assert done.stderr.index("300 files: it is empty") < done.stderr.index("pack: ")
    assert done.stderr.count("300 files: it is empty") == 1
    assert "ignored: 300 files: it is not an image" in done.stderr
    assert len((done.stderr + done.stdout).splitlines()) < 40


def test_a_source_of_nothing_that_can_be_packed_is_told_as_json_too(
    tmp_path: Path, run_packer: RunPacker
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "empty.jpg").touch()
    for dry in ((), ("--dry-run",)):
        done = run_packer("pack", tmp_path / "src", tmp_path / "dst", "--json", *dry)
        assert done.returncode == 2
        assert json.loads(done.stdout) == {
            "committed": False,
            "rejected": [{"file": "empty.jpg", "reason": "it is empty"}],
        }


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("1", 1), ("500", 500), ("10MB", 10**7), ("1GB", 10**9), ("1GiB", 2**30)),
        *(("2kb", 2000), ("1.5k", 1500), ("64KiB", 2**16), ("0.5 GB", 5 * 10**8), ("7b", 7)),
        *((" 3TB ", 3 * 10**12), ("1G", 10**9), ("500mb", 5 * 10**8), ("2gib", 2**31)),
    ],
)
def test_sizes_may_have_units(text: str, size: int) -> None:
    assert ByteSize().convert(text, None, None) == size


@pytest.mark.parametrize(
    "text",
    ["", "ten", "MB", "B", "1XB", "1M5", "0", "0.1", "-1MB", "nan", "inf", "1e400", "1MBB", "1 2"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size"):
        ByteSize().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [("10", "'10' is 10 bytes, which is too little. Say 10MB"), ("9.9k", "9900 bytes, .* 9.9MB")],
)
def test_a_shard_size_whose_unit_was_forgotten_is_refused_with_what_was_meant(
    tmp_path: Path, source: Path, run_packer: RunPacker, text: str, told: str
) -> None:
    done = run_packer("pack", source, tmp_path / "dst", "--shard-size", text)
    assert done.returncode == 2
    assert re.search(told, done.stderr)
    assert not (tmp_path / "dst").exists()


def test_the_shard_size_is_kept(tmp_path: Path, source: Path, run_packer: RunPacker) -> None:
    run_packer("pack", source, tmp_path / "dst", "--shard-size", "20kB", "--jpeg", "verbatim")
    sizes = [path.stat().st_size for path in (tmp_path / "dst").glob("*.tar")]
    assert len(sizes) > 1
    assert max(sizes) <= 20_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pack", "Missing argument"),
        ("pack missing dst", "does not exist"),
        ("pack file dst", "neither a folder nor an archive"),
        ("pack src file", "is a file"),
        ("pack src file/dst", "file"),
        ("pack src loop/dst", "loop"),
        ("pack src /proc/dst", "/proc/dst"),
        ("pack src src", "lies inside"),
        ("pack src src/class0/dst", "lies inside"),
        ("pack void dst", "no file to pack"),
        ("pack classes dst", "one/: it is a class folder without images"),
        ("pack src dst --shard-size ten", "is not a size"),
        ("pack src dst --jobs 0", "not in the range"),
        ("pack src dst --shard-samples 0", "not in the range"),
        ("pack src dst --seed x", "not a valid integer"),
        ("pack src dst --on-error maybe", "is not one of"),
        ("pack src dst --raw 32", "is not a height and width"),
        ("pack src dst --raw 0x5", "is not a height and width"),
        ("pack src dst --split train=0.9", "do not make 1"),
        ("pack src dst --split train", "is not of the form"),
        ("pack src dst --split a=0.5,a=0.5", "is not of the form"),
        ("pack src dst --split ../a=1", "is not of the form"),
        (f"pack src dst --split {256 * 'a'}=1", "names of 255 characters at most"),
        ("pack src dst --pair mask", "is not of the form"),
        ("pack src dst --pair mask=missing", "is not a folder"),
        ("pack src dst --pair mask??=src", "is not of the form mask=DIR or mask?=DIR"),
        ("pack src dst --pair mask=src --pair mask?=src", "each NAME has one folder"),
        ("pack src dst --classes missing", "does not exist"),
        ("pack src dst --classes file", "not in the list of classes"),
        ("pack src dst --append", "There is no folder"),
        ("pack src dst --root void", "go with a list of images"),
        ("pack src dst --check --jpeg verbatim", "nothing by --jpeg verbatim"),
        ("pack src dst --raw 8x8 --quality 9", "--raw stores pixels"),
        ("pack src dst --append --overwrite", "give one"),
        ("pack src dst --fast", "No such option"),
        ("unpack", "No such command"),
    ],
)
def test_a_mistake_is_told_in_a_sentence_and_exits_2(
    monkeypatch: pytest.MonkeyPatch,
    own_source: Path,
    run_packer: RunPacker,
    arguments: str,
    message: str,
) -> None:
    monkeypatch.chdir(own_source.parent)
    own_source.rename("src")
    Path("file").touch()
    Path("loop").symlink_to("loop")
    for name in ("void", "classes/one", "classes/two"):
        Path(name).mkdir(parents=True)
    done = run_packer(*arguments.split())
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not Path("dst").exists()


def test_a_dry_run_that_would_reject_a_file_ends_with_1(
    tmp_path: Path, source: Path, run_packer: RunPacker
) -> None:
    shutil.copytree(source, tmp_path / "src")
    next((tmp_path / "src").rglob("*.jpg")).write_bytes(b"")
    done = run_packer("pack", tmp_path / "src", tmp_path / "dst", "--dry-run")
    assert done.returncode == 1
    assert "it is empty" in done.stderr


def test_a_dry_run_says_what_would_be_written_and_writes_nothing(
    tmp_path: Path, source: Path, run_packer: RunPacker
) -> None:
    shares = ("--split", "train=0.75,val=0.25", "--shard-samples", 10)
    done = run_packer("pack", source, tmp_path / "dst", *shares, "--dry-run", "--json", "--quiet")
    assert done.returncode == 0
    plan = json.loads(done.stdout)
    assert not (tmp_path / "dst").exists()
    assert plan["ignored"] == plan["rejected"] == []
    assert plan["samples"] == sum(plan["splits"].values()) == sum(plan["classes"].values()) == 39
    done = run_packer("pack", source, tmp_path / "dst", *shares, "--jpeg", "verbatim")
    shards = Manifest.load(tmp_path / "dst").shards
    assert [(item["file"], item["samples"]) for item in plan["shards"]] == [
        (shard.file, shard.samples) for shard in shards
    ]
    written = sum(path.stat().st_size for path in (tmp_path / "dst").rglob("*.*"))
    assert written <= plan["bytes_needed"] < 2 * written
    spoken = run_packer("pack", source, tmp_path / "dst", *shares, "--dry-run", "--quiet")
    assert "GB free. Nothing was written" in spoken.stdout


def test_one_of_a_kind_is_told_in_the_singular(
    tmp_path: Path, source: Path, run_packer: RunPacker
) -> None:
    one = tmp_path / "src" / "cat"
    one.mkdir(parents=True)
    shutil.copy(next(source.rglob("*.jpg")), one)
    (one / ".DS_Store").touch()
    (one / "broken.jpg").touch()
    command = ("pack", tmp_path / "src", tmp_path / "dst")
    plan = json.loads(run_packer(*command, "--dry-run", "--json").stdout)
    assert [len(plan[kind]) for kind in ("rejected", "ignored")] == [1, 1]
    assert "1 file was rejected" in run_packer(*command).stderr
    done = run_packer(*command, "--on-error", "skip")
    assert re.search(r"1 sample in 1 class, 1 shard \(.* 1 file rejected, 1 ignored\n", done.stdout)


def test_the_order_of_the_classes_comes_from_a_file(
    tmp_path: Path, source: Path, run_packer: RunPacker
) -> None:
    (tmp_path / "classes.txt").write_text("class2\nnone\nclass0\nclass1\n")
    done = run_packer("pack", source, tmp_path / "dst", "--classes", tmp_path / "classes.txt")
    assert done.returncode == 0, done.stderr
    assert Manifest.load(tmp_path / "dst").classes == ("class2", "none", "class0", "class1")


def test_names_that_are_no_utf8_are_told_all_the_same(
    tmp_path: Path, bad_source: Path, run_packer: RunPacker
) -> None:
    dst = tmp_path / os.fsdecode(b"dst \xff")
    done = run_packer("pack", bad_source, dst, "--on-error", "skip")
    assert done.returncode == 1
    assert r"\xff empty.jpg: it is empty" in done.stderr
    assert "39 samples" in done.stdout
    again = run_packer("pack", bad_source, dst, "--on-error", "skip", "--json")
    assert json.loads(again.stdout)["dataset"] == str(dst)


def test_half_a_surrogate_pair_out_of_json_is_told_as_an_escape(
    tmp_path: Path, source: Path, run_packer: RunPacker
) -> None:
    rows = [
        {"image": "class0/image000.jpg", "label": "\ud800"},
        {"image": "\udbff.jpg", "label": "cat"},
    ]
    (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, rows)))
    options = ("--root", source, "--on-error", "skip")
    done = run_packer("pack", tmp_path / "list.jsonl", tmp_path / "dst", *options)
    assert done.returncode == 1
    assert "\\udbff.jpg': its path is no text" in done.stderr
    shown = run_packer("info", tmp_path / "dst")
    assert shown.returncode == 0
    assert "\\ud800" in shown.stdout


def test_other_options_are_refused_until_overwrite(
    tmp_path: Path, source: Path, run_packer: RunPacker, files_of: FilesOf
) -> None:
    dst = tmp_path / "dst"
    run_packer("pack", source, dst)
    (dst / "notes.txt").write_text("mine")
    before = files_of(dst)
    refused = run_packer("pack", source, dst, "--seed", 1)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert files_of(dst) == before
    assert run_packer("pack", source, dst, "--seed", 1, "--overwrite").returncode == 0
    after = files_of(dst)
    assert after["notes.txt"] == b"mine"
    assert after["shard-000000.tar"] != before["shard-000000.tar"]
    assert json.loads(after["dataset.json"])["options"]["seed"] == 1


@pytest.mark.parametrize("overwrite", [(), ("--overwrite",)], ids=["plain", "overwrite"])
def test_a_destination_at_which_another_packer_works_is_refused(
    tmp_path: Path, source: Path, run_packer: RunPacker, overwrite: tuple[str, ...]
) -> None:
    with journal.packing(tmp_path / "dst", journal.Run({"of": "another"}), overwrite=False):
        done = run_packer("pack", source, tmp_path / "dst", *overwrite)
    assert done.returncode == 2
    assert "another packer is at work" in done.stderr
    assert [path.name for path in (tmp_path / "dst").iterdir()] == [journal.FILENAME]


@pytest.mark.parametrize(
    ("jobs", "number", "send"),
    [
        (1, signal.SIGTERM, os.kill),
        (2, signal.SIGTERM, os.kill),
        (1, signal.SIGINT, os.killpg),  # Ctrl-C goes to all processes of a terminal
        (2, signal.SIGINT, os.killpg),
        (1, signal.SIGHUP, os.kill),
        (2, signal.SIGHUP, os.kill),
        (1, signal.SIGHUP, os.killpg),  # so does the end of a terminal
        (2, signal.SIGHUP, os.killpg),
    ],
)
def test_an_interrupted_run_exits_130_and_is_finished_by_the_next(
    tmp_path: Path,
    many: Path,
    packed_many: dict[str, bytes],
    start_packer: StartPacker,
    run_packer: RunPacker,
    files_of: FilesOf,
    jobs: int,
    number: signal.Signals,
    send: Callable[[int, int], None],
) -> None:
    dst = tmp_path / "dst"
    command = ("pack", many, dst, "--jobs", jobs, *SMALL_SHARDS)
    with start_packer(*command) as process:
        wait_until(lambda: shards(dst) > 5)
        children = psutil.Process(process.pid).children(recursive=True)
        send(process.pid, number)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "Run the same command again" in stderr
    assert "Traceback" not in stderr
    wait_until(lambda: not any(map(is_alive, children)))
    assert not [name for name in files_of(dst) if ".tmp-" in name]
    assert not (dst / "dataset.json").exists()
    assert run_packer(*command).returncode == 0
    assert files_of(dst) == packed_many


@pytest.mark.parametrize("jobs", [1, 2])
def test_more_signals_of_a_terminal_that_is_closed_do_not_disturb_the_end(
    tmp_path: Path, many: Path, start_packer: StartPacker, files_of: FilesOf, jobs: int
) -> None:
    dst = tmp_path / "dst"
    with start_packer("pack", many, dst, "--jobs", jobs, *SMALL_SHARDS) as process:
        wait_until(lambda: shards(dst) > 5)
        send_until_it_ends(process, signal.SIGHUP)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "packer: interrupted." in stderr
    assert "Traceback" not in stderr
    assert not [name for name in files_of(dst) if ".tmp-" in name]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_is_ignored_from_the_start_as_under_nohup_ends_nothing(
    tmp_path: Path,
    many: Path,
    packed_many: dict[str, bytes],
    start_packer: StartPacker,
    files_of: FilesOf,
    number: signal.Signals,
    jobs: int,
) -> None:
    dst = tmp_path / "dst"
    before = signal.signal(number, signal.SIG_IGN)  # which a process that is started inherits
    try:
        process = start_packer("pack", many, dst, "--jobs", jobs, *SMALL_SHARDS)
    finally:
        signal.signal(number, before)
    with process:
        send_until_it_ends(process, number)
        _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert files_of(dst) == packed_many


def test_bench_prints_a_table_and_a_verdict(packed: Path, run_packer: RunPacker) -> None:
    done = run_packer("bench", packed, "--seconds", 0.1, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("workers")
    assert done.stdout.splitlines()[1].split()[0] == "1"
    assert "1 worker gave" in done.stdout


def test_bench_names_itself_as_the_other_commands_do(run_packer: RunPacker) -> None:
    for command in ("bench", "info"):
        assert f"Usage: python -m packer {command} " in run_packer(command, "--help").stdout


def test_bench_of_what_is_no_data_set_exits_2(tmp_path: Path, run_packer: RunPacker) -> None:
    done = run_packer("bench", tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("packer: ")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("number", "send"),
    [
        (signal.SIGTERM, os.kill),
        (signal.SIGINT, os.killpg),
        (signal.SIGHUP, os.kill),
        (signal.SIGHUP, os.killpg),
    ],
)
def test_an_interrupted_bench_exits_130_and_leaves_no_process(
    packed: Path,
    start_packer: StartPacker,
    number: signal.Signals,
    send: Callable[[int, int], None],
) -> None:
    with start_packer("bench", packed, "--seconds", 60, "--workers", 2) as process:
        wait_until(lambda: psutil.Process(process.pid).children(recursive=True))  # its worker
        started = psutil.Process(process.pid).children(recursive=True)
        send(process.pid, number)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    psutil.wait_procs(started, timeout=30)
    assert not any(child.is_running() for child in started)


def test_ctrl_c_while_the_processes_start_shows_no_traceback(
    tmp_path: Path, many: Path, start_packer: StartPacker
) -> None:
    with start_packer("pack", many, tmp_path / "dst", "--jobs", 2, *SMALL_SHARDS) as process:
        wait_until(lambda: len(packing_processes(process)) == 2)
        os.killpg(process.pid, signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr


def test_runs_killed_at_random_moments_lead_to_the_same_files(
    tmp_path: Path,
    many: Path,
    packed_many: dict[str, bytes],
    start_packer: StartPacker,
    run_packer: RunPacker,
    files_of: FilesOf,
) -> None:
    dst = tmp_path / "dst"
    command = ("pack", many, dst, "--jobs", 2, *SMALL_SHARDS)
    rng = random.Random()
    interrupted = 0
    for _ in range(5):
        with start_packer(*command) as process:
            wait_until(lambda: dst.exists() or process.poll() is not None)
            time.sleep(rng.uniform(0, 0.3))
            process.kill()
            process.communicate()
        interrupted += not (dst / "dataset.json").exists()
    assert interrupted
    assert run_packer(*command).returncode == 0
    assert files_of(dst) == packed_many


def test_a_killed_packer_leaves_neither_a_process_nor_a_warning(
    tmp_path: Path, many: Path, start_packer: StartPacker
) -> None:
    dst = tmp_path / "dst"
    with start_packer("pack", many, dst, "--jobs", 2, *SMALL_SHARDS) as process:
        wait_until(lambda: shards(dst) > 5)
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(packing_processes(process)) == 2
        process.kill()
        wait_until(lambda: not any(map(is_alive, children)), seconds=5)
        _, stderr = process.communicate()
    assert [line for line in stderr.splitlines() if not line.startswith("scan: ")] == []


# What it starts stops, and the first of them tells it to end before: then it hears of nothing.
HELD = """
import subprocess, sys
from packer import processes
from packer.cli.main import main

subprocess.Popen.kill = lambda process: None
processes.DYING_SECONDS = 0.1
processes._START = f'''
import os, signal
try:
    os.mkdir({sys.argv[2] + ".marker"!r})
    os.kill(os.getppid(), signal.SIGTERM)
except FileExistsError:
    pass
os.kill(os.getpid(), signal.SIGSTOP)
'''
main()
"""


def test_an_interrupted_run_ends_though_a_disk_holds_its_processes(
    tmp_path: Path, packed: Path
) -> None:
    script, said = tmp_path / "held.py", tmp_path / "said"
    script.write_text(HELD)
    copy = shutil.copytree(packed, tmp_path / "copy")
    with said.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, script, "verify", copy, "--jobs", "2"],
            env=os.environ | {"PYTHONPATH": str(Path(packer.__file__).parent.parent)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        assert process.wait() == 130
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    assert "packer: interrupted." in said.read_text()
    assert "packer: killed, but not ended yet: " in said.read_text()


def test_a_killed_packing_process_is_told_and_the_next_run_finishes(
    tmp_path: Path,
    many: Path,
    packed_many: dict[str, bytes],
    start_packer: StartPacker,
    run_packer: RunPacker,
    files_of: FilesOf,
) -> None:
    dst = tmp_path / "dst"
    command = ("pack", many, dst, "--jobs", 2, *SMALL_SHARDS)
    with start_packer(*command) as process:
        wait_until(lambda: shards(dst) > 5)
        packing_processes(process)[0].kill()
        _, stderr = process.communicate()
    assert process.returncode == 2
    assert "A process died" in stderr
    assert "Traceback" not in stderr
    assert run_packer(*command).returncode == 0
    assert files_of(dst) == packed_many


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_may_grow_no_more_is_told_and_the_next_run_finishes(
    tmp_path: Path, source: Path, run_packer: RunPacker, files_of: FilesOf, jobs: int
) -> None:
    dst = tmp_path / "dst"
    command = ("pack", source, dst, "--shard-samples", 10, "--jpeg", "verbatim", "--jobs", jobs)
    failed = run_packer(*command, ulimit="16")
    assert failed.returncode == 2
    assert re.search(r"shard-00000\d\.tar cannot be written: File too large", failed.stderr)
    assert "Traceback" not in failed.stderr
    assert not (dst / "dataset.json").exists()
    assert not list(dst.glob(".shard-*")), "what was half written was left behind"
    assert run_packer(*command).returncode == 0
    assert not list(dst.glob(".*"))


def test_the_help_names_every_option(run_packer: RunPacker) -> None:
    done = run_packer("pack", "--help")
    assert done.returncode == 0
    for option in ("--jobs", "--shard-size", "--seed", "--on-error", "--overwrite", "--json"):
        assert option in done.stdout


def test_the_module_can_be_imported_without_running_it() -> None:
    code = "import packer.cli.main, packer.__main__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["plain", "json"])
def test_a_report_that_cannot_be_written_is_told_and_exits_2(
    packed: Path, tmp_path: Path, json: tuple[str, ...]
) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "packer", "info", str(packed), *json]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 2
    assert "standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "full"), [(["--help"], "stdout"), (["info", "/nowhere"], "stderr")]
)
def test_help_or_a_usage_error_that_cannot_be_written_exits_2(
    arguments: list[str], full: str
) -> None:
    with open("/dev/full", "w") as disk:
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, full: disk}
        command = [sys.executable, "-m", "packer", *arguments]
        done = subprocess.run(command, **streams, text=True, timeout=60)
    assert done.returncode == 2
    assert "Traceback" not in f"{done.stdout}{done.stderr}"


def test_a_full_disk_under_the_log_does_not_stop_the_work(tmp_path: Path, source: Path) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "packer", "pack", str(source), str(tmp_path / "dst")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True, timeout=60)
    assert done.returncode == 0
    assert "39 samples" in done.stdout
