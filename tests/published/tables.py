"""Tables and lists of images, with what people and their programs write into them."""

import gzip
import json
import pickle
import unicodedata

from published.making import images, lines, named, npz, of, parquet, xlsx
from published.row import Layout, Truth

_PANDAS = "https://pandas.pydata.org/docs/reference/api/pandas.DataFrame."
_RFC = "https://www.rfc-editor.org/rfc/rfc4180"
_CAFFE = "https://caffe.berkeleyvision.org/tutorial/layers/imagedata.html"


def _table(
    name: str,
    source: str,
    text: str | bytes,
    truth: dict[str, Truth],
    table: str = "labels.csv",
    folder: str = "images/",
    options: tuple[str, ...] = (),
    more: dict[str, str | bytes] | None = None,
    src: str = "data",
) -> Layout:
    """Return a folder of images beside a table of them."""
    files = images(f"data/{folder}{path}" for path in truth)
    files[f"data/{table}"] = text
    top = "" if src == "data" else "data/"
    facts = {f"{top}{folder}{path}": fact for path, fact in truth.items()}
    return Layout(name, source, files | (more or {}), facts, src, options)


def _of_labels(labels: list[str]) -> dict[str, Truth]:
    return {f"{n:03}.jpg": of(label) for n, label in enumerate(labels)}


_WORDS = ["ice cream", "apple", "hot dog", "apple", "ice cream", "apple pie"]
_PLAIN = ["cat", "dog", "cat", "dog", "bird", "bird"]


def _csv(labels: list[str], end: str = "\n", head: str = "image,label") -> str:
    return lines([head] + [f"{n:03}.jpg,{label}" for n, label in enumerate(labels)], end)


def _words() -> list[Layout]:
    commas = ["salt, pepper", "sugar", "salt, pepper", "sugar", "flour", "flour"]
    few = ["ice cream", "ice cream", "hot dog", "hot dog", "hot dog", "ice cream"]
    accents = ["café", "café", "thé", "thé", "café", "thé"]
    mixed = [
        unicodedata.normalize("NFD" if n % 2 else "NFC", label) for n, label in enumerate(accents)
    ]
    spaced = ["cat ", "cat", " dog", "dog", "dog ", "cat"]
    nothing = ["None", "cat", "", "dog", "None", "cat"]
    codes = ["01", "1", "02", "01", "2", "10"]
    case = ["Cat", "cat", "Dog", "dog", "cat", "dog"]
    return [
        _table("a label of two words", _RFC, _csv(_WORDS), _of_labels(_WORDS)),
        _table("labels of two words only", _RFC, _csv(few), _of_labels(few)),
        _table(
            "a label with a comma, in quotes",
            _RFC,
            _csv([f'"{label}"' for label in commas]),
            _of_labels(commas),
        ),
        _table(
            "a label with a comma, in a table of semicolons",
            _PANDAS + "to_csv.html, sep",
            _csv(commas).replace(".jpg,", ".jpg;").replace("image,", "image;"),
            _of_labels(commas),
        ),
        _table(
            "spaces around labels",
            _RFC,
            _csv(spaced),
            _of_labels([x.strip() for x in spaced]),
        ),
        _table(
            "labels in two forms of Unicode",
            "https://unicode.org/reports/tr15/",
            _csv(mixed),
            _of_labels(accents),
        ),
        _table(
            "labels None and blank",
            _PANDAS.replace("DataFrame.", "") + "read_csv.html, na_values",
            _csv(nothing),
            {f"{n:03}.jpg": of(*[x] if x else []) for n, x in enumerate(nothing)},
        ),
        _table("numbers with zeros before them as labels", _RFC, _csv(codes), _of_labels(codes)),
        _table("labels that differ in case", _RFC, _csv(case), _of_labels(case)),
    ]


def _numbers() -> list[Layout]:
    rows = ["0,5", "12,25", "3,75", "7,0", "1,5", "2,5"]
    facts = {f"{n:03}.jpg": of(holds=[x]) for n, x in enumerate(rows)}
    points = [x.replace(",", ".") for x in rows]
    whole = ["63", "42", "28", "15", "72", "7"]
    return [
        _table(
            "numbers with decimal commas, semicolons between",
            _PANDAS + "to_csv.html, decimal",
            lines(["image;weight"] + [f"{n:03}.jpg;{x}" for n, x in enumerate(rows)]),
            facts,
        ),
        _table(
            "numbers with decimal commas as label",
            _PANDAS + "to_csv.html, decimal",
            lines(["image;label"] + [f"{n:03}.jpg;{x}" for n, x in enumerate(rows)]),
            facts,
        ),
        _table(
            "a target with fractions",
            "https://docs.fast.ai/tutorial.vision.html#regression",
            lines(["image,target"] + [f"{n:03}.jpg,{x}" for n, x in enumerate(points)]),
            {f"{n:03}.jpg": of(holds=[x]) for n, x in enumerate(points)},
        ),
        _table(
            "ages as label",
            "https://www.kaggle.com/c/rsna-bone-age; https://susanqq.github.io/UTKFace/",
            lines(["image,age"] + [f"{n:03}.jpg,{x}" for n, x in enumerate(whole)]),
            {f"{n:03}.jpg": of(holds=[x]) for n, x in enumerate(whole)},
        ),
    ]


def _columns() -> list[Layout]:
    marks = [("1", "0"), ("1", "0"), ("0", "1"), ("1", "0"), ("0", "1"), ("1", "0")]
    plain = dict(zip([f"{n:03}.jpg" for n in range(6)], _PLAIN, strict=True))
    test = [
        f"{name},{label},{is_test}"
        for (name, label), (_, is_test) in zip(plain.items(), marks, strict=True)
    ]
    both = [
        f"{name},{label},{a},{b}"
        for (name, label), (a, b) in zip(plain.items(), marks, strict=True)
    ]
    split_truth = {
        name: of(label, split="test" if mark[1] == "1" else "train")
        for (name, label), mark in zip(plain.items(), marks, strict=True)
    }
    folds = [f"{name},{label},{n % 3}" for n, (name, label) in enumerate(plain.items())]
    flags = [
        f"{name},{label},{n % 2},{int(n > 2)}" for n, (name, label) in enumerate(plain.items())
    ]
    bools = [f"{name},{label},{n != 5}" for n, (name, label) in enumerate(plain.items())]
    truth = {name: of(label) for name, label in plain.items()}
    return [
        _table(
            "a column is_test",
            "https://docs.fast.ai/data.block.html, ColSplitter",
            lines(["image,label,is_test", *test]),
            split_truth,
        ),
        _table(
            "columns is_train and is_test",
            "tfds; scripts of many competitions",
            lines(["image,label,is_train,is_test", *both]),
            split_truth,
        ),
        _table(
            "a column is_valid of True and False",
            "https://docs.fast.ai/data.transforms.html#colsplitter",
            lines(
                ["fname,labels,is_valid"]
                + [
                    f"{name},{label},{m[1] == '1'}"
                    for (name, label), m in zip(plain.items(), marks, strict=True)
                ]
            ),
            {
                name: fact._replace(split="val" if fact.split == "test" else "train")
                for name, fact in split_truth.items()
            },
        ),
        _table(
            "a column fold",
            "https://scikit-learn.org/stable/modules/cross_validation.html",
            lines(["image,label,fold", *folds]),
            truth,
        ),
        _table(
            "flags of quality beside the label",
            "https://www.kaggle.com/c/petfinder-pawpularity-score/data",
            lines(["image,label,blurred,occluded", *flags]),
            truth,
        ),
        _table(
            "a column use of True and False",
            _PANDAS + "to_csv.html",
            lines(["image,label,use", *bools]),
            truth,
        ),
        _table(
            "flags only, which are no classes",
            "https://www.kaggle.com/c/petfinder-pawpularity-score/data",
            lines(
                ["image,blurred,occluded"]
                + [f"{n:03}.jpg,{int(n == 0)},{int(n % 2)}" for n in range(6)]
            ),
            {f"{n:03}.jpg": of() for n in range(6)},
        ),
        _table(
            "a column name twice",
            _PANDAS.replace("DataFrame.", "") + "read_csv.html",
            lines(["image,label,label"] + [f"{n},{x},{x}2" for n, x in plain.items()]),
            truth,
        ),
        _table(
            "a title above the header",
            "https://support.microsoft.com/excel, Save as CSV",
            lines(
                ["Annotations of spring 2021,", "", "image,label"]
                + [f"{n},{x}" for n, x in plain.items()]
            ),
            truth,
        ),
        _table(
            "a comment above the header",
            _PANDAS.replace("DataFrame.", "") + "read_csv.html, comment",
            lines(["# made by a script", "image,label"] + [f"{n},{x}" for n, x in plain.items()]),
            truth,
        ),
        _table(
            "a row of sums at the end",
            "https://support.microsoft.com/excel",
            lines(["image,label"] + [f"{n},{x}" for n, x in plain.items()] + ["Total,6"]),
            truth,
        ),
        _table(
            "an index of pandas without a name",
            _PANDAS + "to_csv.html, index",
            lines([",image,label"] + [f"{k},{n},{x}" for k, (n, x) in enumerate(plain.items())]),
            truth,
        ),
        _table(
            "label names and numbers in two columns",
            "tfds, ClassLabel",
            lines(
                ["image,label,label_name"]
                + [f"{n},{sorted(set(_PLAIN)).index(x)},{x}" for n, x in plain.items()]
            ),
            {n: of(x, str(sorted(set(_PLAIN)).index(x))) for n, x in plain.items()},
        ),
        _table(
            "a line of the same image twice, with two labels",
            _RFC,
            lines(["image,label"] + [f"{n},{x}" for n, x in plain.items()] + ["000.jpg,dog"]),
            {**truth, "000.jpg": of(labels=["cat", "dog"])},
        ),
        _table(
            "a line of an image that is not there",
            _RFC,
            lines(["image,label"] + [f"{n},{x}" for n, x in plain.items()] + ["006.jpg,dog"]),
            truth,
        ),
    ]


def _captions() -> list[Layout]:
    long = " ".join(f"A long caption of image {{0}}, word {k}" for k in range(20))
    texts = [long.replace("{0}", str(n)) for n in range(4)]
    truth = {f"{n:03}.jpg": of(holds=[texts[n]]) for n in range(4)}
    quoted = ['He said "look, a cat"', "two\nlines of text", "a; b; c", "plain"]
    return [
        _table(
            "captions of more than 255 bytes, in the first column",
            "https://huggingface.co/docs/datasets/image_dataset",
            lines(["caption,image"] + [f'"{t}",{n:03}.jpg' for n, t in enumerate(texts)]),
            truth,
        ),
        _table(
            "captions of more than 255 bytes, in a list with tabs",
            "https://github.com/mlfoundations/open_clip#training-clip",
            lines(["filepath\ttitle"] + [f"{n:03}.jpg\t{t}" for n, t in enumerate(texts)]),
            truth,
            "captions.tsv",
        ),
        _table(
            "captions with quotes and line ends",
            _RFC,
            lines(
                ["image,caption"]
                + [f'{n:03}.jpg,"{t.replace(chr(34), chr(34) * 2)}"' for n, t in enumerate(quoted)]
            ),
            {
                f"{n:03}.jpg": of(holds=[json.dumps(t)[1:-1] if '"' in t else t.split("\n")[0]])
                for n, t in enumerate(quoted)
            },
        ),
        _table(
            "Flickr8k, five captions for each image",
            "https://www.kaggle.com/datasets/adityajn105/flickr8k",
            lines(
                ["image,caption"]
                + [f"{n:03}.jpg,Caption {k} of {n} ." for n in range(3) for k in range(5)]
            ),
            {
                f"{n:03}.jpg": of(holds=[f"Caption {k} of {n} ." for k in range(5)])
                for n in range(3)
            },
            "captions.txt",
            "Images/",
        ),
        _table(
            "Flickr8k, Flickr8k.token.txt with its three lists",
            "https://github.com/jbrownlee/Datasets, Flickr8k",
            lines([f"{n:03}.jpg#{k}\tCaption {k} of {n} ." for n in range(3) for k in range(5)]),
            {
                f"{n:03}.jpg": of(
                    split=("train", "val", "test")[n],
                    holds=[f"Caption {k} of {n} ." for k in range(5)],
                )
                for n in range(3)
            },
            "Flickr8k.token.txt",
            "Flicker8k_Dataset/",
            more={
                "data/Flickr_8k.trainImages.txt": "000.jpg\n",
                "data/Flickr_8k.devImages.txt": "001.jpg\n",
                "data/Flickr_8k.testImages.txt": "002.jpg\n",
            },
        ),
        _table(
            "Flickr30k, results.csv with bars between",
            "https://www.kaggle.com/datasets/hsankesara/flickr-image-dataset",
            lines(
                ["image_name| comment_number| comment"]
                + [f"{n:03}.jpg| {k}| Two men , {k} of {n} ." for n in range(3) for k in range(5)]
            ),
            {
                f"{n:03}.jpg": of(holds=[f"Two men , {k} of {n} ." for k in range(5)])
                for n in range(3)
            },
            "results.csv",
            "flickr30k_images/",
        ),
    ]


def _json_tables() -> list[Layout]:
    plain = {f"{n:03}.jpg": label for n, label in enumerate(_PLAIN)}
    truth = {name: of(label) for name, label in plain.items()}
    columns = {"image": list(plain), "label": list(plain.values())}
    rows = [{"image": n, "label": x} for n, x in plain.items()]
    indexed = {k: {str(n): v for n, v in enumerate(values)} for k, values in columns.items()}
    shapes = {
        "a dict of names and labels": (plain, "https://docs.python.org/3/library/json.html"),
        "a list of objects": (rows, _PANDAS + "to_json.html, records"),
        "pandas, columns": (indexed, _PANDAS + "to_json.html, columns"),
        "pandas, index": (
            {str(n): row for n, row in enumerate(rows)},
            _PANDAS + "to_json.html, index",
        ),
        "pandas, split": (
            {
                "columns": ["image", "label"],
                "index": list(range(6)),
                "data": [list(pair) for pair in plain.items()],
            },
            _PANDAS + "to_json.html, split",
        ),
        "pandas, values": (
            [list(pair) for pair in plain.items()],
            _PANDAS + "to_json.html, values",
        ),
        "pandas, table": (
            {"schema": {"fields": [{"name": "image"}, {"name": "label"}]}, "data": rows},
            _PANDAS + "to_json.html, table",
        ),
        "a dict of labels and their names": (
            {k: [n for n, x in plain.items() if x == k] for k in sorted(set(_PLAIN))},
            "torchvision.datasets.Food101, meta/train.json",
        ),
        "OpenMMLab, data_list": (
            {
                "metainfo": {"classes": sorted(set(_PLAIN))},
                "data_list": [
                    {"img_path": n, "gt_label": sorted(set(_PLAIN)).index(x)}
                    for n, x in plain.items()
                ],
            },
            "mmpretrain.datasets.BaseDataset",
        ),
        "StyleGAN, dataset.json": (
            {"labels": [[n, sorted(set(_PLAIN)).index(x)] for n, x in plain.items()]},
            "https://github.com/NVlabs/stylegan3#preparing-datasets",
        ),
    }
    numbered = {
        name: of(label, str(sorted(set(_PLAIN)).index(label))) for name, label in plain.items()
    }
    made = [
        _table(
            f"JSON, {name}",
            source,
            json.dumps(value),
            numbered if name.startswith(("OpenMMLab", "StyleGAN")) else truth,
            "dataset.json" if name.startswith("StyleGAN") else "labels.json",
            "" if name.startswith("StyleGAN") else "images/",
        )
        for name, (value, source) in shapes.items()
    ]
    made.append(
        _table(
            "JSON, a dict of names and labels, the file itself",
            made[0].source,
            json.dumps(plain),
            truth,
            "labels.json",
            "images/",
            ("--root", "data/images"),
            src="data/labels.json",
        )
    )
    made.append(
        _table(
            "JSON lines, the file itself",
            _PANDAS + "to_json.html, lines",
            lines(json.dumps(row) for row in rows),
            truth,
            "labels.jsonl",
            "images/",
            ("--root", "data/images"),
            src="data/labels.jsonl",
        )
    )
    return made


def _encodings() -> list[Layout]:
    plain = {f"{n:03}.jpg": label for n, label in enumerate(_PLAIN)}
    truth = {name: of(label) for name, label in plain.items()}
    accents = ["café", "thé", "café", "thé", "café", "thé"]
    umlauts = {f"bär {n}.jpg": of(label) for n, label in enumerate(accents)}
    excel = "https://support.microsoft.com/office/import-or-export-text-txt-or-csv-files"
    latin = lines(["image,label"] + [f"bär {n}.jpg,{x}" for n, x in enumerate(accents)])
    return [
        _table(
            "an .xlsx of labels beside images",
            excel,
            xlsx([["image", "label"], *map(list, plain.items())]),
            truth,
            "labels.xlsx",
        ),
        _table(
            "UTF-16 with its mark",
            excel + ", Unicode text",
            _csv(_PLAIN).replace(",", "\t").encode("utf-16"),
            truth,
            "labels.txt",
        ),
        _table("UTF-16 CSV", excel, _csv(_PLAIN).encode("utf-16"), truth),
        _table("UTF-8 with its mark", excel, b"\xef\xbb\xbf" + _csv(_PLAIN).encode(), truth),
        _table("Latin-1", excel, latin.encode("latin-1"), umlauts),
        _table("UTF-8 with accents", excel, latin.encode(), umlauts),
        _table("CR as line end", excel + ", CSV (Macintosh)", _csv(_PLAIN, "\r"), truth),
        _table("CRLF as line end", _RFC, _csv(_PLAIN, "\r\n"), truth),
        _table("a line sep= of Excel", excel, "sep=;\n" + _csv(_PLAIN).replace(",", ";"), truth),
        _table(
            "a Parquet of names and labels",
            _PANDAS + "to_parquet.html",
            parquet({"image": list(plain), "label": list(plain.values())}),
            truth,
            "labels.parquet",
        ),
        _table(
            "a CSV with backslashes", "Windows", _csv(_PLAIN).replace("\n0", "\nimages\\0"), truth
        ),
        _table(
            "a CSV with paths of another machine",
            "labelImg, tools of annotation",
            _csv(_PLAIN).replace("\n0", "\nC:\\Users\\me\\images\\0"),
            truth,
        ),
    ]


def _lists() -> list[Layout]:
    plain = {f"{n:03}.jpg": label for n, label in enumerate(_PLAIN)}
    kinds = sorted(set(_PLAIN))
    truth = {name: of(label) for name, label in plain.items()}
    numbered = {name: of(label, str(kinds.index(label))) for name, label in plain.items()}
    numbers = [f"images/{n} {kinds.index(x)}" for n, x in plain.items()]
    names: dict[str, str | bytes] = {"data/classes.txt": lines(kinds)}
    split = {
        n: fact._replace(split="val" if k > 3 else "train")
        for k, (n, fact) in enumerate(numbered.items())
    }
    words = {f"{n:03}.jpg": label for n, label in enumerate(_WORDS)}
    return [
        _table("a list of paths and numbers", _CAFFE, lines(numbers), numbered, "list.txt"),
        _table(
            "a list of paths and numbers beside classes.txt",
            _CAFFE,
            lines(numbers),
            numbered,
            "list.txt",
            more=names,
        ),
        _table(
            "a list with slashes at the front",
            _CAFFE,
            lines(f"/{row}" for row in numbers),
            numbered,
            "list.txt",
        ),
        _table(
            "a list with a header", _CAFFE, lines(["path label", *numbers]), numbered, "list.txt"
        ),
        _table(
            "a list, label first",
            _CAFFE,
            lines(" ".join(reversed(row.split())) for row in numbers),
            numbered,
            "list.txt",
        ),
        _table(
            "a list of names and classes",
            _CAFFE,
            lines(f"images/{n} {x}" for n, x in plain.items()),
            truth,
            "list.txt",
        ),
        _table(
            "a list with tabs and labels of two words",
            _CAFFE,
            lines(f"images/{n}\t{x}" for n, x in words.items()),
            {n: of(x) for n, x in words.items()},
            "list.txt",
        ),
        _table(
            "a list of labels only, in the order of names",
            "ImageNet, MATLAB",
            lines(str(kinds.index(x)) for x in _PLAIN),
            numbered,
            "labels.txt",
        ),
        _table(
            "lists train.txt and val.txt of paths and numbers",
            _CAFFE,
            lines(numbers[:4]),
            split,
            "train.txt",
            more={"data/val.txt": lines(numbers[4:])},
        ),
        _table(
            "lists of paths and several numbers",
            "mmpretrain, MultiLabelDataset",
            lines(f"images/{n:03}.jpg {n % 2},{2 + n % 3}" for n in range(6)),
            {f"{n:03}.jpg": of(labels=[str(n % 2), str(2 + n % 3)]) for n in range(6)},
            "list.txt",
        ),
        _table(
            "im2rec's .lst",
            "https://mxnet.apache.org/versions/1.9/api/faq/recordio",
            lines(
                f"{k}\t{kinds.index(x)}.000000\timages/{n}"
                for k, (n, x) in enumerate(plain.items())
            ),
            numbered,
            "data.lst",
        ),
        _table(
            "a list of names of files, without extension",
            "PASCAL VOC, ImageSets",
            lines(f"{n[:-4]} {kinds.index(x)}" for n, x in plain.items()),
            numbered,
            "trainval.txt",
        ),
    ]


def _roots() -> list[Layout]:
    plain = {f"{n:03}.jpg": label for n, label in enumerate(_PLAIN)}
    truth = {name: of(label) for name, label in plain.items()}
    table = lines(["image,label"] + [f"{n},{x}" for n, x in plain.items()])
    files = images(f"downloads/data/pictures/{n}" for n in plain) | {"labels.csv": table}
    folders = {f"{x}/{n}": x for n, x in plain.items()}
    beside = images(f"data/{path}" for path in folders)
    empty = dict(beside)
    empty["data/labels.csv"] = ""
    headed = dict(beside)
    headed["data/labels.csv"] = "image,label\n"
    other = dict(beside)
    turned = {n: ("dog" if x == "cat" else "cat") for n, x in plain.items()}
    other["data/labels.csv"] = lines(["image,label"] + [f"{n},{x}" for n, x in turned.items()])
    part = dict(beside)
    part["data/labels.csv"] = lines(
        ["image,label"] + [f"{n},{x}" for n, x in list(plain.items())[:3]]
    )
    facts = {path: of(x) for path, x in folders.items()}
    truth = {f"downloads/data/pictures/{n}": fact for n, fact in truth.items()}
    return [
        Layout(
            "--root with a folder around the images",
            _RFC,
            files,
            truth,
            "labels.csv",
            ("--root", "downloads"),
        ),
        Layout(
            "--root with the folder of the images",
            _RFC,
            files,
            truth,
            "labels.csv",
            ("--root", "downloads/data/pictures"),
        ),
        Layout("an empty table beside class folders", _RFC, empty, facts, "data"),
        Layout("a table of a header only beside class folders", _RFC, headed, facts, "data"),
        Layout(
            "a table that says what the class folders do not",
            _RFC,
            other,
            {path: of() for path in folders},
            "data",
        ),
        Layout("a table of half of the images in class folders", _RFC, part, facts, "data"),
        Layout(
            "a table whose names lie in two folders",
            _RFC,
            images(["data/a/1.jpg", "data/b/1.jpg", "data/a/2.jpg"])
            | {"data/labels.csv": "image,label\n1.jpg,cat\n2.jpg,dog\n"},
            {"a/1.jpg": of(), "b/1.jpg": of(), "a/2.jpg": of("dog")},
            "data",
        ),
    ]


def _forms() -> list[Layout]:
    plain = {f"{n:03}.jpg": label for n, label in enumerate(_PLAIN)}
    truth = {name: of(label) for name, label in plain.items()}
    kinds = sorted(set(_PLAIN))
    numbered = {name: of(label, str(kinds.index(label))) for name, label in plain.items()}
    several = ["cat;dog", "dog", "cat", "bird;cat", "bird", "dog"]
    lists = {f"{n:03}.jpg": of(labels=text.split(";")) for n, text in enumerate(several)}
    shown = ["\u00a0cat", "cat", "dog\u200b", "dog", "\ufeffbird", "bird"]
    clean = {f"{n:03}.jpg": of(text.strip("\u00a0\u200b\ufeff")) for n, text in enumerate(shown)}
    parts = ("train", "train", "train", "val", "test", "train")
    split = {
        name: of(label, split=part)
        for (name, label), part in zip(plain.items(), parts, strict=True)
    }
    both = zip(plain.items(), parts, strict=True)
    divided = [f"{name},{label},{part}" for (name, label), part in both]
    folds = [row.replace("train", "0").replace("val", "1").replace("test", "2") for row in divided]
    bare = _csv(_PLAIN).replace(".jpg", "")
    capital = {name.replace(".jpg", ".JPG"): fact for name, fact in truth.items()}
    return [
        _table(
            "marks of Unicode around labels",
            "https://unicode.org/reports/tr36/",
            _csv(shown),
            clean,
        ),
        _table(
            "a label of True and False",
            _PANDAS + "to_csv.html",
            _csv([str(x == "cat") for x in _PLAIN]),
            {n: of(str(x == "cat")) for n, x in plain.items()},
        ),
        _table(
            "whole numbers with a point as labels",
            _PANDAS + "to_csv.html",
            _csv([f"{kinds.index(x)}.0" for x in _PLAIN]),
            {n: of(str(kinds.index(x)), f"{kinds.index(x)}.0") for n, x in plain.items()},
        ),
        _table(
            "labels that begin at 1",
            "MATLAB",
            _csv([str(kinds.index(x) + 1) for x in _PLAIN]),
            {n: of(str(kinds.index(x) + 1)) for n, x in plain.items()},
        ),
        _table(
            "labels of -1 and 1",
            "LIBSVM",
            _csv([str((x == "cat") * 2 - 1) for x in _PLAIN]),
            {n: of(str((x == "cat") * 2 - 1)) for n, x in plain.items()},
        ),
        _table(
            "several labels with semicolons between", "fastai, label_delim", _csv(several), lists
        ),
        _table(
            "several labels as a list of JSON",
            _PANDAS + "to_csv.html",
            _csv(['"' + json.dumps(x.split(";")).replace('"', '""') + '"' for x in several]),
            lists,
        ),
        _table(
            "several labels as a list of Python",
            _PANDAS + "to_csv.html",
            _csv([f'"{x.split(";")}"' for x in several]),
            lists,
        ),
        _table(
            "several labels with commas between, in quotes",
            _RFC,
            _csv([f'"{x.replace(";", ",")}"' for x in several]),
            lists,
        ),
        _table(
            "tabs in a file named .csv",
            _PANDAS + "to_csv.html, sep",
            _csv(_PLAIN).replace(",", "\t"),
            truth,
        ),
        _table("a header in capitals", _RFC, _csv(_PLAIN, head="IMAGE,LABEL"), truth),
        _table("a header with spaces", _RFC, _csv(_PLAIN, head=" image , label "), truth),
        _table("a header in German", _RFC, _csv(_PLAIN, head="Dateiname,Klasse"), truth),
        _table("no header", _PANDAS + "to_csv.html, header", _csv(_PLAIN).split("\n", 1)[1], truth),
        _table("a header only, no rows", _RFC, "image,label\n", {n: of() for n in plain}),
        _table(
            "names without extension",
            "https://www.kaggle.com/c/dog-breed-identification",
            bare.replace("image,", "id,").replace("label", "breed"),
            truth,
        ),
        _table("names of another case", "Windows", _csv(_PLAIN), capital),
        _table("names of a .png where .jpg lie", _RFC, _csv(_PLAIN).replace(".jpg", ".png"), truth),
        _table("a column subset", _RFC, lines(["image,label,subset", *divided]), split),
        _table("a column phase", _RFC, lines(["image,label,phase", *divided]), split),
        _table(
            "a column set of 0, 1 and 2", "CelebA", lines(["image,label,partition", *folds]), split
        ),
        _table(
            "a gzipped CSV",
            _PANDAS + "to_csv.html, compression",
            gzip.compress(_csv(_PLAIN).encode(), mtime=0),
            truth,
            "labels.csv.gz",
        ),
        _table(
            "an old workbook .xls",
            "Excel",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504),
            truth,
            "labels.xls",
        ),
        _table(
            "a YAML of names and labels",
            "https://yaml.org",
            lines(f"{n}: {x}" for n, x in plain.items()),
            truth,
            "labels.yaml",
        ),
        _table(
            "an XML of names and labels",
            "ImageCLEF",
            "<images>"
            + "".join(f'<image file="{n}" label="{x}"/>' for n, x in plain.items())
            + "</images>",
            truth,
            "labels.xml",
        ),
        _table(
            "an SQLite database",
            "https://sqlite.org/fileformat.html",
            b"SQLite format 3\0" + bytes(496),
            truth,
            "labels.sqlite",
        ),
        _table(
            "a pickled dict of labels",
            "https://docs.python.org/3/library/pickle.html",
            pickle.dumps(plain, 4),
            truth,
            "labels.pkl",
        ),
        _table(
            "an array of labels",
            "numpy.save",
            npz(labels=[1, 2, 1, 2, 0, 0]),
            numbered,
            "labels.npz",
        ),
        _table(
            "Google Cloud Vision's CSV without header",
            "https://cloud.google.com/vision/automl/docs/prepare",
            lines(
                f"{p.upper() if p != 'val' else 'VALIDATION'},gs://bucket/images/{n},{x}"
                for (n, x), p in zip(plain.items(), parts, strict=True)
            ),
            split,
            "import.csv",
        ),
        _table(
            "SageMaker's augmented manifest",
            "https://docs.aws.amazon.com/sagemaker/latest/dg/augmented-manifest.html",
            lines(
                json.dumps(
                    {
                        "source-ref": f"s3://bucket/images/{n}",
                        "class": kinds.index(x),
                        "class-metadata": {
                            "class-name": x,
                            "type": "groundtruth/image-classification",
                        },
                    }
                )
                for n, x in plain.items()
            ),
            numbered,
            "output.manifest",
        ),
        _table(
            "two tables that agree, of the labels and of the sizes",
            _PANDAS + "merge.html",
            _csv(_PLAIN),
            truth,
            more={"data/sizes.csv": lines(["image,width,height"] + [f"{n},24,24" for n in plain])},
        ),
        _table(
            "train.csv beside images of train and test in one folder",
            "https://www.kaggle.com/c/plant-seedlings-classification",
            _csv(_PLAIN[:4]),
            {
                n: (of(plain[n], split="train") if k < 4 else of(split="test"))
                for k, n in enumerate(plain)
            },
            "train.csv",
            more={"data/test.csv": "image\n004.jpg\n005.jpg\n"},
        ),
    ]


LAYOUTS = named(
    "tables",
    [
        *_words(),
        *_numbers(),
        *_columns(),
        *_captions(),
        *_json_tables(),
        *_encodings(),
        *_lists(),
        *_roots(),
        *_forms(),
    ],
)
