"""Layouts of which a scan says all: keys, classes, splits, members, and what it leaves.

Each ``.rows`` file has rows, and says for each where the layout is published.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layouts import notation
from layouts.archives import image
from layouts.grown import IMAGE
from layouts.row import Read, Row, Whole


def row(said: notation.Lines) -> Row:
    """Return the layout that a row of the table says.

    Behind ``->`` is the class of a sample, ``@`` its split, ``.`` each of its members, ``{`` what
    must be in its JSON, and ``={`` all of that; its key is the path behind the field ``below``. A
    line ``* KEY`` is a sample that is no file. In the fields ``ignored`` and ``rejected``, words of
    the reason may follow a name: ``a.txt (it is empty)``. ``given`` is the order of classes that
    is asked for, ``remark`` has words of what the report remarks.
    """
    fields = said.fields
    src = fields.get("src", "")
    files: dict[str, str | bytes] = {}
    samples: dict[str, str] = {}
    below = fields.get("below", f"{src}/" if src else "")
    for path, sign, text in notation.each(said.files):
        if path.startswith("* "):
            samples[path.removeprefix("* ")] = text
            continue
        files[path] = notation.made(text) if sign == ":" else _IN_FILES
        if sign == "->":
            samples[key_of(path.removeprefix(below))] = text
    for path in files:
        if "!" in path and files[path] == _IN_FILES:
            files[path] = ""
    names = " ".join(path for path, text in files.items() if text == _IN_FILES)
    contents = {path: text for path, text in notation.packed(files).items() if text != _IN_FILES}
    expected = fields["said"] if said.outcome == "refused" else _read(fields, samples)
    options = json.loads(fields.get("options", "{}"))
    given = {name: tuple(one) if isinstance(one, list) else one for name, one in options.items()}
    return Row(said.name, names, expected, given, contents, src, _several(fields, "given"))


_IN_FILES = "\0"  # a file without contents


def key_of(path: str) -> str:
    """Return the key of the sample at `path`."""
    stem = notation.called(path).rpartition(".")[0]
    folder, slash, name = stem.rpartition("/")
    return f"{folder}{slash}{name.replace('.', '%2E')}"


def _read(fields: Mapping[str, str], samples: Mapping[str, str]) -> Read:
    labels: dict[str, str | None] = {}
    splits: dict[str, str] = {}
    members: dict[str, tuple[str, ...]] = {}
    contents: dict[str, Any] = {}
    for key, text in samples.items():
        labels[key], own = None, []
        for one in map(notation.unescaped, filter(None, text.split("; "))):
            if one.startswith(("{", "={")):
                kind = Whole if one[0] == "=" else dict
                contents[key] = kind(json.loads(one.removeprefix("=")))
            elif one[0] == "@":
                splits[key] = one[1:]
            elif one[0] == ".":
                own.append(one[1:])
            else:
                labels[key] = one.removeprefix("=")
        members[key] = tuple(own)
    alike = set(members.values())
    return Read(
        labels,
        splits,
        alike.pop() if len(alike) == 1 else members,
        _reasons(fields, "ignored"),
        _reasons(fields, "rejected"),
        contents,
        _several(fields, "classes") if "classes" in fields else None,
        fields.get("what", ""),
        fields.get("remark", ""),
    )


def _several(fields: Mapping[str, str], name: str) -> tuple[str, ...]:
    parts = filter(None, fields.get(name, "").split(" | "))
    return tuple(path for part in parts for path, _ in notation.paths(part))


def _reasons(fields: Mapping[str, str], name: str) -> dict[str, str]:
    parts = (re.fullmatch(r"(.*?)(?: \((.*)\))?", one) for one in _several(fields, name))
    return {part[1]: part[2] or "" for part in parts if part}


def lay_out(row: Row, folder: Path) -> Path:
    """Write a row's files, the images among them unlike each other; return what is packed."""
    names = [name for name in row.files.split() if IMAGE.search(name)]
    files = dict.fromkeys(row.files.split(), b"{}") | {n: image(i) for i, n in enumerate(names)}
    for name, content in (files | dict(row.contents)).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
            continue
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / row.src


def groups(folder: Path) -> dict[str, list[Row]]:
    """Return the rows of each file of a folder."""
    files = sorted(folder.glob("*.rows"))
    return {file.stem: list(map(row, notation.read(file))) for file in files}


GROUPS = groups(Path(__file__).parent)

ROWS: list[Row] = [row for rows in GROUPS.values() for row in rows]
