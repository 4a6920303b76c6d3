"""Finds the records of images in annotation files: JSON, lines, CVAT's XML, WIDER's text.

Each gives the name of a record in its file, if it has one, its offset and its bytes, one at a time.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, fromstring
from xml.parsers import expat

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.sources.readings.coco.json_stream import parsed, values
from packer.sources.readings.voc import document

Records = Iterator[tuple[str, int, bytes]]
_FACE = ["x", "y", "w", "h", "blur", "expression", "illumination", "invalid", "occlusion", "pose"]
_MAX_FILE = 64 << 20  # bytes, of a file for one image
_MAX_FRAMES = 1 << 20  # without objects
_CHUNK = 1 << 20


class Reader(NamedTuple):
    """A reader of files: the key, offset and bytes of each record, and its parsed content.

    `complete` adds to a record what the rest of its file has for it.
    """

    records: Callable[[Watched, str, dict[str, Any]], Records]
    parse: Callable[[bytes], Any]
    complete: Callable[[Any, Mapping[str, Any]], Any] = lambda record, _: record


def of_json(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield the elements of a JSON file, its lines, or the file itself, by `Form.of`."""
    if of == "file":
        if file.size > _MAX_FILE:
            raise UnusableInput(f"{file.path} has more than {_MAX_FILE} bytes.")
        yield "", 0, file.read((0, file.size))[0]
    elif file.path.suffix.lower() != ".json":
        yield from of_lines(file, of, others)
    else:
        for name, element in values(file, of, others):
            yield name, element.offset, element.raw.encode("latin-1")


def parse_json(data: bytes) -> Any:
    """Return what JSON holds; raise ValueError for none."""
    return parsed(data.removeprefix(b"\xef\xbb\xbf"))


JSON = Reader(of_json, parse_json)


def of_lines(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield the lines of a file that are not blank."""
    offset = 0
    with file.open() as content:
        for line in content:
            if line.strip():
                yield "", offset, line
            offset += len(line)


def of_wider(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield a name with the lines of numbers that follow it."""
    begin, data = 0, b""
    for _, offset, line in of_lines(file, of, others):
        if not re.fullmatch(rb"[-\d. ]+\s*", line) and data:
            yield "", begin, data
            begin, data = offset, b""
        data += line
    if data:
        yield "", begin, data


def parse_wider(data: bytes) -> Any:
    """Return the name and the faces of a record; an image without faces has one of zeros."""
    name, count, *lines = data.decode().splitlines()
    rows = [dict(zip(_FACE, map(int, line.split()), strict=True)) for line in lines]
    if len(rows) != max(int(count), 1):
        raise ValueError(f"{count} faces, and {len(rows)} lines")
    return {"image": name.strip(), "faces": rows[: int(count)]}


def of_cvat(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield the elements ``image`` of CVAT's XML."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    ends: list[int] = []  # where images begin and end that are not yielded yet
    state = {"depth": 0, "is_open": False}

    def mark(*_: Any) -> None:
        if state["is_open"]:
            ends.append(parser.CurrentByteIndex)
            state["is_open"] = False

    def start(name: str, attributes: dict[str, str]) -> None:
        mark()
        state["depth"] += 1
        if state["depth"] == 2 and name == "image":
            ends.append(parser.CurrentByteIndex)

    def end(name: str) -> None:
        mark()
        state["depth"] -= 1
        state["is_open"] = state["depth"] == 1 and name == "image"

    def refuse(*_: Any) -> None:
        raise UnusableInput(
            f"{file.path} has a document type declaration, which is not accepted. Remove it."
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = parser.CommentHandler = mark
    parser.StartDoctypeDeclHandler = refuse
    with file.open() as content:
        try:
            while data := content.read(_CHUNK):
                parser.Parse(data)
                while len(ends) > 1:
                    begin, behind = ends[:2]
                    del ends[:2]
                    yield "", begin, file.read((begin, behind - begin))[0]
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise UnusableInput(f"{file.path} is not valid XML: {error}.") from error


def of_tracks(file: Watched, of: str, others: dict[str, Any]) -> Records:
    """Yield the frames of CVAT's XML for videos; their objects are put into `others`."""
    if file.size > _MAX_FILE:
        raise UnusableInput(f"{file.path} has more than {_MAX_FILE} bytes.")
    (data,) = file.read((0, file.size))
    frames: dict[int, list[Any]] = {}
    try:
        root = document(data)
        for track in root.iter("track"):
            own = {"label": track.get("label"), "track": track.get("id")}
            for shape in track:
                things = frames.setdefault(int(shape.get("frame", "")), [])
                things += [_cvat_object(shape) | own] if shape.get("outside") != "1" else []
        size = int(root.findtext("meta/task/size") or 0)
    except (SyntaxError, ValueError, LookupError) as error:
        raise UnusableInput(f"{file.path} is no sound XML of tracks: {error}.") from error
    if max(frames, default=size) < size <= _MAX_FRAMES:
        frames |= {number: [] for number in range(size) if number not in frames}
    others["frames"] = {f"frame_{number:06}": things for number, things in sorted(frames.items())}
    yield from ((name, 0, b"") for name in others["frames"])


def parse_frame(record: Any, others: Mapping[str, Any]) -> Any:
    """Return what `of_tracks` has found for a frame."""
    return {"objects": others["frames"][others["@key"]]}


def parse_cvat(data: bytes) -> Any:
    """Return an element of CVAT's XML: its attributes, the ``objects``, and the ``tags``."""
    try:
        image = fromstring(data)
    except SyntaxError as error:
        raise ValueError(str(error)) from None
    found: dict[str, Any] = dict(image.attrib)
    things = list(map(_cvat_object, image))
    found["objects"] = [one for one in things if one["type"] != "tag"]
    return found | {"tags": [one for one in things if one["type"] == "tag"]}


def _cvat_object(item: Element) -> dict[str, Any]:
    given = {name: _number(text) for name, text in item.attrib.items() if name != "label"}
    own = {one.get("name", ""): (one.text or "").strip() for one in item.findall("attribute")}
    parts = [_cvat_object(one) for one in item if one.tag != "attribute"]  # of a skeleton
    if isinstance(points := given.get("points"), str):
        given["points"] = [[float(n) for n in pair.split(",")] for pair in points.split(";")]
    found = {"label": item.get("label"), "type": item.tag, **given, "attributes": own}
    return found | ({"parts": parts} if parts else {})


def _number(text: str) -> Any:
    return json.loads(text) if re.fullmatch(r"-?(0|[1-9]\d{0,17})(\.\d+)?", text) else text
