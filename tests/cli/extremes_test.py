"""Numbers at the ends of what a double holds, and machines that grant no more processes, threads or memory: refused with the reason, or
answered; never a bug of ours, never a hang."""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase

sys.path.insert(0, str(SOURCE / "tests/fuzz"))
from measured_run import measured_run  # pylint: disable=wrong-import-position

REFUSAL = (1, 200_000_000)  # Seconds of a core and bytes.

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

    def test_predictions_into_one_folder_at_once_are_all_answered(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        runs = [subprocess.Popen([PROGRAM, "predict", scenario, "--output", "out"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True) for _ in range(50)]
        for run in runs:
            _, errors = run.communicate(timeout=120)
            self.assertEqual((run.returncode, errors), (0, ""))
        self.assertEqual([file.name for file in (self.folder / "out").iterdir()], ["predictions.jsonl"])

    def test_files_are_for_those_whom_the_umask_leaves(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        for mask in (0o077, 0o027, 0o002):
            result = self.limited("predict", scenario, "--charts", "--svg", "--output", f"out-{mask}", before=lambda mask=mask: os.umask(mask))
            self.assertEqual(result.returncode, 0, result.stderr)
            for file in (self.folder / f"out-{mask}").iterdir():
                self.assertEqual(file.stat().st_mode & 0o777, 0o666 & ~mask, file)

    @NOT_SANITIZED
    def test_what_is_too_large_is_refused_before_it_takes_memory(self):
        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        direct = "algorithms: [%s]\nranks: 65536\nmessage_sizes: [1 MiB]\nmachine:\n  intra: {kind: custom, latency: 1 us, bandwidth: 10 GB/s}\n"
        many = self.write("many.yaml", "nodes: 100000\ngpus_per_node: 8\ngpu: {model: H100-SXM}\n"
                          "intra: {kind: nvlink, switch: true, links_per_gpu: 18}\ninter: {kind: infiniband, rate: 400 Gb/s, nics: 8}\n")
        sockets = self.write("sockets.yaml", "gpus_per_node: 8\ngpu: {model: A100-PCIE-40GB}\nintra: {kind: pcie, generation: 4, sockets: 1000}\n")
        for status, words, *command in ((3, "take up to 2048 ranks", "predict", self.write("one.yaml", direct % "direct")),
                                        (3, "take up to 2048 ranks", "predict", self.write("two.yaml", direct % "direct_two_shot")),
                                        (2, "--ranks takes up to", "show", "machine", many),
                                        (2, "intra.sockets", "show", "machine", sockets)):
            with self.subTest(command=command):
                begun = time.monotonic()
                self.assert_rejected(self.limited(*command, before=little_memory), status, words)
                self.assertLess(time.monotonic() - begun, 20)  # Minutes before.

    def test_more_ranks_than_a_network_has_room_for_are_not_predicted_and_take_no_memory(self):
        nodes = ("algorithms: [%s]\nranks: 16777216\nmessage_sizes: [1 MiB]\nmachine:\n  nodes: 2097152\n  gpus_per_node: 8\n  gpu: {model: H100-SXM}\n"
                 "  intra: {kind: nvlink, switch: true, links_per_gpu: 18}\n  inter: {kind: infiniband, rate: 400 Gb/s, nics: 8}\n")
        scenarios = {"one node": CUSTOM.replace("ranks: 8", "ranks: 16777216"), "nodes": nodes % "ring"}
        for name, text in scenarios.items():
            with self.subTest(name):
                run = measured_run([PROGRAM, "predict", str(self.write("many.yaml", text)), "--output", "out"], self.folder, *REFUSAL)
                self.assertEqual(run.status, 3, run.errors)
                self.assertIn(b"the network of 16777216 ranks alone takes about 17 GB of memory", run.errors)
                self.assertLess((run.seconds, run.memory), REFUSAL)
                self.assertLess(run.memory, REFUSAL[1])
        beside = self.run_ringside("predict", self.write("native.yaml", nodes % "ring, native"), "--output", "beside")
        self.assertEqual(beside.returncode, 0, beside.stderr)  # What NCCL takes needs no network.

    def test_amounts_that_nobody_pays_are_refused(self):
        plan = "name: p\nworkload: resnet50\noffers:\n  - {name: one, machine: 4x-rtx3090-pcie4, price: {per_hour: %s, as_of: 2026}}\n"
        for price in ("1e308 USD", "1e13 USD", "1e-10 USD"):
            self.assert_rejected(self.run_ringside("plan", self.write("plan.yaml", plan % price), "--output", "out"), 2, "price.per_hour", price)
            self.assert_rejected(self.run_ringside("plan", "--model", "resnet50", "--gpus", f"8xH100 @ {price}", "--output", "out"), 2, "8xH100")
        listing = (SOURCE / "tests/cli/offers/vast.json").read_text()
        changed = re.sub(r'("dph_total": )[0-9.e+-]+', r"\g<1>1e308", listing)
        self.assertNotEqual(changed, listing)
        result = self.run_ringside("plan", SOURCE / "configs/plans/resnet34-tutorial.yaml", "--offers", self.write("vast.json", changed), "--no-charts",
                                   "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_what_is_no_utf8_or_turns_text_around_is_shown_as_that(self):
        name = b"r\xff\xed\xa0\x80i\xe2\x80\xaeng"
        table = b"bytes,time_us,ranks,algorithm\n" + b"".join(b"%d,%d,4,%s\n" % (size << 20, 900 * size, name) for size in (1, 2))
        for flags in ((), ("--format", "json")):
            result = subprocess.run([PROGRAM, "import", self.write("x.csv", table), "--output", "out", *flags], cwd=self.folder, capture_output=True, check=True)
            shown = result.stdout.decode()  # Throws where it is no UTF-8.
            self.assertIn("r\ufffd\ufffd\ufffd\ufffdi\\u202eng", shown)
        self.assertIn("i\\u202eng", (self.folder / "out/results.jsonl").read_bytes().decode())
        scenario = CUSTOM.replace("name: custom", "name: \u202etsop").replace("80 MB", "80 MB, 160 MB")
        for command in (("predict",), ("predict", "--sweep", "bandwidth=1GB/s,2GB/s"), ("predict", "--sweep", "bandwidth=1GB/s,2GB/s", "--format", "json")):
            result = self.run_ringside(command[0], self.write("scenario.yaml", scenario), *command[1:], "--output", "out")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertNotRegex(result.stdout + result.stderr, "[\u202a-\u202e\u2066-\u2069]")
        for file in (self.folder / "out").glob("*.jsonl"):
            self.assertNotRegex(file.read_bytes().decode(), "[\u202a-\u202e\u2066-\u2069]")
        self.assert_rejected(self.run_ringside("predict", "scenario.yaml", "--known", "{ring: \u2066}"), 2, "\\u2066")

    def test_a_text_that_does_not_end_is_refused_at_its_limit(self):
        plan = SOURCE / "configs/plans/resnet34-tutorial.yaml"
        for command in (("import", "/dev/zero"), ("check", "/dev/zero"), ("import", "/dev/zero", "--anonymise"), ("plan", plan, "--offers", "/dev/zero")):
            with self.subTest(command=command):
                self.assert_rejected(self.run_ringside(*command, "--output", "out", deadline=120), 2, "is longer than ", "no more is read of it")
        long = self.folder / "long.log"
        with long.open("wb") as file:
            file.truncate((1 << 30) + 1)  # Takes no room.
        for command in ("import", "check", "submit"):
            self.assert_rejected(self.run_ringside(command, long, "--output", "out"), 2, "is longer than 1 GiB", "read all of a log on request")
        self.assert_rejected(self.run_ringside("import", long, "--no-limit", "--output", "out"), 2, "is no text")
        endless = subprocess.Popen(["cat", "/dev/zero"], stdout=subprocess.PIPE)
        self.addCleanup(endless.wait)
        self.addCleanup(endless.kill)
        piped = subprocess.run([PROGRAM, "import", "-", "--output", "piped"], cwd=self.folder, stdin=endless.stdout, capture_output=True, text=True, timeout=120,
                               check=False)
        endless.stdout.close()
        self.assert_rejected(piped, 2, "standard input: is longer than 1 GiB")
        self.assertEqual(list((self.folder / "piped").iterdir()), [])

    def test_a_pipe_in_place_of_the_predictions_is_refused(self):
        (self.folder / "out").mkdir()
        os.mkfifo(self.folder / "out/predictions.jsonl")
        result = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM), "--output", "out", deadline=20)
        self.assert_rejected(result, 2, "predictions.jsonl: it is a pipe")

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
    def test_a_small_stack_is_enlarged_or_refused(self):
        small = 64 << 10

        def little():
            resource.setrlimit(resource.RLIMIT_STACK, (small, resource.getrlimit(resource.RLIMIT_STACK)[1]))

        def no_more():
            resource.setrlimit(resource.RLIMIT_STACK, (small, small))
            if os.geteuid() == 0:  # Who may enlarge it all the same.
                os.setgid(NOBODY_ELSE)
                os.setuid(NOBODY_ELSE)

        measured = ("measure", self.write("small.yaml", SMALL), "--time-per-point", "0.05 s", "--output", "out")
        for command in (measured, ("predict", self.write("scenario.yaml", CUSTOM), "--charts", "--output", "drawn")):
            enlarged = self.limited(*command, before=little)
            self.assertEqual(enlarged.returncode, 0, enlarged.stderr)
            self.assert_rejected(self.limited(*command, before=no_more), 3, "ulimit -s")

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
