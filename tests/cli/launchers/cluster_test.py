"""ringside on several nodes: the cluster that scripts/cluster-lab makes of network namespaces."""

import os
import random
import re
import sys
import unittest

from launchers.slurm_test import SCRIPTS, why_not
from ringside_case import PROGRAM, RingsideCase

LACKING = 3
LOSSES = int(os.environ.get("RINGSIDE_NODE_LOSSES", "1"))  # The first at once, others at random moments.
SCENARIO = """name: cluster
algorithms: [naive, ring, hierarchical]
ranks: {ranks}
message_sizes: [64 KiB, 1 MiB]
machine: {machine}
"""


class Cluster(RingsideCase):
    def in_cluster(self, script, nodes=2, deadline=180):
        """Runs lines of shell on the first node. `run` starts a command of ringside on all nodes, two ranks on each."""
        if reason := why_not():
            self.skipTest(reason)
        run = (f'run() {{ command=$1; shift; srun -N{nodes} -n{2 * nodes} --mpi=none {PROGRAM} $command "$@" --backend gloo '
               f'--interface lab0 --rendezvous "file://{self.folder}/meet"; }}\n')
        result = self.run_ringside("with", "--nodes", nodes, "--", "sh", "-c", run + script, program=SCRIPTS / "cluster-lab", deadline=deadline)
        if result.returncode == LACKING and "Slurm runs" not in result.stderr:
            self.skipTest(result.stderr.strip().splitlines()[-1])
        return result

    def test_two_nodes_are_probed_and_eight_predicted(self):
        result = self.in_cluster("run calibrate --calibrate-time '3 s' --max-bytes '1 MiB' --output two")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("between two nodes", result.stdout)
        found = re.findall(r"^bandwidth +([\d.]+) ([MG])B/s", result.stdout, re.MULTILINE)
        between, within = (float(number) * {"M": 1, "G": 1000}[unit] for number, unit in found)
        # A link of 400 Mb/s; loopback is many times faster, and 3.5 times beside a build. Nothing arrives faster than the link.
        self.assertLess(between, 60)
        self.assertGreater(within, 2 * between)
        self.write("eight.yaml", SCENARIO.format(ranks=16, machine="two/machine.yaml"))
        predicted = self.run_ringside("predict", "eight.yaml", "--format", "json")
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        seconds = {record["algorithm"]: record["predicted"]["seconds"] for record in self.records(predicted.stdout)
                   if record["record"] == "point" and record["bytes"] == 1 << 20}
        # Fifteen whole messages come to one node, in turn; a hierarchical ring sends each node's part once.
        self.assertGreater(seconds["naive"], 12 * (1 << 20) / (between * 1e6))
        self.assertLess(seconds["hierarchical"], seconds["naive"] / 4)

    def test_long_messages_over_mpi_travel_in_pieces_and_are_exact(self):
        self.write("pieces.yaml", """name: pieces
algorithms: [naive, ring, recursive_doubling, direct_two_shot]
ranks: 4
message_sizes: [64 KiB, 1 MiB]
machine: this
""")
        result = self.in_cluster(f"srun -N2 -n4 --mpi=pmix {PROGRAM} measure pieces.yaml --backend mpi --time-per-point '0.2 s' "
                                 "--repetitions 1 --output out")
        if "MPI" in result.stderr and result.returncode == LACKING:
            self.skipTest(result.stderr.strip().splitlines()[-1])
        self.assertEqual(result.returncode, 0, result.stderr)
        points = [record for record in self.records((self.folder / "out" / "results.jsonl").read_text()) if record["record"] == "point"]
        self.assertEqual({(point["algorithm"], point["measured"]["outcome"]) for point in points},
                         {(algorithm, "ok") for algorithm in ("naive", "ring", "recursive_doubling", "direct_two_shot")})

    def test_ranks_that_alternate_between_nodes_are_refused_before_the_first_probe(self):
        self.write("here.yaml", SCENARIO.format(ranks=4, machine="this"))
        result = self.in_cluster("export SLURM_DISTRIBUTION=cyclic; run compare here.yaml --output out")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("ranks are not placed node by node", result.stderr)
        self.assertIn("--distribution=block", result.stderr)

    def test_a_node_that_is_lost_is_named_and_what_was_measured_is_kept(self):
        self.write("long.yaml", SCENARIO.format(ranks=4, machine="this"))
        for loss in range(LOSSES):
            later = random.uniform(0, 8) if loss else 0
            with self.subTest(loss=loss, seconds_after_the_first_point=later):
                out = f"out{loss}"
                result = self.in_cluster(
                    f"run measure long.yaml --time-per-point '5 s' --repetitions 20 --timeout '5 s' --output {out} & measure=$!\n"
                    f"for i in $(seq 600); do grep -q '\"point\"' {out}/results.jsonl 2>/dev/null && break; sleep 0.1; done\n"
                    f"sleep {later}; kill -9 $(ip netns pids \"$RINGSIDE_LAB_PREFIX-1\"); SECONDS=0\n"
                    "wait $measure; status=$?; echo lasted $SECONDS s; exit $status")
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("is on node1", result.stderr)
                self.assertNotIn("did not end by themselves", result.stderr)
                self.assertIn('"point"', (self.folder / out / "results.jsonl").read_text())


if __name__ == "__main__":
    sys.exit(unittest.main())
