"""The fetching process, as the tests' own process forks it."""

from collections.abc import Sequence

from reader.cache import process


def main(arguments: Sequence[int]) -> None:
    *descriptors, _ = arguments
    process.main([*map(str, descriptors)])
