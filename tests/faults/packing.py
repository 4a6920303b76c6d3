"""Every fault at every call of the commands that write."""

import contextlib
import io
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from packer.cli.main import main
from tests.faults.injected.sitecustomize import harm
from tests.faults.injection import Fault, Outcome, run

Files = dict[str, bytes]

PACK = ("pack", "SRC", "DST", "--shard-samples", "2", "--split", "train=0.6,val=0.4")
SMALL = ("--shard-samples", "2", "--jobs", "1")
_HARMS = {"truncate", "rewrite", "remove"}  # done to a file of the source
_ERRORS = {
    "open": ("EIO", "EMFILE"),
    "stat": ("EIO",),
    "lstat": ("EIO",),
    "scandir": ("EIO", "ENOENT"),
    "listdir": ("EIO",),
    "read": ("EIO", "memory"),
    "mmap": ("ENOMEM",),
    "create": ("ENOSPC", "EIO", "EROFS", "kill"),
    "write": ("ENOSPC", "EIO", "kill"),
    "fsync": ("ENOSPC", "EIO", "kill", "orphan"),
    "replace": ("ENOSPC", "EIO", "kill", "orphan"),
    "mkdir": ("ENOSPC", "EIO"),
    "unlink": ("EIO", "kill"),
    "rmdir": ("EIO", "kill"),
    "flock": ("ENOLCK",),
    "fork": ("EAGAIN", "ENOMEM"),
}


@dataclass(frozen=True)
class Case:
    """A command, and where it works.

    Attributes:
        arguments: of `packer`; SRC, DST and OUT stand for folders.
        prepare: makes of a source and a sound dataset, SRC and DST, what the command is to find.
        makes: the folder that it writes to, if any.
        replaces: whether it removes what is there first.
    """

    arguments: Sequence[str]
    prepare: Callable[[Path], None]
    makes: str | None = "dst"
    replaces: bool = False

    def command(self, folder: Path) -> list[str]:
        """The arguments, for the folder in which SRC, DST and OUT are, and DST's URL."""
        names = {"SRC": "src", "DST": "dst", "OUT": "out", "URL": "dst"}
        found = [str(folder / names[part]) if part in names else part for part in self.arguments]
        return [
            f"file://{path}" if part == "URL" else path
            for part, path in zip(self.arguments, found, strict=True)
        ]


def _unpacked(folder: Path) -> None:
    for path in (folder / "dst").iterdir():
        if path.name != "notes.txt":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _tars(folder: Path) -> None:
    (folder / "dst" / "dataset.json").unlink()
    for path in (folder / "dst").rglob("*.safetensors"):
        path.unlink()


def _damaged(folder: Path) -> None:
    first, second, *_ = sorted((folder / "dst").rglob("*.tar"))
    content = bytearray(first.read_bytes())
    content[600] ^= 1
    first.write_bytes(content)
    second.with_suffix(".safetensors").unlink()


def _nothing(folder: Path) -> None:
    pass


CASES = {
    "pack": Case((*PACK, "--jobs", "2"), _unpacked),
    "pack in one process": Case((*PACK, "--jobs", "1", "--jpeg", "verbatim"), _unpacked),
    "pack over a dataset": Case(
        ("pack", "SRC", "DST", *SMALL, "--overwrite"), _nothing, replaces=True
    ),
    "pack into a store": Case(("pack", "SRC", "URL", *SMALL, "--scratch", "OUT"), _unpacked),
    "index": Case(("index", "DST", "--jobs", "2"), _tars),
    "verify": Case(("verify", "DST", "--decode", "--jobs", "2"), _nothing, None),
    "repair": Case(("repair", "DST", "--from", "SRC", "--jobs", "2"), _damaged),
    "extract": Case(("extract", "DST", "OUT", "--jobs", "2"), _nothing, "out"),
    "export to dali": Case(("export", "DST", "--to", "dali"), _nothing),
    "export to wids": Case(("export", "DST", "--to", "wids"), _nothing),
    "export to energon": Case(("export", "DST", "--to", "energon"), _nothing),
    "info": Case(("info", "DST"), _nothing, None),
}


def make_source(root: Path) -> None:
    """Two classes of four small JPEGs, each with a sidecar."""
    for number in range(8):
        pixels = np.random.default_rng(number).integers(0, 255, (40, 56, 3), dtype=np.uint8)
        path = root / f"class{number % 2}" / f"image{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path, quality=80)
        path.with_suffix(".json").write_text(f'{{"number": {number}}}')


def quietly(arguments: Sequence[str]) -> tuple[int, str]:
    """The exit code of the command in this process, and what it said."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            code = main.main(list(arguments), "packer", standalone_mode=False)
        except SystemExit as end:
            code = int(end.code or 0)
    return int(code or 0), said.getvalue()


def files_of(folder: Path) -> Files:
    """Every file below, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


class Bench:
    """A folder in which a command is tried over and over from the same beginning."""

    def __init__(self, case: Case, folder: Path) -> None:
        self._case = case
        self._folder = folder
        self._scratch = folder / "scratch"
        self._begin = folder / "begin"
        self._work = folder / "work"
        self._scratch.mkdir()
        self._make_beginning()
        self._reset()
        self.undisturbed = self.run(None)
        self.before = {root: files_of(self._begin / root) for root in ("src", "dst", "out")}
        self.after = {root: files_of(self._work / root) for root in ("src", "dst", "out")}

    def _make_beginning(self) -> None:
        make_source(self._begin / "src")
        for name in ("dst", "out", "tmp"):
            (self._begin / name).mkdir()
        (self._begin / "dst" / "notes.txt").write_text("the user's")
        (self._begin / "out" / "notes.txt").write_text("the user's")
        jpeg = ("--jpeg", "verbatim") if "verbatim" in self._case.arguments else ()
        pack = Case((*PACK, *jpeg, "--jobs", "1"), _nothing).command(self._begin)
        assert quietly(pack)[0] == 0
        self._case.prepare(self._begin)

    def _reset(self) -> None:
        shutil.rmtree(self._work, ignore_errors=True)
        shutil.copytree(self._begin, self._work)

    def run(self, fault: Fault | None) -> Outcome:
        """The command, once, with the fault."""
        roots = {name: self._work / name for name in ("src", "dst", "out", "tmp")}
        command = ("-m", "packer", *self._case.command(self._work))
        return run(command, roots, self._scratch, fault)

    def faults(self) -> Iterator[Fault]:
        """All that are to be tried."""
        yield Fault("short", None)
        yield Fault("interrupt", None)
        for site in dict.fromkeys(self.undisturbed.sites):
            for effect in _ERRORS.get(site.operation, ()):
                yield Fault(effect, site, lasting=effect == "ENOSPC")
            if site.operation == "read" and site.path.startswith("src/"):
                yield from (Fault(effect, site) for effect in sorted(_HARMS))
            if site.operation in ("read", "open") and site.path.startswith("src/"):
                yield Fault("vanish src", site)
            if site.operation in ("create", "fsync"):
                yield Fault(f"vanish {site.path.partition('/')[0]}", site)

    def attempt(self, fault: Fault) -> tuple[Outcome, list[str]]:
        """Let it happen, then run the same command again; how the first ended, what is wrong."""
        after = self._after_harm(fault) if self._comes_before_the_scan(fault) else self.after
        self._reset()
        outcome = self.run(fault)
        wrong = list(self._wrong_end(fault, outcome))
        moved = {root for root in self.after if (self._work / f"{root}.gone").exists()}
        self._undo(fault)
        wrong += self._wrong_files(outcome, moved, after)
        if outcome.code == 0 and after is not self.after:
            return outcome, wrong  # the restored source is another one than was packed
        code, said = quietly([*self._case.command(self._work), *self._one_job()])
        if code != 0:
            wrong.append(f"the next run exits {code}: {said.strip()[-300:]}")
        wrong += [
            f"after the next run {problem}"
            for root, files in self.after.items()
            for problem in _differences(files_of(self._work / root), files)
        ]
        return outcome, wrong

    def _comes_before_the_scan(self, fault: Fault) -> bool:
        """Whether a file is harmed before the scan looks at it, so that it is packed as it is."""
        if fault.effect not in _HARMS or fault.site is None:
            return False
        later = self.undisturbed.sites[self.undisturbed.sites.index(fault.site) :]
        return any((site.operation, site.path) == ("stat", fault.site.path) for site in later)

    def _after_harm(self, fault: Fault) -> dict[str, Files]:
        """What the command makes of a source that was harmed before it began."""
        assert fault.site is not None
        self._reset()
        harm(fault.effect, self._work / fault.site.path)
        self.run(None)
        return self.after | {root: files_of(self._work / root) for root in ("dst", "out")}

    def _one_job(self) -> Sequence[str]:
        return ("--jobs", "1") if "--jobs" in self._case.arguments else ()

    def _undo(self, fault: Fault) -> None:
        """What was done to files and folders is taken back, as by an operator who sees to it."""
        for name in ("src", "dst", "out"):
            gone = self._work / f"{name}.gone"
            if gone.exists():
                shutil.rmtree(self._work / name, ignore_errors=True)
                gone.rename(self._work / name)
        if fault.effect in _HARMS:
            shutil.rmtree(self._work / "src")
            shutil.copytree(self._begin / "src", self._work / "src")

    def _wrong_end(self, fault: Fault, outcome: Outcome) -> Iterator[str]:
        if outcome.code is None:
            yield "it hangs"
            return
        if outcome.left:
            yield f"processes are left: {outcome.left}"
        if outcome.code == -9 and fault.effect in ("kill", "orphan"):
            return
        if outcome.code not in (0, 1, 2, 130):
            yield f"it exits {outcome.code}"
        if "Traceback" in outcome.stderr:
            yield f"a traceback: {outcome.stderr.strip().splitlines()[-1]}"
        elif outcome.code and not _names_a_place(outcome.stderr + outcome.stdout):
            yield f"no place is named: {outcome.stderr.strip()[-300:]}"

    def _wrong_files(
        self, outcome: Outcome, moved: set[str], after: dict[str, Files]
    ) -> Iterator[str]:
        """Whatever is there is as it was, or as it should become; after a success, all of it."""
        for root, files in after.items():
            there = files_of(self._work / root)
            # A folder that is moved away takes with it what is written by its descriptor, and what
            # was to be removed by its name.
            if outcome.code == 0 and outcome.happened and not (root == "out" and root in moved):
                found = {
                    name: content
                    for name, content in there.items()
                    if root not in moved or name in files or not _is_hidden(name)
                }
                yield from (f"in spite of exit 0 {p}" for p in _differences(found, files))
            for name, content in there.items():
                if _is_hidden(name):
                    continue
                packed = after.get("dst", {}).get(name.partition("/")[2])  # it is built in a folder
                if content not in (files.get(name), self.before[root].get(name), packed):
                    yield f"{root}/{name} is neither old nor new"
            kept = set() if self._case.replaces else self.before[root].keys() & files.keys()
            for name in kept - there.keys():
                yield f"{root}/{name} is gone"


def _is_hidden(name: str) -> bool:
    return "/." in f"/{name}"


def _differences(there: Files, wanted: Files) -> Iterator[str]:
    for name in sorted(there.keys() | wanted.keys()):
        if there.get(name) != wanted.get(name):
            what = "is missing" if name not in there else "differs" if name in wanted else "is left"
            yield f"{name} {what}"


def _names_a_place(said: str) -> bool:
    """Whether something is said beside the progress, with the name of a file or a folder in it."""
    lines = [line for line in said.splitlines() if not re.match(r"\w+: \d+ ", line)]
    named = r"/|\.tar|\.json|\.jpg|Out of memory|not enough memory|No process"
    return bool(re.search(named, "\n".join(lines)))
