"""The dot that ends the keys of a tar: the first in a name, as in webdataset, or the last."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.trees.tar_reader import Member, members, samples
from reader.format.members import picture_format

_LOOKED_AT = 8  # samples


def runs_of(tar: Path, *, by_last_dot: bool = False) -> Iterator[list[Member]]:
    """Yield the samples of a tar without what is skipped."""
    runs = samples(members(tar), by_last_dot=by_last_dot)
    return (run for run in runs if not isinstance(run, Skipped))


def is_doubtful(run: Sequence[Member]) -> bool:
    """Return whether a sample by the first dot has several images, all with further dots."""
    images = _images(run)
    return len(images) > 1 and all("." in ext for ext in images)


def keys_end_at_last_dot(tar: Path, looked_at: int | None = _LOOKED_AT) -> bool:
    """Return whether the last dot ends the keys; raise UnusableInput where no rule fits a tar.

    It does where the first dot would give a sample several images and each key by the last dot has
    one image and further members. ``x.left.jpg`` and ``x.right.jpg`` in every sample are members.
    A doubtful tar is read through; others, up to `looked_at` samples.
    """
    if not any(map(is_doubtful, islice(runs_of(tar), looked_at))):
        return False
    if _are_samples(runs_of(tar, by_last_dot=True), least=2):
        return True
    kinds = map(_images, runs_of(tar))
    shared, is_one = next(kinds), True
    for kind in kinds:
        shared, is_one = shared & kind, False
    if shared and not is_one:
        return False
    if not is_one and _are_samples(runs_of(tar, by_last_dot=True), least=1):
        return True
    run = next(filter(is_doubtful, runs_of(tar)))
    raise UnusableInput(
        f"{tar}: keys have dots. By webdataset's rule, {run[0].name} and {run[1].name} are one "
        "sample with several images. By the last dot, some keys have no image or several. "
        f"Unpack the tar, and pack the folder: mkdir {tar.stem} && tar -xf {tar} -C {tar.stem}"
    )


def _images(run: Sequence[Member]) -> frozenset[str]:
    return frozenset(member.ext for member in run if picture_format(member.ext) is not None)


def _are_samples(runs: Iterable[Sequence[Member]], least: int) -> bool:
    return all(len(_images(run)) == 1 and len(run) >= least for run in runs)
