"""Do other tools read what `packer pack` and `packer export` write, byte for byte?

    python scripts/check_exports.py [--images DIR] [--python PATH]...

Packs images with sidecars, under names that are dotted, spaced and not ASCII, exports the dataset
to every tool, and has every tool read it. A tool that none of the given Pythons can import is
skipped, by name. (They cannot all be installed in one environment.)
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

Members = dict[str, str]  # extension -> SHA-256 of the content
Samples = Iterable[tuple[str, Members]]


def digest(data: bytes) -> str:
    """The SHA-256 of a member's content."""
    return hashlib.sha256(data).hexdigest()


def tars(folder: Path) -> list[str]:
    """The shards of all splits."""
    return sorted(map(str, folder.glob("*/shard-*.tar")))


# The tools. Each yields key and members of every sample; they run in other Pythons, so they may
# import nothing but the standard library and the tool.


def with_tar(folder: Path) -> Samples:
    """GNU tar: unpack, and look at the files."""
    out = folder.parent / "unpacked"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    for path in tars(folder):
        subprocess.run(["tar", "-xf", path, "-C", str(out)], check=True)
    found: dict[str, Members] = {}
    for path in sorted(out.rglob("*")):
        if path.is_file():
            stem, _, ext = path.name.partition(".")
            key = (path.parent.relative_to(out) / stem).as_posix()
            found.setdefault(key, {})[ext] = digest(path.read_bytes())
    return found.items()


def with_webdataset(folder: Path) -> Samples:
    """The webdataset library, without its decoders."""
    import webdataset

    for sample in webdataset.WebDataset(tars(folder), shardshuffle=False):
        members = {ext: digest(data) for ext, data in sample.items() if not ext.startswith("__")}
        yield sample["__key__"], members


def with_datasets(folder: Path) -> Samples:
    """Hugging Face datasets decodes what it knows, so that images alone come as bytes."""
    import datasets

    loaded = datasets.load_dataset(
        "webdataset",
        data_files={"train": tars(folder)},
        split="train",
        cache_dir=str(folder.parent / "hf"),
    )
    images = [name for name, kind in loaded.features.items() if isinstance(kind, datasets.Image)]
    for name in images:
        loaded = loaded.cast_column(name, datasets.Image(decode=False))
    for row in loaded:
        members = {name: digest(row[name]["bytes"]) for name in images}
        members["cls"] = digest(str(row["cls"]).encode())
        members["txt"] = digest(row["txt"].encode())
        members["json"] = digest(json.dumps(row["json"]).encode())
        yield row["__key__"], members


def with_wids(folder: Path) -> Samples:
    """The wids package, by the description beside each split's shards."""
    import wids

    for description in sorted(folder.glob("*/wids.json")):
        loaded = wids.ShardListDataset(
            str(description), localname=lambda url: url, transformations=[], lru_size=100
        )
        for number in range(len(loaded)):
            sample = loaded[number]
            yield (
                sample["__key__"],
                {
                    ext.removeprefix("."): digest(content.read())
                    for ext, content in sample.items()
                    if not ext.startswith("__")
                },
            )


def with_dali(folder: Path) -> Samples:
    """DALI's reader has no keys: they are those of its index, whose order it keeps."""
    import numpy as np
    from nvidia.dali import fn, pipeline_def

    exts = ["jpg", "cls", "json", "txt", "mask.png"]
    for path in tars(folder):
        index = path.removesuffix(".tar") + ".idx"
        lines = Path(index).read_text("utf-8").splitlines()[1:]

        @pipeline_def(batch_size=1, num_threads=1, device_id=None)
        def read(path: str = path, index: str = index) -> tuple[object, ...]:
            return tuple(
                fn.readers.webdataset(
                    paths=[path],
                    index_paths=[index],
                    ext=exts,
                    missing_component_behavior="empty",
                )
            )

        pipeline = read()
        pipeline.build()
        for line in lines:
            outputs = [np.array(output[0]).tobytes() for output in pipeline.run()]
            key = line.split(" ")[3].rsplit("/", 1)
            members = {ext: digest(data) for ext, data in zip(exts, outputs, strict=True) if data}
            yield "/".join([*key[:-1], key[-1].partition(".")[0]]), members


def with_energon(folder: Path) -> Samples:
    """Energon reads by key; and what `energon prepare` makes itself must be the same."""
    import sqlite3

    from megatron.energon.epathlib import EPath
    from megatron.energon.flavors.webdataset.itar_reader import SqliteITarEntryReader

    own = folder.parent / "energon"
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    for path in tars(folder):
        copy = own / Path(path).relative_to(folder)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
    program = [str(Path(sys.executable).with_name("energon")), "prepare", str(own)]
    choices = ["--non-interactive", "--split-ratio", "1,0,0"]
    subprocess.run([*program, *choices], stdout=subprocess.DEVNULL, check=True)

    def rows(root: Path) -> list[tuple[object, ...]]:
        info = json.loads((root / ".nv-meta" / ".info.json").read_text())
        names = list(info["shard_counts"])
        database = sqlite3.connect(root / ".nv-meta" / "index.sqlite")
        found = [
            (names[row[0]], *row[1:])
            for table in ("samples", "sample_parts")
            for row in database.execute(f"SELECT * FROM {table}")
        ]
        database.close()
        return sorted(found, key=repr)

    assert rows(own) == rows(folder), "index.sqlite is not what energon prepare makes"
    for path in tars(folder):
        ours, theirs = Path(path + ".idx"), own / Path(path + ".idx").relative_to(folder)
        assert ours.read_bytes() == theirs.read_bytes(), f"{ours} is not what energon makes"
    reader = SqliteITarEntryReader(EPath(str(folder)))
    database = sqlite3.connect(folder / ".nv-meta" / "index.sqlite")
    keys = [key for (key,) in database.execute("SELECT sample_key FROM samples")]
    database.close()
    for key in keys:
        sample = reader[key]
        members = {ext: digest(data) for ext, data in sample.items() if not ext.startswith("__")}
        yield key, members


TOOLS: dict[str, tuple[str | None, Callable[[Path], Samples]]] = {
    "tar": (None, with_tar),
    "webdataset": ("webdataset", with_webdataset),
    "datasets": ("datasets", with_datasets),
    "wids": ("wids", with_wids),
    "dali": ("nvidia.dali", with_dali),
    "energon": ("megatron.energon", with_energon),
}


# The dataset, and what must be read


def make_source(images: list[Path], root: Path) -> None:
    """Copies of `images` in class folders, each with a class's sidecars."""
    from PIL import Image

    names = ["photo{:04}", "dotted.name.{:04}", "with space {:04}", "größe-猫-{:04}"]
    names.append("long" * 19 + "{:04}")  # with folder and extension 99 bytes: wids knows 100
    for number, image in enumerate(images):
        folder = root / f"class {number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        stem = folder / names[number % len(names)].format(number)
        shutil.copy(image, f"{stem}.jpg")
        Path(f"{stem}.json").write_text(json.dumps({"number": number, "name": image.name}))
        Path(f"{stem}.txt").write_text(f"The image {image.name}, größer", "utf-8")
        Image.new("L", (8, 8), number % 256).save(f"{stem}.mask.png")


def expected(source: Path) -> dict[str, Members]:
    """What every tool must find: the files of the source, and the class numbers."""
    from packer.keys import escape

    classes = sorted(path.name for path in source.iterdir())
    found: dict[str, Members] = {}
    for image in source.rglob("*.jpg"):
        stem = str(image.relative_to(source).with_suffix(""))
        label = str(classes.index(image.parent.name)).encode()
        members = found.setdefault(escape(stem), {"cls": digest(label)})
        for ext in ("jpg", "json", "txt", "mask.png"):
            members[ext] = digest((source / f"{stem}.{ext}").read_bytes())
    return found


def run_packer(*args: object) -> None:
    """Run a command of packer to its good end."""
    subprocess.run([sys.executable, "-m", "packer", *map(str, args), "--quiet"], check=True)


def python_with(module: str | None, pythons: list[str]) -> str | None:
    """The first of `pythons` that can import `module`."""
    for python in pythons:
        code = f"import {module}" if module else ""
        if subprocess.run([python, "-c", code], capture_output=True).returncode == 0:
            return python
    return None


def check(folder: Path, wanted: dict[str, Members], pythons: list[str]) -> bool:
    """Have every tool read `folder`, and print what it got."""
    sound = True
    for tool, (module, _) in TOOLS.items():
        python = python_with(module, pythons)
        if python is None:
            print(f"{tool}: skipped, {module} is not installed")
            continue
        done = subprocess.run(
            [python, __file__, "--read", tool, str(folder)], capture_output=True, text=True
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith('["')]
        found = dict(json.loads(line) for line in lines)
        wrong = [key for key in wanted if found.get(key) != wanted[key]]
        good = done.returncode == 0 and not wrong and len(lines) == len(wanted)
        sound &= good
        members = sum(map(len, found.values()))
        print(f"{tool}: {'good' if good else 'WRONG'}, {len(lines)} samples, {members} members")
        if not good:
            print(done.stderr[-2000:], wrong[:3])
    return sound


def main() -> int:
    """Make the dataset and check it; with --read, be one of the tools."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=Path, help="JPEGs; else 40 are made up")
    parser.add_argument("--python", action="append", default=[], help="that has some of the tools")
    parser.add_argument("--read", nargs=2, metavar=("TOOL", "FOLDER"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        tool, folder = arguments.read
        for key, members in TOOLS[tool][1](Path(folder)):
            print(json.dumps([key, members]))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        if arguments.images:
            images = [p for p in sorted(arguments.images.rglob("*")) if p.is_file()]
        else:
            program = [sys.executable, str(Path(__file__).with_name("sample_images.py"))]
            subprocess.run([*program, str(root / "images"), "40"], check=True)
            images = sorted((root / "images").rglob("*.jpg"))
        make_source(images, root / "source")
        shards = ["--split", "train=0.8,val=0.2", "--shard-samples", 100, "--jpeg", "verbatim"]
        run_packer("pack", root / "source", root / "shards", *shards)
        for tool in ("dali", "wids", "energon"):
            run_packer("export", root / "shards", "--to", tool)
        run_packer("verify", root / "shards", "--decode")
        wanted = expected(root / "source")
        return 0 if check(root / "shards", wanted, [sys.executable, *arguments.python]) else 1


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
