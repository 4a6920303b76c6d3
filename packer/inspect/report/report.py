"""`packer report`: gather, look, judge, draw; one screen."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import UnusableInput
from packer.files.atomic import write_file
from packer.inspect.report import SAMPLES
from packer.inspect.report.annotations import Annotated, Reading
from packer.inspect.report.batches import of_each
from packer.inspect.report.cards import cards
from packer.inspect.report.charts import charts
from packer.inspect.report.choice import chosen, gallery
from packer.inspect.report.costs import costs
from packer.inspect.report.finding import Finding, gravest_first
from packer.inspect.report.likeness import Groups, alike, same
from packer.inspect.report.look import Looked, look
from packer.inspect.report.of_annotations import of_annotations
from packer.inspect.report.of_classes import of_classes
from packer.inspect.report.of_images import UNIFORM, of_images
from packer.inspect.report.of_pairs import of_pairs
from packer.inspect.report.page import MARK, Shown, page
from packer.inspect.report.sample import TEXTS, Sample
from packer.inspect.report.table import Table, gather
from packer.progress import Progress
from reader.geometry import CORNERS_OF

_GALLERY = 600  # samples
_ROOM = 8_000_000  # characters of the page that pictures may take
_KEYS = 300  # of a finding, to be copied
_KEYS_ROOM = 30_000  # characters that they may take
_EXTRA = ("imagehash", "jinja2", "matplotlib", "scipy")


@dataclass(frozen=True)
class Reported:
    """What became of a report.

    Attributes:
        looked: samples whose pixels and members were read.
        bytes: of the page.
        findings: what deserves a look, the gravest first.
    """

    dataset: str
    page: str
    samples: int
    looked: int
    bytes: int
    seconds: float
    findings: list[Finding]

    def content(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def check_extra(out: Path) -> None:
    """See that a report can be made and written, before anything takes long.

    Raises:
        UnusableInput: a library is missing, or `out` is a file that is no report.
    """
    if missing := [name for name in _EXTRA if find_spec(name) is None]:
        raise UnusableInput(
            f"A report needs {' and '.join(missing)}: pip install 'shardfeed[report]'."
        )
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise UnusableInput(f"{out} is not the name of a file in a folder that is there.")
    if out.exists() and not _begins(out).startswith(MARK.encode()):
        raise UnusableInput(f"{out} is there and is no report: give another name, or remove it.")


def report(
    place: Path | str,
    out: Path,
    jobs: int,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    box_format: str | None = None,
    normalized: bool = False,
    progress: Progress | None = None,
) -> Reported:
    """Write the page of the dataset at `place` to `out`, in `jobs` processes.

    Memory: some 100 bytes a sample, and 1 kB for each that is looked at.

    Args:
        samples: of which pixels and members are read, at most, chosen by `seed`; indexes tell the
            rest of all.
        box_format: of the boxes; None: as dataset.json records it. Boxes without either are
            named as not read.
        normalized: whether boxes are fractions of the image; False: as dataset.json records it.

    Raises:
        UnusableInput: the page cannot be made, or not be written there.
        ShardfeedError: `place` is no dataset, or cannot be read.
    """
    from reader import Dataset, __version__

    check_extra(out)
    began, progress = time.monotonic(), progress or Progress(quiet=True)
    dataset = Dataset(place)
    table = gather(dataset)
    reading = _reading(dataset, box_format, normalized)
    looked = look(dataset, chosen(len(table), samples, seed).tolist(), reading, jobs, progress)
    exact = _exact(dataset, table, samples, jobs, progress)
    near = _near(table, looked)
    told = _told(dataset, (exact, near), reading, jobs, progress)
    findings = [
        *of_pairs(table, exact, near, looked, told),
        *of_images(table, looked),
        *of_annotations(table, looked, reading),
        *of_classes(table, looked),
    ]
    findings.sort(key=gravest_first)
    shown = gallery(table, _GALLERY, seed)
    found = [number for finding in findings for group in finding.shown for number in group]
    drawn = cards(dataset, sorted({*shown, *found}), reading, jobs, progress)
    room = np.cumsum([drawn[number].weight for number in [*found, *shown]])[len(found) :]
    shown = shown[: int((room <= _ROOM).sum())]
    text = page(
        Shown(
            str(place),
            seed,
            table,
            looked,
            findings,
            sorted(shown),
            drawn,
            _keys(dataset, findings),
            charts(table, looked),
            costs(dataset.folder, is_far=dataset.fetching is not None),
            _box_note(reading) if len(looked.boxes) else "",
            f"{time.strftime('%Y-%m-%d %H:%M')} by shardfeed {__version__}",
        )
    )
    content = text.encode("utf-8", "backslashreplace")
    write_file(out, content)
    seconds = time.monotonic() - began
    return Reported(str(place), str(out), len(table), looked.count, len(content), seconds, findings)


def _keys(dataset: Any, findings: Sequence[Finding]) -> list[list[str]]:
    """Of each finding the keys of its first samples."""
    found = []
    for finding in findings:
        keys = [dataset.keys[number] for number in finding.samples[:_KEYS]]
        room = np.cumsum([len(key) for key in keys])
        found.append(keys[: int((room <= _KEYS_ROOM).sum())])
    return found


def _reading(dataset: Any, box_format: str | None, normalized: bool) -> Reading:
    """How the boxes are given: as the command says, or as dataset.json records."""
    for ext, one in dataset.box_encodings.items():
        if ext in TEXTS and one.format in CORNERS_OF:
            is_told, fractions = box_format is not None, normalized or bool(one.normalized)
            return Reading(ext, box_format or one.format, fractions, is_told)
    if box_format is None:
        return Reading()
    ext = "json" if "json" in dataset.extensions else "txt"
    return Reading(ext, box_format, normalized or ext == "txt", is_told=True)


def _box_note(reading: Reading) -> str:
    scale = "fractions" if reading.normalized else "pixels"
    told = "as was told" if reading.is_told else "as dataset.json records"
    return f"Boxes are those of .{reading.ext}, read as {reading.format} in {scale}, {told}."


def _exact(dataset: Any, table: Table, most: int, jobs: int, progress: Progress) -> Groups:
    """The samples of the same bytes: candidates by their checksums, compared by reading them."""
    groups = same(table.crc32, table.size, table.height, table.width)
    few = groups.where(groups.starts < most)
    done = of_each(dataset, few.members.tolist(), attrgetter("digest"), jobs, progress, "compare")
    numbers = np.array(sorted(done.results), np.int64)
    digests = np.array([done.results[number] for number in numbers.tolist()], np.uint64)
    return same(digests.view(np.int64), samples=numbers)


def _near(table: Table, looked: Looked) -> Groups:
    """The samples that look the same, and have not all the same bytes; one colour says nothing."""
    varied = looked.spread > 4 * UNIFORM
    hashes, mirrored = looked.hash[varied], looked.mirrored[varied]
    groups = alike(looked.numbers[varied], hashes, mirrored, looked.tiny[varied])
    return groups.where(groups.differ(table.crc32))


def _told(
    dataset: Any, alike: Sequence[Groups], reading: Reading, jobs: int, progress: Progress
) -> dict[int, Annotated]:
    """The boxes of the samples of these groups, without those that cannot be read."""
    members = np.unique(np.concatenate([groups.members for groups in alike]))
    act = partial(_annotated, reading=reading)
    done = of_each(
        dataset, members.tolist() if reading.ext else [], act, jobs, progress, "compare boxes"
    )
    return {number: told for number, told in done.results.items() if told is not None}


def _annotated(sample: Sample, reading: Reading) -> Annotated | None:
    try:
        return sample.annotated(reading)
    except (ValueError, RecursionError):
        return None


def _begins(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(MARK))
