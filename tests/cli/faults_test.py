"""What others do to a run: another run in its folder, signals, files that may not grow, repetitions that are ended."""

import fcntl
import json
import os
import random
import resource
import signal
import subprocess
import time
import unittest

from ringside_case import PROGRAM, RingsideCase

SCENARIO = """name: small
algorithms: [naive, ring]
ranks: 2
message_sizes: [4 KiB, 64 KiB]
backend: gloo
machine: this
"""


class Faults(RingsideCase):
    def setUp(self):
        super().setUp()
        self.scenario = self.write("small.yaml", SCENARIO)
        self.out = self.folder / "out"

    def test_a_run_in_the_folder_of_another_is_refused_before_it_writes_anything(self):
        self.out.mkdir()
        (self.out / "machine.yaml").write_text("of the other run")
        folder = os.open(self.out, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        for command in (["compare", self.scenario, "--no-charts"], ["measure", self.scenario], ["calibrate"], ["predict", self.scenario]):
            result = self.run_ringside(*command, "--output", self.out)
            self.assert_rejected(result, 2, "another ringside is writing its results to", "--output")
            self.assertEqual([path.name for path in self.out.iterdir()], ["machine.yaml"])
            self.assertEqual((self.out / "machine.yaml").read_text(), "of the other run")

    def samples_written(self):
        """(in all lines, in the last line of each point)"""
        total, last = 0, {}
        for record in self.records((self.out / "results.jsonl").read_text()):
            if record["record"] in ("point", "repetition"):
                samples = record["measured"]["samples"]
                total += len(samples)
                last[record["algorithm"], record["bytes"]] = len(samples)
        return total, sum(last.values())

    def test_a_journal_grows_with_what_was_measured_and_not_with_its_square(self):
        result = self.run_ringside("measure", self.scenario, "--output", self.out, "--time-per-point", "0.1 s", "--repetitions", 20)
        self.assertEqual(result.returncode, 0, result.stderr)
        total, last = self.samples_written()
        self.assertLessEqual(total, 2 * last)
        # Going on where nothing is missing adds nothing, and what is read is what was written.
        size = (self.out / "results.jsonl").stat().st_size
        again = self.run_ringside("measure", self.scenario, "--output", self.out, "--repetitions", 20, "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertLess((self.out / "results.jsonl").stat().st_size, size + 4096)

    def test_repetitions_of_a_cut_journal_are_added_up(self):
        flags = ["--output", self.out, "--time-per-point", "0.1 s", "--repetitions", 5]
        self.assertEqual(self.run_ringside("measure", self.scenario, *flags).returncode, 0)
        results = self.out / "results.jsonl"
        lines = results.read_text().splitlines(keepends=True)
        kinds = [json.loads(line)["record"] for line in lines]
        self.assertEqual(kinds[1:21], 4 * ["point"] + 12 * ["repetition"] + 4 * ["point"])
        results.write_text("".join(lines[:1 + 4 + 8]))  # Three repetitions of each point.
        resumed = self.run_ringside("measure", self.scenario, *flags, "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        after = [json.loads(line) for line in results.read_text().splitlines()]
        made = [record["record"] for record in after[13:]]
        self.assertEqual(made[:8], 4 * ["repetition"] + 4 * ["point"])
        for point in after[17:21]:
            self.assertEqual(len(point["measured"]["repetitions"]), 5)
            earlier = [json.loads(line)["measured"]["samples"] for line in lines[1:13]
                       if json.loads(line)["algorithm"] == point["algorithm"] and json.loads(line)["bytes"] == point["bytes"]]
            known = [sample for samples in earlier for sample in samples]
            self.assertEqual(point["measured"]["samples"][:len(known)], known)

    def test_a_journal_cut_anywhere_resumes_to_the_same_points(self):
        flags = ["--backend", "threads", "--output", self.out, "--time-per-point", "0.05 s", "--repetitions", 3]
        self.assertEqual(self.run_ringside("measure", self.scenario, *flags).returncode, 0)
        results = self.out / "results.jsonl"
        whole = results.read_bytes()
        key = lambda record: (record["algorithm"], record["ranks"], record["bytes"])  # pylint: disable=unnecessary-lambda-assignment
        keys = {key(record) for record in self.records(whole.decode()) if record["record"] == "point"}
        first_line = whole.index(b"\n") + 1
        ends = [place + 1 for place, byte in enumerate(whole) if byte == ord("\n")]
        cuts = random.Random(20261123)
        for length in sorted({0, first_line - 1, *ends[:-1], *(cuts.randrange(len(whole)) for _ in range(8))}):
            results.write_bytes(whole[:length])
            resumed = self.run_ringside("measure", self.scenario, *flags, "--resume")
            self.assertEqual(resumed.returncode, 0, f"{length} bytes: {resumed.stderr}")
            # What was finished before the cut, in whole lines, is kept to the last sample; the rest is measured.
            kept = {}
            for record in self.records(whole[:whole.rfind(b"\n", 0, length) + 1].decode()):
                if record["record"] == "point":
                    kept[key(record)] = record["measured"]["samples"]
                elif record["record"] == "repetition":
                    kept[key(record)] = kept[key(record)] + record["measured"]["samples"]
            points = {key(record): record["measured"] for record in self.records(results.read_text()) if record["record"] == "point"}
            self.assertEqual(set(points), keys, length)
            for name, point in points.items():
                self.assertEqual((point["outcome"], len(point["repetitions"])), ("ok", 3), length)
                known = kept.get(name, [])
                self.assertEqual(point["samples"][:len(known)], known, length)

    def start(self, *arguments, **options):
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_signals_end_ranks_that_are_threads(self):
        for what, status in ((signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)):
            out = self.folder / f"threads-{what}"
            process = self.start("measure", self.scenario, "--backend", "threads", "--output", out, "--time-per-point", "1000 s",
                                 "--repetitions", 1000)
            deadline = time.monotonic() + 120
            while not (out / "results.jsonl").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            time.sleep(0.2)
            process.send_signal(what)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, status)

    def test_an_interrupt_ends_every_command_with_one_status(self):
        for command in (["calibrate", "--output", self.folder / "calibrated"], ["check", "live", "--backend", "gloo"],
                        ["compare", self.scenario, "--calibrate-time", "60 s", "--output", self.folder / "compared"]):
            process = self.start(*command)
            self.assertTrue(process.stderr.readline())  # It has begun.
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, command)

    def test_a_hangup_that_is_ignored_ends_nothing(self):
        for backend in ("gloo", "threads"):
            out = self.folder / f"hangup-{backend}"
            process = self.start("measure", self.scenario, "--backend", backend, "--output", out, "--time-per-point", "0.5 s",
                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))  # As nohup does.
            deadline = time.monotonic() + 120
            results = out / "results.jsonl"
            while not results.exists() or results.read_text().count("\n") < 2:  # The first point is there, and others follow.
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            process.send_signal(signal.SIGHUP)
            _, said = process.communicate(timeout=240)
            self.assertEqual(process.returncode, 0, said)

    def test_files_that_may_not_grow_are_said(self):
        process = self.start("measure", self.scenario, "--output", self.out, "--time-per-point", "0.05 s",
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700)))
        _, said = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 3, said)
        self.assertIn("results.jsonl: File too large", said)

    def test_a_machine_file_that_cannot_be_written_stays_as_it_was(self):
        flags = ["--ranks", 2, "--calibrate-time", "0.3 s", "--max-bytes", "1 MiB", "--output", self.out]
        self.assertEqual(self.run_ringside("calibrate", *flags).returncode, 0)
        before = (self.out / "machine.yaml").read_bytes()
        process = self.start("calibrate", *flags, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)))
        _, said = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 3, said)
        self.assertEqual((self.out / "machine.yaml").read_bytes(), before)
        self.assertEqual([path.name for path in self.out.iterdir() if path.suffix != ".png"], ["machine.yaml"])


if __name__ == "__main__":
    unittest.main()
