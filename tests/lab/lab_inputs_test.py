"""The inputs of tests/cli/fuzz_inputs_test.py that `ringside-lab` reads."""

import unittest

import fuzz_inputs_test
from ringside_case import LAB


class LabInputs(fuzz_inputs_test.FuzzInputs):
    kinds = fuzz_inputs_test.OF_THE_LAB
    program = LAB


if __name__ == "__main__":
    unittest.main()
