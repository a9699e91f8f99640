"""GPU ranks on a machine that lacks something for them: said in one sentence, in a table, and never a crash."""

import os
import shutil
import subprocess
import unittest

from ringside_case import PROGRAM, SOURCE, RingsideCase

SCENARIO = """name: small
algorithms: [ring, native]
ranks: 2
message_sizes: 4 KiB
machine: {{intra: {{kind: custom, latency: 10 us, bandwidth: 10 GB/s}}}}
{}
"""


class WithoutGpu(RingsideCase):
    def setUp(self):
        super().setUp()
        self.doctor = {
            row["what"]: row for row in self.records(self.run_ringside("doctor", "--format", "json").stdout)
        }
        if self.doctor["measure with nccl"]["state"] == "yes":
            self.skipTest("this machine has a GPU")
        self.reason = self.doctor["measure with nccl"]["detail"]

    def test_doctor_says_what_is_missing(self):
        rows = self.doctor
        self.assertRegex(self.reason, "no nccl backend|driver|GPU|NCCL")
        if rows["GPU ranks in this build"]["state"] == "yes":
            self.assertIn("CUDA", rows["GPU ranks in this build"]["detail"])
            self.assertIn("NVIDIA driver", rows)
            self.assertIn("NCCL", rows)
            self.assertEqual(rows["GPUs"]["state"], "0")

    def test_nccl_ends_with_exit_3_and_the_reason(self):
        for where, flags in (("backend: nccl", []), ("", ["--backend", "nccl"])):
            scenario = self.write("small.yaml", SCENARIO.format(where))
            for command in ("measure", "compare"):
                result = self.run_ringside(command, scenario, *flags, "--output", self.folder / "out")
                self.assert_rejected(result, 3, "backend nccl cannot run here", self.reason)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assert_rejected(self.run_ringside("calibrate", "--backend", "nccl"), 3, self.reason)

    def test_auto_falls_back_to_this_machines_memory_or_gloo_and_says_so(self):
        scenario = self.write("small.yaml", SCENARIO.format(""))
        out = self.folder / "out"
        elsewhere = self.run_ringside("measure", scenario, "--wrap", "env", "--output", self.folder / "wrapped", "--time-per-point", "50 ms")
        self.assertEqual(elsewhere.returncode, 0, elsewhere.stderr)
        self.assertIn("Measuring with gloo", elsewhere.stderr)
        result = self.run_ringside("measure", scenario, "--output", out, "--time-per-point", "50 ms")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Measuring with shm", result.stderr)
        self.assertIn(f"not with nccl: {self.reason}", result.stderr)
        points = [r for r in self.records((out / "results.jsonl").read_text()) if r["record"] == "point"]
        self.assertEqual({point["measured"]["backend"] for point in points}, {"shm"})
        self.assertNotIn("shared_gpu", points[0]["measured"])

    def test_bad_flags_are_refused(self):
        scenario = self.write("small.yaml", SCENARIO.format(""))
        self.assert_rejected(self.run_ringside("measure", scenario, "--backend", "ncl"), 2, "did you mean 'nccl'?")
        self.assert_rejected(self.run_ringside("measure", scenario, "--ranks-per-gpu", "0"), 2, "ranks-per-gpu")

    def test_gpu_test_of_an_unpacked_bundle_says_why_it_tries_nothing(self):
        bundle = self.folder / "ringside"
        (bundle / "bin").mkdir(parents=True)
        os.symlink(PROGRAM, bundle / "bin" / "ringside")
        shutil.copy(SOURCE / "scripts" / "gpu-test", bundle / "gpu-test")
        result = subprocess.run(
            [bundle / "gpu-test", self.folder / "results"], capture_output=True, text=True, timeout=240, check=False
        )
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        last = result.stdout.strip().splitlines()[-1]
        self.assertIn("gpu-test: nothing tried, because " + self.reason, last)
        self.assertTrue((self.folder / "results" / "doctor.txt").exists())


class Pairs(RingsideCase):
    def test_calibrate_probes_and_draws_every_pair(self):
        out = self.folder / "out"
        result = self.run_ringside(
            "calibrate", "--backend", "gloo", "--pairs", "--ranks", "2,3", "--calibrate-time", "1 s", "--output", out
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        machine = (out / "machine.yaml").read_text()
        self.assertEqual(machine.count("both_ways"), 3 * 2, machine)
        self.assertIn("one way", result.stdout)
        if shutil.which("gnuplot"):
            for chart in ("pair_latency", "pair_bandwidth", "pair_bandwidth_both_ways"):
                self.assertGreater((out / f"{chart}.png").stat().st_size, 1000)
        shown = self.run_ringside("show", "machine", out / "machine.yaml", "--no-charts", "--ranks", "3")
        self.assertEqual(shown.returncode, 0, shown.stderr)


if __name__ == "__main__":
    unittest.main()
