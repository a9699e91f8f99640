"""loads.py COUNT PAGE...: when pages of scripts/web answer, each loaded COUNT times in a new Chromium, in turn: medians, least and most in ms."""

import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from browser import Browser  # pylint: disable=wrong-import-position

LINKS = {"no state": "", "nine ranks": "#ranks=9", "p4d": "#machine=p4d.24xlarge&algorithms=naive%2Cring%2Cnative&nodes=1&ranks=16",
         "plan": "#view=plan&gpus=8x3090"}
# `answered` counts from when the page was asked for; what is "after load", literally, counts from the load event.
TIMES = """(({ answered, started = 0, whole }, { loadEventStart: load }) => ({ answered, started, whole, load, 'after load': answered - load }))(
  JSON.parse(document.documentElement.dataset.first), performance.getEntriesByType('navigation')[0])"""


def times(page, fragment):
    browser = Browser()
    try:
        browser.open(pathlib.Path(page).resolve(), fragment)
        return browser.run(TIMES)
    finally:
        browser.close()


def main():
    count, pages = int(sys.argv[1]), sys.argv[2:]
    taken = [(name, page, times(page, link)) for _ in range(count) for name, link in LINKS.items() for page in pages]
    for name in LINKS:
        for page in pages:
            loads = [each for *asked, each in taken if asked == [name, page]]
            of = lambda key, loads=loads: [load[key] for load in loads]
            print(f"{name:10} {page}: " + ", ".join(f"{key} {statistics.median(of(key)):.0f} ({min(of(key)):.0f} to {max(of(key)):.0f})" for key in loads[0]))


if __name__ == "__main__":
    main()
