"""Packing from Python: `packer.pack`, with the options and the report of the command."""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packer.errors import UnusableInput
from packer.options import chosen
from packer.options.declared import PYTHON, PackOptions, RunOptions
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.pack import run
from packer.run.report import PackReport
from packer.run.scopes import scope_of
from packer.run.session import Session
from packer.run.uploads import destination
from packer.sources.scanners.python.dataset import opened
from packer.sources.scanners.python.known import is_map_style, know
from packer.sources.scanners.python.values import described
from packer.storage.source import LocalSource, locate

if TYPE_CHECKING:
    from typing_extensions import Unpack

_OF_PATHS = (
    *("kind", "class_depth", "pairs", "ignore", "root", "dedupe", "stratify"),
    *("images", "members", "labels", "keys_of"),
)
_IN_TURN = (
    "Items come from an iterator: they are stored in its order, and an interrupted run cannot "
    "be continued."
)


def pack(
    src: Any,
    dst: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, Any] | None = None,
    credential_provider: Callable[..., Any] | None = None,
    source_storage_options: Mapping[str, Any] | None = None,
    source_credential_provider: Callable[..., Any] | None = None,
    **arguments: "Unpack[chosen.PackArguments]",
) -> PackReport:
    """Pack `src` into the dataset `dst`, or finish what an earlier call began.

    Options of `packer pack` are keyword arguments by the same names; its reference describes them.
    Those that differ, or have no such option:

    Args:
        src: the path of what the command packs, its URL in a store, or a Python dataset.
        dst: folder of the dataset, or its URL in a store.
        storage_options, credential_provider: of that store, as `reader.Dataset` takes them.
        source_storage_options, source_credential_provider: of the source's, where that is
            another one.
        shard_size: bytes, or text such as "1GB".
        split: share of each split, ``{"train": 0.9, "val": 0.1}``.
        raw: (height, width).
        kind: ``--as``.
        class_depth: a number, or "all".
        pairs, members: ``--pair`` and ``--member``: name -> folder, and name -> template.
        ignore, images, labels: a sequence for an option that is given several times.
        columns: ``--column``: a sequence of paths in the JSON.
        classes: class names in label order; "numeric": for classes that are numbers, in their
            order; None: sorted as text.
        keys_of: the path or URL of a dataset, whose credentials come from the environment.
        executor: also an `Executor`; None: processes of this machine.
        progress: show the interpretation of the source and the progress on standard error.

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
    of_stores = {
        "storage_options": storage_options,
        "credential_provider": credential_provider,
        "source_storage_options": source_storage_options,
        "source_credential_provider": source_credential_provider,
    }
    with chosen.python_call(dst, {**arguments, **of_stores}) as caller, ExitStack() as stack:
        asked = chosen.checked(arguments, chosen.PackArguments)
        near, path = asked.get("executor") in (None, "local"), None
        is_place = isinstance(src, (str, os.PathLike))
        is_dataset = not is_place and (isinstance(src, Mapping) or is_map_style(src))
        if is_place:
            place = chosen.place_of("src", src)
            path = place if isinstance(place, Path) else None
        elif given := [name for name in _OF_PATHS if asked.get(name)]:
            raise UnusableInput(
                f"{given[0]}= requires a path or a URL as the source, not a dataset."
            )
        elif is_dataset:
            asked |= {"kind": PYTHON}
        elif near and hasattr(src, "__iter__"):
            asked |= {"kind": PYTHON, "shuffle": False}
        else:
            raise UnusableInput(
                f"The source, {described(src)}, cannot be packed: it is neither a path nor a "
                "dataset with __len__ and __getitem__. Pass one of these, or pack items in "
                "this process with packer.Writer."
            )
        options, how = chosen.options_of(path, asked)
        show = Progress(quiet=not how.progress, caller=caller)
        store = storage_options, credential_provider
        if is_place:
            own = source_storage_options, source_credential_provider
            theirs = own if any(part is not None for part in own) else store
            source = stack.enter_context(locate(place, how.scratch, *theirs))
        to = stack.enter_context(
            destination(chosen.place_of("dst", dst), how.scratch, *store, src=src)
        )
        if path is not None and not path.exists():
            raise UnusableInput(f"{path} does not exist. Check the path of the source.")
        if is_dataset:
            alone = near and how.jobs == 1
            reading = opened(src, options.source, options.policy, alone=alone, far=not near)
            items = stack.enter_context(reading)
            source = LocalSource(items.what, None, items=items)
        elif not is_place:
            return _in_turn(src, to, options, how, show)
        if options.jpeg != "tiled" and not asked.keys() & {"jpeg", "raw", "keys_of"}:
            show.note(f"packer: {chosen.WITHOUT_TILER}")
        report = run(source, scope_of(to, options, how), show)
        assert isinstance(report, PackReport)  # no part is asked for
        return report


pack.__signature__ = chosen.shown(pack, chosen.PackArguments)  # type: ignore[attr-defined]


def _in_turn(
    items: Any, to: Destination, options: PackOptions, how: RunOptions, show: Progress
) -> PackReport:
    source = options.source
    known = know(items, source.image_column, source.label_column)
    source = replace(
        source,
        image_column=known.image or source.image_column,
        label_column=known.label or source.label_column,
    )
    how = how if how.classes is not None else replace(how, classes=known.classes)
    session = Session(
        *(to, replace(options, source=source), how, show),
        what=f"{known.what}, in turn",
        declared=known.classes,
        remarks=(_IN_TURN,),
    )
    return session.write_all(known.dataset)
