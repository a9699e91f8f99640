"""Commands, the script of a GPU's first minutes and the bundle, on the rehearsal device."""

import os
import pathlib
import shutil
import subprocess
import unittest

from rehearsal_case import SCENARIO, Rehearsal
from ringside_case import PROGRAM, SOURCE


class Commands(Rehearsal):
    def test_calibrate_probes_every_pair(self):
        result = self.run_ringside(
            *("calibrate", "--backend", "nccl", "--ranks", "2,4", "--max-bytes", "64 KiB", "--calibrate-time", "1 s"),
            *("--timeout", "20 s", "--output", self.folder / "out"),
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        for file in ("machine.yaml", "pair_latency.png", "pair_bandwidth.png", "pair_bandwidth_both_ways.png"):
            self.assertTrue((self.folder / "out" / file).exists(), file)
        self.assertIn("pairs", (self.folder / "out" / "machine.yaml").read_text())

        # Elsewhere, `native` of that machine is NCCL's, whatever is here.
        scenario = SCENARIO.format(ranks=2).replace("[ring]", "[ring, native]")
        elsewhere = self.write("elsewhere.yaml", scenario[: scenario.index("machine:")] + f"machine: {self.folder}/out/machine.yaml\n")
        predicted = self.run_ringside("predict", elsewhere, "--output", self.folder / "elsewhere")
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        self.assertIn("ring", predicted.stdout)

    def test_compare_draws_what_it_measured(self):
        out = self.folder / "out"
        scenario = self.write("rehearsal.yaml", SCENARIO.format(ranks=2))
        result = self.run_ringside("compare", scenario, "--backend", "nccl", "--time-per-point", "1 ms", "--output", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("rehearsal device", (out / "results.jsonl").read_text())
        self.assertTrue((out / "time_vs_size.png").exists())

    def test_check_live_judges_what_nccl_takes_here(self):
        machine = self.write("pair.yaml", "name: pair\ngpus_per_node: 2\ngpu: {model: A100-PCIE-40GB}\n"
                             "intra: {kind: pcie, generation: 4, lanes: 16}\n")
        live = ("check", "--live", "--backend", "nccl", "--max-bytes", "64 KiB", "--time-per-point", "1 ms", "--no-charts")
        two = {"RINGSIDE_REHEARSAL": "gpus=2"}
        result = self.run_ringside(*live, "--machine", machine, "--format", "json", environment=two)
        self.assertEqual(result.returncode, 0, result.stderr)
        (record,) = self.records(result.stdout)
        self.assertEqual((record["record"], record["machine"], record["ranks"], record["bands"][0]["points"]),
                         ("check", "pair", 2, 4))
        # The device that rehearses is no GPU: it is much slower than one.
        failed = self.run_ringside(*live, "--machine", machine, "--gate", "time@1KiB <= p01", environment=two)
        self.assertEqual(failed.returncode, 1, failed.stderr)
        self.assertIn("--gate 'time@1KiB <= p01' failed", failed.stderr)
        self.assertIn("1 KiB", failed.stdout)
        self.assert_rejected(self.run_ringside(*live, environment={"RINGSIDE_REHEARSAL": "gpus=1"}), 3, "two GPUs or more")
        self.assert_rejected(self.run_ringside(*live, "--gpu", "H900", environment=two), 2, "--gpu: unknown GPU 'H900'")

    def test_trace_says_why_it_records_nothing(self):
        scenario = self.write("rehearsal.yaml", SCENARIO.format(ranks=2))
        result = self.run_ringside("trace", scenario, "--measure", "--backend", "nccl", "--output", self.folder / "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("the steps of a call on GPUs cannot be told apart", result.stderr)


class TheScriptOfTheFirstMinutes(Rehearsal):
    """scripts/gpu-test, as from an unpacked bundle."""

    def setUp(self):
        super().setUp()
        bundle = self.folder / "ringside"
        bundle.mkdir()
        (bundle / "bin").symlink_to(pathlib.Path(PROGRAM).parent)
        (bundle / "configs").symlink_to(SOURCE / "configs")
        shutil.copy(SOURCE / "scripts" / "gpu-test", bundle / "gpu-test")
        self.script, self.results = bundle / "gpu-test", self.folder / "results"

    def gpu_test(self, *flags, faults=""):
        return subprocess.run(
            [self.script, *flags, self.results],
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
            env={**os.environ, "RINGSIDE_REHEARSAL_FAULTS": faults},
        )

    def test_keeps_the_result_of_each_stage_and_goes_on_with_those_that_are_missing(self):
        failed = self.gpu_test("--stages", "doctor,one,faults", faults="cudaGraphLaunch#2=700")
        self.assertEqual(failed.returncode, 1, failed.stdout + failed.stderr)
        self.assertRegex(failed.stdout.strip().splitlines()[-1], r"^gpu-test: failed \(one( faults)?\)")
        self.assertIn("one failed", (self.results / "stages.txt").read_text())

        again = self.gpu_test("--stages", "doctor,one,faults")
        self.assertEqual(again.returncode, 0, again.stdout + again.stderr)
        self.assertNotIn("== doctor", again.stdout)
        self.assertIn("measured points: 2, not ok: 0", again.stdout)
        self.assertIn("gpu-test: passed", again.stdout.strip().splitlines()[-1])
        doctor = (self.results / "doctor.txt").read_text()
        self.assertIn("rehearsal device", doctor)
        self.assertRegex(doctor, r"(?m)runs CUDA up to [\d.]+$")

        page = subprocess.run([SOURCE / "scripts" / "gpu-report", self.results], capture_output=True, text=True, check=True)
        self.assertIn("rehearsal device", page.stdout.splitlines()[0])
        for answer in ("own? | yes: 2 of 2 points are exact", "non-blocking? | yes", "of a copy? | open"):
            self.assertIn(answer, page.stdout)

    def test_leaves_what_no_longer_fits_for_the_next_time(self):
        result = self.gpu_test("--limit", "4", "--stages", "doctor,one")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("not tried within 4 s: doctor one", result.stdout)


class TheBundle(Rehearsal):
    """examples/launch/bundle.md, as on a rented machine: nothing is set, and NCCL and the driver are somewhere else."""

    def setUp(self):
        super().setUp()
        built = pathlib.Path(PROGRAM).parent
        self.packed = self.folder / "bundle.tar.gz"
        self.in_repository("scripts/bundle", built, self.packed)
        self.bundle = self.unpacked(self.folder)
        driver = self.folder / "driver"
        driver.mkdir()
        shutil.copy(built / "libnvidia-ml.so.1", driver)
        shutil.copy(built / "libnccl.so.2", driver / "libnccl-of-a-wheel.so")
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "LD_LIBRARY_PATH": str(driver),
            "RINGSIDE_NCCL_LIBRARY": str(driver / "libnccl-of-a-wheel.so"),
        }

    def in_repository(self, *command):
        result = subprocess.run([SOURCE / command[0], *command[1:]], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def unpacked(self, folder):
        subprocess.run(["tar", "-C", folder, "-xzf", self.packed], check=True)
        return folder / "ringside"

    def there(self, *command):
        result = subprocess.run(command, cwd=self.bundle, env=self.environment, capture_output=True, text=True, check=False, timeout=250)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_is_tried_measures_and_its_results_are_drawn_at_home(self):
        results = self.folder / "results"
        self.assertIn("libnccl-of-a-wheel.so", self.there("bin/ringside", "doctor"))
        self.assertIn("gpu-test: passed", self.there("./gpu-test", "--stages", "doctor,one,faults", results))
        trial = (self.bundle / "configs/scenarios/gpu-trial.yaml").read_text()
        small = self.write("small.yaml", trial.replace("to: 256 MiB, factor: 8", "to: 64 KiB, factor: 8").replace("[2, 4]", "[2, 3]"))
        self.there("bin/ringside", "compare", small, "--ranks-per-gpu", "3", "--no-charts", "--time-per-point", "1 ms",
                   "--calibrate-time", "1 s", "--output", results / "trial")
        charts = self.folder / "charts"
        page = self.in_repository("scripts/gpu-report", "--charts", charts, "--ringside", PROGRAM, results)
        self.assertIn("own? | yes: 2 of 2 points are exact", page)
        self.assertEqual(page.count("| halving_doubling |"), 6, "two numbers of ranks and three sizes, each point once")
        self.assertIn(f"]({charts}/time_vs_size.png)", page)
        self.assertTrue((charts / "time_vs_size.png").exists())


if __name__ == "__main__":
    unittest.main()
