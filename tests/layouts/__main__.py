"""Print what `packer pack` makes of the layouts.

In the root: ``PYTHONPATH=tests python -m layouts [--write] [--brief] [NAME ...]``; NAME may be
a part of a name.
"""

import argparse
import time
from collections import Counter
from contextlib import nullcontext

from layouts.alone import only_folders
from layouts.outcome import FAULTY, RIGHT, outcome_of
from layouts.packed import all_layouts, expected, write


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m layouts")
    parser.add_argument("names", nargs="*", help="parts of names; default: all layouts")
    parser.add_argument("--write", action="store_true", help="replace the outcomes in the rows")
    parser.add_argument("--brief", action="store_true", help="only counts, and what is wrong")
    parser.add_argument("--alone", action="store_true", help="recognise plain folders only")
    given = parser.parse_args()
    steps = {"steps": 0} if given.alone else {}
    begun = time.monotonic()
    known, found = expected(), {}
    for name, layout in sorted(all_layouts().items()):
        if given.names and not any(part in name for part in given.names):
            continue
        with only_folders() if given.alone else nullcontext():
            outcome = outcome_of(layout, **steps)
        found[name] = outcome.verdict
        if outcome.verdict in FAULTY or (outcome.verdict != RIGHT and not given.brief):
            print(f"\n== {name}: {outcome.verdict}")
            print(outcome.message.rstrip())
            for command, verdict in outcome.commands:
                print(f"  $ {command}\n    -> {verdict}")
            for fault in outcome.faults[:6]:
                print(f"  ! {fault}")
            if len(outcome.faults) > 6:
                print(f"  ! and {len(outcome.faults) - 6} more")
    print()
    for verdict, count in Counter(found.values()).most_common():
        print(f"{count:5} {verdict}")
    print(f"{len(found):5} layouts, {time.monotonic() - begun:.1f} s")
    if given.alone:
        return
    changed = {name: verdict for name, verdict in found.items() if known.get(name) != verdict}
    for name, verdict in changed.items():
        print(f"changed: {name}: {known.get(name, 'new')} -> {verdict}")
    if given.write:
        kept = {name: known[name] for name in known.keys() & all_layouts().keys()}
        write(kept | found)


if __name__ == "__main__":
    main()
