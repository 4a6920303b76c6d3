"""What `packer pack --explain` prints: what a source is read as, shown by some of its samples."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from packer.cli.output import name_files, print_json, say

if TYPE_CHECKING:
    from packer.options.declared import PackOptions
    from packer.progress import Progress
    from packer.samples.records import Reader, SourceSample
    from packer.storage.source import StoreSource

_SHOWN = 5
_LONGEST = 300  # characters of a member


def say_explained(
    src: "Path | StoreSource",
    chosen: "PackOptions",
    names: list[str] | None,
    scratch: Path | None,
    as_json: bool,
    progress: "Progress",
) -> int:
    """Print what `src` is read as, and some samples from all over it; the exit code."""
    from packer.plan.prepare import prepare
    from packer.run.open_source import open_source

    with open_source(src, progress, scratch=scratch) as (source, spool):
        work = prepare(source, chosen, progress, names, spool=spool)
        files, listing, classes = work.scanned.files, work.scanned.listing, work.scanned.classes
        count = min(_SHOWN, len(listing))
        numbers = [(2 * shown + 1) * len(listing) // (2 * count) for shown in range(count)]
        samples = [_sample(files, listing[number], classes) for number in numbers]
    for sample in samples:
        sample["members"] |= dict.fromkeys(sorted(listing.members.keys() - sample["members"]))
    rejected = [(item.name, item.reason) for item in listing.skipped if not item.ignored]
    ignored = [(item.name, item.reason) for item in listing.skipped if item.ignored]
    if as_json:
        reading = {"reading": work.reading, "remarks": list(work.remarks), "samples": samples}
        print_json({**reading, "rejected": rejected, "ignored": ignored})
        return 1 if rejected else 0
    for sentence in (work.reading, *work.remarks):
        say(sentence, err=False)
    for sample in samples:
        of_class = "no class" if sample["class"] is None else f"class {sample['class']}"
        split = f", split {sample['split']}" if sample["split"] else ""
        say(f"{sample['name']}: {of_class}{split}, {sample['image']}", err=False)
        for ext, text in sample["members"].items():
            say(f"  {ext}: {'none' if text is None else text}", err=False)
    name_files("ignored", ignored)
    name_files("rejected", rejected)
    return 1 if rejected else 0


def _sample(files: "Reader", sample: "SourceSample", classes: tuple[str, ...]) -> dict[str, Any]:
    """A sample with its members, as a person reads them."""
    from packer.errors import BadImage

    found: dict[str, Any] = {
        "name": sample.name,
        "class": classes[sample.label] if sample.label >= 0 else None,
        "split": sample.split,
        "members": {},
    }
    try:
        content = files.read(sample)
    except BadImage as error:
        return found | {"image": f"cannot be read: {error}"}
    image = content.image
    shape = " x ".join(map(str, getattr(image, "shape", ())))
    found["image"] = _described(image) if isinstance(image, bytes) else f"pixels, {shape}"
    found["members"] = {ext: _described(data, ", {}") for ext, data in content.members.items()}
    return found


def _described(data: bytes, pixels: str = "") -> str:
    """The beginning of a text; of anything else, what it is; `pixels` says where its mode goes."""
    import io

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            mode = pixels.format(_mode(image.mode))
            return f"{image.format} of {image.width} x {image.height}{mode}"
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        pass
    if b"\0" in data[:_LONGEST]:
        return f"{len(data)} bytes"
    text = " ".join(data[: 4 * _LONGEST].decode(errors="replace").split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _mode(mode: str) -> str:
    """What a pixel is in a mode of Pillow's: a mask of colours is not one of class numbers."""
    from packer.images.probe import ONE_CHANNEL

    bits = 16 if mode.startswith("I;16") else {"1": 1, "I": 32, "F": 32}.get(mode, 8)
    name = "palette" if mode == "P" else "grey" if mode in ONE_CHANNEL else mode
    return f"{name}, {bits} bit{'s' * (bits != 1)} a value"
