#!/usr/bin/env python3
"""bench/executor/side_by_side reads recorded times and writes its tables; nothing is measured here."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bench/executor/side_by_side"
MIB = 1 << 20

RUN = {"record": "run", "cpu": "Some CPU", "cores": 2, "kernel": "Linux 6.1", "command": "side_by_side build",
       "missing": ["PyTorch gloo: not installed"]}
# Seconds of three repetitions. The machine is twice as slow in the second, which no ratio inside a repetition may notice.
TIMES = {
    ("gloo ring", MIB): [0.010, 0.020, 0.011],
    ("gloo bcube", MIB): [0.009, 0.018, 0.010],
    ("ringside ring", MIB): [0.008, 0.016, 0.0099],
    ("ringside pipelined_ring", MIB): [0.004, 0.008, 0.0044],
    ("streaming, all ranks", MIB): [0.002, 0.004, 0.0022],
    ("gloo ring", 4096): [0.0001, 0.0002, 0.0001],
    ("ringside ring", 4096): [0.0003, 0.0006, 0.0003],
}


class SideBySide(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def record(self, name, repetitions):
        records = [RUN] + [
            {"record": "time", "repetition": number, "ranks": 2, "contestant": contestant, "library": "Some 1.0",
             "bytes": size, "seconds": TIMES[contestant, size][number], "calls": 5}
            for contestant, size in TIMES for number in repetitions]
        path = self.folder / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    def run_program(self, *arguments):
        return subprocess.run([sys.executable, PROGRAM, *map(str, arguments), "--output", self.folder / "out"],
                              capture_output=True, text=True, timeout=60, check=False)

    def report_of(self, *files):
        done = self.run_program("--from", *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_times_are_medians_and_ratios_are_taken_inside_each_repetition(self):
        report = self.report_of(self.record("times.jsonl", range(3)))
        self.assertIn("| | 4 KiB | 1 MiB |", report)
        self.assertIn("| ringside ring | 0.300 (3.00) | 9.90 (0.80) |", report)
        self.assertIn("| gloo ring | 0.100 (1.00) | 11.0 (1.00) |", report)

    def test_what_was_not_measured_is_an_empty_cell(self):
        self.assertIn("| gloo bcube |  | 10.0 (0.90) |", self.report_of(self.record("times.jsonl", range(3))))

    def test_shares_and_sentences_follow_from_the_tables(self):
        report = self.report_of(self.record("times.jsonl", range(3)))
        self.assertIn("| ringside, best |  | 50% |", report)
        self.assertIn("*ringside, best* takes 0.44 to 0.44 of the time of *gloo, best*", report)
        self.assertIn("*ringside ring* reaches 25% to 25% of the bandwidth of plain streaming", report)
        self.assertIn("- PyTorch gloo: not installed", report)

    def test_the_overview_has_a_row_for_each_setting(self):
        quiet = self.record("quiet.jsonl", range(3))
        shm = [{"record": "time", "repetition": number, "ranks": 2, "contestant": contestant, "library": "Some 1.0", "bytes": MIB,
                "seconds": seconds, "calls": 5}
               for number in range(3) for contestant, seconds in (("ringside shm ring", 0.001), ("addition, all ranks", 0.0012))]
        loaded = self.folder / "loaded.jsonl"
        loaded.write_text("".join(json.dumps(record) + "\n" for record in
                                  [{**RUN, "busy_loops": 2, "congestion_control": "cubic"}, *shm])
                          + quiet.read_text().split("\n", 1)[1])
        done = self.run_program("--overview", "--from", quiet, loaded)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| 2 | quiet, unknown |  |  |  | 1.70/3.00 |  |", done.stdout)
        self.assertIn("| 2 | 2 busy loops, cubic |  |  | 0.091/0.091 | 1.70/3.00 | 80% |", done.stdout)

    def test_the_overview_reads_what_was_recorded(self):
        done = self.run_program("--overview", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn("give --from FILE", done.stderr)

    def test_the_chart_shows_every_ratio_however_small(self):
        """Against a gnuplot that keeps what it is asked to draw."""
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "gnuplot").write_text(f"#!/bin/sh\ncat > '{self.folder}/script'\n")
        (tools / "gnuplot").chmod(0o755)
        path = self.record("times.jsonl", range(3))
        quick = {"record": "time", "repetition": 0, "ranks": 2, "contestant": "Open MPI, default", "library": "Open MPI v4", "bytes": 4096,
                 "seconds": 0.0001 * 0.009, "calls": 5}
        path.write_text(path.read_text() + json.dumps(quick) + "\n")
        done = subprocess.run([sys.executable, PROGRAM, "--from", path, "--output", self.folder / "out"], capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 0, done.stderr)
        script = (self.folder / "script").read_text()
        low, high = map(float, re.search(r"set yrange \[(.+):(.+)\]", script).groups())
        drawn = [float(line.split()[1]) for line in re.findall(r"^\d+ [\d.e-]+$", script, re.M)]
        self.assertLess(min(drawn), 0.01)
        self.assertLess(low, min(drawn))
        self.assertGreater(high, max(drawn))

    def test_repetitions_of_several_files_count_as_of_one_run(self):
        report = self.report_of(self.record("first.jsonl", [0]), self.record("second.jsonl", [0, 1, 2]))
        self.assertIn("repetitions: 4.", report)
        self.assertIn("| ringside ring | 0.300 (3.00) | 8.95 (0.80) |", report)

    def test_the_report_replaces_what_stands_between_the_marks_of_a_page(self):
        page = self.folder / "page.md"
        page.write_text("before\n<!-- executor, here -->\nold\n<!-- end of executor, here -->\nafter\n")
        for _ in range(2):
            done = self.run_program("--from", self.record("times.jsonl", range(3)), "--page", page, "--name", "here")
            self.assertEqual(done.returncode, 0, done.stderr)
        text = page.read_text()
        self.assertTrue(text.startswith("before\n<!-- executor, here -->\n\nSome CPU, 2 cores"), text)
        self.assertTrue(text.endswith("\n<!-- end of executor, here -->\nafter\n"), text)
        self.assertNotIn("old", text)
        self.assertEqual(text.count("| ringside ring |"), 2)

    def test_a_page_without_marks_is_left_alone(self):
        page = self.folder / "page.md"
        page.write_text("nothing\n")
        done = self.run_program("--from", self.record("times.jsonl", range(3)), "--page", page)
        self.assertEqual(done.returncode, 2)
        self.assertIn("has no place for this", done.stderr)
        self.assertEqual(page.read_text(), "nothing\n")

    def test_a_size_without_unit_is_refused(self):
        done = self.run_program("build", "--sizes", "4096")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'4096' is no size: write 4KiB or 16MiB", done.stderr)


if __name__ == "__main__":
    unittest.main()
