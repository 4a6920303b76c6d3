"""Options of packing, and commands on what it wrote, with what they change of the truth."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from made_images import npy, write_files
from PIL import Image, ImageOps

import packer
from crossing.judge import Seen, check
from crossing.scenes import CLASSES, Scene, encoded, renamed
from crossing.world import Refused, Step, World, run_packer, words_of
from reader import Dataset

PATHS = ("folder", "file", "archive")
PYTHON = ("map", "stream", "writer")
SHARES = {"train": 0.5, "val": 0.5}


@dataclass(frozen=True)
class Option:
    """A way to pack.

    Attributes:
        given: options, as `packer.pack` has them.
        words: options that only the command line has.
        hows: the ways that sources are passed to it.
        needs: what the source must give for it; `without`: what it must not.
        written: the samples that the source has, of those that the dataset will have.
        step: packs, in place of one call.
        after: what is done with the finished dataset.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    words: Sequence[str] = ()
    hows: Sequence[str] = PATHS + PYTHON
    needs: Sequence[str] = ()
    without: Sequence[str] = ()
    written: Callable[[list[Scene]], list[Scene]] = lambda scenes: scenes
    step: Step | None = None
    after: Step | None = None
    is_scaled: bool = False
    is_cut: bool = False
    codes: Sequence[int] = (0,)

    def pack(self, world: World) -> None:
        world.is_scaled, world.is_cut = self.is_scaled, self.is_cut
        written = self.written(world.scenes)
        if written is not world.scenes:
            world.place = world.make(written)
        if self.step is None:
            world.pack(*self.words, codes=self.codes, **self.given)
        else:
            self.step(world)
        if self.after is not None:
            self.after(world)


def _parts(world: World) -> None:
    for part in ("1/2", "2/2"):
        world.pack(part=part, shard_samples=2)
    world.pack(shard_samples=2)


def _append(world: World) -> None:
    """Pack every other sample, then all of them, or the others where they cannot come twice."""
    first, others = world.scenes[::2], world.scenes[1::2]
    world.place = world.make(first)
    world.pack()
    if not world.is_path:
        world.place = world.make([*first, *others] if world.source.how == "map" else others)
    else:
        world.place = world.make([*first, *others])
    world.pack(append=True)


def _overwrite(world: World) -> None:
    world.place, whole = world.make(world.scenes[::2]), world.place
    world.pack()
    world.place = world.make(world.scenes) if world.is_path else whole
    world.pack(overwrite=True)


def _again(world: World) -> None:
    """Run a finished run again, which is to change nothing."""
    world.pack()
    before = {p: p.stat().st_mtime_ns for p in world.dst.rglob("*") if p.is_file()}
    world.pack()
    after = {p: p.stat().st_mtime_ns for p in world.dst.rglob("*") if p.is_file()}
    check(before == after, "the same run again has changed files")


def _ignored(world: World) -> None:
    write_files(world.place, {"stray/zz.png": encoded(world.scenes[0].pixels, "png")})
    world.pack(ignore=("stray/**",))


def _in_python(world: World) -> None:
    given = {**world.source.needed(world.root / "src"), "jobs": 1, "progress": False}
    try:
        packer.pack(world.place, world.dst, **given)
    except packer.ShardfeedError as error:
        raise Refused(str(error)) from error


def _fetched(world: World) -> None:
    """Pack from a store."""
    (world.root / "scratch").mkdir()
    world.place, path = world.place.as_uri(), world.place
    world.pack(scratch=world.root / "scratch")
    world.place = path


def _outright(world: World) -> None:
    """Say as what the source is packed, in the words of its layout."""
    said = dict(world.source.said(world.root / "src"))
    kind = world.source.kind
    world.pack(**({} if kind is None or "images" in said else {"kind": kind}), **said)


def _in_other_order(world: World) -> None:
    """Choose the order of the classes; a source that only numbers them has their names so."""
    order = CLASSES if world.source.is_numbered else CLASSES[::-1]
    world.pack(classes=order)
    check(tuple(world.open().classes) == order, "the classes are", world.open().classes)


def _by_column(world: World) -> None:
    """Keep a number of each sample in the index, and choose by it."""
    name = world.source.holds["number"]
    world.pack(columns=(name,))
    dataset = world.open()
    for number in (0, 7):
        value = number + 1 if name == "image.id" else number
        chosen = dataset.subset(lambda columns, value=value: columns[name] == value)
        shown = [Seen(_shown(chosen, n), world.scenes).scene.number for n in range(len(chosen))]
        check(shown == [number], "the column chooses", shown, "not", number)


def _previewed(world: World) -> None:
    """Say twice what would be packed, then pack."""
    world.pack("--explain", "--json")
    world.pack("--dry-run")
    check(not world.dst.exists(), "--explain or --dry-run has written")
    world.pack("--json")


def _reported(world: World) -> None:
    world.pack("--report", str(world.root / "page.html"))
    check((world.root / "page.html").stat().st_size > 1000, "the page is empty")


def _contradicting(world: World) -> None:
    """Pack a copy of a picture that has another class or text."""
    said = world.pack(dedupe=True)
    check("A skipped copy contradicts" in said, "what is said of the copy is", said)


def _joined(world: World) -> None:
    """Pack further members for the finished dataset, and judge that each is its sample's."""
    world.pack()
    dataset, added = world.open(), world.root / "added"
    for number, key in enumerate(dataset.keys):
        scene = Seen(_shown(dataset, number), world.scenes).scene
        write_files(added, {f"{key}.npy": npy(np.full((2,), scene.number))})
    given = {"keys_of": world.dst, "jobs": 1}
    run_packer("pack", added, world.root / "dst2", *words_of(given, world.root))
    world.join = {"further": str(world.root / "dst2")}


def _shown(dataset: Dataset, number: int) -> Any:
    return dataset[number][0]


def _verified(world: World) -> None:
    run_packer("verify", world.dst, "-j", 1, "--quiet", "--decode")


def _informed(world: World) -> None:
    told = json.loads(run_packer("info", world.dst, "--json"))
    check(told["samples"] == len(world.scenes), "info counts", told["samples"])
    run_packer("plan", world.dst, "--rate", 100, "--workers", 1, "--json")


def _extracted(world: World) -> None:
    """Judge that each extracted picture is the one of its name."""
    out = world.root / "out"
    run_packer("extract", world.dst, out, "-j", 1)
    pictures = [path for path in out.rglob("*") if path.suffix in (".png", ".jpg", ".webp")]
    pictures = [p for p in pictures if not p.name.endswith((".mask.png", ".right.png"))]
    check(len(pictures) == len(world.scenes), "extract wrote", sorted(pictures))
    for path in pictures:
        with Image.open(path) as image:
            pixels = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
        scene = Seen(pixels, world.scenes).scene
        check(scene.stem in path.name or world.source.is_one_size, path.name, "is", scene.stem)


def _exported(world: World) -> None:
    for tool in ("dali", "wids", "energon"):
        run_packer("export", world.dst, "--to", tool, "--out", world.root / tool)


def _repaired(world: World) -> None:
    """Damage a shard, and have it repaired from the source."""
    shard = sorted(world.dst.rglob("*.tar"))[0]
    whole = shard.read_bytes()
    with shard.open("r+b") as file:
        file.seek(600)
        file.write(bytes(100))
    run_packer("repair", world.dst, "--from", world.place, "-j", 1)
    check(shard.read_bytes() == whole, "the shard is not what it was")


def _indexed(world: World) -> None:
    """Leave only the tars, and make a dataset of them."""
    before = world.open()
    world.classes = world.names_of(before)
    for known in before.box_encodings.values():
        told = {"path": known.path, "format": known.format, "labels": known.labels}
        world.boxes |= {**told, "normalized": known.normalized}
    for path in world.dst.rglob("*"):
        if path.suffix in (".json", ".safetensors"):
            path.unlink()
    run_packer("index", world.dst, "-j", 1)


def _damaged(scenes: list[Scene]) -> list[Scene]:
    return [*scenes, renamed(scenes, "zz", number=9, data=b"\x89PNG\r\n\x1a\n and no more")]


def _doubled(scenes: list[Scene]) -> list[Scene]:
    return [*scenes, renamed(scenes, "zz")]


def _with_other(scenes: list[Scene]) -> list[Scene]:
    return [*scenes, replace(scenes[1], stem="zz", is_other=True)]  # behind it in any order


def _without_bands(scenes: list[Scene]) -> list[Scene]:
    return [replace(scene, has_bands=False) for scene in scenes]


_SIZED = ("folder", "file", "map", "stream", "writer")  # whose samples may be damaged

OPTIONS_OF_PACKING: dict[str, Option] = {
    "plain": Option(),
    "said": Option(step=_outright, hows=PATHS),
    "split": Option({"split": SHARES}, without=("split",)),
    "stratify": Option(
        {"split": SHARES, "stratify": True}, hows=PATHS, needs=("label",), without=("split",)
    ),
    "max_side": Option({"max_side": 40}, written=_without_bands, is_scaled=True),
    "raw": Option({"raw": (36, 44)}, written=_without_bands, is_scaled=True, is_cut=True),
    "small_bands": Option({"max_side": 40}, needs=("bands",)),
    "raw_bands": Option({"raw": (36, 44)}, needs=("bands",)),
    "quality": Option({"quality": 85}),
    "verbatim": Option({"jpeg": "verbatim", "png": "verbatim"}),
    "check": Option({"check": True}),
    "shard_size": Option({"shard_size": "20KB"}),
    "shard_samples": Option({"shard_samples": 2}),
    "in_order": Option({"shuffle": False}, hows=(*PATHS, "map")),
    "seed": Option({"seed": 7}, hows=(*PATHS, "map")),
    "classes": Option(step=_in_other_order),
    "numeric": Option({"classes": "numeric"}),
    "columns": Option(step=_by_column, needs=("number",)),
    "parts": Option(step=_parts, hows=PATHS),
    "append": Option(step=_append),
    "overwrite": Option(step=_overwrite),
    "again": Option(step=_again, hows=(*PATHS, "map")),
    "skip": Option({"on_error": "skip"}, written=_damaged, codes=(1,), hows=_SIZED),
    "dedupe": Option({"dedupe": True}, written=_doubled, hows=PATHS),
    "dedupe_other": Option(step=_contradicting, written=_with_other, hows=PATHS, needs=("label",)),
    "dedupe_text": Option(step=_contradicting, written=_with_other, hows=PATHS, needs=("text",)),
    "ignore": Option(step=_ignored, hows=("folder",)),
    "join": Option(step=_joined),
    "two_jobs": Option({"jobs": 2, "shard_samples": 3}),
    "local": Option({"executor": "local"}, hows=(*PATHS, "map")),
    "limits": Option({"max_pixels": 10**6, "max_bytes": "1MB"}),
    "scratch": Option(step=_fetched, hows=("folder", "archive")),
    "preview": Option(step=_previewed, hows=PATHS),
    "report": Option(step=_reported, hows=PATHS),
    "quiet": Option(words=("--quiet",), hows=PATHS),
    "python": Option(step=_in_python, hows=PATHS),
    "verify": Option(after=_verified),
    "info": Option(after=_informed),
    "extract": Option(after=_extracted),
    "export": Option(after=_exported),
    "repair": Option(after=_repaired, hows=PATHS),
    "index": Option(after=_indexed),
}
