"""Packing from Python: `packer.pack`, with the options and the report of the command."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.layouts.interpretation import Interpretation
from packer.layouts.python.dataset import opened
from packer.layouts.python.known import is_map_style, know
from packer.layouts.python.values import described
from packer.options.chosen import WITHOUT_TILER, checked, chosen, path_of, place_of, python_call
from packer.options.declared import PYTHON, PackOptions
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.open_source import destination, locate
from packer.run.pack import pack as run
from packer.run.report import PackReport
from packer.run.session import Request, write_stream
from packer.storage.source import StoreSource
from reader.store.urls import is_url
from reader.system import usable_cores

_OF_PATHS = ("kind", "class_depth", "pairs", "root", "dedupe", "images", "members", "labels")
_IN_TURN = "Items came in turn: they are stored in their order, and no such run can be continued."


def pack(
    src: Any,
    dst: str | os.PathLike[str],
    *,
    jobs: int | None = None,
    shard_size: int | str | None = None,
    shard_samples: int | None = None,
    shuffle: bool = True,
    seed: int = 0,
    split: Mapping[str, float] | None = None,
    jpeg: str | None = None,
    png: str | None = None,
    check: bool = False,
    max_side: int | None = None,
    quality: int | None = None,
    raw: tuple[int, int] | None = None,
    kind: str | None = None,
    class_depth: int | str | None = None,
    pairs: Mapping[str, str | os.PathLike[str]] | None = None,
    classes: Sequence[str] | None = None,
    dedupe: bool = False,
    root: str | os.PathLike[str] | None = None,
    image_column: str | None = None,
    label_column: str | None = None,
    split_column: str | None = None,
    label_separator: str | None = None,
    box_format: str | None = None,
    images: str | Sequence[str] | None = None,
    members: Mapping[str, str] | None = None,
    labels: str | Sequence[str] | None = None,
    on_error: str = "stop",
    max_pixels: int | None = None,
    max_bytes: int | None = None,
    append: bool = False,
    overwrite: bool = False,
    executor: Any = None,
    scratch: str | os.PathLike[str] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    credential_provider: Callable[..., Any] | None = None,
    source_storage_options: Mapping[str, Any] | None = None,
    source_credential_provider: Callable[..., Any] | None = None,
    progress: bool = True,
) -> PackReport:
    """Pack `src` into the dataset `dst`, or finish what an earlier call began.

    The arguments are the options of `packer pack`, which describes them. Those that differ:

    Args:
        src: the path of what the command packs, or its URL in a store.
        dst: folder of the dataset, or its URL in a store.
        jobs: packing processes; None: the cores that this one may use.
        shard_size: bytes, or text such as "1GB".
        split: share of each split, ``{"train": 0.9, "val": 0.1}``.
        raw: (height, width).
        kind: ``--as``.
        class_depth: a number, or "all".
        pairs: name -> folder.
        classes: class names in label order; None: sorted.
        images, labels: a template, or several.
        members: name -> template.
        on_error: "stop" or "skip".
        executor: where shards are packed; None: in processes of this machine.
        scratch: folder for what goes into a store, or comes from one.
        storage_options, credential_provider: of that store, as `reader.Dataset` takes them.
        source_storage_options, source_credential_provider: of the source's, where that is
            another one.
        progress: show on standard error what the source is understood as, and how far it is.

    Returns:
        What became of the source, as ``--json`` prints it.

    Raises:
        NothingToPack: there is nothing to pack.
        UnusableInput: source, destination or an argument cannot be worked with.
        Rejected: files were rejected and `on_error` is "stop"; nothing is committed.
        PackingFailed: writing failed, or a process died (ProcessDied); the same call continues.

    Example:
        >>> report = packer.pack("images", "packed", shard_size="500MB", progress=False)
        >>> report.samples, report.splits
        (28, {'train': 20, 'val': 8})
    """
    arguments = locals()
    with python_call(), ExitStack() as stack:
        asked = checked(arguments)
        built = None if scratch is None else path_of("scratch", scratch)
        store = storage_options, credential_provider
        if is_url(src):
            own = source_storage_options, source_credential_provider
            theirs = own if any(part is not None for part in own) else store
            there = stack.enter_context(locate(src, built, *theirs))
            built = built if is_url(dst) else None
            to = stack.enter_context(destination(place_of("dst", dst), built, *store))
            return _pack(there, to, chosen(None, asked), asked, executor)
        to = stack.enter_context(destination(place_of("dst", dst), built, *store))
        if isinstance(src, (str, os.PathLike)):
            place = path_of("src", src)
            if not place.exists():
                raise UnusableInput(f"There is no {place}.")
            return _pack(place, to, chosen(place, asked), asked, executor)
        if given := [name for name in _OF_PATHS if asked.get(name)]:
            raise UnusableInput(f"{given[0]}= goes with what lies at a path.")
        near = executor in (None, "local")
        if isinstance(src, Mapping) or is_map_style(src):
            options = chosen(None, {**asked, "kind": PYTHON})
            how = options.source, options.policy
            alone = near and asked.get("jobs", usable_cores()) == 1
            reading = stack.enter_context(opened(src, *how, alone=alone, far=not near))
            return _pack(reading, to, options, asked, executor)
        if not near or not hasattr(src, "__iter__"):
            raise UnusableInput(
                f"What is to be packed, {described(src)}, has not a length and items by number: it "
                "is neither a path nor a dataset whose items can be read anywhere."
            )
        return _in_turn(src, to, asked)


def _pack(
    src: Path | StoreSource | Interpretation,
    to: Destination,
    options: PackOptions,
    asked: Mapping[str, Any],
    executor: Any,
) -> PackReport:
    show = Progress(quiet=not asked["progress"])
    if options.jpeg != "tiled" and not asked.keys() & {"jpeg", "raw"}:
        show.note(f"packer: {WITHOUT_TILER}")
    return run(
        src,
        to,
        options,
        asked.get("jobs", usable_cores()),
        classes=asked.get("classes"),
        append=asked["append"],
        skip_rejected=asked["on_error"] == "skip",
        overwrite=asked["overwrite"],
        executor=executor,
        progress=show,
        announce=show.note,
    )


def _in_turn(items: Any, to: Destination, asked: Mapping[str, Any]) -> PackReport:
    options = chosen(None, {**asked, "shuffle": False, "kind": PYTHON})
    image, label, _ = options.source.columns
    known = know(items, image, label)
    source = options.source.with_columns(image=known.image or image, label=known.label or label)
    options = replace(options, source=source)
    request = Request(
        classes=asked.get("classes", known.classes),
        declared=known.classes,
        skips=asked["on_error"] == "skip",
        append=asked["append"],
        overwrite=asked["overwrite"],
        threads=asked.get("jobs", usable_cores()),
        progress=Progress(quiet=not asked["progress"]),
        what=f"{known.what}, in turn",
        remarks=(_IN_TURN,),
    )
    return write_stream(known.dataset, to, options, request)
