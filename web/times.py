#!/usr/bin/env python3
"""times.py PAGE [LOADS]: when the page of scripts/web has its first answer in headless Chromium, for four kinds of addresses; ten loads of each."""

import json
import os
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
from browser import Browser  # pylint: disable=wrong-import-position

ADDRESSES = {"address without state": "", "address of a view alone (plan)": "#view=plan", "link, nine ranks": "#ranks=9",
             "link, `p4d.24xlarge` with `native`": "#machine=p4d.24xlarge&algorithms=naive%2Cring%2Cnative&nodes=1&ranks=16"}
# From when it is counted; where the answer stands before the load event, that time is negative.
CLOCKS = {"the request": "0", "the last byte": "entry.responseEnd", "the page's script began": "times.began", "the load event": "entry.loadEventEnd"}
SCRIPT = ("(() => { const [entry] = performance.getEntriesByType('navigation'); const times = JSON.parse(document.documentElement.dataset.first);"
          "return [" + ", ".join(f"times.answered - ({start})" for start in CLOCKS.values()) + "]; })()")


def load(page, fragment):
    browser = Browser()
    try:
        browser.open(page, fragment)
        return browser.run(SCRIPT)
    finally:
        browser.close()


def main():
    page, loads = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv[2:] or [10])[0])
    print(f"Milliseconds to the first answer: median (least to most) of {loads} loads; load of the machine {os.getloadavg()[0]:.1f} before them.\n")
    print(f"| address | {' | '.join(f'after {clock}' for clock in CLOCKS)} |\n|{'---|' * (1 + len(CLOCKS))}")
    # In turn, so that what else runs there meets all alike.
    found = {name: [] for name in ADDRESSES}
    for _ in range(loads):
        for name, fragment in ADDRESSES.items():
            found[name].append(load(page, fragment))
    for name, rows in found.items():
        print(f"| {name} | " + " | ".join(f"{statistics.median(each):.0f} ({min(each):.0f} to {max(each):.0f})" for each in zip(*rows)) + " |")


if __name__ == "__main__":
    main()
