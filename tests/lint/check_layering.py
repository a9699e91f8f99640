#!/usr/bin/env python3
"""A room includes only rooms above it; sim and real never include each other; only their folder sees Gloo or gnuplot."""

import pathlib
import re
import sys

ROOMS = ["common", "scenario", "schedule", "sim", "real", "ringside", "results", "analysis", "plots", "cli"]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
# Third-party headers that only one folder may see.
WRAPPED = {
    "gloo/": "real/gloo",
    "nccl": "real/nccl",
    "cuda": "real/nccl",
    "ceres/": "analysis",
    "yaml-cpp/": "scenario",
    "CLI/": "cli",
}
# What makes code run in several threads. The thread sanitizer runs the tests of real/ and ringside/ (THREADED in their
# CMakeLists.txt); the two files of plots/ start gnuplots and share nothing but the wait for them.
THREADS = {"atomic", "barrier", "condition_variable", "future", "latch", "mutex", "semaphore", "shared_mutex", "thread"}
THREADED = ("real/", "ringside/", "plots/draw.cpp", "plots/gnuplot.cpp")


def allowed(room: str, included: str) -> bool:
    if {room, included} == {"sim", "real"}:
        return False
    return ROOMS.index(included) <= ROOMS.index(room)


def faults_of(root: pathlib.Path):
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.*")):
            if path.suffix not in {".hpp", ".cpp", ".cu"}:
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".hpp" and "#pragma once" not in text:
                yield f"{name}:1: header without #pragma once"
            for number, line in enumerate(text.splitlines(), start=1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quote, target = match.groups()
                if quote == '"':
                    first = target.split("/")[0]
                    if "/" not in target or first not in ROOMS:
                        yield f"{name}:{number}: include paths start at the root: {target}"
                    elif not allowed(room, first):
                        yield f"{name}:{number}: {room}/ must not include {first}/"
                if target in THREADS and not name.startswith(THREADED):
                    yield f"{name}:{number}: <{target}> where the thread sanitizer does not look (THREADED in this check)"
                for prefix, home in WRAPPED.items():
                    if target.startswith(prefix) and not name.startswith(home + "/"):
                        yield f"{name}:{number}: {target} is wrapped by {home}/"
            if room != "cli" and re.search(r"\b(printf|fputs|puts|exit|abort)\s*\(|std::c(out|err)\b|fmt::print\(", text):
                for number, line in enumerate(text.splitlines(), start=1):
                    code = line.split("//")[0]
                    if re.search(r"(?<![\w_])(std::printf|printf|std::exit|std::abort|std::cout|std::cerr|fmt::print)\b", code):
                        yield f"{name}:{number}: only cli/ prints or exits"


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    faults = list(faults_of(root))
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
