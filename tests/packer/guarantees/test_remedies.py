"""Each remedy that a message of `packer pack` prints is pasted, and works."""

import json
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from called_packer import call_packer
from layouts.images import picture
from layouts.outcome import commands_of, options_of
from layouts.scanned import ROWS
from made_images import write_files
from remedies import forgotten
from sampled import sampled

import packer
from packer.sources.trees.walk import is_named_as_image
from packer.words import flag

VERBATIM = ("--jpeg", "verbatim", "--png", "verbatim")
STEPS = 2  # a remedy may be refused with a further one
TWO = "a/0.jpg b/1.jpg"
MASKS = "images/0.jpg images/1.jpg masks/0.png masks/1.png"


class Row(NamedTuple):
    """A source that is refused, or packed with a remark.

    Attributes:
        files: their paths; what is named as an image is one, and anything else holds ``{}``.
        contents: path -> content, besides `files`.
        options: of the command.
        remedy: options that the message must name; "": the commands in it are pasted.
        then: all options that the command has with the remedy; "": `remedy` is added to them.
        code: exit code with the remedy.
        keeps: the dataset stays for the remedy.
        src: what is packed, below the folder of the files.
    """

    files: str
    contents: Mapping[str, str | bytes] = {}
    options: str = ""
    remedy: str = ""
    then: str = ""
    code: int = 0
    keeps: bool = False
    src: str = ""


def coco(name: str) -> str:
    return json.dumps({"images": [{"id": 1, "file_name": name}], "annotations": []})


NAMES = [f"{number}.jpg" for number in range(4)]
IMAGES = " ".join(NAMES)


def table(**columns: list[str]) -> dict[str, str]:
    rows = zip(*columns.values(), strict=True)
    return {"t.csv": "\n".join([",".join(columns), *map(",".join, rows)]) + "\n"}


LACKING = "images/0.jpg images/1.jpg images/2.jpg masks/0.png masks/1.png"
REPEATED = table(name=[*NAMES, NAMES[0]], label=["a", "b", "a", "b", "a"])
LABELS = table(name=NAMES, label=["a", "b", "a", "b"])
LARGE = ["1", "2", "3", "9999999999"]
BROKEN = re.compile(r"^Usage:|matches nothing|is not a source for", re.MULTILINE)
NONE = "--seed 0"  # options that change nothing

REFUSED = ("layout: ADE20K in a folder that is named as a split",)  # for masks outside of it
ELSEWHERE = (  # pasted in test_remedies_python.py, test_remedies_of_datasets.py, cli/test_pack.py
    "To rebuild damaged shards from their source SRC",
    "and has lost its ",
    "its tars were not packed by packer",
    "has tars that are not numbered shards of one series",  # a row of layouts: a tar for each class
    "was packed from Python, and",
    "` with its source",
    "its bytes in the shard are damaged",
    "exists with other content. Remove it, or pass",
    "all shards are written: to commit them",
    "To store JPEGs, pass quality=90",
    "Or pass jobs=1 to read it in this process",
    "The splits have different classes",
    "its label is a name",
    'give frame.to_dict("records")',
    "for the bytes of an image file give",
    "its image is a picture of mode",
    "give array.astype(np.uint8)",
    "for an alpha channel return",
    "give image.astype(np.uint8) * 255",
    "use packer.Writer(..., append=True)",
    "Pass iter(dataset), or the splits",
    "Pass the names of all classes",
    "has an unfinished run",
    "already holds a dataset",
    "add new samples",
    "in the dataset and not in the source",
    "does not rebuild it. Pack it again",
    "packs members for the samples of another dataset",
    "has no column of keys",
    "rows names a sample of",
    "is the dataset of",
    "is neither a table",
)
UNPASTED = {  # what a message has -> why no test pastes it
    "does not become smaller with it": "tests/packer/images/test_members.py",
    "whose files are no longer in the source: ": "tests/packer/plan/test_moved.py",
    "Rows were inserted, removed or moved": "tests/packer/plan/test_moved.py",
    "pass upright=True to the reader's fields": "a hint on reading",
    "contradicts its classes": "tests/packer/sources/scanners/python",
    "reader.Mix([reader.Dataset(first), ...])": "a hint on reading",
    "names them in another order. Remove it": "tests/packer/sources/scanners/rows/test_parquet.py",
    " has no field of ": "tests/packer/sources/containers",
    ") holds no images. ": "tests/packer/sources/containers",
    "is a list of numbers with fractions, which": "tests/packer/sources/tables",
    "a list that was shortened as it was written": "tests/packer/sources/tables",
    "leads out of the images' folder": "names an option that was given",
    "pip install": "installs packages",
    "Pack each separately, such as": "tests/packer/sources/trees/test_find.py",
    "Pack them together: ": "tests/layouts/packed/left.rows",
    "in the json as they are: read them with": "a hint on reading",
    "to allow more, pass a larger": "tests/packer/images/test_probe.py",
    "to pack them, type: ": "tests/packer/guarantees/test_limits.py",
    "bytes; ... are the most (": "tests/packer/guarantees/test_limits.py",
    "of a kind that Pillow does not open": "tests/packer/guarantees/test_bands.py",
    "which take up to": "a hint on further runs",
    "its label files hold the numbers": "tests/packer/sources/readings/yolo/test_find.py",
    "list different colours of classes": "a file of the user's",
    "has the colours of": "no fault",
    "has classes that are not whole numbers": "names of the user's",
    "Classes are numbers in the order of text": "tests/packer/plan/test_classes.py",
    "would be measured on classes": "tests/packer/plan/test_classes.py",
    "requires a source whose classes are known": "names of the user's",
    "to leave out the classes without images": "tests/packer/run/test_pack.py",
    "needs numba or jpegtran": "installs packages",
    " on a larger disk": "a disk of the user's",
    "and another packer uses them": "a race between two machines",
    "with other content than this run would write": "a race between two machines",
    "a folder to build shards in": "tests/packer/run/test_destination.py",
    "a folder with space for its files": "tests/packer/storage/test_source.py",
    "name local folders, and the source is not": "a store",
    "Index files cannot be written to a store": "a store",
    "requires an array without gaps": "a cluster",
    "changed while it was being packed": "--overwrite, which another row pastes",
    "with a smaller": "--jobs, where memory ran out",
    "Pass at least --cache-limit": "tests/packer/cli/test_plan.py",
    "not estimated; pass": "tests/packer/cli/test_plan.py",
    "is not a part such as": "tests/packer/options/test_part.py",
    "requires a task of a job array": "tests/packer/options/test_part.py",
    "--report requires the whole dataset": "any of two options is to be removed",
    "like `packer report`": "help",
    "Write one of N parts": "help",
    "Pack further members for the samples": "help",
    "Only this file records": "a copy of the user's",
    "white space in its name": "asks for the source",
    "in its JSON;": "asks for a field of the user's",
    "Name fields below it, such as": "asks for a field of the user's",
    "energon requires unique keys": "asks for the source",
    "skips such copies": "a hint on the next run",
    "they decode slowly, and": "a hint on the next run",
    "` mends them": "a hint on other commands",
    "names all of them": "a hint on other commands",
    "reader.ClassBalanced()": "a hint on a Loader",
    "pass --box-format": "tests/packer/inspect/report",
    "Pack each file separately, with": "asks for a choice of files",
    "Move all but one of them": "tests/layouts",
    "Move the images that are neither": "tests/layouts",
    "name no image in this source": "tests/layouts",
    "give its objects; leave one out": "a reason of a rejected file",
    ". Choose one with .": "tests/layouts",
    "for classes by name, pass": "a reason of a rejected file",
    "Its lines are not all boxes": "a function of the user's",
    "Its boxes are read by": "tests/packer/guarantees/test_boxes_to_a_batch.py",
    "None of the ... images that it names": "a folder of the user's",
    "has no column of images": "columns of the user's",
}

MADE: dict[str, Row] = {
    "a damaged file": Row(TWO, {"a/x.jpg": b""}, remedy="--on-error skip", code=1),
    "damaged files that were skipped": Row(
        TWO, {"a/x.jpg": b""}, "--on-error skip", remedy="--append", code=1, keeps=True
    ),
    "an image without a mask": Row(LACKING, {}, "--pair mask={root}/masks", src="images"),
    "an image without a mask of a template": Row(
        LACKING, {}, "--images {{key}} --member mask.png=../masks/{{key}}.png", src="images"
    ),
    "a record that repeats an image": Row(
        IMAGES, REPEATED, remedy="--on-error skip", code=1, src="t.csv"
    ),
    "an unknown file": Row(TWO, {"a/x.mat": b""}),
    "an unknown file in the only folder": Row("top/a/0.jpg top/b/1.jpg", {"top/x.mat": b""}),
    "a table and folders": Row(
        "a/0.jpg b/1.jpg", table(name=["a/0.jpg", "b/1.jpg"], label=["1", "2"])
    ),
    "--ignore for a table": Row(IMAGES, LABELS, "--ignore x", "--ignore", NONE, src="t.csv"),
    "--pair for a table": Row(IMAGES, LABELS, "--pair m={root}", "--pair", NONE, src="t.csv"),
    "--root for folders": Row(TWO, {}, "--root {root}", "--root", NONE),
    "templates and a kind": Row(
        TWO, {}, "--images {{label}}/{{key}} --as flat", "Remove --as", "--images {{label}}/{{key}}"
    ),
    "a glob without a file": Row(
        f"{TWO} a/x.bak", {}, "--ignore *.bak", "'**/*.bak'", "--ignore **/*.bak"
    ),
    "an empty table": Row(TWO, {"a.csv": ""}),
    "a column twice": Row(TWO, {"a.csv": "x,x\n1,2\n"}),
    "images beside masks and their images": Row(f"{MASKS} more/2.jpg", {}, "--as pairs"),
    "labels of no image": Row(
        "images/0.jpg labels/1.txt",
        {"labels/1.txt": "0 .5 .5 .1 .1", "data.yaml": "names: [a]\ntrain: images\n"},
    ),
    "labels that are fractions": Row(IMAGES, table(name=NAMES, label=["1.5", "2.5", "0.5", "1.5"])),
    "labels that are too large": Row(
        IMAGES,
        {**table(name=NAMES, label=LARGE), "c.txt": "\n".join(LARGE)},
        remedy="--classes",
        then="--classes {root}/c.txt",
        src="t.csv",
    ),
    "labels of -1": Row(
        IMAGES,
        {**table(name=NAMES, label=["-1", "0", "1", "0"]), "c.txt": "-1\n0\n1\n"},
        remedy="--classes",
        then="--classes {root}/c.txt",
        src="t.csv",
    ),
    "a column that is not there": Row(
        IMAGES, LABELS, "--label-column x", "--label-column", "--label-column label", src="t.csv"
    ),
    "another column than that of the label": Row(
        IMAGES,
        table(name=NAMES, alpha=["a", "b"] * 2, beta=["c", "d"] * 2),
        remedy="--label-column",
        then="--label-column beta --overwrite",
        src="t.csv",
    ),
    "two columns of images": Row(
        f"{IMAGES} a.png b.png c.png d.png",
        table(left=NAMES, right=["a.png", "b.png", "c.png", "d.png"]),
        src="t.csv",
    ),
    "no column of images": Row(
        IMAGES,
        table(number=list("0123"), weight=["1.5", "2", "3", "4"]),
        remedy="--image-column",
        then="--image-column number",
        src="t.csv",
    ),
    "images in another folder": Row(
        " ".join(f"x/{name}" for name in NAMES),
        table(name=[f"y/z/{name}" for name in NAMES], label=["a", "b"] * 2),
        "--root {root}/a/b",
        remedy="--root",
        then="--root {root}/x",
        src="t.csv",
    ),
    "images in two folders": Row(
        " ".join(f"{folder}/{name}" for folder in "xy" for name in NAMES),
        LABELS,
        remedy="--root",
        then="--root {root}/x",
    ),
    "a folder of images that is named in no row": Row(
        IMAGES, {"x/t.csv": LABELS["t.csv"]}, remedy="--root", then="--root {root}", src="x/t.csv"
    ),
    "a column of splits that may be none": Row(
        IMAGES,
        table(name=NAMES, label=["a", "b"] * 2, set=["train", "lorem"] * 2),
        remedy="--split-column none",
        src="t.csv",
    ),
    "a picture that is named after another": Row("0.jpg 0.left.jpg 1.jpg 2.jpg"),
    "folders that are named as images": Row("images/0.jpg images/1.jpg other/2.jpg"),
    "splits and --split": Row(
        "train/a/0.jpg val/a/1.jpg", {}, "--split x=.5,y=.5", "Remove --split", NONE
    ),
    "--stratify without --split": Row(TWO, {}, "--stratify", "remove --stratify", NONE),
    "--stratify without labels": Row(
        IMAGES, {}, "--split x=.5,y=.5 --stratify", "Remove --stratify", "--split x=.5,y=.5"
    ),
    "--append and no dataset": Row(TWO, {}, "--append", "Remove --append", NONE),
    "--part and --append": Row(TWO, {}, "--append --part 1/2", "Remove --append", "--part 1/2"),
    "--max-bytes": Row(
        TWO, {}, "--max-bytes 99999999999", "smaller limit", "--max-bytes 8589934591"
    ),
    "--check of nothing": Row(TWO, {}, "--check", "Remove --check", NONE),
    "--raw and --quality": Row(TWO, {}, "--raw 8x8 --quality 9", "Remove", "--raw 8x8"),
    "--scratch without a store": Row(TWO, {}, "--scratch {root}/x", "Remove it", NONE),
    "classes with one sample": Row(
        " ".join(f"{n}.jpg" for n in range(12)),
        table(
            name=[f"{n}.jpg" for n in range(12)], label=list("abcdefghijkl"), kind=list("xy" * 6)
        ),
        remedy="--label-column",
        then="--label-column kind --overwrite",
        src="t.csv",
    ),
    "boxes": Row("0.jpg", {"a.json": coco("0.jpg")}),
    "a list without {key}": Row(
        TWO,
        {"l.txt": "a/0.jpg x\nb/1.jpg y\na/0.jpg x\n"},
        "--images {{label}}/{{key}} --labels 'l.txt: {{p}} {{q}}'",
        "Add {{key}}",
        "--images {{label}}/{{key}} --labels 'l.txt: {{label}}/{{key}} {{q}}'",
    ),
    "a member with a field that no image has": Row(
        TWO,
        {},
        "--images {{label}}/{{key}} --member txt?={{x}}/{{key}}.txt",
        "--images",
        "--images {{label}}/{{key}} --member txt?={{label}}/{{key}}.txt",
    ),
}


def write(root: Path, row: Row) -> None:
    names = row.files.split()
    named = {name: picture(name) if is_named_as_image(name) else "{}" for name in names}
    write_files(root, {**named, **row.contents})


def all_rows() -> dict[str, Row]:
    """The rows of this file, and each layout that is refused."""
    refused = {
        f"layout: {row.name}": Row(
            row.files,
            row.contents,
            shlex.join(word for name, value in row.options.items() for word in (flag(name), value)),
            src=row.src,
        )
        for row in ROWS
        if isinstance(row.expected, str)
    }
    return MADE | refused


ALL = all_rows()


def packed(*words: str, dst: Path, keeps: bool = False) -> tuple[int, str]:
    """Pack into a new folder; the exit code, and what is printed."""
    if not keeps:
        shutil.rmtree(dst, ignore_errors=True)
    done = call_packer(*[str(dst) if word == "DST" else word for word in words])
    return done.returncode, done.stdout + done.stderr


PRINTED: dict[str, str] = {}  # for the rows that were packed


def provoked(name: str) -> str:
    """What `packer pack` prints for a row."""
    if name not in PRINTED:
        with TemporaryDirectory() as folder:
            first(name, Path(folder))
    return PRINTED[name]


def first(name: str, folder: Path) -> list[str]:
    """Pack a row; return the command."""
    row, root = ALL[name], folder / "src"
    write(root, row)
    command = ["pack", str(root / row.src), str(folder / "dst"), *_verbatim(row), "--jobs", "1"]
    options = shlex.split(row.options.format(root=root))
    PRINTED[name] = packed(*command, *options, dst=folder / "dst")[1]
    return command


def _verbatim(row: Row) -> tuple[str, ...]:
    return () if "--raw" in row.options else VERBATIM


@pytest.mark.parametrize("name", [*MADE, *sampled(list(ALL)[len(MADE) :], every=6)])
def test_a_remedy_works_when_it_is_pasted(name: str, tmp_path: Path) -> None:
    row, root, dst = ALL[name], tmp_path / "src", tmp_path / "dst"
    command = first(name, tmp_path)
    text = PRINTED[name]
    given = row.options.format(root=root)
    if row.remedy:
        assert row.remedy.format() in text
        words = shlex.split((row.then or f"{row.options} {row.remedy}").format(root=root))
        code, printed = packed(*command, *words, dst=dst, keeps=row.keeps)
        assert code == row.code, printed
        return
    pasted = [
        *(shlex.split(line)[1:] for line in commands_of(text)),
        *(
            [*command, *shlex.split(f"{given} {option}")]
            for option in options_of(text)
            if option not in given
        ),
    ]
    works = [_works(words, dst, STEPS) for words in pasted]
    assert name in REFUSED or not pasted or any(works), text


def _works(words: list[str], dst: Path, steps: int) -> bool:
    """Whether a command packs, or prints one that does; it may not be wrong in itself."""
    code, text = packed(*words, dst=dst)
    assert not BROKEN.search(text), f"{shlex.join(words)}\n{text}"
    further = commands_of(text) if steps else []
    return code == 0 or any(_works(shlex.split(one)[1:], dst, steps - 1) for one in further)


def test_no_remedy_is_forgotten() -> None:
    folder = Path(packer.__file__).parent
    assert not forgotten(folder, map(provoked, ALL), [*ELSEWHERE, *UNPASTED])
