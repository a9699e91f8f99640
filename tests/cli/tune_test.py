"""Rules for Open MPI's all_reduce, from predictions."""

import re
import sys
import unittest

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

    def test_help_is_short(self):
        text = self.run_ringside("tune", "--help").stdout
        self.assertLessEqual(len(text.splitlines()), 40)
        self.assertIn("ringside tune SCENARIO --machine", text)


if __name__ == "__main__":
    sys.exit(unittest.main())
