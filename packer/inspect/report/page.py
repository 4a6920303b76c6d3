"""The page: a template that escapes all text of a dataset.

Its style and script are in it, and its policy names their checksums: nothing else runs, and nothing
is fetched, whatever names, captions and classes hold.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from packer import words
from packer.inspect.dataset import splits_of
from packer.inspect.report.cards import Card
from packer.inspect.report.findings import class_counts
from packer.inspect.report.look import Looked
from packer.inspect.report.table import Table
from packer.options.declared import OPTIONS, PackOptions, by_name
from reader.format import FORMATS

_LONGEST = 200  # characters of an option
MARK = "<!doctype html>\n<!-- shardfeed report -->\n"  # how such a file begins
_CLASSES = 2000  # with a row of their own
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def page(
    table: Table, looked: Looked, cards: dict[int, Card], gallery: Sequence[int], **shown: Any
) -> str:
    """Return the HTML file's text; `shown` has all other names of the template."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup, escape

    def coded(text: str) -> Markup:
        forms = (escape, Markup("<code>{}</code>").format)
        parts = map(_readable, text.split("`"))
        return Markup("").join(forms[at % 2](part) for at, part in enumerate(parts))

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
        "exact": escape,  # what is copied has whatever characters it has
        "last": lambda path: path.rpartition("/")[2] or path,
    }
    environment.globals |= {"many": words.many, "share": words.share}
    own = files("packer.inspect.report")
    style, script = (own.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    formats = Counter(dict(enumerate(np.bincount(table.format).tolist())))
    counts, unit = class_counts(table, looked)
    total = counts.sum(axis=1)
    order = (-total).argsort(kind="stable")[:_CLASSES].tolist()
    return MARK + environment.get_template("page.html").render(
        **shown,
        table=table,
        looked=looked,
        cards=cards,
        gallery=gallery,
        style=style,
        script=script,
        policy=(
            f"default-src 'none'; img-src data:; script-src 'sha256-{digest}'; "
            "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        ),
        formats=[(FORMATS[at], count) for at, count in formats.most_common() if count],
        unit=unit,
        classes=[(table.class_name(at), int(total[at]), counts[at].tolist()) for at in order],
        splits=[{"name": name, **vars(share)} for name, share in splits_of(table.manifest).items()],
        options=list(_options(table)),
        filters=_filters(table, cards, gallery),
    )


def _readable(value: Any) -> Any:
    """Return a text without the characters that turn the direction of what stands around them."""
    if not isinstance(value, str):
        return value
    return _TURNING.sub(lambda found: found[0].encode("unicode_escape").decode(), value)


def _filters(
    table: Table, cards: dict[int, Card], gallery: Sequence[int]
) -> dict[str, list[tuple[int, str, int]]]:
    own = (cards[number].classes(int(table.label[number])) for number in gallery)
    of_class = Counter(label for classes in own for label in classes)
    of_split = Counter(table.split[list(gallery)].tolist())
    labels = sorted({*of_class, *range(min(len(table.classes), _CLASSES))})
    return {
        "classes": [(at, table.class_name(at) or "no class", of_class[at]) for at in labels],
        "splits": [(at, table.splits[at], of_split[at]) for at in sorted(of_split)],
    }


def _options(table: Table) -> Iterator[tuple[str, str]]:
    """Yield those of dataset.json that somebody chose."""
    chosen, usual = by_name(table.manifest.options), by_name(PackOptions().dump())
    for name, value in chosen.items():
        known = f"max_{name}" if name in ("pixels", "bytes") else name
        if known not in OPTIONS or known == "seed" or value in (None, usual.get(name)):
            continue
        if isinstance(value, dict):
            value = ", ".join(f"{name}: {part}" for name, part in value.items())
        elif known in ("shard_size", "max_bytes"):
            value = words.in_bytes(value)
        elif isinstance(value, int):
            value = "yes" if value is True else f"{value:,}"
        text = value if isinstance(value, str) else json.dumps(value)
        yield words.flag(known), words.shortened(text, _LONGEST)
