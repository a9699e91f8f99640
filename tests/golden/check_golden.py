#!/usr/bin/env python3
"""Predictions of shipped scenarios and of every topology, to the last digit: a changed prediction is a reviewed diff.

check_golden.py PROGRAM SOURCE [--update]: every tests/golden/<scenario>.jsonl holds the point records that
`ringside predict <scenario>.yaml --format json` must print, for the scenario beside it or in configs/scenarios.
"""

import difflib
import json
import pathlib
import subprocess
import sys
import tempfile


def scenario_of(golden, source):
    beside = golden.with_suffix(".yaml")
    return beside if beside.exists() else source / "configs" / "scenarios" / beside.name


def points_of(program, source, scenario, scratch):
    result = subprocess.run(
        [program, "predict", scenario, "--format", "json", "--output", scratch],
        cwd=source, capture_output=True, text=True, timeout=60, check=False)
    if result.returncode != 0:
        return [f"exit {result.returncode}: {result.stderr.strip()}"]
    return [line for line in result.stdout.splitlines() if json.loads(line)["record"] == "point"]


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    update = "--update" in sys.argv
    golden_files = sorted((source / "tests" / "golden").glob("*.jsonl"))
    changed = 0
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as scratch:
        for golden in golden_files:
            actual = points_of(program, source, scenario_of(golden, source), scratch)
            expected = golden.read_text().splitlines()
            if actual == expected:
                continue
            changed += 1
            print("\n".join(difflib.unified_diff(expected, actual, str(golden), "now", lineterm="", n=0)))
            if update:
                golden.write_text("".join(line + "\n" for line in actual))
    print(f"{len(golden_files)} scenarios, {changed} changed")
    return 0 if golden_files and (update or not changed) else 1


if __name__ == "__main__":
    sys.exit(main())
