"""Asks the questions of the audit, in their order."""

from collections.abc import Callable

from packer.errors import UnusableInput
from packer.layouts.audit import copies, divided, endings, named, parts
from packer.layouts.audit.outcome import Outcome, Question
from packer.options.declared import SourceOptions
from packer.words import choices

QUESTIONS: tuple[Callable[[Outcome], Question | None], ...] = (
    divided.partly_split,
    parts.scenes,
    parts.affixed_folders,
    endings.variants,
    divided.unlabelled_folders,
    divided.deeper_folders,
    copies.copied_class,
    divided.strange_class,
    divided.single_samples,
    named.labels_in_names,
    divided.only_class,
)


def ask(outcome: Outcome, options: SourceOptions) -> None:
    """Raise UnusableInput, with commands, for what the outcome of a scan may have lost.

    Nothing is asked if `options` choose a layout.
    """
    if options.kind or options.has_templates or options.class_depth or options.pairs:
        return
    if outcome.prefix is None or not len(outcome.listing):
        return
    for question in QUESTIONS:
        if found := question(outcome):
            where = outcome.where
            raise UnusableInput(f"{where}: {found.text} Choose:{choices(where, found.readings)}")
