"""A copy of the sources that holds all drawn mutants at once, each behind a question that the environment answers."""

import collections
import os
import re
import shutil
import subprocess
import sys

SWITCH = """#pragma once
// Written by scripts/mutants, for mutated files alone.
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>

namespace mutation {
/// Whether mutant `id` is the one that RINGSIDE_MUTANT names; RINGSIDE_MUTANTS_REACHED names a file for the ids of those asked for.
inline bool on(int id) {
  static const int active = [] {
    const char* const text = std::getenv("RINGSIDE_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  static const char* const reached = std::getenv("RINGSIDE_MUTANTS_REACHED");
  static std::array<std::atomic<bool>, 65536> written{};
  if (reached != nullptr && !written[static_cast<std::size_t>(id)].exchange(true)) {
    std::ofstream(reached, std::ios::app) << std::to_string(id) + "\\n";
  }
  return active == id;
}
}  // namespace mutation
"""


def with_both(mutant, original):
    active = f"::mutation::on({mutant.id})"
    if mutant.form == "condition":
        return f"(static_cast<bool>({original}) != {active})"
    if mutant.form == "statement":
        return f"{{ if (!{active}) {{ {original} }} }}"
    if mutant.form == "return":
        return f"{{ if ({active}) {{ {mutant.changed} }} {original} }}"
    return f"({active} ? ({mutant.changed}) : ({original}))"


def mutated(text, mutants):
    """The text with all mutants in it, the inner ones inside the original branch of the outer ones."""
    edits = sorted({mutant.runtime for mutant in mutants if mutant.runtime})

    def piece(start, end, inside):
        result, at = "", start
        waiting = list(inside)
        while waiting:
            outer = waiting.pop(0)
            within = [one for one in waiting if one.end <= outer.end]
            waiting = waiting[len(within):]
            result += plain(at, outer.start) + with_both(outer, piece(outer.start, outer.end, within))
            at = outer.end
        return result + plain(at, end)

    def plain(start, end):
        result, at = "", start
        for begin, stop, instead in edits:
            if start <= begin < end:
                result += text[at:begin] + instead
                at = stop
        return result + text[at:end]

    # The widest first; of two of one expression a statement holds the expression, and not the other way round.
    order = sorted(mutants, key=lambda one: (one.start, -one.end, one.form in ("expression", "condition"), one.id))
    return '#include "mutation_switch.hpp"\n' + piece(0, len(text), order)


class Tree:
    """`folder`/tree with its build in `folder`/tree/build."""

    def __init__(self, root, folder, jobs):
        self.root, self.path, self.build, self.jobs = root, folder / "tree", folder / "tree" / "build" / "mutated", jobs

    def write(self, mutants):
        by_file = collections.defaultdict(list)
        for mutant in mutants:
            by_file[mutant.file].append(mutant)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root, capture_output=True, text=True, check=True)
        files = {name for name in listed.stdout.splitlines() if (self.root / name).is_file()}
        for name in files:
            content = (self.root / name).read_bytes()
            if name in by_file:
                content = mutated(content.decode("latin-1"), by_file[name]).encode("latin-1")
            self.put(name, content)
            shutil.copymode(self.root / name, self.path / name)
        self.put("mutation_switch.hpp", SWITCH.encode())
        for path in self.path.rglob("*"):
            name = path.relative_to(self.path).as_posix()
            if path.is_file() and not name.startswith("build/") and name != "mutation_switch.hpp" and name not in files:
                path.unlink()

    def put(self, name, content):
        """Only what differs is written, so that only that is compiled again."""
        path = self.path / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def compile(self, mutants, targets, options):
        """Builds, without those that do not compile; returns the others. Programs of a build before have other mutants, and go."""
        for path in self.build.rglob("*"):
            if path.is_file() and not path.suffix and os.access(path, os.X_OK) and "CMakeFiles" not in path.parts:
                path.unlink()
        left = list(mutants)
        while True:
            self.write(left)
            subprocess.run(["cmake", "-G", "Ninja", "-S", str(self.path), "-B", str(self.build), "-DCMAKE_BUILD_TYPE=Debug",
                            "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DRINGSIDE_UNITY=ON", "-DRINGSIDE_BENCHMARKS=OFF", "-DRINGSIDE_EXAMPLES=OFF",
                            "-DRINGSIDE_NCCL=OFF", f"-DCMAKE_CXX_FLAGS=-I{self.path} -w -Wno-narrowing", "-Wno-dev", "--no-warn-unused-cli", "--log-level=WARNING", *options],
                           check=True, stdout=subprocess.DEVNULL)
            built = subprocess.run(["cmake", "--build", str(self.build), "-j", str(self.jobs), "--target", *targets, "--", "-k", "0"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                                   env=dict(os.environ, LC_ALL="C"))
            if built.returncode == 0:
                return left
            bad = self.culprits(built.stdout, left)
            if not bad:
                sys.exit(f"{built.stdout[-6000:]}\nscripts/mutants: the build fails, and no mutant is at the place of an error")
            print(f"{len(bad)} mutants do not compile, are left out, and the rest is built again", flush=True)
            left = [mutant for mutant in left if mutant.id not in bad]

    def culprits(self, output, mutants):
        """Those whose `constexpr` is missed elsewhere, since that makes further errors; else those on the lines of errors, or in their files."""
        said = "".join(line for line in re.findall(r": (?:error|note): (.*)", output) if "constant" in line or "constexpr" in line)
        words = set(re.findall(r"\w+", said))
        bad = {mutant.id for mutant in mutants if mutant.runtime and mutant.function.split("::")[-1] in words}
        for file, line in re.findall(r"^(\S+?):(\d+):\d+: (?:error|  required)", output, re.MULTILINE) if not bad else []:
            path = self.build / file
            text = path.read_bytes().decode("latin-1").split("\n") if path.is_file() else []
            bad |= {int(one) for one in re.findall(r"::mutation::on\((\d+)\)", "".join(text[int(line) - 1:int(line)]))}
        # A default of a member is missed where a constant is made of its type.
        return bad or {mutant.id for mutant in mutants if f"{mutant.file}:" in output}
