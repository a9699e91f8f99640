"""The numbers and records of `predict`, as a user types it."""

import unittest

from ringside_case import CUSTOM, RingsideCase


class Predict(RingsideCase):
    def points(self, text, *flags):
        result = self.run_ringside("predict", self.write("scenario.yaml", text), "--format", "json", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {p["algorithm"]: p for p in self.records(result.stdout) if p["record"] == "point"}

    def test_eight_ranks_at_ten_gigabytes_per_second(self):
        # 14 messages of 10 us each; naive 14 x 80 MB at 10 GB/s, ring 14 x 10 MB.
        points = self.points(CUSTOM)
        for algorithm, seconds in {"naive": 0.11214, "tutorial_ring": 0.11214, "ring": 0.01414}.items():
            predicted = points[algorithm]["predicted"]
            self.assertAlmostEqual(predicted["seconds"], seconds, delta=1e-6 * seconds)
            self.assertEqual(predicted["fidelity"], "closed_form")
            self.assertEqual(predicted["source"], "given")

    def test_every_fidelity_agrees_on_private_links(self):
        expected = self.points(CUSTOM)
        for fidelity in ("closed_form", "replay", "flow"):
            for algorithm, point in self.points(CUSTOM, "--fidelity", fidelity).items():
                want = expected[algorithm]["predicted"]["seconds"]
                self.assertAlmostEqual(point["predicted"]["seconds"], want, delta=1e-9 * want)
                self.assertEqual(point["predicted"]["fidelity"], fidelity)

    def test_reduction_cost_is_added(self):
        text = CUSTOM.replace("10 GB/s}", "10 GB/s, reduction: 0.1 ns/B}")
        # naive reduces 7 x 80 MB at 0.1 ns/B = 56 ms, ring 7 x 10 MB = 7 ms.
        points = self.points(text)
        self.assertAlmostEqual(points["naive"]["predicted"]["seconds"], 0.16814, delta=1e-7)
        self.assertAlmostEqual(points["ring"]["predicted"]["seconds"], 0.02114, delta=1e-7)

    def test_the_header_names_the_schema_and_the_scenario(self):
        result = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM), "--format", "json")
        header = self.records(result.stdout)[0]
        self.assertEqual(header["record"], "run")
        self.assertEqual(header["schema"], "ringside/1")


if __name__ == "__main__":
    unittest.main()
