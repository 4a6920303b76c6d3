"""`packer report`: gather, look, judge, draw; one screen."""

import time
from collections.abc import Sequence
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
from packer.inspect.estimate.setting import Setting, Stored, usual_split
from packer.inspect.estimate.words import Line, summary
from packer.inspect.report import SAMPLES
from packer.inspect.report.annotations import Annotated, Reading
from packer.inspect.report.cards import cards
from packer.inspect.report.charts import charts
from packer.inspect.report.copies import alike, copy_findings, same
from packer.inspect.report.findings import UNIFORM, Finding, class_findings, image_findings
from packer.inspect.report.look import Looked, look
from packer.inspect.report.objects import object_findings
from packer.inspect.report.page import MARK, page
from packer.inspect.report.sample import TEXTS, Sample, map_samples
from packer.inspect.report.table import Groups, Table, chosen, gallery, gather
from packer.progress import QUIET, Progress
from reader.geometry import CORNERS_OF
from reader.system import usable_cores

_GALLERY = 600  # samples
_ROOM = 8_000_000  # characters of the page that pictures may take
_KEYS = 300  # of a finding, to be copied
_KEYS_ROOM = 30_000  # characters that they may take
_GIVEN = "as was told"
_EXTRA = ("imagehash", "jinja2", "matplotlib", "scipy")


@dataclass(frozen=True)
class Reported:
    """What became of a report."""

    dataset: str
    page: str
    samples: int
    looked: int  # samples whose pixels and members were read
    bytes: int  # of the page
    seconds: float
    findings: list[Finding]  # what deserves a look, the gravest first


def check_extra(out: Path) -> None:
    """See that a report can be made and written, before anything takes long."""
    if missing := [name for name in _EXTRA if find_spec(name) is None]:
        raise UnusableInput(
            f"A report needs {' and '.join(missing)}: pip install 'shardfeed[report]'."
        )
    if out.is_dir() or not out.absolute().parent.is_dir():
        raise UnusableInput(f"{out} is not the name of a file in a folder that is there.")
    if not out.exists():
        return
    with out.open("rb") as file:
        is_report = file.read(len(MARK)) == MARK.encode()
    if not is_report:
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
    table = gather(dataset)
    reading = _reading(dataset, box_format, normalized)
    looked = look(dataset, chosen(len(table), samples, seed).tolist(), reading, jobs, progress)
    exact = _exact(dataset, table, samples, jobs, progress)
    near = _near(table, looked)
    boxes = _boxes(dataset, (exact, near), reading, jobs, progress)
    findings = [
        *copy_findings(table, exact, near, looked, boxes),
        *image_findings(table, looked),
        *object_findings(table, looked, reading),
        *class_findings(table, looked),
    ]
    findings.sort(key=Finding.rank)
    shown = gallery(table, _GALLERY, seed)
    found = [number for finding in findings for group in finding.shown for number in group]
    drawn = cards(dataset, sorted({*shown, *found}), reading, jobs, progress)
    room = np.cumsum([drawn[number].weight for number in [*found, *shown]])[len(found) :]
    shown = shown[: int((room <= _ROOM).sum())]
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
        keys=_keys(dataset, findings),
        charts=charts(table, looked),
        costs=_costs(dataset.folder, is_far=dataset.fetching is not None),
        box_note=note if len(looked.boxes) else "",
        made=f"{time.strftime('%Y-%m-%d %H:%M')} by shardfeed {__version__}",
    )
    content = text.encode("utf-8", "backslashreplace")
    write_file(out, content)
    seconds = time.monotonic() - began
    return Reported(str(place), str(out), len(table), looked.count, len(content), seconds, findings)


def _keys(dataset: Any, findings: Sequence[Finding]) -> list[list[str]]:
    found = []
    for finding in findings:
        keys = [dataset.keys[number] for number in finding.samples[:_KEYS]]
        room = np.cumsum([len(key) for key in keys])
        found.append(keys[: int((room <= _KEYS_ROOM).sum())])
    return found


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


def _exact(dataset: Any, table: Table, most: int, jobs: int, progress: Progress) -> Groups:
    """The samples of the same bytes: candidates by their checksums, compared by reading them."""
    groups = same(table.crc32, table.size, table.height, table.width)
    few = groups.where(groups.starts < most)
    wanted, act = few.members.tolist(), attrgetter("digest")
    done = map_samples(dataset, wanted, act, jobs, progress, "compare")
    numbers = np.array(sorted(done.results), np.int64)
    digests = np.array([done.results[number] for number in numbers.tolist()], np.uint64)
    return same(digests.view(np.int64), samples=numbers)


def _near(table: Table, looked: Looked) -> Groups:
    """The samples that look the same, and have not all the same bytes; one colour says nothing."""
    varied = looked.spread > 4 * UNIFORM
    hashes, mirrored = looked.hash[varied], looked.mirrored[varied]
    groups = alike(looked.numbers[varied], hashes, mirrored, looked.tiny[varied])
    return groups.where(groups.differ(table.crc32))


def _boxes(
    dataset: Any, found: Sequence[Groups], reading: Reading, jobs: int, progress: Progress
) -> dict[int, Annotated]:
    members = np.unique(np.concatenate([groups.members for groups in found]))
    act = partial(Sample.annotated, reading=reading)
    wanted = members.tolist() if reading.ext else []
    done = map_samples(dataset, wanted, act, jobs, progress, "compare boxes")
    return {number: found for number, (found, fault) in done.results.items() if not fault}


def _costs(folder: Path, *, is_far: bool) -> list[Line]:
    split = usual_split(folder)
    stored = Stored.of(folder, split)
    if not len(stored):
        return []
    setting = Setting(workers=usable_cores())
    what = f"the split {split}" if split else "all samples"
    return [("read", what), *summary(stored, setting, estimate(stored, setting), is_far=is_far)]
