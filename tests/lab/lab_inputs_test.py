"""The inputs of tests/cli/fuzz_inputs_test.py that `ringside-lab` reads."""

import unittest

import fuzz_inputs_test
from ringside_case import LAB

EVALUATED = """name: evaluated
ranks: 8
message_sizes: {from: 1 KiB, to: 16 GiB, factor: 2}
algorithms: native
backend: nccl
machine: p4d.24xlarge
measured: input.csv
evaluation: {source: somewhere}
"""


class LabInputs(fuzz_inputs_test.FuzzInputs):
    kinds = fuzz_inputs_test.OF_THE_LAB
    program = LAB

    def commands(self, kind, data):
        file = self.write("input.csv", data)
        self.write("evaluated.yaml", EVALUATED)
        return [("evaluate", self.folder)] if kind == "evaluate" else [("validate", file)]


if __name__ == "__main__":
    unittest.main()
