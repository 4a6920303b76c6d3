"""Samples whose annotations do not tell the picture that their coordinates are of."""

from collections.abc import Mapping

from packer.words import many
from reader.format import Index
from reader.format.frames import NEITHER, doubts_in
from reader.format.members import picture_format

Frames = dict[tuple[str, int], tuple[int, str]]
"""The number of samples and the first one's name, by member and frame."""


def doubtful_frames(shard: Index) -> Frames:
    """Return the doubtful frames that an index has."""
    doubts = doubts_in(shard.columns)
    return {key: (len(rows), min(map(shard.name, rows))) for key, rows in doubts.items()}


def add_frames(known: Frames, more: Frames) -> None:
    """Count further samples; of both first ones, the lesser name stays."""
    for key, (count, name) in more.items():
        before = known.get(key, (0, name))
        known[key] = before[0] + count, min(before[1], name)


def frame_lines(frames: Mapping[tuple[str, int], tuple[int, str]]) -> list[str]:
    """Return a sentence for each member and frame."""
    return [_line(*key, *found) for key, found in sorted(frames.items())]


def _line(ext: str, frame: int, count: int, first: str) -> str:
    whose = f"{many(count, 'sample')} ({first!r}{' and others' if count > 1 else ''})"
    if frame == NEITHER:
        return (
            f"The .{ext} of {whose} gives another width and height than the image has: its "
            "coordinates are read as of the image as its file stores it. If they are pixels of a "
            "resized image, scale them."
        )
    if picture_format(ext):
        return (
            f"The .{ext} of {whose} fits an image that EXIF turns both as its file stores it and "
            "upright: it is taken as stored."
        )
    return (
        f"The width and height in the .{ext} of {whose} fit an image that EXIF turns both as its "
        "file stores it and upright: its coordinates are read as of the stored one. If they are of "
        "the upright one, pass upright=True to the reader's fields."
    )
