#!/usr/bin/env python3
"""scripts/mutants on a toy program: what its tests see, miss, cannot see, and do not reach."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE.parents[1] / "scripts" / "mutants"


def mutants(source, *words):
    return subprocess.run([sys.executable, "-B", str(SCRIPT), "--source", str(source), *words],
                          capture_output=True, text=True, check=False)


def clang_is_missing():
    return subprocess.run([sys.executable, "-c", "import clang.cindex; clang.cindex.Index.create()"], capture_output=True, check=False).returncode != 0


@unittest.skipIf(clang_is_missing(), "Python's bindings of Clang are not installed (python3-clang-14)")
class Toy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.source = pathlib.Path(scratch.name, "toy")
        shutil.copytree(HERE / "toy", self.source)
        for command in (["init", "-q"], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=self.source, check=True)

    def test_says_what_tests_see(self):
        every = mutants(self.source, "--every", "--list").stdout.splitlines()
        equal = self.source / "tests/mutants/equal.txt"
        argued = next(line for line in every if ":34: constant" in line).split("sum_to constant ")[1]
        equal.write_text(equal.read_text(encoding="utf-8").replace("HASH 1", argued), encoding="utf-8")

        ran = mutants(self.source, "--every", "--least", "50")
        report = ran.stdout
        self.assertEqual(ran.returncode, 0, report + ran.stderr)
        # Those of the array's length.
        self.assertIn("5 mutants do not compile", report)
        self.assertIn(f"{len(every)} mutants drawn, {len(every) - 5} compile", report)
        for line in ("seen     goods/goods.cpp:17: throw: throw std::invalid_argument(\"count\");  →  (nothing)  goods.prices",
                     "seen     goods/goods.cpp:19: boundary: count >= kMany  →  (count) > (kMany)  goods.prices",
                     "seen     goods/goods.cpp:8: constant: 10  →  (10 + 1)  goods.prices",
                     "seen     goods/goods.cpp:27: return: return value;  →  return {};  goods.prices",
                     "equal    goods/goods.cpp:24: boundary: value > 5  →  (value) >= (5)  the compiler makes the same code",
                     "equal    goods/goods.cpp:34: constant: 0  →  (0 + 1)  \n",
                     "survived goods/goods.cpp:30: arithmetic: value + 1  →  (value) - (1)",
                     "    no test reaches it; key: goods/goods.cpp never_called arithmetic ",
                     "    1 tests reach it; key: goods/goods.cpp clamped constant ",
                     "tests/mutants/equal.txt: goods/goods.cpp has no such mutant any more: clamped boundary 00000000 1"):
            self.assertIn(line, report)

    def test_draws_by_seed(self):
        one, again, other = (mutants(self.source, "--random", "5", "--list", "--seed", seed).stdout for seed in ("1", "1", "2"))
        self.assertEqual(len(one.splitlines()), 5)
        self.assertEqual(one, again)
        self.assertNotEqual(one, other)


if __name__ == "__main__":
    unittest.main()
