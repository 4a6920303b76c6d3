"""Files that the layouts consist of: pictures, archives, arrays and tables."""

import gzip
import io
import json
import pickle
import re
import struct
import tarfile
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from PIL import Image

from layouts import huggingface, matlab, records
from layouts.images import is_image, picture
from layouts.row import Layout, Truth


def content(name: str, text: str | bytes) -> bytes:
    """Return the bytes of a file as `Layout` describes it."""
    if isinstance(text, bytes):
        return text
    return picture(name) if text == "" and is_image(name) else text.encode()


def tar(files: Mapping[str, str | bytes], compression: str = "") -> bytes:
    """Return a tar; `compression` is "", "gz", "bz2" or "xz"."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, text in files.items():
            data = content(name, text)
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(held.getvalue(), mtime=0) if compression == "gz" else held.getvalue()


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), content(name, text))
    return held.getvalue()


def of(
    *names: str,
    split: str = "",
    labels: Iterable[str] = (),
    holds: Iterable[str] = (),
    files: Iterable[str] = (),
) -> Truth:
    """Return the truth about an image whose class may have any of `names`."""
    return Truth(frozenset(names), frozenset(labels), split, tuple(holds), tuple(files))


def images(names: Iterable[str]) -> dict[str, str | bytes]:
    """Return the files of images."""
    return dict.fromkeys(names, "")


def lines(rows: Iterable[str], end: str = "\n") -> str:
    """Return the text of a list."""
    return "".join(f"{row}{end}" for row in rows)


def named(group: str, rows: Iterable[Layout]) -> list[Layout]:
    """Return `rows` with the name of their group before each name."""
    return [row._replace(name=f"{group}: {row.name}") for row in rows]


def archived(row: Layout, archive: str, name: str, top: str = "") -> Layout:
    """Return `row` as the archive its publisher offers; `top` is a folder in it for all files."""
    below = f"{row.src}/" if row.src else ""
    masks = {below + path for fact in row.truth.values() for path in fact.files}
    inside = {
        top + path: picture(path, mask=True) if path in masks and text == "" else text
        for path, text in row.files.items()
        if path.startswith(below)
    }
    packed = zipped(inside) if archive.endswith(".zip") else tar(inside, _compression(archive))
    truth = {top + below + path: _below(fact, top + below) for path, fact in row.truth.items()}
    return Layout(name, row.source, {archive: packed}, truth, archive, row.options)


def _below(fact: Truth, top: str) -> Truth:
    return fact._replace(files=tuple(top + path for path in fact.files))


def _compression(archive: str) -> str:
    return "gz" if archive.endswith(("gz", "tgz")) else ""


def npz(**arrays: Any) -> bytes:
    """Return a file of NumPy's arrays."""
    held = io.BytesIO()
    np.savez(held, **arrays)
    return held.getvalue()


def mat(**values: Any) -> bytes:
    """Return a MATLAB file, version 5."""
    from scipy.io import savemat

    held = io.BytesIO()
    savemat(held, values)
    return b"MATLAB 5.0 MAT-file".ljust(116) + held.getvalue()[116:]  # without the time in it


def hdf5() -> bytes:
    """Return the beginning of an HDF5 file."""
    return b"\x89HDF\r\n\x1a\n" + struct.pack("<4B", 0, 0, 0, 0) + bytes(2036)


def parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    held = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), held)
    return held.getvalue()


def xlsx(rows: Sequence[Sequence[str]]) -> bytes:
    """Return an Excel workbook of one sheet of texts."""
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{c}</t></is></c>' for c in row) + "</row>"
        for row in rows
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rels = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    types = "http://schemas.openxmlformats.org/package/2006/content-types"
    return zipped(
        {
            "[Content_Types].xml": f'{head}<Types xmlns="{types}">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/>'
            "</Types>",
            "_rels/.rels": f'{head}<Relationships xmlns="{rels}"><Relationship Id="rId1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'{head}<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'{head}<Relationships xmlns="{rels}"><Relationship '
            f'Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
            "</Relationships>",
            "xl/worksheets/sheet1.xml": f'{head}<worksheet xmlns="{main}"><sheetData>{cells}'
            "</sheetData></worksheet>",
        }
    )


def _meant(value: Any) -> Any:
    """Return what JSON stands for.

    "6x28x28" are pixels, {"cells": ...} MATLAB's cells, {"fields": ..., "rows": ...} its structs.
    """
    if isinstance(value, str) and re.fullmatch(r"\d+(x\d+)+", value):
        shape = tuple(map(int, value.split("x")))
        return np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    if isinstance(value, dict) and "cells" in value:
        return np.array(value["cells"], object)
    if isinstance(value, dict) and "fields" in value:
        rows = [tuple(map(_meant, row)) for row in value["rows"]]
        return np.array(rows, [(name, "O") for name in value["fields"]])
    return value


def _arguments(said: str) -> dict[str, Any]:
    return {name: _meant(one) for name, one in json.loads(said).items()}


def _npy(said: str) -> bytes:
    held = io.BytesIO()
    np.save(held, np.asarray(_meant(json.loads(said))))
    return held.getvalue()


def _idx(said: str) -> bytes:
    """Return an IDX file of bytes."""
    values = np.asarray(_meant(json.loads(said)), np.uint8)
    head = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    return head + values.tobytes()


def _blank(said: str) -> bytes:
    """Return a PNG of one colour, whose size and mode are said as "16x12 RGB"."""
    size, mode = said.split()
    width, height = map(int, size.split("x"))
    held = io.BytesIO()
    Image.new(mode, (width, height)).save(held, "PNG")
    return held.getvalue()


def _voc(said: str) -> bytes:
    """Return an annotation as VOC has them, of objects such as "dog 1 2 16 12; cat 5.5 2 7 3"."""
    objects = ""
    for name, *box in map(str.split, filter(None, said.split("; "))):
        corners = zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
        inside = "".join(f"<{corner}>{number}</{corner}>" for corner, number in corners)
        objects += (
            f"<object><name>{name}</name><pose>Left</pose><truncated>1</truncated>"
            f"<difficult>0</difficult><bndbox>{inside}</bndbox></object>"
        )
    head = "<size><width>16</width><height>16</height><depth>3</depth></size>"
    return f"<annotation><filename>1.jpg</filename>{head}{objects}</annotation>".encode()


def _pickled(said: str) -> bytes:
    value = json.loads(said)
    return pickle.dumps(_arguments(said) if isinstance(value, dict) else value, 4)


# What the notation calls them, and what they make of a text.
MAKERS: Mapping[str, Callable[[str], bytes]] = {
    "beton": records.said(records.beton),
    "blank": _blank,
    "bytes": lambda said: said.encode("latin-1"),
    "copy": picture,
    "gzip": lambda said: gzip.compress(said.encode(), mtime=0),
    "hf": huggingface.parquet,
    "hf-arrow": lambda said: huggingface.arrow(huggingface.table(said)),
    "hdf5": lambda _: hdf5(),
    "idx": _idx,
    "lmdb": records.said(records.lmdb),
    "mat": lambda said: mat(**_arguments(said)),
    "matlab": matlab.said,
    "mds": records.said(records.mds),
    "npy": _npy,
    "npz": lambda said: npz(**_arguments(said)),
    "parquet": lambda said: parquet(json.loads(said)),
    "pickle": _pickled,
    "recordio": records.said(records.recordio),
    "tfrecord": records.said(records.tfrecord),
    "voc": _voc,
    "zlib": lambda said: zlib.decompress(b64decode(said)),
    "xlsx": lambda said: xlsx(json.loads(said)),
}
