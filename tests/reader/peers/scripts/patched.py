"""The scripts of this folder with the diffs of docs/tasks/your-script.md, and what these gain.

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
PAGE = SCRIPTS.parents[3] / "docs" / "tasks" / "your-script.md"
_BLOCK = re.compile(r"<!-- [^>]* applies it to (\w+)\.py -->\n\n```diff\n(.*?)```", re.DOTALL)


def diffs():
    """(script, diff) of each block of the page."""
    return _BLOCK.findall(PAGE.read_text())


def patched(script, diff):
    """The text of a script, with a diff of the page applied."""
    text, end = (SCRIPTS / f"{script}.py").read_text(), 0
    for hunk in diff.split("...\n"):
        lines = hunk.splitlines()
        before, after = (
            "".join(f"{line[1:]}\n" for line in lines if line[:1] in ("", " ", sign))
            for sign in "-+"
        )
        start = text.index(before, end)
        end = start + len(after)
        text = text[:start] + after + text[start + len(before) :]
    return text


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
    for script, diff in diffs():
        if find_spec(needed(script)) is None:
            print(f"| {script}: not installed | | | |")
            continue
        texts = {images: (SCRIPTS / f"{script}.py").read_text(), shards: patched(script, diff)}
        rates = {data: [] for data in texts}
        for _ in range(rounds):  # in turn, so that what else the machine does hits both
            for data, text in texts.items():
                rates[data].append(_rate(text, data, arguments))
        before, after = (median(found) for found in rates.values())
        what = " (the dataset alone)" if "Loader" not in diff else ""
        print(
            f"| {script}{what} | {before:,.0f} | {after:,.0f} | {after / before:.2f}x |", flush=True
        )


if __name__ == "__main__":
    import os

    _ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    main(*sys.argv[1:])
