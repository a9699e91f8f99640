"""distributed_mean, gradient_sync, simple_model, differentiable_all_reduce: numbers that can be followed on paper."""

import re
import unittest

import examples_case


class Gradients(examples_case.ExamplesCase):
    def test_distributed_mean(self):
        for n, text in self.outputs("distributed_mean"):
            for rank in range(n):
                self.assertIn(f"  rank {rank} holds {rank + 1} and ends with {(n + 1) / 2:g}\n", text)
            total = 100 * (n - 1) + 50
            self.assertEqual(text.count(f"mean of all {(total - 1) / 2:.2f}"), n)
            means = [100 * rank + 49.5 for rank in range(n - 1)] + [100 * (n - 1) + 24.5]
            self.assertEqual(text.count(f"mean of means {sum(means) / n:.2f}"), n)

    def test_simple_model(self):
        for n, text in self.outputs("simple_model"):
            gradients = [2 * (2 - rank) for rank in range(n)]
            for rank in range(n):
                self.assertIn(
                    f"  rank {rank}: data {rank}, gradient {gradients[rank]}, summed gradient {sum(gradients)}, "
                    f"new parameter {2 - 0.1 * sum(gradients):g}\n",
                    text,
                )
            if n == 2:
                self.assertEqual(text.count("new parameter 1.4"), 2)
            self.assertIn("nothing to synchronise" if n == 1 else "hold the same parameter still", text)

    def test_gradient_sync(self):
        for n, text in self.outputs("gradient_sync"):
            lines = re.findall(r"rank \d: first gradients before (.*), after ([^,]*, .*)\n", text)
            self.assertEqual(len(lines), n)
            befores = {line[0] for line in lines}
            afters = {line[1] for line in lines}
            self.assertEqual((len(befores), len(afters)), (n, 1))
            self.assertIn("identical at all ranks, bit for bit", text)
            self.assertIn("largest difference below 1e-6", text)

    def test_gradient_sync_shows_and_draws_all_of_them(self):
        text = self.output("gradient_sync", "--ranks", 2, "--backend", "threads", "--verbose", "--plot", "--output", "plots")
        after = re.findall(r"after   (.*)\n", text)
        self.assertEqual(after[0], after[1])
        self.assertEqual(len(after[0].split()), 18)
        self.assertEqual(text.count("changed by up to"), 2)
        for rank in range(2):
            picture = self.folder / "plots" / f"gradients_rank_{rank}.png"
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_differentiable_all_reduce(self):
        for n, text in self.outputs("differentiable_all_reduce"):
            for line in (
                r"backpropagates y\^2 +\[40, 60\], in all 100",
                r"without communication in backward +\[20, 30\], in all 50",
                r"sum, every rank backpropagates \(rank\+2\) y +\[10, 15\], in all 25",
                r"prod \(y = 6\).* +\[30, 30\], in all 60",
                r"y_i - mean\(y\) +\[0, 0\], in all 0",
            ):
                self.assertRegex(text, line)
            self.assertRegex(text, rf"max, all ranks hold 3 +{' '.join([f'{1 / n:.4g}'] * n)}\n")
            for op in ("sum", "avg", "prod", "min", "max"):
                self.assertRegex(text, rf"  {op:4} y = ")


if __name__ == "__main__":
    unittest.main()
