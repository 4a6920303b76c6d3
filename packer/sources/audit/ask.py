"""Asks the questions of the audit, in their order."""

from collections.abc import Callable

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.audit import copies, divided, endings, named, parts, scenes
from packer.sources.audit.outcome import Outcome, Question
from packer.words import choices

QUESTIONS: tuple[Callable[[Outcome], Question | None], ...] = (
    divided.partly_split,
    copies.same_names,
    copies.copied_folder,
    scenes.scenes,
    parts.parallel_folders,
    endings.masks_alone,
    divided.domains,
    divided.numbered_parts,
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
    if options.chooses_layout or outcome.prefix is None or not len(outcome.listing):
        return
    where = outcome.where
    if found := next(filter(None, (question(outcome) for question in QUESTIONS)), None):
        chosen = choices(where, found.readings)
        raise UnusableInput(f"{where}: {found.text}", " Choose:" * bool(chosen), chosen)
