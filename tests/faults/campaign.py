#!/usr/bin/env python3
"""Makes things go wrong in runs of the program and checks what docs/reliability.md promises: scripts/faults, and the test `faults`.

usage: campaign.py --program PROGRAM --shim LIBRARY [--rehearsal PROGRAM] [--trials N | --minutes M] [--seed S] [--first NUMBER]
                   [--only WORDS] [--at-once K] [--table FILE]

Trial number n of seed s is the same on every machine: what goes wrong, how and after how long. Prints a table; exit 1 when a promise was not kept.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from kinds import KINDS, run_trial  # pylint: disable=wrong-import-position


def numbers(arguments):
    """Of the trials to make, until there are enough or time is up."""
    until = time.monotonic() + arguments.minutes * 60 if arguments.minutes else float("inf")
    number = arguments.first
    while time.monotonic() < until and (arguments.minutes or number < arguments.first + arguments.trials):
        yield number
        number += 1


def table_of(counts):
    lines = ["| what goes wrong | ranks | trials | in time to matter | kept |", "| --- | --- | --- | --- | --- |"]
    for (kind, backend), count in counts.items():
        lines.append(f"| {kind} | {backend} | {count['trials']} | {count['made']} | {count['kept']} |")
    total = collections.Counter()
    for count in counts.values():
        total.update(count)
    lines.append(f"| all | | {total['trials']} | {total['made']} | {total['kept']} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--rehearsal", default="")
    parser.add_argument("--trials", type=int, default=len(KINDS))
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--table", type=pathlib.Path, help="adds the counts to those in this file (JSON)")
    arguments = parser.parse_args()
    programs = {"ringside": str(pathlib.Path(arguments.program).resolve()), "shim": str(pathlib.Path(arguments.shim).resolve()),
                "rehearsal": arguments.rehearsal and str(pathlib.Path(arguments.rehearsal).resolve()), "mpirun": shutil.which("mpirun")}

    counts = collections.defaultdict(collections.Counter)
    broken = 0
    started = time.monotonic()
    source = numbers(arguments)
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        running = {}
        while True:
            while len(running) < arguments.at_once and (number := next(source, None)) is not None:
                running[pool.submit(run_trial, number, arguments.seed, programs, arguments.only)] = number
            if not running:
                break
            done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for trial in done:
                number = running.pop(trial)
                kind, backend, made, problem = trial.result()
                if made is None:
                    continue  # It cannot be made here.
                counts[kind, backend].update(trials=1, made=int(made), kept=int(problem is None))
                if problem:
                    broken += 1
                    print(f"trial {number} of seed {arguments.seed}, {kind}, {backend}: {problem}", flush=True)
    if arguments.table:
        earlier = json.loads(arguments.table.read_text()) if arguments.table.exists() else []
        for kind, backend, count in earlier:
            counts[kind, backend].update(count)
        arguments.table.write_text(json.dumps([[kind, backend, count] for (kind, backend), count in sorted(counts.items())], indent=1) + "\n")
    print(table_of(dict(sorted(counts.items()))))
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
