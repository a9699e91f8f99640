"""ringside under srun: a Slurm of two nodes on this machine, made for the test and taken away after it."""

import pathlib
import shlex
import sys
import time
import unittest

from launchers import mpi_test
from ringside_case import PROGRAM, RingsideCase

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from cluster.slurm import Node, NoSlurm, Slurm, why_not  # noqa: E402

# Both nodes are one host, in which Open MPI would take the same names of shared memory on each.
APART = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
NODES = 2


class UnderSlurm(RingsideCase):
    @classmethod
    def setUpClass(cls):
        if reason := why_not():
            raise unittest.SkipTest(reason)
        cls.slurm = Slurm([Node()] * NODES)
        try:
            cls.slurm.begin()
        except NoSlurm as reason:
            cls.slurm.stop()
            raise unittest.SkipTest(str(reason)) from None
        except BaseException:
            cls.slurm.stop()
            raise

    @classmethod
    def tearDownClass(cls):
        left = cls.slurm.stop()
        if left:
            raise AssertionError(f"processes {left} are left")

    def scenario(self, ranks, sizes="4 KiB, 256 KiB"):
        return self.write("small.yaml", mpi_test.SCENARIO.format(ranks=ranks, algorithms="ring, native", collective="all_reduce", sizes=sizes))

    def srun(self, *arguments, ranks=4, mpi="none", nodes=NODES):
        more = APART if nodes > 1 else {}
        return self.slurm.run("srun", "-N", nodes, "-n", ranks, f"--mpi={mpi}", PROGRAM, *arguments, cwd=self.folder, more=more)

    def points(self):
        return [record for record in self.records((self.folder / "out" / "results.jsonl").read_text()) if record["record"] == "point"]

    def need(self, *words):
        """Skips unless the MPI library of this build is one of these."""
        if mpi_test.SKIPPED:
            self.skipTest(mpi_test.SKIPPED)
        doctor = self.run_ringside("doctor").stdout
        self.assertRegex(doctor, r"start with srun +yes +with --mpi=pmix")
        if not any(word in doctor for word in words):
            self.skipTest(f"this build's MPI is none of {', '.join(words)}")

    def test_mpi_over_pmix_on_one_node_and_on_two(self):
        self.need("Open MPI v")
        kinds = self.slurm.run("srun", "--mpi=list")
        if "pmix" not in kinds.stdout + kinds.stderr:
            self.skipTest("this Slurm has no PMIx")
        for nodes, ranks in ((1, 2), (2, 4)):
            result = self.srun("measure", self.scenario(ranks), *mpi_test.QUICK, "--output", "out", mpi="pmix", nodes=nodes, ranks=ranks)
            self.assertEqual(result.returncode, 0, result.stderr)
            found = [(point["measured"]["outcome"], point["measured"]["backend"], point["ranks"]) for point in self.points()]
            self.assertEqual(found, [("ok", "mpi", ranks)] * 4)

    def test_ranks_that_srun_started_each_alone_are_told_what_to_say(self):
        self.need("Open MPI v")
        begin = time.monotonic()
        result = self.srun("measure", self.scenario(4), *mpi_test.QUICK, "--output", "out")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("asked 4, found 4 times 1", result.stderr)
        self.assertIn("--mpi=pmix", result.stderr)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(self.points(), [])

    def test_gloo_meets_in_a_folder(self):
        for mpi in ("none", "pmi2"):
            result = self.srun("measure", self.scenario(3), "--backend", "gloo", "--rendezvous", f"file://{self.folder}/meet", *mpi_test.QUICK,
                               "--output", "out", ranks=3, mpi=mpi)
            self.assertEqual(result.returncode, 0, f"{mpi}: {result.stderr}")
            self.assertEqual({(point["measured"]["outcome"], point["measured"]["backend"]) for point in self.points()}, {("ok", "gloo")})

    def test_without_a_place_to_meet_every_rank_says_so(self):
        result = self.srun("measure", self.scenario(2), "--backend", "gloo", "--output", "out", ranks=2)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("Slurm started this process as rank 0 of 2", result.stderr)
        self.assertIn("--rendezvous file:///", result.stderr)

    def test_a_batch_script_itself_starts_ranks_of_its_own(self):
        script = self.write("job.sh", f"#!/bin/sh\nexec {PROGRAM} measure small.yaml --backend threads {shlex.join(map(str, mpi_test.QUICK))} --output out\n")
        self.scenario(2)
        result = self.slurm.run("sbatch", "--wait", "-N", NODES, "--ntasks-per-node", 2, "-o", "said", script, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr + (self.folder / "said").read_text())
        self.assertEqual({point["measured"]["backend"] for point in self.points()}, {"threads"})


if __name__ == "__main__":
    sys.exit(unittest.main())
