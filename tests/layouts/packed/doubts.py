"""What the audit of a scan asks: ten variations of each question, named after it."""

import json
from collections.abc import Iterable, Mapping, Sequence

from layouts.making import of
from layouts.row import Layout, Truth

LAYOUTS: list[Layout] = []
_KINDS = ("cat", "dog", "bird")


def _add(question: str, name: str, files: Mapping[str, str], truth: Mapping[str, Truth]) -> None:
    source = "https://docs.pytorch.org/vision/stable/datasets.html"
    LAYOUTS.append(Layout(f"doubts: {question}, {name}", source, files, truth))


def _files(paths: Iterable[str]) -> dict[str, str]:
    return dict.fromkeys(paths, "")


def _tables_beside_classes() -> None:
    """A table without labels names the images of class folders."""
    files = [f"{kind}/{kind}_{n}.jpg" for kind in _KINDS for n in range(4)]
    stems = [path.rpartition("/")[2][:-4] for path in files]
    texts = [f"a picture, the {n}th of them" for n in range(len(files))]
    rows = {
        "metadata.csv": ("path,width,height", [f"{f},{9 + n},7" for n, f in enumerate(files)]),
        "captions.csv": (
            "image,caption",
            [f'{f},"{t}"' for f, t in zip(files, texts, strict=True)],
        ),
        "folds.csv": ("filename,fold", [f"{s}.jpg,{n % 5}" for n, s in enumerate(stems)]),
        "sizes.csv": ("name,bytes", [f"{s}.jpg,{1000 + n}" for n, s in enumerate(stems)]),
        "quality.tsv": ("file\tblur", [f"{f}\t{n / 64}" for n, f in enumerate(files)]),
        "meta/dates.csv": ("file,date", [f"{f},2024-01-{n + 10}" for n, f in enumerate(files)]),
        "photographers.csv": ("id,author", [f"{s},person {n}" for n, s in enumerate(stems)]),
        "scores.csv": ("score,path", [f"{n + 0.25},{f}" for n, f in enumerate(files)]),
    }
    for name, (head, lines) in rows.items():
        cells = [line.replace('"', "").split("\t" if "\t" in head else ",", 1) for line in lines]
        held = [
            next(c for c in row if c.split(".")[0].split("/")[-1] not in stems) for row in cells
        ]
        held = [text.split(",")[0] if name == "metadata.csv" else text for text in held]
        truth = {
            path: of(path.split("/")[0], holds=(text,))
            for path, text in zip(files, held, strict=True)
        }
        _add(
            "tables beside classes",
            name,
            _files(files) | {name: "\n".join([head, *lines, ""])},
            truth,
        )
    splits = ["val" if n % 4 == 0 else "train" for n in range(len(files))]
    truth = {f: of(f.split("/")[0], split=s) for f, s in zip(files, splits, strict=True)}
    lines = [f"{f},{s}" for f, s in zip(files, splits, strict=True)]
    table = "\n".join(["file,split", *lines, ""])
    _add("tables beside classes", "splits.csv", _files(files) | {"splits.csv": table}, truth)
    lines = [json.dumps({"file_name": f, "text": t}) for f, t in zip(files, texts, strict=True)]
    truth = {f: of(f.split("/")[0], holds=(t,)) for f, t in zip(files, texts, strict=True)}
    table = {"metadata.jsonl": "\n".join([*lines, ""])}
    _add("tables beside classes", "metadata.jsonl", _files(files) | table, truth)


def _deeper_classes() -> None:
    """Folders above the classes are domains, sites or dates."""
    tops: dict[str, tuple[tuple[str, ...], str]] = {
        "Office-31": (("amazon", "dslr", "webcam"), "images/"),
        "hospitals": (("hospital_A", "hospital_B"), "data/"),
        "a folder of its own name": (("A", "B"), "set/train/"),
        "cameras": (("canon", "nikon", "phone"), "crops/"),
        "farms": (("farm_north", "farm_south"), "2023/images/"),
        "light": (("day", "night"), "raw/"),
        "annotators": (("anna", "bert", "carl"), "sorted/"),
        "Kaggle's folders in folders": (("Apple", "Grape"), "leaf images/"),
        "seasons": (("summer", "winter"), "export/v1/"),
        "resolutions": (("40X", "100X"), "images/"),
    }
    for name, (domains, between) in tops.items():
        files = [
            f"{domain}/{between}{kind}/{domain[-1]}{domain[0]}{kind[0]}{n}.jpg"
            for domain in domains
            for kind in _KINDS
            for n in range(3)
        ]
        truth = {path: of(path.split("/")[-2], holds=(path.split("/")[0],)) for path in files}
        _add("deeper classes", name, _files(files), truth)


def _of_parts(question: str, name: str, keys: Sequence[str], templates: Sequence[str]) -> None:
    """Samples of several pictures: the path of each by the key, that of the image first."""
    files = [template.format(key) for template in templates for key in keys]
    truth = {
        templates[0].format(key): of(files=tuple(t.format(key) for t in templates[1:]))
        for key in keys
    }
    _add(question, name, _files(files), truth)


def _scenes() -> None:
    """A folder for each sample, which holds its parts."""
    parts = {
        "image and mask": ("image.png", "mask.png"),
        "before and after": ("before.jpg", "after.jpg"),
        "stereo": ("im0.png", "im1.png"),
        "RGB and depth": ("rgb.jpg", "depth.png"),
        "input and target": ("input.png", "target.png"),
        "left and right": ("left.jpg", "right.jpg"),
        "changes": ("A.png", "B.png", "label.png"),
        "colour and infrared": ("color.png", "thermal.png"),
        "InstructPix2Pix": ("original.jpg", "edited.jpg"),
        "flow": ("frame_a.png", "frame_b.png", "occlusion.png"),
    }
    folders = [f"{word}{n}" for n, word in enumerate(("arch", "boat", "cafe", "dune", "elm"))]
    for name, some in parts.items():
        _of_parts("scenes", name, folders, [f"{{}}/{part}" for part in some])


def _affixes() -> None:
    """Parts of one sample in folders beside each other, or beside each other in one."""
    ways = {
        "left/x_left": ("left/{}_left.jpg", "right/{}_right.jpg"),
        "HR and LR with x4": ("HR/{}.png", "LR/{}x4.png"),
        "cameras with angles": ("cam_a/{}_45.png", "cam_b/{}_90.png"),
        "blur_ and sharp_": ("blur_{}.png", "sharp_{}.png"),
        "x.color and x.depth": ("{}.color.png", "{}.depth.png"),
        "t1, t2 and change": ("t1_{}.png", "t2_{}.png", "change_{}.png"),
        "im and label": ("im{}.png", "label{}.png"),
        "GT_ and NOISY_": ("GT_{}.png", "NOISY_{}.png"),
        "color/c_ and ir/i_": ("color/c_{}.jpg", "ir/i_{}.jpg"),
        "front/f- and rear/r-": ("front/f-{}.jpg", "rear/r-{}.jpg"),
    }
    for name, templates in ways.items():
        _of_parts("affixes", name, [f"{n:03}" for n in range(10, 16)], templates)


def _labels_in_names() -> None:
    """Names of a flat set carry the class."""
    hashes = ("a1b2c3d4", "e5f60718", "29a0b1c2", "d3e4f506", "1728394a", "5b6c7d8e", "9fa0b1c2")
    forms = {
        "001_cat": "{n:03}_{kind}.jpg",
        "cat (1)": "{kind} ({of_kind}).jpg",
        "3-0001": "{number}-{n:04}.png",
        "img_001_label_3": "img_{n:03}_label_{number}.png",
        "cat-hash": "{kind}-{hash}.jpg",
        "cat1": "{kind}{of_kind}.jpg",
        "subject01.happy": "subject{n:02}.{kind}.png",
        "20240101-cat-001": "20240101-{kind}-{n:03}.jpg",
        "x_1_dog_v": "x_{n}_{kind}_v.jpg",
        "IMG_0001_cat": "IMG_{n:04}_{kind}.JPG",
    }
    for name, form in forms.items():
        truth, n = {}, 0
        for of_kind in range(1, 5):
            for number, kind in enumerate(_KINDS):
                hashed = f"{hashes[n % 7][:-1]}{n % 10}"
                way = {"n": n, "kind": kind, "of_kind": of_kind, "number": number, "hash": hashed}
                by_number = "{kind}" not in form
                truth[form.format(**way)] = of(str(number) if by_number else kind)
                n += 1
        _add("labels in names", name, _files(truth), truth)


def _strange_folders() -> None:
    """Copies of classes, and pictures about the dataset."""
    files = [f"{kind}/{kind[0]}{n:02}.jpg" for kind in _KINDS for n in range(20)]
    truth = {path: of(path.split("/")[0]) for path in files}
    for stray in (
        *("docs/teaser.png", "assets/banner.png", "figures/fig1.png", "media/logo.png"),
        *("screenshots/app.png", "demo/demo.jpg", "paper/overview.png"),
    ):
        _add("strange folders", stray, _files([*files, stray]), truth)


def _splits_of_lists() -> None:
    """Tables of splits whose names are not the usual ones."""
    for names in (
        *(("train", "dev_seen"), ("train", "holdout"), ("train", "query", "gallery")),
        *(("train", "test", "test_hard"), ("train", "val", "ood"), ("training", "calibration")),
    ):
        files: dict[str, str] = {}
        truth: dict[str, Truth] = {}
        for at, name in enumerate(names):
            paths = [f"img/{at}{n:04}.png" for n in range(6)]
            rows = [f"{path},{_KINDS[n % 3]}" for n, path in enumerate(paths)]
            files |= _files(paths) | {f"{name}.csv": "\n".join(["image,label", *rows, ""])}
            split = "train" if name == "training" else name
            truth |= {path: of(_KINDS[n % 3], split=split) for n, path in enumerate(paths)}
        _add("splits of lists", " and ".join(names), files, truth)


def _samples_as_classes() -> None:
    """A folder for each image."""
    for name, form in {
        "products": "product{n}/{n}.jpg",
        "patients": "P-{n:03}/scan.png",
        "cases": "case_{n}/ct_{n}.png",
        "uploads": "user{n}/avatar.jpg",
    }.items():
        truth = {form.format(n=n): of() for n in range(12)}
        _add("samples as classes", name, _files(truth), truth)


_tables_beside_classes()
_deeper_classes()
_scenes()
_affixes()
_labels_in_names()
_strange_folders()
_splits_of_lists()
_samples_as_classes()
