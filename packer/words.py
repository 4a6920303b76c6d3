"""Numbers as people say them (pure)."""

from collections.abc import Sequence

_UNITS = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))
NAMED = 5


def in_bytes(count: float) -> str:
    """Bytes in the unit that leaves up to three digits before the point."""
    for unit, factor in _UNITS:
        if count >= factor:
            return f"{count / factor:.4g} {unit}"
    return f"{count:.0f} bytes"


def many(count: int, noun: str) -> str:
    """``1 sample``, ``2,000 samples``; `noun` is in the singular."""
    plural = f"{noun}es" if noun.endswith(("s", "x")) else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"


def are(count: int) -> str:
    """The verb of so many."""
    return "is" if count == 1 else "are"


def have(count: int) -> str:
    """The other verb of so many."""
    return "has" if count == 1 else "have"


def share(part: int, whole: int) -> str:
    """``4.2%`` of a whole; never 0% of what is there."""
    percent = 100 * part / max(whole, 1)
    if 0 < percent < 0.1:
        return "less than 0.1%"
    return f"{percent:.0f}%" if percent >= 10 else f"{percent:.2g}%"


def listed(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def shortened(text: str, longest: int) -> str:
    """The beginning of a text that is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def abridged(text: str, longest: int) -> str:
    """A text that is longer without its middle: its end may say what to do."""
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]} [... {len(text):,} characters ...] {text[-longest // 2 :]}"
