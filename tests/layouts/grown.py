"""Layouts of many images or folders, made from the rows by repeating what is in them.

An image is repeated with all that is named after it and each line of a list that names it; a folder
with all that lies in it, and each line that names it. Copies have another number in their name, so
that rules on names hold for them, too.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from layouts.row import Read, Row

IMAGE = re.compile(r"\.(jpe?g|png|gif|bmp|webp|tiff?|ppm)$", re.IGNORECASE)
_APART = 1000  # numbers of two copies
_Rename = Callable[[str], str]


def more_images(row: Row, copies: int) -> Row:
    """Return a row with so many copies of each image."""
    stems = {name.rpartition("/")[2].rpartition(".")[0] for name in _images(row)}
    return _repeated(row, {_to_the_number(stem) for stem in stems}, copies)


def more_classes(row: Row, copies: int) -> Row:
    """Return a row with so many copies of each folder of images that is called as a class is.

    Each image comes twice: folders of one image each may be samples instead.
    """
    folders = {name.split("/")[-2] for name in _images(row) if "/" in name}
    classes = set(row.expected.labels.values()) if isinstance(row.expected, Read) else set()
    return _repeated(more_images(row, 2), folders & classes, copies) if folders & classes else row


def _images(row: Row) -> list[str]:
    return [name for name in row.files.split() if IMAGE.search(name)]


def _to_the_number(stem: str) -> str:
    """Return the part of a stem that its mask or label shares, which ends in a number."""
    found = re.match(r"(.*[0-9])(?![0-9A-Za-z])", stem)
    return found[1] if found else stem


def _repeated(row: Row, tokens: Iterable[str], copies: int) -> Row:
    tokens = sorted(tokens, key=len, reverse=True)
    files, contents = row.files.split(), dict(row.contents)
    if tokens:
        pattern = re.compile(
            rf"(?<![0-9A-Za-z])({'|'.join(map(re.escape, tokens))})(?![0-9A-Za-z])"
        )
        renames = [_renaming(pattern, copy) for copy in range(1, copies)]
        files += [new for name in files for rename in renames if (new := rename(name)) != name]
        for name, content in row.contents.items():
            if pattern.search(name):
                is_json = isinstance(content, str) and name.endswith(".json")
                for rename in renames:
                    contents[rename(name)] = rename(str(content)) if is_json else content
            elif isinstance(content, str) and not name.endswith((".yaml", ".yml")):
                contents[name] = _longer(name, content, renames)
    return row._replace(files=" ".join(dict.fromkeys(files)), contents=contents)


def _renaming(pattern: re.Pattern[str], copy: int) -> _Rename:
    def numbered(token: "re.Match[str]") -> str:
        begin = token[1].rstrip("0123456789")
        number = token[1][len(begin) :]
        return f"{begin}{int(number or 0) + _APART * copy:0{len(number)}d}"

    def rename(text: str) -> str:
        """Rename in a path or line: a number stands for an image before a dot or at the begin."""
        numbers = [m for m in pattern.finditer(text) if m[1].isdigit()]
        named = [m for m in numbers if IMAGE.match(text[m.end() :].split(" ")[0].split(",")[0])]
        wanted = {m.start() for m in named or numbers[:1]}
        return pattern.sub(
            lambda m: numbered(m) if m.start() in wanted or not m[1].isdigit() else m[0], text
        )

    return rename


def _longer(name: str, content: str, renames: Iterable[_Rename]) -> str:
    """Return a list with the lines, or the elements of JSON, that are named after copies, too."""
    if name.endswith(".json"):
        try:
            return json.dumps(_longer_json(json.loads(content), list(renames)))
        except ValueError:
            pass
    lines = content.splitlines(keepends=True)
    more = [new for line in lines for rename in renames if (new := rename(line)) != line]
    if more and lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines, *more])


def _longer_json(content: Any, renames: list[_Rename]) -> Any:
    images = content.get("images") if isinstance(content, dict) else None
    if isinstance(images, list) and all("id" in image for image in images):
        return _longer_coco(content, renames)
    if isinstance(content, list):
        texts = [json.dumps(item) for item in content]
        more = [new for text in texts for rename in renames if (new := rename(text)) != text]
        return [*content, *map(json.loads, more)]
    if isinstance(content, dict):
        grown = {}
        for key, value in content.items():
            copies = [new for rename in renames if (new := rename(key)) != key]
            grown[key] = value if copies else _longer_json(value, renames)
            text = json.dumps({key: value})
            grown |= {
                k: v for rename in renames if copies for k, v in json.loads(rename(text)).items()
            }
        return grown
    return content


def _longer_coco(content: dict[str, Any], renames: list[_Rename]) -> dict[str, Any]:
    """Return COCO's annotations with objects for the copies of each image."""
    grown = {name: list(content.get(name, ())) for name in ("images", "annotations")}
    for copy, rename in enumerate(renames, 1):
        for image in content["images"]:
            more = {"id": image["id"] + _APART * copy}
            more |= {k: rename(v) for k, v in image.items() if k in ("file_name", "coco_url")}
            grown["images"].append({**image, **more})
        for item in content.get("annotations", ()):
            more = {"image_id": item["image_id"] + _APART * copy}
            if "id" in item:
                more["id"] = item["id"] + _APART * copy
            if "file_name" in item:
                more["file_name"] = rename(item["file_name"])
            grown["annotations"].append({**item, **more})
    return content | {name: items for name, items in grown.items() if name in content}


DIRECTIONS: Mapping[str, Callable[[Row, int], Row]] = {
    "images": more_images,
    "classes": more_classes,
}
