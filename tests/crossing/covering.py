"""A covering array: few cases that have each pair of values of any two dimensions."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product

Case = dict[str, str]  # a value of each dimension
IsAllowed = Callable[[Mapping[str, str]], bool]  # of a case that may not be complete
Value = tuple[str, str]  # of a dimension


def cases_of(
    dimensions: Mapping[str, Sequence[str]], is_allowed: IsAllowed, together: int = 2
) -> Iterator[Case]:
    """Yield cases until all values have come that can come `together`: each one, or each pair.

    A case begins with values that have not come together yet, and takes of each further dimension
    the value with most of such companions. It is the same sequence each time.
    """
    order = sorted(dimensions, key=lambda name: -len(dimensions[name]))
    left: dict[frozenset[Value], None] = {}
    for names in combinations(order, together):
        for values in product(*(dimensions[name] for name in names)):
            if is_allowed(case := dict(zip(names, values, strict=True))):
                left[frozenset(case.items())] = None
    waiting = Counter(value for values in left for value in values)

    def completed(case: Case, others: Sequence[str]) -> Case | None:
        if not others:
            return case
        name, *further = others
        companions = [*combinations(case.items(), together - 1)]

        def gain(value: str) -> tuple[int, int]:
            new = sum(frozenset((*known, (name, value))) in left for known in companions)
            return new, waiting[name, value]

        for value in sorted(dimensions[name], key=gain, reverse=True):
            longer = {**case, name: value}
            if is_allowed(longer) and (found := completed(longer, further)):
                return found
        return None

    while left:
        begin = next(iter(left))
        found = completed(dict(begin), [name for name in order if name not in dict(begin)])
        come = [begin] if found is None else map(frozenset, combinations(found.items(), together))
        for values in come:
            if left.pop(values, 0) is None:
                waiting.subtract(values)
        if found is not None:
            yield {name: found[name] for name in dimensions}
