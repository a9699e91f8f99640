"""Timelines: what was predicted, and what real ranks did."""

import json
import shutil
import unittest

from ringside_case import CUSTOM, RingsideCase

SMALL = CUSTOM.replace("ranks: 8", "ranks: 3").replace("80 MB", "60 KB").replace("naive, tutorial_ring, ring", "ring, native")


class Trace(RingsideCase):
    def trace(self, text, *flags):
        """The trace records on standard output, and the folder with the files."""
        out = self.folder / "out"
        result = self.run_ringside(
            "trace", self.write("scenario.yaml", text), "--format", "json", "--output", out, *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.said = result.stderr
        return self.records(result.stdout), out

    def processes(self, path):
        """Name of each process of a trace file → its bars; bars of one thread may not overlap."""
        events = json.loads(path.read_text())["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        bars = {name: [] for name in names.values()}
        ends = {}
        for event in events:
            if event["ph"] == "X":
                thread = (event["pid"], event["tid"])
                self.assertGreaterEqual(event["dur"], 0)
                self.assertGreaterEqual(event["ts"], ends.get(thread, 0) - 1e-6, event)
                ends[thread] = event["ts"] + event["dur"]
                bars[names[event["pid"]]].append(event)
        return bars

    def test_a_prediction_alone_has_ranks_and_links(self):
        records, out = self.trace(SMALL)
        self.assertEqual([(r["record"], r["algorithm"]) for r in records], [("trace", "ring")])
        self.assertNotIn("measured", records[0])
        # 4 rounds of 3 messages, 20 KB each at 10 GB/s after 10 us; γ is 0.
        self.assertAlmostEqual(records[0]["predicted"]["seconds"], 48e-6, delta=1e-12)
        processes = self.processes(out / "trace_ring.json")
        self.assertEqual({name: len(bars) for name, bars in processes.items()},
                         {"predicted ranks: ring all_reduce of 60 KB on 3 ranks": 12,
                          "predicted links: ring all_reduce of 60 KB on 3 ranks": 12})
        for event in processes["predicted links: ring all_reduce of 60 KB on 3 ranks"]:
            self.assertAlmostEqual(event["dur"], 12, delta=1e-6)

    def test_a_real_run_stands_beside_its_prediction(self):
        records, out = self.trace(SMALL, "--measure", "--time-per-point", "0.05 s")
        self.assertIn("recording 1 point …", self.said)
        measured = records[0]["measured"]
        self.assertEqual(measured["backend"], "shm")
        self.assertGreaterEqual(measured["iterations"], 5)
        self.assertGreater(measured["seconds"], 0)
        self.assertIn("segments", measured["policy"])
        processes = self.processes(out / "trace_ring.json")
        title = "ring all_reduce of 60 KB on 3 ranks"
        self.assertEqual(list(processes), [f"{who} {what}: {title}" for who in ("predicted", "measured")
                                           for what in ("ranks", "links")])
        bars = processes[f"measured ranks: {title}"]
        self.assertEqual(sum(e["cat"] == "transfer" for e in bars), 12)
        self.assertEqual(sum(e["cat"] == "reduce" for e in bars), 6)
        self.assertEqual(measured["events"], 18)
        last = max(e["ts"] + e["dur"] for e in bars)
        self.assertLessEqual(last * 1e-6, measured["seconds"] + measured["barrier_skew"] + 1e-9)
        moved = lambda events: sorted((e["args"]["round"], e["args"]["source"], e["name"]) for e in events)
        self.assertEqual(moved(processes[f"measured links: {title}"]), moved(processes[f"predicted links: {title}"]))
        if shutil.which("gnuplot"):
            self.assertTrue((out / "timeline_ring.png").exists())

    def test_native_cannot_be_looked_into(self):
        result = self.run_ringside("trace", self.write("scenario.yaml", SMALL), "--algorithm", "native")
        self.assert_rejected(result, 2, "native has no schedule", "such as ring")
        self.assertNotIn("unknown", result.stderr)


if __name__ == "__main__":
    unittest.main()
