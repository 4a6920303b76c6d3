"""The scripts of this folder with the patches of docs/tasks/patches, and what these gain.

As a program it measures the images a second of each script's own loop, before and after:
``python patched.py IMAGES SHARDS [--size 224] [--batch-size 64] [--workers 2] [--rounds 3]``.
"""

import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from statistics import median

SCRIPTS = Path(__file__).parent
PATCHES = SCRIPTS.parents[3] / "docs" / "tasks" / "patches"


def patches():
    """(name, script, text) of each patch: its file, the script that it is for, and its hunks."""
    for path in sorted(PATCHES.glob("*.patch")):
        text = path.read_text()
        head = re.match(r"--- a/(\w+)\.py\n\+\+\+ b/\1\.py\n", text)
        yield path.stem, head[1], text[head.end() :]


def patched(script, text):
    """The text of a script, with the hunks of a patch applied."""
    after, end = (SCRIPTS / f"{script}.py").read_text(), 0
    for hunk in re.split(r"^@@ .*\n", text, flags=re.MULTILINE)[1:]:
        lines = hunk.splitlines()
        old, new = (
            "".join(f"{line[1:]}\n" for line in lines if line[:1] in ("", " ", sign))
            for sign in "-+"
        )
        start = after.index(old, end)
        end = start + len(new)
        after = after[:start] + new + after[start + len(old) :]
    return after


def needed(script):
    """The package that a script is for."""
    return script.split("_")[0].replace("apex", "torchvision")


def _rate(text, data, arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        path.write_text(text)
        command = [sys.executable, "-W", "ignore", path, data, folder, "--epochs", "1", *arguments]
        done = subprocess.run(command, env=_ENVIRONMENT, capture_output=True, text=True)
    found = re.search(r"images/s: ([\d.]+)", done.stdout)
    if found is None:
        raise SystemExit(f"{path.name} failed:\n{done.stderr}")
    return float(found[1])


def main(images, shards, *arguments):
    rounds = 3
    if "--rounds" in arguments:
        at = arguments.index("--rounds")
        rounds = int(arguments[at + 1])
        arguments = (*arguments[:at], *arguments[at + 2 :])
    print("| script | before, images/s | after | |\n|---|---|---|---|")
    for name, script, text in patches():
        if find_spec(needed(script)) is None:
            print(f"| {name}: not installed | | | |")
            continue
        texts = {images: (SCRIPTS / f"{script}.py").read_text(), shards: patched(script, text)}
        rates = {data: [] for data in texts}
        for _ in range(rounds):  # in turn, so that what else the machine does hits both
            for data, code in texts.items():
                rates[data].append(_rate(code, data, arguments))
        before, after = (median(found) for found in rates.values())
        print(f"| {name} | {before:,.0f} | {after:,.0f} | {after / before:.2f}x |", flush=True)


if __name__ == "__main__":
    import os

    _ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    main(*sys.argv[1:])
