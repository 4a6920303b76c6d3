"""Fuzzes one target of tests/fuzz with atheris, which looks for inputs that reach new code.

    fuzz_target.py TARGET --seeds FOLDER        write small valid inputs
    fuzz_target.py TARGET [FLAG...] FOLDER      go on from the inputs in a folder
    fuzz_target.py TARGET FILE...               replay

Flags are libFuzzer's (https://llvm.org/docs/LibFuzzer.html#options). `fuzz.sh` runs all of it.
"""

import hashlib
import sys
from pathlib import Path

import atheris

_TESTS = Path(__file__).parents[1] / "tests"
sys.path[:0] = [str(_TESTS / "fuzz"), str(_TESTS)]

_INSTRUMENTED = ["packer", "reader", "tarfile", "zipfile", "pickle", "gzip", "csv"]
_MEMORY = 1 << 30  # bytes beyond what is imported


def main(name: str, arguments: list[str]) -> None:
    with atheris.instrument_imports(include=_INSTRUMENTED):
        import targets
        from limits import limited_memory

        target = targets.load(name)
    if arguments[:1] == ["--seeds"]:
        for seed in target.seeds():
            (Path(arguments[1]) / hashlib.sha1(seed).hexdigest()).write_bytes(seed)
        return
    for seed in target.seeds():
        target.one(seed)  # what is imported at need is not counted as memory, and seeds are sound
    with limited_memory(_MEMORY):
        atheris.Setup([sys.argv[0], *arguments], target.one)
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
