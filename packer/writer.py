"""Packing from a loop: `packer.Writer`."""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from packer.errors import UnusableInput
from packer.options import chosen
from packer.options.declared import PYTHON
from packer.progress import Progress
from packer.run.report import PackReport
from packer.run.session import Session
from packer.run.uploads import destination

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Writer:
    """Writes samples that a loop makes into a dataset.

    It is committed only when the ``with`` block is left without an error: after an
    error nothing of it remains. Images are encoded by threads while the loop goes on; a few samples
    for each wait at a time. Shards are in the order of the writes; without `shard_size` they are as
    large as lets 64 of them be, of what is written so far, from 10 MB to 1 GB.

    Args:
        dst: folder of the dataset, or its URL in a store.
        classes: class names in label order; None: labels are numbers.
        image_column, label_column, split_column: fields that hold the image, the label and the
            name of the split; None: ``image``, ``label`` and ``split``.
        jobs: threads; None: the cores that this process may use.
        scratch: folder for what goes into a store: all shards, until they are uploaded in the end.
        storage_options, credential_provider: of that store, as `reader.Dataset` takes them.
        progress: show on standard error how far it is.
        **arguments: split, shard_size, shard_samples, jpeg, png, check, max_side, quality, raw,
            columns, on_error, max_pixels, max_bytes, append and overwrite, as in `packer.pack`.

    Attributes:
        report: what was written, once it is committed; None before.

    Raises:
        UnusableInput: an argument is wrong, or `dst` holds something else.
        Rejected: a sample is not sound, and `on_error` is "stop".
        NothingToPack: nothing was written.
        PackingFailed: a shard cannot be written.

    Example:
        >>> pixels = np.zeros((48, 64, 3), np.uint8)
        >>> with packer.Writer("written", classes=["cat", "dog"], progress=False) as writer:
        ...     for number in range(10):
        ...         writer.write({"image": pixels, "label": "dog", "json": {"number": number}})
        >>> writer.report.samples
        10
    """

    __module__ = "packer"

    def __init__(
        self,
        dst: str | os.PathLike[str],
        *,
        storage_options: Mapping[str, Any] | None = None,
        credential_provider: Callable[..., Any] | None = None,
        **arguments: "Unpack[chosen.WriterArguments]",
    ) -> None:
        with chosen.python_call():
            asked = chosen.checked(arguments, chosen.WriterArguments)
            asked |= {"shuffle": False, "kind": PYTHON}
            self._options, self._how = chosen.options_of(None, asked)
            store = self._how.scratch, storage_options, credential_provider
            self._destination = destination(chosen.place_of("dst", dst), *store)
        self._session: Session | None = None
        self.report: PackReport | None = None

    __init__.__signature__ = chosen.shown(__init__, chosen.WriterArguments)  # type: ignore[attr-defined]

    def __enter__(self) -> "Writer":
        if self._session is not None or self.report is not None:
            raise UnusableInput("A Writer can be used only once. Create another one.")
        with chosen.python_call() as caller, ExitStack() as stack:
            to = stack.enter_context(self._destination)
            show = Progress(quiet=not self._how.progress, caller=caller)
            self._session = Session(to, self._options, self._how, show)
            self._stack = stack.pop_all()
        return self

    def write(self, sample: Any) -> None:
        """Add a sample.

        Its content is copied: arrays may be used again.

        Args:
            sample: a dict of fields, a pair (image, label), or an image, as `packer.pack` takes
                them. Beside them, ``"key"`` is its name (default: its number), ``"split"`` the part
                of the dataset that it belongs to.

        Raises:
            Rejected: this sample, or one that was encoded meanwhile, is not valid.
            PackingFailed: a shard cannot be written.
        """
        session = self._session
        if session is None or session.process != os.getpid():
            raise UnusableInput(
                "Call write() inside the with block of the Writer, in the same process."
            )
        with chosen.python_call():
            session.write(sample)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        session, self._session = self._session, None
        if session is None or session.process != os.getpid():
            return  # a fork of the process has left the block, too
        with chosen.python_call(), self._stack:
            if kind is not None:
                session.discard()
            else:
                self.report = session.commit()
