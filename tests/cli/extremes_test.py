"""Numbers at the ends of what a double holds, and machines that grant no more processes, threads or memory: refused with the reason, or
answered; never a bug of ours, never a hang."""

import os
import resource
import shutil
import subprocess
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase

SMALL = """name: small
algorithms: [naive, ring]
ranks: 2
message_sizes: [4 KiB]
machine: this
"""
MEASURED = """name: measured
algorithms: [ring]
ranks: 4
message_sizes: [1 MiB, 2 MiB, 4 MiB]
machine: 4x-rtx4090-pcie4
measured: times.csv
"""
# A user whom nobody else is: what is permitted to her is what one run may use.
NOBODY_ELSE = 54321

# A sanitizer takes a thread and terabytes of addresses for itself.
NOT_SANITIZED = unittest.skipIf(os.environ.get("RINGSIDE_SANITIZED"), "a program with a sanitizer cannot do with so little")


class Extremes(RingsideCase):
    def compare(self, times):
        rows = [f"{size << 20},{time},4,ring" for size, time in zip((1, 2, 4), times)]
        self.write("times.csv", "bytes,time_us,ranks,algorithm\n" + "\n".join(rows) + "\n")
        return self.run_ringside("compare", self.write("scenario.yaml", MEASURED), "--output", self.folder / "out")

    def test_measured_times_that_nothing_takes_are_skipped_or_refused(self):
        for time in ("1e-314", "5e-324", "1e-194", "1e206", "1e305"):
            with self.subTest(microseconds=time):
                self.assert_rejected(self.compare([time] * 3), 2, "times.csv", "its time is not between 1 ns and 1e+09 s")
                some = self.compare([time, "900", "1700"])
                self.assertEqual(some.returncode, 0, some.stderr)
                self.assertIn("its time is not between 1 ns and 1e+09 s", some.stdout + some.stderr)

    def test_journals_draw_whatever_time_they_hold(self):
        run = '{"record":"run","schema":"ringside/1","version":"0","command":"","scenario":{"name":"ends"},"started":""}\n'
        point = ('{"record":"point","collective":"all_reduce","algorithm":"ring","ranks":4,"bytes":%d,"dtype":"float32","op":"sum",'
                 '"measured":{"seconds":%s,"low":%s,"high":%s,"backend":"gloo","outcome":"ok"}}\n')
        for times in (("5e-324", "1e-320", "1e-300"), ("1e-200", "1", "1e200"), ("1e305", "1e307", "1.7e308"), ("5e-324", "1", "1.7e308")):
            with self.subTest(times=times):
                lines = [point % (size << 20, time, time, time) for size, time in zip((1, 2, 4), times)]
                self.write("times.csv", run + "".join(lines))
                result = self.run_ringside("compare", self.write("scenario.yaml", MEASURED), "--output", self.folder / "out", deadline=600)
                self.assertIn(result.returncode, (0, 2), result.stderr)
                if result.returncode == 2:
                    self.assert_rejected(result, 2, "times.csv")

    def test_predictions_at_the_ends_of_what_a_machine_may_be_are_drawn(self):
        for link in ("latency: 0 s, bandwidth: 1 B/s", "latency: 1e-300 s, bandwidth: 1e300 B/s", "latency: 1e9 s, bandwidth: 1e-300 B/s"):
            with self.subTest(link=link):
                scenario = self.write("scenario.yaml", CUSTOM.replace("latency: 10 us, bandwidth: 10 GB/s", link))
                result = self.run_ringside("predict", scenario, "--charts", "--output", self.folder / "out", deadline=600)
                self.assertIn(result.returncode, (0, 2), result.stderr)
                if result.returncode == 2:
                    self.assert_rejected(result, 2, "scenario.yaml:6:")

    def test_a_run_of_more_samples_than_there_can_be(self):
        text = (SOURCE / "configs/workloads/resnet50.yaml").read_text()
        text = "\n".join(line for line in text.splitlines() if not line.startswith(("samples:", "epochs:")))
        self.write("plan.yaml", "name: p\nworkload: w.yaml\noffers:\n"
                   "  - {name: one, machine: 4x-rtx3090-pcie4, price: {per_hour: 0.67 USD, as_of: 2026}}\n")
        for samples, epochs in (("1e308", "1"), ("1e308", "1e308"), ("1e-308", "1e-308"), ("5e-324", "1")):
            with self.subTest(samples=samples, epochs=epochs):
                self.write("w.yaml", f"{text}\nsamples: {samples}\nepochs: {epochs}\n")
                result = self.run_ringside("plan", self.folder / "plan.yaml", "--output", self.folder / "out")
                self.assert_rejected(result, 2, "w.yaml:", "samples")

    def limited(self, *arguments, before):
        """A run whose process has done `before`; skips where that is not permitted."""
        if os.geteuid() == 0:
            self.folder.chmod(0o777)  # Whoever runs it writes there.
        try:
            return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=240, check=False,
                                  env={**os.environ, "HOME": str(self.folder), "TMPDIR": str(self.folder)}, preexec_fn=before)
        except (PermissionError, subprocess.SubprocessError) as error:
            self.skipTest(f"the program cannot be run as another user here: {error}")

    @NOT_SANITIZED
    def test_no_more_processes_or_threads_are_the_machines_lack(self):
        def alone():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            if os.geteuid() == 0:  # Whom no such limit binds.
                os.setgid(NOBODY_ELSE)
                os.setuid(NOBODY_ELSE)

        scenario = self.write("small.yaml", SMALL)
        for command in (["measure", "--backend", "gloo"], ["measure", "--backend", "threads"], ["compare", "--backend", "gloo"],
                        ["compare", "--backend", "threads"]):
            with self.subTest(command=command):
                result = self.limited(*command, scenario, "--time-per-point", "0.05 s", "--output", "out", before=alone)
                self.assert_rejected(result, 3)
                self.assertRegex(result.stderr, "Resource temporarily unavailable|grants")
                shutil.rmtree(self.folder / "out", ignore_errors=True)

    @NOT_SANITIZED
    def test_a_chart_for_which_there_is_no_process_costs_the_chart(self):
        def alone():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
            if os.geteuid() == 0:
                os.setgid(NOBODY_ELSE)
                os.setuid(NOBODY_ELSE)

        result = self.limited("predict", self.write("scenario.yaml", CUSTOM), "--charts", "--output", "out", before=alone)
        self.assert_rejected(result, 3)
        self.assertIn("ring", result.stdout)

    @NOT_SANITIZED
    def test_memory_that_is_not_granted_is_the_machines_lack(self):
        workload = ["name: w", "batch_per_gpu: 1", "tensors:"] + [f"  - {{name: t{i}, elements: {i + 1}}}" for i in range(100_000)]
        self.write("w.yaml", "\n".join(workload) + "\n")
        plan = self.write("plan.yaml", "name: p\nworkload: w.yaml\noffers: [{name: one, machine: 4x-rtx3090-pcie4}]\n")
        mebibytes = int(self.mapped()) + 32
        result = self.limited("plan", plan, "--no-charts", "--output", "out",
                              before=lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20)))
        self.assert_rejected(result, 3, "memory")

    def mapped(self):
        """MiB of addresses that the program has at least: the least limit with which it says its version."""
        least, most = 1, 1 << 14
        while least < most:
            middle = (least + most) // 2
            done = subprocess.run([PROGRAM, "--version"], capture_output=True, check=False, timeout=60,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (middle << 20, middle << 20)))
            least, most = (least, middle) if done.returncode == 0 else (middle + 1, most)
        return least


if __name__ == "__main__":
    unittest.main()
