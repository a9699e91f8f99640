#!/usr/bin/env python3
"""Reads every text that was once read wrongly, and every seed, as what it was.

Usage: check_regressions.py FUZZ_TARGETS SOURCE
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from seeds import ROOT, seeds_of  # pylint: disable=wrong-import-position

# What the names of the oldest ones mean: they were given to commands.
READ_BY = {
    "csv": ["csv", "import", "import_csv", "skypilot_offers"],
    "evaluate": ["import_csv", "import"],
    "gloo_benchmark": ["gloo_benchmark", "import"],
    "imb": ["imb", "import"],
    "measured": ["import", "journal"],
    "osu": ["osu", "import"],
    "scaling": ["published_scaling"],  # With ringside-lab.
    "vms": ["skypilot_offers"],
}


def main() -> int:
    program = sys.argv[1]
    targets = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.split()
    failed = []

    def read(target, files):
        done = subprocess.run([program, "read", target, *map(str, files)], check=False)
        if done.returncode != 0:
            failed.append(f"{target}: ended with {done.returncode}")

    for folder in sorted((ROOT / "tests/fuzz/regressions").iterdir()):
        names = READ_BY.get(folder.name, [folder.name])
        for target in names:
            if folder.name == "scaling" and target not in targets:
                continue
            assert target in targets, f"{folder}: no target {target}"
            read(target, sorted(folder.iterdir()))
    for target in targets:
        read(target, seeds_of(target))
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
