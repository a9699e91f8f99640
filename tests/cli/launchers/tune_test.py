"""Rules for Open MPI's all_reduce, from predictions."""

import re
import subprocess
import sys
import unittest

from launchers import mpi_test
from ringside_case import RingsideCase

SCENARIO = """name: tuned
backend: {backend}
collective: {collective}
algorithms: [ring]
ranks: [2, 4]
message_sizes: [{sizes}]
machine:
  software: {{mpi: {library}}}
  intra: {{kind: custom, latency: 10 us, bandwidth: 10 GB/s}}
"""


class Tune(RingsideCase):
    def scenario(self, backend="mpi", collective="all_reduce", library="Open MPI 4.1.4", sizes="8 B, 4 KiB, 32 KiB, 1 MiB"):
        return self.write("tuned.yaml", SCENARIO.format(backend=backend, collective=collective, library=library, sizes=sizes))

    def test_the_file_holds_what_is_promised(self):
        result = self.run_ringside("tune", self.scenario(), "--format", "json", "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        *sizes, rules = self.records(result.stdout)
        self.assertEqual([(size["ranks"], size["bytes"]) for size in sizes], [(ranks, size) for ranks in (2, 4) for size in (8, 4096, 32768, 1 << 20)])
        # At 32 KiB two ranks of Open MPI take a ring of two rounds, where one exchange of whole messages does.
        chosen = {(size["ranks"], size["bytes"]): size for size in sizes}
        self.assertEqual((chosen[2, 32768]["own"], chosen[2, 32768]["fastest"], chosen[2, 32768]["number"]), ("ring", "recursive_doubling", 3))
        self.assertGreater(chosen[2, 32768]["gain"]["typical"], 1.3)
        for size in sizes:
            if size["number"] == 0:
                self.assertEqual(size["gain"]["typical"], 1)
            else:
                self.assertGreaterEqual(size["gain"]["low"], 1)
                self.assertAlmostEqual(size["gain"]["typical"], size["own_seconds"] / size["fastest_seconds"], 4)
        self.assertEqual(rules["file"], str((self.folder / "out" / "allreduce.rules").resolve()))
        text = (self.folder / "out" / "allreduce.rules").read_text()
        numbers = [int(word) for word in re.sub(r"#.*", "", text).split()]
        self.assertEqual(numbers[:3], [1, 2, 4], "one collective, all_reduce, 2 and 4 ranks and those above each")
        self.assertIn("32768 3 0 0\n", text)
        self.assertEqual(rules["command"], "mpirun -n 4 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename " + rules["file"])

    def test_people_read_the_gain_and_the_command(self):
        result = self.run_ringside("tune", self.scenario(), "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"2 +32 KiB +ring +\S+ µs +recursive_doubling +\S+ µs +1\.\d\d× \(")
        self.assertIn("its own is the fastest", result.stdout)
        self.assertIn("Use them: mpirun -n 4 --mca coll_tuned_use_dynamic_rules 1", result.stdout)

    def test_where_nothing_is_gained_there_is_no_file(self):
        self.run_ringside("tune", self.scenario(), "--output", "out")
        self.assertTrue((self.folder / "out" / "allreduce.rules").exists())
        result = self.run_ringside("tune", self.scenario(sizes="8 B"), "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no file of rules is written", result.stdout)
        self.assertFalse((self.folder / "out" / "allreduce.rules").exists())

    def test_what_reads_no_rules_is_refused(self):
        for change, word in (({"backend": "gloo"}, "backend: mpi alone reads a file of rules, not gloo"),
                             ({"collective": "broadcast"}, "collective: rules can be written for all_reduce"),
                             ({"library": "MPICH 4.0.2"}, "known is Open MPI's for all_reduce"),
                             ({"library": "Open MPI 3.1"}, "are not known")):
            self.assert_rejected(self.run_ringside("tune", self.scenario(**change), "--output", "out"), 2, word)
        self.assert_rejected(self.run_ringside("tune", self.scenario(), "--backend", "shm"), 2, "backend: mpi alone reads a file of rules, not shm")
        here = self.write("here.yaml", "name: h\nmachine: this\nbackend: mpi\nalgorithms: [ring]\nranks: 4\nmessage_sizes: [4 KiB]\n")
        self.assert_rejected(self.run_ringside("tune", here), 2, "--machine: rules follow from a machine file", f"`mpirun -n 4 ringside compare {here}`")
        machine = self.write("machine.yaml", "software: {mpi: Open MPI v5.0.7}\nintra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n")
        result = self.run_ringside("tune", here, "--machine", machine)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Open MPI v5.0.7's own all_reduce", result.stdout)

    def test_open_mpi_does_what_the_file_says(self):
        if mpi_test.SKIPPED:
            self.skipTest(mpi_test.SKIPPED)
        if "Open MPI v4.1" not in self.run_ringside("doctor").stdout:
            self.skipTest("this build's MPI is not Open MPI 4.1, whose messages are counted here")
        self.run_ringside("tune", self.scenario(sizes="32 KiB"), "--output", "out")
        file = self.write("native.yaml", mpi_test.SCENARIO.format(ranks=4, algorithms="native", collective="all_reduce", sizes="32 KiB"))
        rules = ("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_dynamic_rules_filename", f"{self.folder}/out/allreduce.rules")
        for more, expected in (((), 2), (rules, 1)):
            counts = ("--mca", "pml_monitoring_enable", "1", "--mca", "pml_monitoring_enable_output", "3", "--mca", "pml_monitoring_filename", "sent")
            launcher, *command = mpi_test.launched(4, "measure", file, *mpi_test.QUICK, "--output", "measured")
            result = subprocess.run([launcher, *more, *counts, *command], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
            lines = [line.split() for path in self.folder.glob("sent*0.prof") for line in path.read_text().splitlines()]
            to = {int(line[2]): int(line[3]) for line in lines if line[0] == "E" and line[1] == "0"}
            # Rabenseifner sends half to one partner and a quarter to the other, recursive doubling all to each.
            self.assertAlmostEqual(to[1] / to[2], expected, delta=0.1)

    def test_help_is_short(self):
        text = self.run_ringside("tune", "--help").stdout
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertIn("ringside tune SCENARIO --machine", text)


if __name__ == "__main__":
    sys.exit(unittest.main())
