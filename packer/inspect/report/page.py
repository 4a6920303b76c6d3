"""The page: what was found, in a template that escapes all that a dataset says.

Its style and script are in it, and its policy names their checksums: nothing else runs, and nothing
is fetched, whatever names, captions and classes hold.
"""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from packer import words
from packer.inspect.report.cards import Card
from packer.inspect.report.charts import Chart
from packer.inspect.report.facts import facts
from packer.inspect.report.finding import WEIGHTS, Finding
from packer.inspect.report.look import Looked
from packer.inspect.report.of_classes import class_counts
from packer.inspect.report.table import Table
from reader.format import FORMATS

MARK = "<!doctype html>\n<!-- shardfeed report -->\n"  # how such a file begins
_CLASSES = 2000  # with a row of their own
_SHARDS = 40
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Shown:
    """All that the page shows.

    Attributes:
        place: of the dataset, as it was given.
        seed: of what was sampled.
        gallery: numbers of the samples in the grid.
        cards: of these and of the findings' samples.
        keys: of each finding, those of its first samples.
        costs: what a plan says, and what that is about.
        box_note: how the boxes were read, a sentence; "" where there are none.
        made: when, and by which version.
    """

    place: str
    seed: int
    table: Table
    looked: Looked
    findings: Sequence[Finding]
    gallery: Sequence[int]
    cards: dict[int, Card]
    keys: Sequence[Sequence[str]]
    charts: Sequence[Chart]
    costs: Sequence[tuple[str, str]]
    box_note: str
    made: str


def page(shown: Shown) -> str:
    """The text of the HTML file."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def coded(text: str) -> Markup:
        """What stands between backticks as code."""
        parts = text.split("`")
        return Markup("").join(
            Markup("<code>{}</code>").format(_readable(part)) if at % 2 else escape(_readable(part))
            for at, part in enumerate(parts)
        )

    def exact(text: str) -> Markup:
        """What is copied: with whatever characters it has."""
        return escape(text)

    environment = Environment(
        loader=PackageLoader("packer.inspect.report", "."),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else _readable(value),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "size": words.in_bytes,
        "shortened": words.shortened,
        "coded": coded,
        "exact": exact,
        "last": lambda path: path.rpartition("/")[2] or path,
    }
    environment.globals |= {"many": words.many, "share": words.share}
    style, script = (_own(f"page.{kind}") for kind in ("css", "js"))
    return MARK + environment.get_template("page.html").render(
        **vars(shown),
        style=style,
        script=script,
        policy=(
            f"default-src 'none'; img-src data:; script-src {_checksum(script)}; "
            "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        ),
        weights=WEIGHTS,
        formats=_formats(shown.table),
        classes=_classes(shown.table, shown.looked),
        splits=_splits(shown.table),
        facts=facts(shown.table),
        shards=shown.table.manifest.shards[:_SHARDS],
        filters=_filters(shown),
        overlays=_overlays(shown.cards.values()),
    )


def _readable(value: Any) -> Any:
    """A text without the characters that turn the direction of what stands around them."""
    if not isinstance(value, str):
        return value
    return _TURNING.sub(lambda found: found[0].encode("unicode_escape").decode(), value)


def _own(name: str) -> str:
    return files("packer.inspect.report").joinpath(name).read_text("utf-8")


def _checksum(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _overlays(cards: Collection[Card]) -> str:
    """What lies over the images."""
    kinds = ("boxes", "outlines", "masks")
    there = [kind for kind in kinds if any(getattr(card, kind) for card in cards)]
    return " and ".join(filter(None, [", ".join(there[:-1]), *there[-1:]]))


def _filters(shown: Shown) -> dict[str, list[tuple[int, str, int]]]:
    """Classes, and splits of the samples in the grid: number, name, and samples in the grid."""
    table = shown.table
    own = (shown.cards[number].classes(int(table.label[number])) for number in shown.gallery)
    of_class = Counter(label for classes in own for label in classes)
    of_split = Counter(table.split[list(shown.gallery)].tolist())
    labels = sorted({*of_class, *range(min(len(table.classes), _CLASSES))})
    return {
        "classes": [(at, table.class_name(at) or "no class", of_class[at]) for at in labels],
        "splits": [(at, table.splits[at], of_split[at]) for at in sorted(of_split)],
    }


def _formats(table: Table) -> list[tuple[str, int]]:
    found = [(name, int((table.format == code).sum())) for code, name in enumerate(FORMATS)]
    return sorted(((name, count) for name, count in found if count), key=lambda item: -item[1])


def _classes(table: Table, looked: Looked) -> dict[str, Any]:
    """A row for each class: name, count, counts by split; the most frequent first."""
    counts, unit = class_counts(table, looked)
    total = counts.sum(axis=1)
    order = (-total).argsort(kind="stable")[:_CLASSES].tolist()
    return {
        "unit": unit,
        "rows": [(table.class_name(at), int(total[at]), counts[at].tolist()) for at in order],
        "most": int(total.max(initial=0)),
        "all": len(total),
    }


def _splits(table: Table) -> list[dict[str, Any]]:
    found = []
    for name in table.splits:
        shards = [shard for shard in table.manifest.shards if shard.split == name]
        found.append(
            {
                "name": name,
                "shards": len(shards),
                "samples": sum(shard.samples for shard in shards),
                "bytes": sum(shard.bytes for shard in shards),
            }
        )
    return found
