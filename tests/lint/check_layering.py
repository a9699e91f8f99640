#!/usr/bin/env python3
"""A module includes only modules above it, and a folder only folders above it; only its own folder sees a library that it wraps."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_text import report  # pylint: disable=wrong-import-position

# In the order in which data flows: records and schedules below those who simulate and run, and a library between those who
# decide (study) and those who print (cli).
MODULES = ["common", "results", "scenario", "schedule", "sim", "real", "import", "analysis", "study", "plots", "ringside", "cli", "lab", "web"]
# Modules that stand below another in this list and still never see it: what is predicted and what is measured meet in results/.
APART = {("real", "sim"), ("import", "real"), ("analysis", "real"), ("analysis", "import"), ("plots", "real"), ("plots", "import"), ("plots", "study"),
         ("ringside", "sim"), ("ringside", "import"), ("ringside", "analysis"), ("ringside", "study"), ("ringside", "plots"),
         ("web", "real"), ("web", "ringside"), ("web", "lab")}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
# Modules that see only some of those above them, whatever the list becomes: what a record is depends on nobody who fills it, and how
# a schedule runs on nobody who runs it.
NARROW = {"results": {"common", "results"}, "schedule": {"common", "results", "scenario", "schedule"}}
# The folders of a module, likewise: each includes only those before it. "" is the module's own files; one that others stand on is
# listed by its name, without suffix, as a folder of its own.
FOLDERS = {
    "sim": ["topology", "sharing", "symmetry", "mpi", "engine", "nccl", ""],
    "real": ["system", "execute", "store", "backend", "launch", "measure", "probe", ""],
    "analysis": ["", "comparison", "parameters", "plan", "sharding", "check"],
    "study": ["ranks", "inputs", "plan", "", "logs"],
    "plots": ["drawing", "charts", "html"],
    "cli": ["commands", "colour", "console", "options", "reports", "live", "show", ""],
}
# Third-party headers that only these folders may see.
WRAPPED = {
    "gloo/": ("real/backend/gloo",),
    "nccl": ("real/backend/nccl",),
    "cuda": ("real/backend/nccl",),
    "mpi.h": ("real/backend/mpi",),
    "ceres/": ("lab/nccl",),
    "yaml-cpp/": ("scenario",),
    "pugixml": ("import",),
    "CLI/": ("cli", "lab"),
    "httplib": ("cli/live",),
}
# What writes to the standard streams or ends the program.
PRINTS = re.compile(r"(?<![\w_.>])(?:std::)?(?:printf|puts|fputs|putchar|perror|exit|abort)\s*\(|\b(?:stdout|stderr)\b|std::(?:cout|cerr|clog)\b|fmt::print\b")
# What makes code run in several threads. The thread sanitizer runs the tests of real/ and ringside/ (THREADED in their
# CMakeLists.txt), of common/, and predictions side by side (tests/sim); the two files of plots/ start gnuplots and share nothing but the wait for them; the server of live
# pages is a program of its own, and what its threads share is one class with a lock.
THREADS = {"atomic", "barrier", "condition_variable", "future", "latch", "mutex", "semaphore", "shared_mutex", "thread"}
THREADED = ("real/", "ringside/", "common/parallel.cpp", "plots/charts/draw.cpp", "plots/drawing/gnuplot.cpp", "cli/live/main.cpp")

# Which backend it is only real/backend asks; everybody else asks its row (RegisteredBackend). Naming one as a value is fine, and so
# is asking whether one was chosen at all.
BACKEND_ASKED = re.compile(r"(==|!=)\s*(name\()?\s*Backend::(?!automatic\b)\w|\bBackend::(?!automatic\b)\w+\)?\s*(==|!=)|\bcase\s+Backend::")
# common/names.cpp spells all of them. What sim/ knows of each is a row, too (sim/backend_models.cpp).
ASKS_FOR_BACKENDS = ("real/backend/", "common/names.cpp")

# Modules of the page, whose library has no algorithms of ranges but those of web/missing.hpp. It has this view.
OF_THE_PAGE = {"common", "results", "scenario", "schedule", "sim", "import", "analysis"}
RANGES = re.compile(r"\bstd::ranges::(?!subrange\b)(\w+)")
HAS_RANGES = re.compile(r"^(?:auto|bool|void) (\w+)\(", re.MULTILINE)

# A flag in a message of a module that has no command line: it says the key (`KeyError`), and cli/ how that is typed.
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
NAMES_FLAGS = {
    "scenario/machine/topology_matrix.cpp": "what to add to `import topo`, the only one who reads such a text without its GPUs",
    "scenario/machine/measured_tables.cpp": "says which runs write the key",
    "scenario/plan/plan_file.cpp": "says how offers of a file come into a plan",
    "analysis/check/causes.cpp": "flags of nvidia-smi",
    "real/backend/gpus.cpp": "the remedy is a flag of every command that starts ranks",
    "import/": "what a log does not say is added by a flag of `import`",
    "analysis/plan/": "the plan is being put together anew", "study/plan/": "likewise", "analysis/sharding/ways_out.cpp": "likewise",
    "study/inputs/named_offers.cpp": "likewise",
}


def flags_of_commands(root: pathlib.Path):
    """All that a command of the program is given."""
    text = "".join(path.read_text(encoding="utf-8") for path in (root / "cli").rglob("*.cpp"))
    return set(re.findall(r'"(--[a-z][a-z-]*)[",]', text))


def allowed(module: str, included: str) -> bool:
    if (module, included) in APART:
        return False
    return MODULES.index(included) <= MODULES.index(module)


def folder_of(module: str, name: str) -> str:
    """The entry of FOLDERS that a file of the module belongs to."""
    parts = name.split("/")[1:]
    own = parts[0] if len(parts) > 1 else parts[0].split(".")[0]
    return own if len(parts) > 1 or own in FOLDERS[module] else ""


def folder_fault(module: str, name: str, target: str):
    if module not in FOLDERS:
        return None
    order = FOLDERS[module]
    own, other = folder_of(module, name), folder_of(module, target)
    for folder in (own, other):
        if folder not in order:
            return f"{module}/{folder}/ has no place in the order of folders (FOLDERS in this check)"
    if order.index(other) <= order.index(own):
        return None
    return f"{module}/{own} must not include {target}: it stands below {module}/{other} (FOLDERS in this check)"


def faults_of(root: pathlib.Path):
    flags = flags_of_commands(root)
    ranges = set(HAS_RANGES.findall((root / "web/missing.hpp").read_text(encoding="utf-8")))
    for module in MODULES:
        for path in sorted((root / module).rglob("*.*")):
            if path.suffix not in {".hpp", ".cpp", ".cu"}:
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".hpp" and "#pragma once" not in text:
                yield f"{name}:1: header without #pragma once"
            for number, line in enumerate(text.splitlines(), start=1):
                if module in OF_THE_PAGE:
                    for lacking in set(RANGES.findall(line)) - ranges:
                        yield f"{name}:{number}: the library of the page has no std::ranges::{lacking}; write it in web/missing.hpp"
                match = INCLUDE.match(line)
                if not match:
                    continue
                quote, target = match.groups()
                if quote == '"':
                    first = target.split("/")[0]
                    if "/" not in target or first not in MODULES:
                        yield f"{name}:{number}: include paths start at the root: {target}"
                    elif not allowed(module, first) or any(
                        name.startswith(part + "/") and first not in seen for part, seen in NARROW.items()
                    ):
                        yield f"{name}:{number}: {path.parent.relative_to(root)}/ must not include {first}/"
                    elif first == module and (fault := folder_fault(module, name, target)):
                        yield f"{name}:{number}: {fault}"
                if target in THREADS and not name.startswith(THREADED):
                    yield f"{name}:{number}: <{target}> where the thread sanitizer does not look (THREADED in this check)"
                for prefix, homes in WRAPPED.items():
                    if target.startswith(prefix) and not any(name.startswith(home + "/") for home in homes):
                        yield f"{name}:{number}: {target} is wrapped by {homes[0]}/"
                if target.startswith("CLI/") and path.suffix == ".hpp":
                    yield f"{name}:{number}: CLI11 in a header: it is most of what its includers take to compile"
            if not name.startswith(ASKS_FOR_BACKENDS):
                for number, line in enumerate(text.splitlines(), start=1):
                    if BACKEND_ASKED.search(line.split("//")[0]):
                        yield f"{name}:{number}: only real/backend asks which backend it is; ask its row (real/backend/backends.hpp)"
            if module != "cli":
                for number, line in enumerate(text.splitlines(), start=1):
                    said = FLAG.findall("".join(LITERAL.findall(line.split("///")[0])))
                    if module != "lab" and flags.intersection(said) and not name.startswith(tuple(NAMES_FLAGS)):
                        yield f"{name}:{number}: names a flag; throw KeyError with the key, which cli/ shows as its flag"
                    if PRINTS.search(line.split("//")[0]):
                        yield f"{name}:{number}: only cli/ prints or exits"


if __name__ == "__main__":
    sys.exit(report(faults_of(pathlib.Path(sys.argv[1]))))
