"""Three hundred ordinary folders of images, as people have them: none needs a question.

A folder is made of an arrangement, a style of names, and two kinds of files beside the images; each
is drawn by its number, so that all are the same in each run. ordinary.rows has most of the files
beside them: ``{first}``, ``{second}`` and ``{last}`` are images, ``{folder}`` is one of theirs.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from uuid import UUID

from layouts import notation
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


def _checksums(_: Random, paths: Sequence[str]) -> _Files:
    digests = [f"{hashlib.md5(path.encode()).hexdigest()}  {path}" for path in paths]
    return {"md5sums.txt": lines(digests)}


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


def _written(row: notation.Lines, paths: Sequence[str]) -> _Files:
    """Return the files of a row of ordinary.rows, which name images and a folder of them."""
    folder = paths[0].rpartition("/")[0]
    known = {"{first}": paths[0], "{second}": paths[1], "{last}": paths[-1]}
    known["{folder}"] = f"{folder}/" if folder else ""
    text = "\0".join(row.files)
    for field, value in known.items():
        text = text.replace(field, value)
    return {path: notation.made(said) for path, _, said in notation.each(text.split("\0"))}


_BESIDE: Mapping[str, Callable[[Random, Sequence[str]], _Files]] = {
    "checksums": _checksums,
    "classes": _classes,
    "urls": _urls,
    **{
        row.name: lambda _, paths, row=row: _written(row, paths)
        for row in notation.read(Path(__file__).with_suffix(".rows"))
    },
}


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
        beside = rng.sample(sorted(_BESIDE), 2)
        files = images(truth)
        for one in beside:
            files |= _BESIDE[one](rng, list(truth))
        how = ("classes", "splits", "a wrapper", "flat")[number % 4]
        yield Layout(f"{number}: {how}, {style}, {', '.join(beside)}", "a person", files, truth)
