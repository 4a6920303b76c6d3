"""Statistics of given counts."""

from typing import Any

from reader import Statistics
from reader.monitoring.counters import Loop, Now, Samples, Spent
from reader.store.limits import Requests


def statistics_of(**counts: Any) -> Statistics:
    """Put each count into the part that has it."""
    kinds = (Loop, Spent, Samples, Requests, Now)
    known = [name for kind in kinds for name in kind._fields]
    assert counts.keys() <= {*known}
    assert len(known) == len({*known})  # each is an attribute of the whole, too
    chosen = ({name: counts[name] for name in kind._fields if name in counts} for kind in kinds)
    return Statistics(*(kind(**each) for kind, each in zip(kinds, chosen, strict=True)))
