"""Inputs that once made a command hang, abort or call itself faulty, given to commands as a user would; the folder says what they were
read as. tests/fuzz reads them without the program, more often and with sanitizers."""

import os
import subprocess
import sys
import unittest

from ringside_case import PROGRAM, SOURCE, RingsideCase

sys.path.insert(0, str(SOURCE / "tests/fuzz"))
from command_inputs import OF_THE_LAB, commands  # pylint: disable=wrong-import-position

INPUTS = SOURCE / "tests/fuzz/regressions"
# Of a hang: what ends at all ends long before, also on a busy machine.
DEADLINE = float(os.environ.get("RINGSIDE_FUZZ_DEADLINE", "60"))


class FuzzInputs(RingsideCase):
    kinds = {path.name for path in INPUTS.iterdir()} - OF_THE_LAB  # Those of the lab: tests/lab/lab_inputs_test.py.
    program = PROGRAM

    def test_end_within_seconds_and_never_as_a_bug_of_ours(self):
        for path in sorted(path for path in INPUTS.glob("*/*") if path.parent.name in self.kinds):
            for command in commands(path.parent.name, path.read_bytes(), self.folder):
                with self.subTest(input=f"{path.parent.name}/{path.name}", command=command[0]):
                    try:
                        result = self.run_ringside(*command, "--quiet", "--output", self.folder / "out", deadline=DEADLINE, program=self.program)
                    except subprocess.TimeoutExpired:
                        self.fail(f"not done after {DEADLINE:g} s")
                    self.assertIn(result.returncode, (0, 1, 2, 3), result.stderr[-400:])
                    self.assertNotIn("\x1b", result.stdout + result.stderr, "a terminal escape of the input")


if __name__ == "__main__":
    unittest.main()
