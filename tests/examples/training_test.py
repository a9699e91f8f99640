"""sgd and ddp: training on N ranks is training on one, and synchronisation happens when it should."""

import json
import re
import unittest

import examples_case


class Training(examples_case.ExamplesCase):
    def test_sgd_is_training_on_the_union_of_the_batches(self):
        for n, text in self.outputs("sgd", "--epochs", 3):
            self.assertIn(f"Two spirals, 1920 samples; {n} ranks with batches of 16.", text)
            self.assertIn("All ranks hold the same parameters", text)
            self.assertIn("of the batches: largest difference below 1e-4.", text)

    def test_sgd_learns(self):
        text = self.output("sgd", "--ranks", 2, "--backend", "threads", "--epochs", 30, "--output", "charts")
        accuracy = [float(value) for value in re.findall(r"accuracy +(\S+) %", text)]
        self.assertLess(accuracy[0], 90)
        self.assertGreater(accuracy[-1], 95)
        self.assertEqual((self.folder / "charts" / "sgd_steps.png").read_bytes()[:4], b"\x89PNG")
        rows = (self.folder / "charts" / "sgd_steps.csv").read_text().splitlines()
        self.assertEqual(rows[0], "step,forward,backward,communication")
        self.assertEqual(len(rows), 1 + 30 * (1920 // 32))
        self.assertTrue(all(float(value) >= 0 for row in rows[1:] for value in row.split(",")))

    def test_sgd_goes_on_from_a_checkpoint_as_if_it_had_never_stopped(self):
        def total(text):
            return re.search(r"their sum is (\S+)\.\n", text)[1]

        for backend in examples_case.BACKENDS:
            common = ("--ranks", 3, "--backend", backend)
            straight = self.output("sgd", *common, "--epochs", 4)
            self.output("sgd", *common, "--epochs", 2, "--save", "half")
            resumed = self.output("sgd", *common, "--epochs", 4, "--resume", "half")
            self.assertEqual(total(resumed), total(straight))
        (self.folder / "broken").write_bytes(b"too short")
        self.assert_rejected(self.start("sgd", "--resume", "broken", "--epochs", 4), 2, "broken is no checkpoint")
        self.assert_rejected(self.start("sgd", "--ranks", 9, "--batch", 240), 2, "more than the 1920 samples")

    def test_ddp_reduces_buckets_as_they_fill(self):
        # Bytes: out 40 and 2560, hidden 256 and 16384 (twice), first 256 and 786432. A bucket ends when it has 16 KiB.
        small = ("--width", 64, "--layers", 3, "--batch", 2, "--steps", 1, "--first-bucket", "16 KiB", "--bucket", "16 KiB")
        for n, text in self.outputs("ddp", *small, "--output", "out"):
            messages = re.findall(r"^(a message per tensor|one bucket|buckets, \w+ backward) +(\d+) ", text, re.MULTILINE)
            self.assertEqual([int(count) for _, count in messages], [8, 1, 3, 3])
            self.assertIn("  bucket 0:  18.8 KiB, tensors 7 to 4\n", text)
            self.assertIn("  bucket 1:  16.2 KiB, tensors 3 to 2\n", text)
            self.assertIn("  bucket 2:   768 KiB, tensors 1 to 0\n", text)
            self.assertIn("All four end with the same parameters.", text)
            losses, mean = re.search(r"is its own: (.*)\. Their average, (\S+), takes", text).groups()
            losses = [float(loss) for loss in losses.split()]
            self.assertEqual(len(losses), n)
            self.assertAlmostEqual(sum(losses) / n, float(mean), delta=2e-4)
            self.check_timeline(n)

    def check_timeline(self, ranks):
        self.assertEqual((self.folder / "out" / "ddp_timeline.png").read_bytes()[:4], b"\x89PNG")
        trace = json.loads((self.folder / "out" / "ddp_timeline.json").read_text())["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in trace if event["ph"] == "M"}
        events = [event for event in trace if event["ph"] == "X"]
        for rank in range(ranks):
            def of(kind, track):
                return [e for e in events if names[e["tid"]] == f"rank {rank} {track}" and e["cat"] == kind]

            filled = [event["ts"] + event["dur"] for event in of("backward", "compute")]
            reduced = of("all_reduce", "communication")
            self.assertEqual((len(filled), len(reduced)), (3, 3))
            for full, event in zip(filled, reduced):
                self.assertGreaterEqual(event["ts"] + 1e-3, full, "a bucket was reduced before it was full")
            starts = [event["ts"] for event in reduced]
            self.assertEqual(starts, sorted(starts))


if __name__ == "__main__":
    unittest.main()
