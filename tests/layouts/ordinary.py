"""Three hundred ordinary folders of images, as people have them: none needs a question.

A folder is made of an arrangement, a style of names, and two kinds of files beside the images; each
is drawn by its number, so that all are the same in each run.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from uuid import UUID

from layouts.making import images, lines, of
from layouts.row import Layout, Truth

COUNT = 300

_Files = Mapping[str, str | bytes]
_SETS = (
    ("cat", "dog"),
    ("bird", "cat", "dog"),
    ("daisy", "dandelion", "roses", "sunflowers", "tulips"),
    ("normal", "pneumonia"),
    ("0", "1", "2", "3"),
    ("Apple___Black_rot", "Apple___healthy", "Corn___healthy"),
    ("001.Albatross", "002.Auklet", "003.Blackbird"),
    ("no mask", "with mask"),
    ("café", "straße", "zoo"),
    ("n01440764", "n01443537", "n02102040"),
)


def _day(rng: Random) -> str:
    return f"20{rng.randint(10, 24)}{rng.randint(1, 12):02}{rng.randint(1, 28):02}"


def _time(rng: Random) -> str:
    return f"{rng.randint(8, 20):02}{rng.randint(0, 59):02}{rng.randint(0, 59):02}"


def _dashed(rng: Random, sign: str = "-") -> str:
    day = _day(rng)
    return sign.join((day[:4], day[4:6], day[6:]))


def _clock(rng: Random, sign: str) -> str:
    time = _time(rng)
    return sign.join((time[:2], time[2:4], time[4:]))


def _hex(rng: Random, length: int) -> str:
    return f"{rng.getrandbits(4 * length):0{length}x}"


def _uuid(rng: Random) -> str:
    return str(UUID(int=rng.getrandbits(128)))


def _counted(form: str) -> Callable[[Random, int, str], list[str]]:
    """Names that count, from anywhere, with a few gaps."""

    def make(rng: Random, count: int, _: str) -> list[str]:
        begin = rng.randint(1, 4000)
        numbers = sorted(rng.sample(range(begin, begin + count + 3), count))
        return [form.format(number) for number in numbers]

    return make


def _each(one: Callable[[Random], str]) -> Callable[[Random, int, str], list[str]]:
    return lambda rng, count, _: [one(rng) for _ in range(count)]


def _first(form: str) -> Callable[[Random, int, str], list[str]]:
    """Names that count from 1, perhaps with that of the class."""
    return lambda _, count, kind: [form.format(n, kind=kind) for n in range(1, count + 1)]


def _downloads(rng: Random, count: int, _: str) -> list[str]:
    found = ["download.jpg", "images.jpg", "unnamed.png", "maxresdefault.jpg"]
    found += [f"download ({n}).jpg" for n in range(1, count // 4)]
    found += [f"images ({n}).jpg" for n in range(1, count // 4)]
    found += [f"photo-{rng.randint(10**12, 10**13)}-{_hex(rng, 12)}.jpg" for _ in range(count // 4)]
    while len(found) < count:
        found.append(f"pexels-photo-{rng.randint(10**5, 10**7)}.jpeg")
    return found[:count]


def _android(rng: Random) -> str:
    app = rng.choice(("Chrome", "WhatsApp", "YouTube", "Maps"))
    return f"Screenshot_{_day(rng)}-{_time(rng)}_{app}.jpg"


def _flickr(rng: Random) -> str:
    return f"{rng.randint(10**9, 10**10)}_{_hex(rng, 10)}{rng.choice(('', '_b', '_c', '_z'))}.jpg"


def _pixel(rng: Random) -> str:
    return f"PXL_{_day(rng)}_{_time(rng)}{rng.randint(0, 999):03}{rng.choice(_PIXEL)}.jpg"


def _edited(rng: Random, count: int, _: str) -> list[str]:
    begin = rng.randint(1, 8000)
    found = [f"IMG_{begin + n}.JPG" for n in range(count - 2)]
    return [*found, f"IMG_E{begin + 1}.JPG", f"IMG_E{begin + 4}.JPG"]


def _copied(rng: Random, count: int, _: str) -> list[str]:
    begin = rng.randint(1, 8000)
    found = [f"DSC_{begin + n:04}.JPG" for n in range(count - 3)]
    return [*found, *(f"DSC_{begin + n:04} (1).JPG" for n in (0, 2)), f"Copy of {found[1]}"]


def _photos(rng: Random, count: int, _: str) -> list[str]:
    """What a phone has after some years."""
    ways = [_STYLES[name] for name in ("camera", "whatsapp", "phone", "screenshots", "pixel")]
    return [name for way in ways for name in way(rng, count // 5 + 1, "")][:count]


def _generated(rng: Random) -> str:
    words = rng.sample(("a cat", "on a mat", "by the sea", "in rain", "oil painting", "4k"), 3)
    return f"{rng.randint(0, 99999):05}-{rng.randint(10**8, 10**9)}-{', '.join(words)}.png"


_PIXEL = ("", "", "", ".MP", ".PORTRAIT", ".NIGHT")
_STYLES: Mapping[str, Callable[[Random, int, str], list[str]]] = {
    "counted": _first("{}.jpg"),
    "padded": _first("{:04}.png"),
    "named": _first("{kind}_{:03}.jpg"),
    "dotted": _first("{kind}.{}.jpg"),
    "renamed": _first("{kind} ({}).jpg"),
    "images": _first("image_{:04}.jpg"),
    "frames": _counted("frame_{:06}.jpg"),
    "video": _first("video1_frame{:05}.png"),
    "camera": _counted("IMG_{:04}.JPG"),
    "nikon": _counted("DSC_{:04}.JPG"),
    "sony": _counted("DSC{:05}.JPG"),
    "fuji": _counted("DSCF{:04}.JPG"),
    "lumix": _counted("P10{:05}.JPG"),
    "gopro": _counted("GOPR{:04}.JPG"),
    "drone": _counted("DJI_{:04}.JPG"),
    "trap": _counted("RCNX{:04}.JPG"),
    "scans": _counted("scan{:04}.tif"),
    "pages": _first("page-{:03}.png"),
    "edited": _edited,
    "copied": _copied,
    "phone": _each(lambda rng: f"{_day(rng)}_{_time(rng)}.jpg"),
    "prefixed": _each(lambda rng: f"IMG_{_day(rng)}_{_time(rng)}.jpg"),
    "pixel": _each(_pixel),
    "whatsapp": lambda rng, count, _: [
        f"IMG-{_day(rng)}-WA{rng.randint(0, 9):04}.jpg" for _ in range(count)
    ],
    "saved": _each(lambda rng: f"WhatsApp Image {_dashed(rng)} at {_clock(rng, '.')}.jpeg"),
    "telegram": _each(lambda rng: f"photo_{_dashed(rng)}_{_clock(rng, '-')}.jpg"),
    "screenshots": _each(lambda rng: f"Screenshot {_dashed(rng)} at {_clock(rng, '.')}.png"),
    "apps": _each(_android),
    "snips": _first("Screenshot ({}).png"),
    "downloads": _downloads,
    "flickr": _each(_flickr),
    "hashes": _each(lambda rng: f"{_hex(rng, 32)}.jpg"),
    "uuids": _each(lambda rng: f"{_uuid(rng)}.png"),
    "scraped": _each(lambda rng: f"{rng.randint(10**6, 10**8)}.jpg"),
    "google": _first("{}. {kind}-photo.jpg"),
    "generated": _each(_generated),
    "photos": _photos,
}


def _readme(rng: Random, paths: Sequence[str]) -> _Files:
    shown = "".join(f"![]({path})\n" for path in paths[:2])
    text = f"# My images\n\nTaken in {rng.randint(2010, 2024)}.\n\n{shown}"
    return {"README.md": text, "LICENSE": "MIT License\n\nPermission is hereby granted ...\n"}


def _code(_: Random, paths: Sequence[str]) -> _Files:
    train = f"import torch\n\nEPOCHS = 3\nFIRST = '{paths[0]}'\n\n\ndef main():\n    ...\n"
    return {
        "train.py": train,
        "src/model.py": "class Net: ...\n",
        "requirements.txt": "torch==2.3.0\ntorchvision\npillow>=10\nnumpy\ntqdm\n",
        "config.yaml": "lr: 0.01\nbatch_size: 32\nepochs: 3\n",
    }


def _checksums(_: Random, paths: Sequence[str]) -> _Files:
    digests = [f"{hashlib.md5(path.encode()).hexdigest()}  {path}" for path in paths]
    return {"md5sums.txt": lines(digests)}


def _notebook(_: Random, paths: Sequence[str]) -> _Files:
    code = [f"Image.open('{paths[0]}')\n", f"Image.open('{paths[-1]}')\n"]
    cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": []}
    return {"explore.ipynb": json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4})}


def _logs(rng: Random, paths: Sequence[str]) -> _Files:
    epochs = [f"{n},{rng.random():.4f},{rng.random():.4f}" for n in range(rng.randint(3, 12))]
    said = [f"2023-01-0{n} 10:00:00 INFO epoch {n} done" for n in range(1, 6)]
    said += [f"2023-01-09 10:00:00 WARNING {path}: corrupt EXIF data" for path in paths[:3]]
    return {"logs/train.log": lines(said), "history.csv": lines(["epoch,loss,acc", *epochs])}


def _hidden(_: Random, paths: Sequence[str]) -> _Files:
    folders = {path.rpartition("/")[0] for path in paths} - {""}
    beside: dict[str, str | bytes] = {}
    beside |= {f"{folder}/Thumbs.db": b"\xd0\xcf\x11\xe0" + bytes(60) for folder in folders}
    ini = "[.ShellClassInfo]\nIconIndex=0\n"
    beside |= {".github/workflows/test.yml": "on: push\n", ".venv/pyvenv.cfg": "version = 3.11\n"}
    return {".DS_Store": b"\0\0\0\1Bud1" + bytes(30), "desktop.ini": ini, **beside}


def _classes(_: Random, paths: Sequence[str]) -> _Files:
    names = sorted({path.split("/")[-2] for path in paths if "/" in path})
    if not names:
        return {}
    return {
        "classes.txt": lines(names),
        "class_indices.json": json.dumps({name: n for n, name in enumerate(names)}),
    }


def _urls(rng: Random, paths: Sequence[str]) -> _Files:
    urls = [f"https://example.org/{_hex(rng, 8)}.jpg" for _ in range(len(paths) + 5)]
    return {"urls.txt": lines(urls)}


def _installed(rng: Random, _: Sequence[str]) -> _Files:
    base = "venv/lib/python3.11/site-packages"
    record = [f"pkg/m{n}.py,sha256={_hex(rng, 32)},{rng.randint(9, 999)}" for n in range(30)]
    return {
        "venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n",
        f"{base}/pkg/__init__.py": '"""A package."""\n\n__version__ = "1.2"\n',
        f"{base}/pkg-1.2.dist-info/RECORD": lines(record),
        f"{base}/pkg-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: pkg\nVersion: 1.2\n",
        f"{base}/pkg-1.2.dist-info/top_level.txt": "pkg\n",
        f"{base}/pkg-1.2.dist-info/entry_points.txt": "[console_scripts]\npkg = pkg:main\n",
    }


def _notes(_: Random, paths: Sequence[str]) -> _Files:
    text = f"todo:\n- take more photos\n- {paths[1]} is blurred, take it again\n- label the rest\n"
    return {"notes.txt": text, "todo.md": "# To do\n\n1. Crop\n2. Train\n"}


def _sidecars(_: Random, paths: Sequence[str]) -> _Files:
    return {
        "album.ini": "[Picasa]\nname=Holidays\n",
        "video.mp4": b"\0\0\0\x18ftypmp42" + bytes(40),
    }


def _models(_: Random, __: Sequence[str]) -> _Files:
    results = json.dumps({"accuracy": 0.93, "loss": 0.2, "per_class": [0.9, 0.95]})
    return {
        "best.pt": b"PK\3\4" + bytes(40),
        "model.h5": b"\x89HDF\r\n\x1a\n" + bytes(88) + b"keras_version\0model_weights" + bytes(40),
        "results.json": results,
    }


def _requirements(_: Random, __: Sequence[str]) -> _Files:
    return {"requirements.txt": lines(["torch", "numpy", "pillow"]), ".gitignore": "*.pyc\nvenv/\n"}


_BESIDE = (
    _readme, _code, _checksums, _notebook, _logs, _hidden, _classes, _urls, _installed, _notes,
    _sidecars, _models, _requirements,
)  # fmt: skip


def _in_classes(rng: Random, style: str, split: str = "") -> Iterator[tuple[str, Truth]]:
    kinds = _SETS[rng.randrange(len(_SETS))] if not split else _SETS[len(style) % len(_SETS)]
    for kind in kinds:
        count = rng.randint(2, 4) if split in ("val", "test") else rng.randint(6, 12)
        for name in dict.fromkeys(_STYLES[style](rng, max(count, 6), kind)):
            yield f"{kind}/{name}", of(kind, split=split)


def _arranged(rng: Random, style: str, how: int) -> dict[str, Truth]:
    if how == 0:
        return dict(_in_classes(rng, style))
    if how == 1:
        splits = rng.choice((("train", "val", "test"), ("train", "test"), ("train", "val")))
        found = (
            (one, path, truth) for one in splits for path, truth in _in_classes(rng, style, one)
        )
        return {f"{split}/{path}": truth for split, path, truth in found}
    if how == 2:
        top = rng.choice(("dataset", "images", "data/images", "my photos"))
        return {f"{top}/{path}": truth for path, truth in _in_classes(rng, style)}
    names = dict.fromkeys(_STYLES[style](rng, rng.randint(12, 40), "photo"))
    return dict.fromkeys(names, of())


def ordinary() -> Iterator[Layout]:
    """Yield the folders."""
    for number in range(COUNT):
        rng = Random(number)
        styles = list(_STYLES)
        style = styles[number // 4 % len(styles)]
        truth = _arranged(rng, style, number % 4)
        beside = rng.sample(_BESIDE, 2)
        files = images(truth)
        for one in beside:
            files |= one(rng, list(truth))
        how = ("classes", "splits", "a wrapper", "flat")[number % 4]
        texts = ", ".join(one.__name__.strip("_") for one in beside)
        yield Layout(f"{number}: {how}, {style}, {texts}", "a person", files, truth)
