"""`packer report`: gather, look, judge, draw; one screen."""

import time
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import UnusableInput
from packer.files.atomic import write_file
from packer.inspect.estimate.estimate import estimate
from packer.inspect.estimate.reading import Setting, Stored, usual_split
from packer.inspect.estimate.words import Line, summary
from packer.inspect.report import SAMPLES
from packer.inspect.report.annotations import Reading
from packer.inspect.report.cards import cards
from packer.inspect.report.charts import charts
from packer.inspect.report.copies import copy_findings, near_copies, same
from packer.inspect.report.findings import Finding, class_findings, image_findings
from packer.inspect.report.look import look
from packer.inspect.report.objects import object_findings
from packer.inspect.report.page import MARK, page
from packer.inspect.report.sample import TEXTS, Sample, Samples
from packer.inspect.report.table import Groups, Table, chosen, gallery, gather
from packer.progress import QUIET, Progress
from packer.storage.dataset import Finished
from reader.geometry import CORNERS_OF
from reader.system import usable_cores

_GALLERY = 600  # samples
_ROOM = 8_000_000  # characters of the page that pictures may take
_KEYS = 300  # of a finding, to be copied
_KEYS_ROOM = 30_000  # characters that they may take
_GIVEN = "as passed on the command line"
_EXTRA = ("imagehash", "jinja2", "matplotlib", "scipy")


@dataclass(frozen=True)
class Reported:
    dataset: str
    page: str
    samples: int
    looked: int  # samples whose pixels and members were read
    bytes: int  # of the page
    seconds: float
    findings: list[Finding]  # the gravest first


def check_extra(out: Path) -> None:
    """See that a report can be made and written, before anything takes long."""
    if missing := [name for name in _EXTRA if find_spec(name) is None]:
        raise UnusableInput(
            f"A report needs {' and '.join(missing)}: pip install 'shardfeed[report]'."
        )
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise UnusableInput(
            f"{out} is not a file name in an existing folder. Create the "
            "folder, or choose another name."
        )
    if out.exists():
        with out.open("rb") as file:
            if file.read(len(MARK)) == MARK.encode():
                return
        raise UnusableInput(f"{out} exists and is not a report. Choose another name, or remove it.")


def report(
    place: Path | str,
    out: Path,
    jobs: int,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    box_format: str | None = None,
    normalized: bool = False,
    progress: Progress = QUIET,
) -> Reported:
    """Write the page of the dataset at `place` to `out`, in `jobs` processes.

    Memory: some 100 bytes a sample, and 1 kB for each of the `samples`, chosen by `seed`, whose
    pixels and members are read. Boxes are as dataset.json records, but for what is given.
    """
    from reader import Dataset, __version__

    check_extra(out)
    began = time.monotonic()
    dataset = Dataset(place)
    finished = Finished(dataset.folder, place)
    table = gather(finished)
    reading = _reading(dataset, box_format, normalized)
    each = Samples(dataset, reading, jobs, progress)
    looked = look(each, chosen(len(table), samples, seed).tolist())
    exact, near = _exact(each, table, samples), near_copies(table, looked)
    copies = np.unique([*exact.members, *near.members]).astype(np.int64)
    compared = copies.tolist() if reading.ext else []
    read, _ = each.map(partial(Sample.annotated, reading=reading), compared, "compare boxes")
    boxes = {number: annotated for number, (annotated, fault) in read.items() if not fault}
    findings = [
        *copy_findings(table, exact, near, looked, boxes),
        *image_findings(table, looked, str(place)),
        *object_findings(table, looked, reading),
        *class_findings(table, looked),
    ]
    findings.sort(key=Finding.rank)
    shown = gallery(table, _GALLERY, seed)
    found = [number for finding in findings for group in finding.shown for number in group]
    drawn = cards(each, sorted({*shown, *found}))
    room = np.cumsum([drawn[number].weight for number in [*found, *shown]])[len(found) :]
    shown = shown[: int((room <= _ROOM).sum())]
    keys = [[dataset.keys[number] for number in one.samples[:_KEYS]] for one in findings]
    how = f"{reading.format} in {'fractions' if reading.normalized else 'pixels'}"
    note = f"Boxes are those of .{reading.ext}, read as {how}, {reading.source}."
    text = page(
        table,
        looked,
        drawn,
        sorted(shown),
        place=str(place),
        seed=seed,
        findings=findings,
        keys=[of[: int((np.cumsum([*map(len, of)]) <= _KEYS_ROOM).sum())] for of in keys],
        charts=charts(table, looked),
        costs=_costs(finished, is_far=dataset.fetching is not None),
        box_note=note if len(looked.boxes) else "",
        made=f"{time.strftime('%Y-%m-%d %H:%M')} by shardfeed {__version__}",
    )
    content = text.encode("utf-8", "backslashreplace")  # bytes of names that are no UTF-8
    write_file(out, content)
    seconds = time.monotonic() - began
    return Reported(str(place), str(out), len(table), looked.count, len(content), seconds, findings)


def _reading(dataset: Any, box_format: str | None, normalized: bool) -> Reading:
    source = {} if box_format is None else {"source": _GIVEN}
    for ext, one in dataset.box_encodings.items():
        if ext in TEXTS and one.format in CORNERS_OF:
            fractions = normalized or bool(one.normalized)
            return Reading(ext, box_format or one.format, fractions, **source)
    if box_format is None:
        return Reading()
    ext = "json" if "json" in dataset.extensions else "txt"
    return Reading(ext, box_format, normalized or ext == "txt", _GIVEN)


def _exact(samples: Samples, table: Table, most: int) -> Groups:
    """The samples of the same bytes: candidates by their checksums, compared by reading them."""
    groups = same(table.crc32, table.size, table.height, table.width)
    few = groups.where(groups.starts < most)
    found, _ = samples.map(attrgetter("digest"), few.members.tolist(), "compare")
    numbers, digests = np.array(sorted(found.items()), np.uint64).reshape(-1, 2).T
    return same(digests.view(np.int64), samples=numbers.astype(np.int64))


def _costs(dataset: Finished, *, is_far: bool) -> list[Line]:
    split = usual_split(dataset)
    stored = Stored.of(dataset, split)
    if not len(stored):
        return []
    setting = Setting(workers=usable_cores())
    what = f"the split {split}" if split else "all samples"
    return [("read", what), *summary(stored, setting, estimate(stored, setting), is_far=is_far)]
