"""The checksums in dataset.json and the indexes: XXH3 of 128 bits, with its name."""

import xxhash

PREFIX = "xxh3-128:"


def checksum_of(content: bytes | memoryview) -> str:
    return PREFIX + xxhash.xxh3_128_hexdigest(content)


def checksum(state: xxhash.xxh3_128) -> str:
    return PREFIX + state.hexdigest()
