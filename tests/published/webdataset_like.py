"""Tars in WebDataset's form, and outputs of the tools that write them."""

import json
from collections.abc import Iterable

from published.making import images, lines, named, of, parquet, tar
from published.row import Layout, Truth

_WDS = "https://github.com/webdataset/webdataset#the-webdataset-format"
_Member = tuple[str, str | bytes]
_IMG2 = "https://github.com/rom1504/img2dataset#output-format-choice"


def _shards(
    name: str,
    source: str,
    members: list[list[_Member]],
    truth: dict[str, Truth],
    src: str = "shards",
    more: dict[str, str | bytes] | None = None,
    names: str = "shard-{:06}.tar",
) -> Layout:
    files: dict[str, str | bytes] = {
        f"shards/{names.format(n)}": tar(dict(shard)) for n, shard in enumerate(members)
    }
    return Layout(name, source, files | (more or {}), truth, src)


def _cls(key: str, ext: str, content: str) -> list[_Member]:
    return [(f"{key}.jpg", ""), (f"{key}.{ext}", content)]


def _joined(samples: Iterable[list[_Member]]) -> list[_Member]:
    return [member for sample in samples for member in sample]


def _numbered() -> list[Layout]:
    def shards(ext: str, text: str) -> list[list[_Member]]:
        return [
            _joined(_cls(f"{s}{n:05}", ext, text.format(n % 3, f"word {s}{n}")) for n in range(4))
            for s in range(2)
        ]

    keys = [(f"{s}{n:05}.jpg", n % 3, f"word {s}{n}") for s in range(2) for n in range(4)]
    return [
        _shards(
            "cls beside jpg",
            _WDS,
            shards("cls", "{0}"),
            {k: of(str(label)) for k, label, _ in keys},
        ),
        _shards(
            "txt beside jpg",
            _WDS,
            shards("txt", "{1}"),
            {k: of(holds=[text]) for k, _, text in keys},
        ),
        _shards(
            "cls with a class name",
            _WDS,
            shards("cls", "kind{0}"),
            {k: of(f"kind{label}") for k, label, _ in keys},
        ),
        _shards(
            "json with a label",
            _WDS,
            shards("json", '{{"label": {0}, "text": "{1}"}}'),
            {k: of(holds=[text, '"label": ' + str(label)]) for k, label, text in keys},
        ),
        _shards(
            "cls.txt beside jpg",
            _WDS + "; timm",
            shards("cls.txt", "{0}"),
            {k: of(holds=[str(label)]) for k, label, _ in keys},
        ),
    ]


def _dotted() -> list[Layout]:
    keys = [f"photo.v1.{n}" for n in range(4)]
    dotted = [[(f"{k}.jpg", ""), (f"{k}.json", json.dumps({"caption": f"of {k}"}))] for k in keys]
    site = [f"www.example.org_{n}" for n in range(3)]
    sites = [[(f"{k}.jpg", ""), (f"{k}.txt", f"text of {k}")] for k in site]
    folders = [[(f"a.b/{n}.jpg", ""), (f"a.b/{n}.txt", f"text {n}")] for n in range(3)]
    two = [[(f"{n}.left.jpg", ""), (f"{n}.right.jpg", ""), (f"{n}.txt", f"t{n}")] for n in range(3)]
    capital = [[(f"{n}.JPG", ""), (f"{n}.TXT", f"text {n}")] for n in range(3)]
    twice = [[("a/0.jpg", ""), ("a/0.txt", "text a"), ("b/0.jpg", ""), ("b/0.txt", "text b")]]
    return [
        _shards(
            "keys with dots, a.b.c.jpg with a.b.c.json",
            _WDS,
            [_joined(dotted)],
            {f"{k}.jpg": of(holds=[f"of {k}"]) for k in keys},
        ),
        _shards(
            "keys with dots of a host",
            _WDS,
            [_joined(sites)],
            {f"{k}.jpg": of(holds=[f"text of {k}"]) for k in site},
        ),
        _shards(
            "keys below a folder with a dot",
            _WDS,
            [_joined(folders)],
            {f"a.b/{n}.jpg": of(holds=[f"text {n}"]) for n in range(3)},
        ),
        _shards(
            "two images for a key",
            _WDS,
            [_joined(two)],
            {f"{n}.left.jpg": of(holds=[f"t{n}"]) for n in range(3)},
        ),
        _shards(
            "extensions in capitals",
            _WDS,
            [_joined(capital)],
            {f"{n}.JPG": of(holds=[f"text {n}"]) for n in range(3)},
        ),
        _shards(
            "keys that differ in the folder only",
            _WDS,
            twice,
            {"a/0.jpg": of(holds=["text a"]), "b/0.jpg": of(holds=["text b"])},
        ),
    ]


def _img2dataset() -> list[Layout]:
    keys = [f"{s:05}{n:04}" for s in range(2) for n in range(3)]
    metas = {
        k: {
            "url": f"http://example.org/{k}",
            "caption": f"A caption of {k}",
            "key": k,
            "status": "success",
            "error_message": None,
            "width": 24,
            "height": 24,
        }
        for k in keys
    }
    shards: list[list[_Member]] = [
        _joined(
            [
                (f"{k}.jpg", ""),
                (f"{k}.json", json.dumps(metas[k])),
                (f"{k}.txt", metas[k]["caption"]),
            ]
            for k in keys
            if k.startswith(f"{s:05}")
        )
        for s in range(2)
    ]
    stats: dict[str, str | bytes] = {}
    for s in range(2):
        rows = [metas[k] for k in keys if k.startswith(f"{s:05}")]
        stats[f"{s:05}_stats.json"] = json.dumps({"count": 4, "successes": 3})
        stats[f"{s:05}.parquet"] = parquet(
            {name: [row[name] for row in rows] + [None] for name in ("url", "caption", "key")}
            | {"status": ["success"] * 3 + ["failed_to_download"]}
        )
    truth = {f"{k}.jpg": of(holds=[metas[k]["caption"]]) for k in keys}
    row = _shards(
        "img2dataset, webdataset",
        _IMG2,
        shards,
        truth,
        "shards",
        {f"shards/{name}": text for name, text in stats.items()},
        "{:05}.tar",
    )
    loose = {
        f"files/{k[:5]}/{name}": text
        for s in shards
        for name, text in s
        for k in (name.split(".")[0],)
    }
    loose |= {f"files/{name}": text for name, text in stats.items()}
    nothing = [name for name in loose if name.endswith(".parquet")]
    bare = {name: text for name, text in loose.items() if name not in nothing}
    below = {f"{k[:5]}/{k}.jpg": truth[f"{k}.jpg"] for k in keys}
    return [
        row,
        Layout("img2dataset, files", _IMG2, loose, below, "files"),
        Layout("img2dataset, files without Parquet", _IMG2, bare, below, "files"),
    ]


def _mixed() -> list[Layout]:
    one = [(f"{n}.jpg", "") for n in range(3)]
    beside = images(["shards/cover.png"])
    split = {
        f"shards/{s}-{n:04}.tar": tar(
            dict(_joined(_cls(f"{s}{n}{k}", "cls", str(k)) for k in range(2)))
        )
        for s in ("train", "validation")
        for n in range(2)
    }
    truth = {
        f"{s}{n}{k}.jpg": of(str(k), split="val" if s == "validation" else s)
        for s in ("train", "validation")
        for n in range(2)
        for k in range(2)
    }
    folders = tar(images(f"{kind}/{n}.jpg" for kind in ("cat", "dog") for n in range(3)))
    pairs = [(f"{n:06}", ("cat", "dog")[n % 2], ("train", "val")[n // 3]) for n in range(6)]
    bare = [[(f"{key}.jpg", "") for key, *_ in part] for part in (pairs[:4], pairs[4:])]
    labelled = {f"{key}.jpg": of(kind, split=split) for key, kind, split in pairs}
    rows = lines(["file,label,split", *(f"{key}.jpg,{kind},{split}" for key, kind, split in pairs)])
    keyed = lines(["__key__,label,split", *map(",".join, pairs)])
    texts = [json.dumps({"file_name": f"{k}.jpg", "text": f"a {k}"}) for k, *_ in pairs]
    captioned = {f"{key}.jpg": of(holds=[f"a {key}"]) for key, *_ in pairs}
    tables = [
        _shards(
            f"tars of images only beside {what}", _WDS, bare, truth, more={f"shards/{name}": text}
        )
        for what, name, text, truth in (
            ("a table of files", "labels.csv", rows, labelled),
            ("a table of keys", "labels.csv", keyed, labelled),
            ("metadata.jsonl", "metadata.jsonl", lines(texts), captioned),
        )
    ]
    missing = _joined(_cls(f"{n}", "cls", str(n)) for n in range(3))[:-1]
    return [
        *tables,
        _shards(
            "tars of images only",
            _WDS,
            [one, [(f"x{n}.jpg", "") for n in range(3)]],
            {f"{x}{n}.jpg": of() for x in ("", "x") for n in range(3)},
        ),
        _shards(
            "a stray image beside shards",
            _WDS,
            [_joined(_cls(f"{n}", "cls", str(n)) for n in range(3))],
            {f"{n}.jpg": of(str(n)) for n in range(3)},
            "shards",
            beside,
        ),
        Layout("train-*.tar beside validation-*.tar", _WDS, split, truth, "shards"),
        Layout(
            "tars of class folders",
            _WDS,
            {
                "shards/part-0.tar": folders,
                "shards/part-1.tar": tar(
                    images(f"{kind}/1{n}.jpg" for kind in ("cat", "dog") for n in range(3))
                ),
            },
            {
                f"{kind}/{m}{n}.jpg": of(kind)
                for kind in ("cat", "dog")
                for m in ("", "1")
                for n in range(3)
            },
            "shards",
        ),
        _shards(
            "a key without cls",
            _WDS,
            [missing],
            {"0.jpg": of("0"), "1.jpg": of("1"), "2.jpg": of()},
        ),
        _shards(
            "shards with an index of DALI beside each",
            "nvidia.dali.fn.readers.webdataset",
            [_joined(_cls(f"{n}", "cls", str(n)) for n in range(3))],
            {f"{n}.jpg": of(str(n)) for n in range(3)},
            "shards",
            {"shards/shard-000000.idx": "v1.2 3\njpg 512 700 0.jpg\n"},
        ),
        _shards(
            "shards with dataset-meta of wids",
            "https://github.com/webdataset/webdataset, wids",
            [_joined(_cls(f"{n}", "cls", str(n)) for n in range(3))],
            {f"{n}.jpg": of(str(n)) for n in range(3)},
            "shards",
            {
                "shards/index.json": json.dumps(
                    {"wids_version": 1, "shardlist": [{"url": "shard-000000.tar", "nsamples": 3}]}
                )
            },
        ),
    ]


LAYOUTS = named("webdataset_like", [*_numbered(), *_dotted(), *_img2dataset(), *_mixed()])
