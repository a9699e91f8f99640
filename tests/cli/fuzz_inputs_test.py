"""Inputs that once made a command hang, abort or call itself faulty, given to commands as a user would; the folder says what they were
read as. tests/fuzz reads them without the program, more often and with sanitizers."""

import os
import subprocess
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase

INPUTS = SOURCE / "tests/fuzz/regressions"
OF_THE_LAB = {"evaluate", "scaling"}  # tests/lab/lab_inputs_test.py.
# Of a hang: what ends at all ends long before, also on a busy machine.
DEADLINE = float(os.environ.get("RINGSIDE_FUZZ_DEADLINE", "60"))

MEASURED = """ranks: 4
algorithms: [ring, native]
message_sizes: [1 MiB, 128 MiB]
machine: 4x-rtx4090-pcie4
measured: input
"""


class FuzzInputs(RingsideCase):
    kinds = {path.name for path in INPUTS.iterdir()} - OF_THE_LAB
    program = PROGRAM

    def commands(self, kind, data):
        """What reads such a file, by the name of the kind."""
        predicted = ("--no-charts", "--format", "json")
        if kind == "csv":
            file = self.write("input.csv", data)
            return [("import", file, "--ranks", "4"), ("plan", SOURCE / "configs/plans/resnet34-tutorial.yaml", "--offers", file)]
        if kind == "machine":
            self.write("scenario.yaml", CUSTOM.split("machine:")[0] + "machine: input.yaml\n")
            file = self.write("input.yaml", data)
            return [("show", "machine", file), ("predict", self.folder / "scenario.yaml", *predicted)]
        if kind == "measured":
            file = self.write("input", data)
            self.write("scenario.yaml", MEASURED)
            return [("import", file, "--ranks", "4"), ("compare", self.folder / "scenario.yaml", *predicted)]
        if kind in ("gloo_benchmark", "imb", "osu"):
            return [("import", self.write("input.log", data), "--ranks", "8")]
        if kind == "lspci":
            return [("import", self.write("input.txt", data))]
        if kind == "topology_matrix":
            return [("import", self.write("input.txt", data), "--gpu", "V100-SXM2-16GB")]
        if kind == "scenario":
            return [("predict", self.write("input.yaml", data), *predicted)]
        if kind == "vms":
            return [("plan", SOURCE / "configs/plans/resnet34-tutorial.yaml", "--no-charts", "--offers", self.write("vms.csv", data))]
        if kind == "workload":
            self.write("input.yaml", data)
            plan = self.write("plan.yaml", "name: p\nworkload: input.yaml\noffers:\n  - {name: one, machine: 4x-rtx3090-pcie4}\n")
            return [("plan", plan, "--no-charts")]
        self.fail(f"what reads {kind}?")

    def test_end_within_seconds_and_never_as_a_bug_of_ours(self):
        for path in sorted(path for path in INPUTS.glob("*/*") if path.parent.name in self.kinds):
            for command in self.commands(path.parent.name, path.read_bytes()):
                with self.subTest(input=f"{path.parent.name}/{path.name}", command=command[0]):
                    try:
                        result = self.run_ringside(*command, "--quiet", "--output", self.folder / "out", deadline=DEADLINE, program=self.program)
                    except subprocess.TimeoutExpired:
                        self.fail(f"not done after {DEADLINE:g} s")
                    self.assertIn(result.returncode, (0, 1, 2, 3), result.stderr[-400:])
                    self.assertNotIn("\x1b", result.stdout + result.stderr, "a terminal escape of the input")


if __name__ == "__main__":
    unittest.main()
