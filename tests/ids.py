"""Names for the cases of a test that are the same in every process that collects it."""

import re


def named(value: object) -> str:
    """As it is printed, but for addresses in memory, which are others in each process."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
