"""What `predict` says of NCCL's own all_reduce, and what may be known of it."""

import json
import unittest

from ringside_case import RingsideCase

EIGHT_4090 = """name: eight
algorithms: native
ranks: 8
message_sizes: [88 MB]
backend: nccl
machine:
  gpus_per_node: 8
  gpu: {model: RTX 4090}
  intra: {kind: pcie, generation: 4, lanes: 16}
"""


class PredictNative(RingsideCase):
    def predict(self, *flags):
        result = self.run_ringside("predict", self.write("scenario.yaml", EIGHT_4090), *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def point(self, *flags):
        records = self.records(self.predict("--format", "json", *flags))
        return next(r["predicted"] for r in records if r["record"] == "point")

    def test_says_the_interval_its_source_and_what_to_measure(self):
        text = self.predict()
        for words in ("90 % interval", "spec", "host memory", "all_reduce_perf -b 1G -e 1G", "--known"):
            self.assertIn(words, text)

    def test_what_does_not_bear_on_native_is_refused(self):
        self.assert_rejected(
            self.run_ringside("predict", self.write("scenario.yaml", EIGHT_4090), "--known", "{p2p: {latency: 15 us}}"),
            2, "affects none", "a copy's latency says nothing about NCCL's steps")
        self.assert_rejected(
            self.run_ringside(
                "predict", self.write("scenario.yaml", EIGHT_4090), "--known", "{native: {ranks: 9, bytes: 1 GiB, seconds: 1 s}}"
            ), 2, "known: an all_reduce on 9 ranks", "the machine has 1 x 8")

    def test_a_gpu_described_as_the_error_says(self):
        unknown = self.write("unknown.yaml", EIGHT_4090.replace("4090", "4091"))
        error = self.run_ringside("predict", unknown).stderr
        words = error[error.index("`gpu: ") + 6 : error.index("`", error.index("`gpu: ") + 1)]
        self.write("unknown.yaml", EIGHT_4090.replace("{model: RTX 4090}", words))
        result = self.run_ringside("predict", unknown)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("90 % interval", result.stdout)

    def test_what_is_known_narrows_the_interval(self):
        before = self.point()
        after = self.point("--known", "{native: {ranks: 8, bytes: 1 GiB, seconds: 400 ms}}")
        self.assertEqual((before["source"], after["source"]), ("spec", "spec+known"))
        self.assertLess(after["high"] / after["low"], 0.5 * before["high"] / before["low"])

    def test_a_file_of_measurements_is_known_too(self):
        run = {"record": "run", "schema": "ringside/1", "version": "0", "command": "", "started": "", "host": {}}
        run["scenario"] = {"name": "", "file": "", "text": ""}
        point = {"record": "point", "collective": "all_reduce", "algorithm": "native", "ranks": 8, "bytes": 1 << 30,
                 "dtype": "float32", "op": "sum",
                 "measured": {"seconds": 0.4, "backend": "nccl", "outcome": "ok"}}
        log = self.write("log.jsonl", json.dumps(run) + "\n" + json.dumps(point) + "\n")
        told = self.point("--known", "{native: {ranks: 8, bytes: 1 GiB, seconds: 400 ms}}")
        self.assertEqual(self.point("--known", log), told)

    def test_a_log_of_nccl_tests_is_known_too(self):
        ranks = "".join(f"#  Rank {i:2} Group  0 Pid {100 + i} on box device {i:2} [0x0{i}] RTX 4090\n" for i in range(8))
        log = self.write(
            "nccl.log",
            "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824 step: 1048576(bytes)\n"
            "# Using devices\n" + ranks + "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)       \n"
            "  1073741824     268435456     float     sum      -1   400000    2.68    4.70      0\n",
        )
        told = self.point("--known", "{native: {ranks: 8, bytes: 1 GiB, seconds: 400 ms}}")
        from_log = self.point("--known", log)
        self.assertEqual(from_log["source"], "spec+known")
        self.assertAlmostEqual(from_log["seconds"], told["seconds"], delta=1e-9)

    def test_other_models_and_wrong_words(self):
        seconds = {model: self.point("--model", model)["seconds"] for model in ("ringside", "nccl_tuner", "alpha_beta")}
        self.assertEqual(len(set(seconds.values())), 3)
        law = self.predict("--model", "alpha_beta")
        self.assertIn("no interval", law)
        self.assertNotIn("fitted to", law)
        self.assertNotIn("What would narrow", law)
        scenario = self.write("scenario.yaml", EIGHT_4090)
        self.assert_rejected(self.run_ringside("predict", scenario, "--model", "nccl_tunr"), 2, "nccl_tuner")
        self.assert_rejected(self.run_ringside("predict", scenario, "--known", "fast"), 2, "neither a file")
        unknown = self.write("unknown.yaml", EIGHT_4090.replace("4090", "4091"))
        self.assert_rejected(self.run_ringside("predict", unknown), 2, "RTX 4091", "RTX 4090")


if __name__ == "__main__":
    unittest.main()
