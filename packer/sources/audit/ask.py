"""Asks the questions of the audit, in their order."""

import os
from collections.abc import Callable, Sequence
from glob import escape

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.audit import (
    contradictions,
    copies,
    counted,
    divided,
    endings,
    named,
    parts,
    scenes,
    split_words,
)
from packer.sources.audit.outcome import AS_READ, Outcome, Question
from packer.sources.evidence.scanned import Reading, scanned
from packer.sources.trees.outright import by_templates, without
from packer.words import choices, listed

_MOST = 20_000  # samples of a source whose commands are tried
QUESTIONS: tuple[Callable[[Outcome], Question | None], ...] = (
    divided.partly_split,
    divided.same_splits,
    contradictions.other_splits,
    contradictions.other_classes,
    copies.same_names,
    copies.copied_folder,
    scenes.scenes,
    counted.counted_parts,
    parts.parallel_folders,
    endings.masks_alone,
    split_words.splits_in_names,
    divided.domains,
    divided.numbered_parts,
    endings.variants,
    divided.unlabelled_folders,
    divided.deeper_folders,
    divided.nested_classes,
    copies.copied_class,
    copies.contradictions,
    divided.strange_class,
    divided.single_samples,
    named.labels_in_names,
    divided.only_class,
)


def ask(outcome: Outcome, options: SourceOptions) -> None:
    """Raise UnusableInput, with commands, for what the outcome of a scan may have lost.

    Nothing is asked if `options`, the caller's, choose a layout.
    """
    if options.chooses_layout or outcome.prefix is None or not len(outcome.listing):
        return
    where = outcome.where
    if found := next(filter(None, (question(outcome) for question in QUESTIONS)), None):
        every = [_with_lists(*one, outcome) for one in found.readings.items()]
        chosen = choices(where, {what: words for what, words in every if _packs(words, outcome)})
        raise UnusableInput(f"{where}: {found.text}", " Choose:" * bool(chosen), chosen)


def _packs(words: Sequence[str], outcome: Outcome) -> bool:
    """Return whether a command rejects no file; of large sources, none is tried."""
    if len(outcome.listing) > _MOST or "--images" not in words:
        return True
    return scanned(Reading(tuple(words)), outcome.where, outcome.options) is not None


def _with_lists(meaning: str, words: Sequence[str], outcome: Outcome) -> tuple[str, Sequence[str]]:
    """Return a reading that reads the lists beside the folders, too, or ignores and names them.

    What was read with members is written out, so that these do not become samples.
    """
    own, facts = outcome.options, outcome.source.facts
    found = tuple(word for one in own.labels for word in ("--labels", one))
    outright = facts.outright or by_templates(own.images, own.members)
    if words == AS_READ:
        is_said = found or "--member" in outright
        return meaning, (*outright, *found) if is_said else ("--as", outcome.kind)
    if words[-2:] == ("--as", "flat") and "--member" in outright:
        words = (*words[:-2], *without("label", outright))
    if found and "--images" in words:
        return meaning, (*words, *found)
    lists = tuple(dict.fromkeys(one.partition(":")[0].rstrip("?") for one in own.labels)) or tuple(
        os.path.join(outcome.prefix or "", path) for path in facts.lists
    )
    ignoring = (word for path in lists for word in ("--ignore", escape(path)))
    return f"{meaning}, without {listed(lists)}" if lists else meaning, (*words, *ignoring)
