"""send_receive, broadcast, reduce, all_reduce, ring_all_reduce: what moves, and what it costs in bytes."""

import re
import unittest

import examples_case


class Messages(examples_case.ExamplesCase):
    def test_send_receive(self):
        for n, text in self.outputs("send_receive"):
            if n == 1:
                self.assertEqual(text, "One rank has nobody to send to: start at least two, with --ranks 2.\n")
                continue
            self.assertIn("  rank 0: [0, 0, 0] -> [0, 0, 0]\n", text)
            self.assertIn("  rank 1: [1, 1, 1] -> [0, 0, 0]  received\n", text)
            for rank in range(n):
                self.assertIn(f"  rank {rank} received {(rank - 1) % n}\n", text)
            self.assertRegex(text, r"rank [01] waited 300 ms (to send|for the others while sending) to rank [01]")
            self.assertIn("Neither came to its recv().", text)

    def test_broadcast_from_any_root(self):
        for root in (0, 2):
            for n, text in self.outputs("broadcast", "--root", root, ranks=[r for r in examples_case.RANKS if r > root]):
                for rank in range(n):
                    own, result = [10 * rank + i for i in range(3)], [10 * root + i for i in range(3)]
                    sent = 12 * (n - 1) if rank == root else 0
                    self.assertIn(f"  rank {rank}: {own} -> {result}, sent {sent:>2} B by hand", text)

    def test_reduce_to_any_root(self):
        for op, root in (("sum", 0), ("mean", 1)):
            counts = [r for r in examples_case.RANKS if r > root]
            for n, text in self.outputs("reduce", "--op", op, "--root", root, ranks=counts):
                total = [n * (n - 1) // 2, 10 * n * (n - 1) // 2, n]
                line = re.search(rf"rank {root} contributes .* and ends with \[(.*)\]\n", text)
                values = [float(value) for value in line[1].split(",")]
                self.assertEqual(values, [value / n if op == "mean" else value for value in total])

    def test_all_reduce_through_a_root(self):
        for op in ("sum", "mean"):
            for n, text in self.outputs("all_reduce", "--op", op):
                total = [n * (n + 1) // 2, n * (n - 1), 8 * n]
                for rank in range(n):
                    line = re.search(rf"rank {rank}: .* -> \[(.*)\], sent (\d+) B", text)
                    values = [float(value) for value in line[1].split(",")]
                    self.assertEqual(values, [value / n if op == "mean" else value for value in total])
                    self.assertEqual(int(line[2]), 12 * (n - 1) if rank == 0 else 12)
                self.assertIn("all give the same result", text)

    def test_ring_all_reduce_counts_bytes(self):
        for n, text in self.outputs("ring_all_reduce", "--bytes", "64 KiB", "--iterations", 2):
            if n == 1:
                self.assertIn("nothing is sent", text)
                continue
            # (sent by the busiest rank, sent by all), in sizes of the tensor.
            expected = {
                "schedule naive": (n - 1, 2 * (n - 1)),
                "circulating ring, above": (n - 1, n * (n - 1)),
                "schedule circulating_ring": (n - 1, n * (n - 1)),
                "schedule tutorial_ring": (2 * (n - 1), 2 * n * (n - 1)),
                "chunked ring, above": (2 * (n - 1) / n, 2 * (n - 1)),
                "schedule ring": (2 * (n - 1) / n, 2 * (n - 1)),
            }
            for name, (busiest, together) in expected.items():
                sent = re.search(rf"^{re.escape(name)} .* (\S+) S +(\S+) S$", text, re.MULTILINE)
                self.assertIsNotNone(sent, text)
                self.assertAlmostEqual(float(sent[1]), busiest, delta=0.006)
                self.assertAlmostEqual(float(sent[2]), together, delta=0.006)
            self.assertRegex(text, r"Here the chunked ring is \d+\.\d times as fast as root-based")


if __name__ == "__main__":
    unittest.main()
