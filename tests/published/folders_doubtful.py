"""Folders that may mean several things: chunks, copies, thumbnails, exports of programs."""

import json
import unicodedata

from published.images import picture
from published.making import images, lines, named, of, parquet, tar
from published.row import Layout, Truth

_HF = "https://huggingface.co/docs/datasets/image_dataset"
_IMAGE_FOLDER = "torchvision.datasets.ImageFolder"


def _plain(name: str, source: str, paths: list[str], src: str = "data") -> Layout:
    """Return a layout of images without classes."""
    return Layout(
        name, source, images(f"{src}/{path}" for path in paths), {p: of() for p in paths}, src
    )


def _classes(
    kinds: tuple[str, ...] = ("cat", "dog"), number: int = 3, top: str = ""
) -> dict[str, Truth]:
    return {f"{top}{kind}/{n}.jpg": of(kind) for kind in kinds for n in range(number)}


def _flat() -> list[Layout]:
    chunked = [f"chunk_{c:03}/{n}.jpg" for c in range(3) for n in range(3)]
    numbered = [f"{c:05}/{c:05}{n:04}.jpg" for c in range(3) for n in range(3)]
    hashed = [f"{c}/{d}/{c}{d}9f{n}.jpg" for c in "0a" for d in "1f" for n in range(2)]
    flat_hash = [f"{c}/{c}39f{n}.jpg" for c in ("00", "0a", "ff") for n in range(2)]
    days = [
        f"2023/{m:02}/{d:02}/IMG_{m}{d}{n}.jpg" for m in (1, 2) for d in (3, 4) for n in range(2)
    ]
    dated = [
        f"{day}/IMG_{n}.jpg" for day in ("2023-01-03", "2023-01-04", "2023-02-11") for n in range(3)
    ]
    return [
        _plain(
            "one folder with all images",
            "https://www.kaggle.com",
            [f"all/{n}.jpg" for n in range(6)],
        ),
        _plain(
            "one folder named images with all images",
            "https://www.kaggle.com",
            [f"images/{n}.jpg" for n in range(6)],
        ),
        _plain(
            "one folder named img_all with all images",
            "https://www.kaggle.com",
            [f"img_all/{n}.jpg" for n in range(6)],
        ),
        _plain("chunk_000, chunk_001, chunk_002", "img2dataset, files", chunked),
        _plain("chunks of five digits", "https://github.com/rom1504/img2dataset", numbered),
        _plain("folders of letters of a hash, two levels", "git, caches of browsers", hashed),
        _plain("folders of two letters of a hash", "https://www.gwern.net/Danbooru2021", flat_hash),
        _plain(
            "folders of year, month and day",
            "https://helpx.adobe.com/lightroom-classic/help/importing-photos.html",
            days,
            "Lightroom",
        ),
        _plain("folders of days", "https://helpx.adobe.com/lightroom-classic", dated, "Photos"),
        _plain(
            "folders part1, part2",
            "https://susanqq.github.io/UTKFace/",
            [f"part{p}/{n}_{p}.jpg" for p in (1, 2, 3) for n in range(2)],
        ),
        _plain(
            "folders batch_1, batch_2",
            "http://tacodataset.org",
            [f"batch_{p}/{n:06}.jpg" for p in (1, 2, 3) for n in range(2)],
        ),
    ]


def _apple() -> list[Layout]:
    moments = [
        f"{place}/IMG_{n}{k}.jpeg"
        for k, place in enumerate(("Berlin - Mitte, 3 May 2023", "Oslo, 4 May 2023"))
        for n in range(3)
    ]
    row = _plain(
        "Apple Photos, exported with folders of moments",
        "https://support.apple.com/guide/photos/export-photos-pht6e157c5f",
        moments,
        "Export",
    )
    edited = [f"Export/IMG_000{n}.jpeg" for n in range(3)]
    files = images([*edited, "Export/IMG_E0001.jpeg"])
    files |= {f"Export/IMG_000{n}.AAE": "<?xml version='1.0'?><plist/>" for n in range(3)}
    files |= {f"Export/IMG_000{n}.MOV": b"\0\0\0\x14ftypqt  " for n in range(2)}
    google = {f"Takeout/Google Photos/Photos from 2023/IMG_{n}.jpg": "" for n in range(4)}
    sides = {
        path + ".json": json.dumps(
            {"title": path.rsplit("/", 1)[1], "photoTakenTime": {"timestamp": "1"}}
        )
        for path in google
    }
    lightroom = {f"Lightroom/2023/IMG_{n}.jpg": of() for n in range(3)}
    catalog: dict[str, str | bytes] = images(lightroom)
    catalog["Lightroom/Catalog.lrcat"] = b"SQLite format 3\0"
    catalog["Lightroom/Catalog Previews.lrdata/1/1A2B/1A2B.lrprev"] = b"AgHg"
    catalog |= {
        f"Lightroom/2023/IMG_{n}.xmp": "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>" for n in range(3)
    }
    return [
        row,
        Layout(
            "Apple Photos, unmodified originals with AAE and MOV",
            "https://support.apple.com/guide/photos/export-photos-pht6e157c5f",
            files,
            {path.split("/")[1]: of() for path in [*edited, "Export/IMG_E0001.jpeg"]},
            "Export",
        ),
        Layout(
            "Google Takeout, a JSON beside each photo",
            "https://support.google.com/accounts/answer/3024190",
            google | sides,
            {path: of(holds=["photoTakenTime"]) for path in google},
            "",
        ),
        Layout(
            "Lightroom, XMP beside photos and its catalog",
            "https://helpx.adobe.com/lightroom-classic",
            catalog,
            {path.split("/", 1)[1]: of() for path in lightroom},
            "Lightroom",
        ),
    ]


def _unicode() -> list[Layout]:
    truth: dict[str, Truth] = {}
    for n in range(4):
        form = "NFD" if n % 2 else "NFC"
        truth[f"{unicodedata.normalize(form, 'café')}/{n}.jpg"] = of("café")
        truth[f"thé/{n}.jpg"] = of("thé")
    split: dict[str, Truth] = {}
    for part, form in (("train", "NFC"), ("val", "NFD")):
        for kind in ("café", "thé"):
            for n in range(2):
                path = f"{part}/{unicodedata.normalize(form, kind)}/{part}{n}.jpg"
                split[path] = of(kind, split=part)
    return [
        Layout(
            "a class in two forms of Unicode",
            "https://unicode.org/reports/tr15/",
            images(f"data/{path}" for path in truth),
            truth,
            "data",
        ),
        Layout(
            "train in one form of Unicode, val in another",
            "https://unicode.org/reports/tr15/",
            images(f"data/{path}" for path in split),
            split,
            "data",
        ),
    ]


def _strays() -> list[Layout]:
    stray = {f"dataset/{path}": fact for path, fact in _classes().items()}
    inside = _classes()
    nested = {"animals/" + path: fact for path, fact in _classes().items()}
    single = {f"class_{n}/{n}.jpg": of(f"class_{n}") for n in range(6)}
    mixed = {
        **_classes(),
        "dog/puppies/1p.jpg": of("dog", "puppies"),
        "dog/puppies/2p.jpg": of("dog", "puppies"),
    }
    return [
        Layout(
            "a stray image in a folder around the class folders",
            _IMAGE_FOLDER,
            images([f"data/{p}" for p in stray] + ["data/screenshot.png"]),
            stray,
            "data",
        ),
        Layout(
            "a stray image beside class folders",
            _IMAGE_FOLDER,
            images([f"data/{p}" for p in inside] + ["data/sample.jpg"]),
            inside,
            "data",
        ),
        Layout(
            "a stray image beside splits",
            _IMAGE_FOLDER,
            images(
                ["data/cover.png"] + [f"data/{s}/{p}" for s in ("train", "val") for p in inside]
            ),
            {
                f"{s}/{p}": fact._replace(split=s)
                for s in ("train", "val")
                for p, fact in inside.items()
            },
            "data",
        ),
        Layout(
            "class folders below one folder",
            _IMAGE_FOLDER,
            images(f"data/{p}" for p in nested),
            nested,
            "data",
        ),
        Layout(
            "one image for each class",
            _IMAGE_FOLDER,
            images(f"data/{p}" for p in single),
            {path: of(*fact.label) for path, fact in single.items()},
            "data",
        ),
        Layout(
            "a class folder with a folder below",
            _IMAGE_FOLDER,
            images(f"data/{p}" for p in mixed),
            mixed,
            "data",
        ),
        Layout(
            "an image in each of two classes, byte for byte",
            _IMAGE_FOLDER,
            {
                f"data/{kind}/{n}.jpg": picture(f"{n}.jpg")
                for kind in ("cat", "dog")
                for n in range(2)
            },
            {f"{kind}/{n}.jpg": of(kind) for kind in ("cat", "dog") for n in range(2)},
            "data",
        ),
    ]


def _names() -> list[Layout]:
    vehicles = _classes(("bus", "car", "train"))
    tests = _classes(("exam", "quiz", "test"))
    mixed = {
        f"{s}/{k}/{s}{n}.jpg": of(k, split=s)
        for s in ("train", "test")
        for k in ("boat", "car", "train")
        for n in range(2)
    }
    masks = _classes(("mask", "no_mask"))
    masked = _classes(("with_mask", "without_mask", "mask_weared_incorrect"))
    labels = _classes(("label", "price_tag"))
    meta = {f"train/{k}/{n}.jpg": of(k, split="train") for k in ("cat", "dog") for n in range(3)}
    queries = {
        f"{s}/{k}/{s}{n}.jpg": of(k, split=s)
        for s in ("gallery", "query")
        for k in ("0001", "0002")
        for n in range(2)
    }
    support = {
        f"{s}/{k}/{n}{s}.jpg": of(k, split=s)
        for s in ("train", "holdout")
        for k in ("cat", "dog")
        for n in range(2)
    }
    folds = {
        f"fold{f}/{k}/{n}{f}.jpg": of(k)
        for f in (1, 2, 3)
        for k in ("cat", "dog")
        for n in range(2)
    }
    percent = {
        f"train_{p}/{k}/{n}{p}.jpg": of(k, split="train")
        for p in ("10", "90")
        for k in ("cat", "dog")
        for n in range(2)
    }
    rows = [
        ("classes bus, car and train", vehicles),
        ("classes exam, quiz and test", tests),
        ("a class train below train and test", mixed),
        ("classes mask and no_mask", masks),
        ("classes with_mask and without_mask", masked),
        ("classes label and price_tag", labels),
        ("gallery and query of identities", queries),
        ("train and holdout", support),
        ("folds of class folders", folds),
        ("train_10 and train_90 of class folders", percent),
    ]
    made = [
        Layout(name, _IMAGE_FOLDER, images(f"data/{p}" for p in truth), truth, "data")
        for name, truth in rows
    ]
    files = images(f"data/{p}" for p in meta)
    files["data/meta/labels.txt"] = lines(["cat", "dog"])
    files["data/meta/train.txt"] = lines(f"{p[6:]} {int('dog' in p)}" for p in meta)
    made.append(
        Layout("meta and train, of the same", "mmpretrain, dataset_prepare.md", files, meta, "data")
    )
    few = dict(files)
    listed = list(meta)[:4]
    few["data/meta/train.txt"] = lines(f"{p[6:]} {int('dog' in p)}" for p in listed)
    few["data/meta/val.txt"] = lines(f"{p[6:]} {int('dog' in p)}" for p in list(meta)[4:])
    made.append(
        Layout(
            "meta with lists that divide train",
            "mmpretrain, dataset_prepare.md",
            few,
            {p: fact._replace(split="train" if p in listed else "val") for p, fact in meta.items()},
            "data",
        )
    )
    return made


def _copies() -> list[Layout]:
    truth = _classes()
    files = images(f"data/{p}" for p in truth)
    thumbs = files | images(f"data/{p[:-4]}_thumb.jpg" for p in truth)
    below = files | images(f"data/thumbnails/{p}" for p in truth)
    each = files | images(f"data/{p.split('/')[0]}/thumbs/{p.split('/')[1]}" for p in truth)
    sized = {f"images_256/{p}": fact for p, fact in truth.items()}
    sizes = images(f"data/images_{s}/{p}" for s in (128, 256) for p in truth)
    flat = images(f"data/images_{s}/{n}.jpg" for s in (128, 256) for n in range(4))
    versions = images(f"data/{s}/{n}.jpg" for s in ("original", "resized") for n in range(4))
    augmented = files | images(f"data/{p[:-4]}_aug_{k}.jpg" for p in truth for k in (0, 1))
    nerf = images(f"data/images{s}/{n}.png" for s in ("", "_2", "_4") for n in range(3))
    return [
        Layout(
            "thumbnails beside the images of classes, _thumb", _IMAGE_FOLDER, thumbs, truth, "data"
        ),
        Layout(
            "a folder thumbnails with the same class folders", _IMAGE_FOLDER, below, truth, "data"
        ),
        Layout("a folder thumbs in each class folder", _IMAGE_FOLDER, each, truth, "data"),
        Layout(
            "class folders in images_128 and images_256",
            "https://www.kaggle.com, data sets in several sizes",
            sizes,
            sized,
            "data",
        ),
        Layout(
            "images_128 and images_256",
            "https://www.kaggle.com, data sets in several sizes",
            flat,
            {f"images_256/{n}.jpg": of() for n in range(4)},
            "data",
        ),
        Layout(
            "original and resized",
            "https://www.kaggle.com",
            versions,
            {f"original/{n}.jpg": of() for n in range(4)},
            "data",
        ),
        Layout(
            "images, images_2, images_4",
            "https://github.com/nerfstudio-project/nerfstudio, LLFF",
            nerf,
            {f"images/{n}.png": of() for n in range(3)},
            "data",
        ),
        Layout(
            "copies with _aug_ beside the images of classes",
            "augmentor",
            augmented,
            {
                **truth,
                **{f"{p[:-4]}_aug_{k}.jpg": fact for p, fact in truth.items() for k in (0, 1)},
            },
            "data",
        ),
    ]


def _tars() -> list[Layout]:
    kinds = ("cat", "dog")
    files: dict[str, str | bytes] = {
        f"data/{kind}.tar": tar(images(f"{kind}{n}.jpg" for n in range(3))) for kind in kinds
    }
    truth = {f"{kind}/{kind}{n}.jpg": of(kind) for kind in kinds for n in range(3)}
    named_too = dict(files)
    named_too["data/meta.json"] = '{"classes": ["cat", "dog"]}'
    below: dict[str, str | bytes] = {
        f"data/{kind}.tar": tar(images(f"{kind}/{n}.jpg" for n in range(3))) for kind in kinds
    }
    below["data/metadata.csv"] = lines(
        ["file_name,license"] + [f"{kind}/{n}.jpg,cc" for kind in kinds for n in range(3)]
    )
    winter = {
        "data/n01440764.tar": tar(images(f"n01440764_{n}.JPEG" for n in range(3))),
        "data/n01443537.tar": tar(images(f"n01443537_{n}.JPEG" for n in range(3))),
        "data/words.txt": "n01440764\ttench\nn01443537\tgoldfish\n",
    }
    return [
        Layout("a tar for each class", "ImageNet, ILSVRC2012_img_train.tar", files, truth, "data"),
        Layout(
            "a tar for each class with a metadata file", "ImageNet-21k", named_too, truth, "data"
        ),
        Layout(
            "a tar for each class, with its folder, and a table",
            "https://www.image-net.org/download-images.php",
            below,
            {f"{kind}/{kind}/{n}.jpg": of(kind, holds=["cc"]) for kind in kinds for n in range(3)},
            "data",
        ),
        Layout(
            "ImageNet-21k, tars of synsets beside words.txt",
            "https://github.com/Alibaba-MIIL/ImageNet21K",
            winter,
            {f"{w}/{w}_{n}.JPEG": of(w) for w in ("n01440764", "n01443537") for n in range(3)},
            "data",
        ),
    ]


def _imagefolders() -> list[Layout]:
    made = []
    for kind in ("csv", "jsonl", "parquet"):
        truth: dict[str, Truth] = {}
        files: dict[str, str | bytes] = {}
        for split in ("train", "test"):
            names = [f"{n:04}.png" for n in range(3)]
            texts = [f"A caption, {split} {n}" for n in range(3)]
            for name, text in zip(names, texts, strict=True):
                truth[f"{split}/{name}"] = of(split=split, holds=[text])
            pairs = list(zip(names, texts, strict=True))
            held: dict[str, str | bytes] = {
                "csv": lines(["file_name,text"] + [f'{n},"{t}"' for n, t in pairs]),
                "jsonl": lines(f'{{"file_name": "{n}", "text": "{t}"}}' for n, t in pairs),
                "parquet": parquet({"file_name": names, "text": texts}),
            }
            files[f"data/{split}/metadata.{kind}"] = held[kind]
        made.append(
            Layout(
                f"Hugging Face, metadata.{kind} in each split",
                _HF,
                files | images(f"data/{p}" for p in truth),
                truth,
                "data",
            )
        )
    truth = {
        f"data/{split}/{k}/{n}.png": of(k, split=split)
        for split in ("train", "test")
        for k in ("cat", "dog")
        for n in range(2)
    }
    card = (
        "---\nlicense: mit\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n"
        "    path: data/train/**\n  - split: test\n    path: data/test/**\n---\n# Cats\n"
    )
    made.append(
        Layout(
            "Hugging Face, class folders with a card",
            _HF,
            images(f"set/{p}" for p in truth)
            | {"set/README.md": card, "set/.gitattributes": "*.png filter=lfs\n"},
            truth,
            "set",
        )
    )
    turned = card.replace("data/train/**", "data/a/**").replace("data/test/**", "data/b/**")
    other = {
        f"data/{folder}/{k}/{n}.png": of(k, split=split)
        for folder, split in (("a", "train"), ("b", "test"))
        for k in ("cat", "dog")
        for n in range(2)
    }
    made.append(
        Layout(
            "Hugging Face, splits named by the card only",
            _HF + "; https://huggingface.co/docs/hub/datasets-manual-configuration",
            images(f"set/{p}" for p in other) | {"set/README.md": turned},
            other,
            "set",
        )
    )
    boxes = {f"train/000{n}.png": of(split="train", holds=["box 1 2 3 4"]) for n in range(3)}
    files = images(f"data/{p}" for p in boxes)
    files["data/train/metadata.jsonl"] = lines(
        f'{{"file_name": "000{n}.png", "objects": {{"bbox": [[1.0, 2.0, 3.0, 4.0]], '
        f'"categories": [{n % 2}]}}}}'
        for n in range(3)
    )
    made.append(Layout("Hugging Face, objects in metadata.jsonl", _HF, files, boxes, "data"))
    several = {
        f"train/{n}.png": of(split="train", files=[f"train/{n}_depth.png"]) for n in range(3)
    }
    files = images(f"data/{p}" for p in several)
    files |= images(f"data/train/{n}_depth.png" for n in range(3))
    files["data/train/metadata.csv"] = lines(
        ["image_file_name,depth_file_name"] + [f"{n}.png,{n}_depth.png" for n in range(3)]
    )
    made.append(
        Layout("Hugging Face, two images in each row of metadata.csv", _HF, files, several, "data")
    )
    return made


LAYOUTS = named(
    "folders_doubtful",
    [
        *_flat(),
        *_apple(),
        *_unicode(),
        *_strays(),
        *_names(),
        *_copies(),
        *_tars(),
        *_imagefolders(),
    ],
)
