"""Sound folders with what people leave beside images: none is to be refused for it."""

import hashlib
import json
import pickle

from published.making import content, images, lines, named, of, parquet
from published.row import Layout, Truth

_KINDS = ("bird", "cat", "dog")
_GIT = "https://docs.github.com/repositories"
_CLASSES = {f"{kind}/{n}.jpg": of(kind) for kind in _KINDS for n in range(3)}
_SPLITS = {
    f"{split}/{kind}/{split}{n}.jpg": of(kind, split=split)
    for split in ("train", "test")
    for kind in _KINDS
    for n in range(2)
}
_FLAT = {f"{n:04}.jpg": of() for n in range(8)}
_FIRST = list(_CLASSES)[:3]


def _beside(
    name: str, source: str, more: dict[str, str | bytes], truth: dict[str, Truth] | None = None
) -> Layout:
    """Return class folders, or the images of `truth`, with the files `more` among them."""
    truth = truth or _CLASSES
    files = images(f"animals/{path}" for path in truth)
    files |= {f"animals/{path}": text for path, text in more.items()}
    return Layout(name, source, files, truth, "animals")


def _texts() -> list[Layout]:
    readme = "# Animals\n\n" + lines(f"![{path}]({path})" for path in _FIRST)
    notes = "Removed cat/17.jpg, a dog. Have a look at dog/1.jpg again.\n"
    card = (
        "---\nlicense: cc-by-4.0\ntask_categories:\n- image-classification\n"
        "dataset_info:\n  features:\n  - name: image\n    dtype: image\n---\n# Animals\n"
    )
    html = "<html><body>" + "".join(f'<img src="{path}">' for path in _CLASSES) + "</body></html>"
    cite = "cff-version: 1.2.0\ntitle: Animals\n"
    changes = "# Changelog\n\n## 1.1\n\n- Replaced bird/2.jpg\n- Removed cat/9.jpg\n"
    return [
        _beside("a README that names three images", _GIT, {"README.md": readme}),
        _beside("a LICENSE", _GIT, {"LICENSE": "MIT License\n", "NOTICE.txt": "Images by us\n"}),
        _beside("notes that name two images", _GIT, {"notes.txt": notes}),
        _beside(
            "a card with a YAML head",
            "https://huggingface.co/docs/hub/datasets-cards",
            {"README.md": card, ".gitattributes": "*.jpg filter=lfs diff=lfs -text\n"},
        ),
        _beside(
            "a contact sheet in HTML",
            "https://imagemagick.org/script/montage.php",
            {"index.html": html},
        ),
        _beside(
            "a citation and a changelog that names images",
            _GIT,
            {"CITATION.cff": cite, "CHANGELOG.md": changes},
        ),
        _beside("a PDF", _GIT, {"paper.pdf": b"%PDF-1.4\n%%EOF\n"}),
        _beside(
            "a README in each class folder",
            _GIT,
            {f"{kind}/README.txt": f"Photos of {kind}\n" for kind in _KINDS},
        ),
        _beside(
            "a file of attributions, a line for each image",
            "https://www.tensorflow.org/tutorials/load_data/images, flower_photos",
            {
                "LICENSE.txt": lines(
                    f"{path} CC-BY by A. Photographer - https://example.org" for path in _CLASSES
                )
            },
        ),
    ]


def _code() -> list[Layout]:
    notebook = json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "source": ["Image.open('cat/0.jpg')\n"],
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                }
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )
    log = lines(
        [f"2023-01-03 10:0{n}:00 INFO epoch {n} loss 0.{9 - n}" for n in range(5)]
        + [f"2023-01-03 10:09:00 WARNING {path}: corrupt EXIF data" for path in _FIRST]
    )
    wrong = "path,predicted,true\n" + lines(f"{path},cat,bird" for path in _FIRST)
    return [
        _beside("a notebook", "https://nbformat.readthedocs.io", {"explore.ipynb": notebook}),
        _beside(
            "a training log that names images",
            "https://docs.python.org/3/library/logging",
            {"train.log": log},
        ),
        _beside(
            "a folder of logs",
            "https://pytorch.org/docs/stable/tensorboard.html",
            {"logs/train.log": log, "logs/events.out.tfevents.1700000000.host": b"\x18\0"},
        ),
        _beside(
            "code and its requirements",
            _GIT,
            {
                "train.py": "import torch\n",
                "requirements.txt": "torch\npillow\n",
                "src/model.py": "class Net: ...\n",
                "Makefile": "all:\n\tpython train.py\n",
                "environment.yml": "name: animals\ndependencies:\n- python\n",
            },
        ),
        _beside(
            "a checkpoint",
            "https://pytorch.org/docs/stable/generated/torch.save.html",
            {"checkpoints/model.pth": b"PK\3\4" + bytes(64)},
        ),
        _beside(
            "predictions for three images", "scripts of evaluation", {"misclassified.csv": wrong}
        ),
        _beside(
            "a configuration",
            _GIT,
            {"config.yaml": "batch_size: 32\nclasses: 3\n", "config.json": '{"lr": 0.1}'},
        ),
        _beside(
            "a table of metrics",
            "https://lightning.ai/docs, CSVLogger",
            {"metrics.csv": "epoch,loss,accuracy\n0,1.2,0.4\n1,0.8,0.6\n"},
        ),
    ]


def _sums() -> list[Layout]:
    files = {f"animals/{path}": "" for path in _CLASSES}
    data = {
        path: content(f"animals/{path}", text)
        for path, text in zip(_CLASSES, files.values(), strict=True)
    }
    md5 = lines(f"{hashlib.md5(held).hexdigest()}  {path}" for path, held in data.items())
    sha = lines(f"{hashlib.sha256(held).hexdigest()} *./{path}" for path, held in data.items())
    bag = lines(f"{hashlib.sha256(held).hexdigest()}  data/{path}" for path, held in data.items())
    directory = "\r\n".join(
        [" Volume in drive D is Data", "", " Directory of D:\\animals\\cat", ""]
        + [f"03.01.2023  10:0{n}             1.234 {n}.jpg" for n in range(3)]
        + ["               3 File(s)          3.702 bytes", ""]
    )
    flat = {f"{kind}_{n}.jpg": of() for kind in _KINDS for n in range(2)}
    bagit = {f"data/{path}": fact for path, fact in _CLASSES.items()}
    return [
        _beside("md5 sums", "md5sum(1)", {"MD5SUMS": md5}),
        _beside("md5 sums in a .txt", "md5sum(1)", {"checksums.txt": md5}),
        _beside("sha256 sums", "sha256sum(1)", {"sha256sums.txt": sha}),
        _beside(
            "files.txt that names every image",
            "find . -type f > files.txt",
            {"files.txt": lines(f"./{path}" for path in _CLASSES)},
        ),
        _beside(
            "a list of names of images",
            "ls > list.txt",
            {"list.txt": lines(path.rsplit("/", 1)[1] for path in _CLASSES)},
        ),
        _beside(
            "a list of all images beside images without classes",
            "ls > list.txt",
            {"list.txt": lines(flat)},
            flat,
        ),
        _beside(
            "dir /s of Windows",
            "https://learn.microsoft.com/windows-server/administration/windows-commands/dir",
            {"dir.txt": directory},
        ),
        _beside(
            "BagIt",
            "https://www.rfc-editor.org/rfc/rfc8493",
            {
                "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
                "manifest-sha256.txt": bag,
                "bag-info.txt": "Payload-Oxum: 9.9\n",
            },
            bagit,
        ),
        _beside(
            "a list of URLs",
            "https://github.com/rom1504/img2dataset",
            {"urls.txt": lines(f"https://example.org/{path}" for path in _CLASSES)},
        ),
        _beside(
            "a .dvc file and its ignore list",
            "https://dvc.org/doc/user-guide",
            {"../animals.dvc": "outs:\n- path: animals\n", ".dvcignore": "*.tmp\n"},
        ),
    ]


def _systems() -> list[Layout]:
    return [
        _beside(
            "Thumbs.db and desktop.ini",
            "Windows",
            {
                f"{kind}/{name}": text
                for kind in _KINDS
                for name, text in (
                    ("Thumbs.db", b"\xd0\xcf\x11\xe0"),
                    ("desktop.ini", "[.ShellClassInfo]\r\n"),
                )
            },
        ),
        _beside(
            ".DS_Store and files of resources",
            "macOS",
            {f"{kind}/.DS_Store": b"\0\0\0\1Bud1" for kind in _KINDS}
            | {"cat/._0.jpg": b"\0\5\x16\7\0\2\0\0", "__MACOSX/cat/._0.jpg": b"\0\5\x16\7"},
        ),
        _beside(
            ".git",
            "https://git-scm.com",
            {
                ".git/HEAD": "ref: refs/heads/main\n",
                ".gitignore": "*.log\n",
                ".git/objects/ab/cdef": b"x\x01",
            },
        ),
        _beside(
            "a pickled cache",
            "https://github.com/ultralytics/yolov5, *.cache",
            {"index.cache": pickle.dumps({"n": 9}, 4)},
        ),
        _beside(
            "a file of Picasa in each folder",
            "Picasa",
            {f"{kind}/.picasa.ini": "[0.jpg]\nstar=yes\n" for kind in _KINDS},
        ),
        _beside(
            "an .ipynb_checkpoints in a class folder",
            "Jupyter",
            {"cat/.ipynb_checkpoints/0-checkpoint.jpg": ""},
        ),
        _beside(
            "a lock and a temporary file",
            "editors",
            {".~lock.notes.odt#": ",me,", "notes.txt~": "draft\n"},
        ),
        _beside(
            "Hugging Face's download cache",
            "https://huggingface.co/docs/huggingface_hub",
            {".cache/huggingface/download/cat/0.jpg.metadata": "abc\n"},
        ),
    ]


def _names() -> list[Layout]:
    truth = dict(_CLASSES.items())
    table = lines(["image,label"] + [f"{path},{path.split('/')[0]}" for path in truth])
    counts = lines(["class,count"] + [f"{kind},3" for kind in _KINDS])
    features = parquet({"class": list(_KINDS), "mean": [0.1, 0.2, 0.3]})
    return [
        _beside(
            "labels.txt of the class folders",
            "TensorFlow's retrain.py",
            {"labels.txt": lines(_KINDS)},
        ),
        _beside(
            "classes.txt of the class folders", "YOLO, labelImg", {"classes.txt": lines(_KINDS)}
        ),
        _beside(
            "classes.txt with numbers",
            "CUB, classes.txt",
            {"classes.txt": lines(f"{n} {kind}" for n, kind in enumerate(_KINDS))},
        ),
        _beside(
            "class_to_idx.json",
            "torchvision.datasets.ImageFolder.class_to_idx",
            {"class_to_idx.json": json.dumps({k: n for n, k in enumerate(_KINDS)})},
        ),
        _beside(
            "class_names.json, a list",
            "Keras, class_names",
            {"class_names.json": json.dumps(_KINDS)},
        ),
        _beside("a table of classes and their counts", "pandas", {"class_counts.csv": counts}),
        _beside("a table that says what the class folders say", "pandas", {"labels.csv": table}),
        _beside(
            "splits with lists of the same",
            "mmpretrain, dataset_prepare.md",
            {
                f"{s}.txt": lines(
                    f"{p} {_KINDS.index(p.split('/')[1])}" for p in _SPLITS if p.startswith(s)
                )
                for s in ("train", "test")
            },
            _SPLITS,
        ),
        _beside(
            "splits with a README and classes.txt",
            "torchvision",
            {"README.md": "# Animals\n", "classes.txt": lines(_KINDS)},
            _SPLITS,
        ),
        _beside(
            "splits with a log in each",
            "torchvision",
            {f"{s}/{s}.log": "3 images read\n" for s in ("train", "test")},
            _SPLITS,
        ),
        _beside(
            "a folder of documents",
            _GIT,
            {"docs/guide.md": "# Guide\n", "docs/labels.md": "bird, cat, dog\n"},
        ),
        _beside(
            "images without classes, with a README and sums",
            "md5sum(1)",
            {
                "README.md": "# Photos\n",
                "MD5SUMS": lines(f"{n:032x}  {path}" for n, path in enumerate(_FLAT)),
            },
            _FLAT,
        ),
        _beside(
            "images without classes, with a notebook",
            "Jupyter",
            {"explore.ipynb": '{"cells": [], "metadata": {}, "nbformat": 4}'},
            _FLAT,
        ),
        _beside("a Parquet of statistics", "pandas", {"statistics.parquet": features}),
    ]


LAYOUTS = named("sound", [*_texts(), *_code(), *_sums(), *_systems(), *_names()])
