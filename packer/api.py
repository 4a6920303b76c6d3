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
from packer.options.chosen import (
    WITHOUT_TILER,
    checked,
    chosen,
    place_of,
    python_call,
    run_options,
)
from packer.options.declared import PYTHON, PackOptions, RunOptions
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.pack import run
from packer.run.report import PackReport
from packer.run.session import Session
from packer.run.uploads import destination
from packer.storage.source import StoreSource, locate
from reader.store.urls import is_url

_OF_PATHS = (
    "kind",
    "class_depth",
    "pairs",
    "ignore",
    "root",
    "dedupe",
    "images",
    "members",
    "labels",
)
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
    ignore: Sequence[str] | None = None,
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
        ignore: globs, such as ``("imdb/**", "*.bak")``.
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
        how = run_options(asked)
        show = Progress(quiet=not how.progress)
        store = storage_options, credential_provider

        def run_with(
            source: Path | StoreSource | Interpretation, options: PackOptions
        ) -> PackReport:
            if options.jpeg != "tiled" and not asked.keys() & {"jpeg", "raw"}:
                show.note(f"packer: {WITHOUT_TILER}")
            report = run(source, to, options, how, show, show.note)
            assert isinstance(report, PackReport)  # no part is asked for
            return report

        if is_url(src):
            own = source_storage_options, source_credential_provider
            theirs = own if any(part is not None for part in own) else store
            found = stack.enter_context(locate(src, how.scratch, *theirs))
        to = stack.enter_context(destination(place_of("dst", dst), how.scratch, *store, src=src))
        if is_url(src):
            return run_with(found, chosen(None, asked))
        if isinstance(src, (str, os.PathLike)):
            place = Path(os.fsdecode(src))
            if not place.exists():
                raise UnusableInput(f"There is no {place}.")
            return run_with(place, chosen(place, asked))
        if given := [name for name in _OF_PATHS if asked.get(name)]:
            raise UnusableInput(f"{given[0]}= goes with what lies at a path.")
        near = executor in (None, "local")
        if isinstance(src, Mapping) or is_map_style(src):
            options = chosen(None, {**asked, "kind": PYTHON})
            alone = near and how.processes == 1
            reading = opened(src, options.source, options.policy, alone=alone, far=not near)
            return run_with(stack.enter_context(reading), options)
        if not near or not hasattr(src, "__iter__"):
            raise UnusableInput(
                f"What is to be packed, {described(src)}, has not a length and items by number: it "
                "is neither a path nor a dataset whose items can be read anywhere."
            )
        options = chosen(None, {**asked, "shuffle": False, "kind": PYTHON})
        return _in_turn(src, to, options, how, show)


def _in_turn(
    items: Any, to: Destination, options: PackOptions, how: RunOptions, show: Progress
) -> PackReport:
    image, label, _ = options.source.columns
    known = know(items, image, label)
    source = options.source.with_columns(image=known.image or image, label=known.label or label)
    how = how if how.classes is not None else replace(how, classes=known.classes)
    session = Session(
        *(to, replace(options, source=source), how, show),
        what=f"{known.what}, in turn",
        declared=known.classes,
        remarks=(_IN_TURN,),
    )
    return session.write_all(known.dataset)
