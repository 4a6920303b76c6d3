"""Asks the questions of the audit, in their order."""

from collections.abc import Callable

from packer.errors import UnusableInput
from packer.layouts.audit.copies import copied_class
from packer.layouts.audit.divided import (
    deeper_folders,
    only_class,
    partly_split,
    single_samples,
    strange_class,
    unlabelled_folders,
)
from packer.layouts.audit.endings import variants
from packer.layouts.audit.named import labels_in_names
from packer.layouts.audit.outcome import Outcome, Question
from packer.layouts.audit.parts import affixed_folders, scenes
from packer.options.declared import SourceOptions
from packer.words import choices

QUESTIONS: tuple[Callable[[Outcome], Question | None], ...] = (
    partly_split,
    scenes,
    affixed_folders,
    variants,
    unlabelled_folders,
    deeper_folders,
    copied_class,
    strange_class,
    single_samples,
    labels_in_names,
    only_class,
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
