#!/usr/bin/env python3
"""A short run of every target: texts made from its seeds by random changes, the same ones every time. scripts/fuzz looks further.

Usage: check_mutations.py FUZZ_TARGETS SOURCE
"""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from seeds import seeds_of  # pylint: disable=wrong-import-position

TEXTS = 600
# Each of these texts is planned, simulated or run by ranks.
SLOW = {"schedule": 60, "plan": 60, "scenario": 200, "machine": 200, "published_runs": 100}
SEED = 20261123


def main() -> int:
    program = sys.argv[1]
    targets = subprocess.run([program, "list"], capture_output=True, text=True, check=True).stdout.split()
    failed = []
    for target in targets:
        count = SLOW.get(target, TEXTS)
        done = subprocess.run([program, "mutate", target, str(count), str(SEED), *map(str, seeds_of(target))], check=False)
        if done.returncode != 0:
            failed.append(f"{target}: ended with {done.returncode}")
    print("\n".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
