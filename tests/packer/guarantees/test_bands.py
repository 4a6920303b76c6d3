"""A TIFF of many bands is named as one, and the command in the reason packs it."""

import re
import shlex
import struct
from pathlib import Path

import numpy as np
from called_packer import call_packer
from made_images import make_image

import reader

BANDS, HEIGHT, WIDTH = 12, 30, 40


def tiff(values: np.ndarray, order: str) -> bytes:
    """An uncompressed TIFF of one strip, whose bands Pillow does not open."""
    height, width, bands = values.shape
    body = values.astype(np.dtype(np.uint16).newbyteorder(order)).tobytes()
    tags = [(256, width), (257, height), (259, 1), (262, 1), (273, 8), (277, bands)]
    tags.append((279, len(body)))
    begin = {"<": b"II*\0", ">": b"MM\0*"}[order]
    ifd = struct.pack(f"{order}H", len(tags) + 1)
    for tag, value in sorted([*tags, (258, 16)]):
        kind, code = ("I", 4) if tag in (273, 279) else ("H", 3)
        ifd += struct.pack(f"{order}HHI{kind}", tag, code, 1, value).ljust(12, b"\0")
    return begin + struct.pack(f"{order}I", 8 + len(body)) + body + ifd + bytes(4)


def test_the_command_in_the_reason_packs_the_bands_of_a_tiff(tmp_path: Path) -> None:
    values = np.arange(HEIGHT * WIDTH * BANDS, dtype=np.uint16).reshape(HEIGHT, WIDTH, BANDS)
    tiffs, pictures, arrays = (tmp_path / name for name in ("tiffs", "pictures", "arrays"))
    for number, (name, order) in enumerate({"crops": "<", "forest": ">"}.items()):
        for folder in (tiffs, pictures, arrays):
            (folder / name).mkdir(parents=True)
        (tiffs / name / "0.tif").write_bytes(tiff(values, order))
        np.save(arrays / name / "0.npy", values)
        make_image(number, HEIGHT, WIDTH).save(pictures / name / "0.png")
    done = call_packer("pack", tiffs, tmp_path / "dst")
    assert "it is a TIFF of 12 bands" in done.stderr
    command = re.search(r"packer (pack PICTURES NEW --pair bands=ARRAYS)", done.stderr)
    assert command is not None
    words = command[1].replace("PICTURES", str(pictures))
    words = words.replace("NEW", str(tmp_path / "new")).replace("ARRAYS", str(arrays))
    call_packer(*shlex.split(words), code=0)

    fields = ("image", "bands.npy")
    with reader.Loader(tmp_path / "new", batch_size=2, fields=fields, workers=0) as loader:
        _, bands = next(iter(loader))
    assert bands.shape == (2, HEIGHT, WIDTH, BANDS)
    assert all(np.array_equal(one.numpy(), values) for one in bands)
