"""The published accuracy: what `evaluate` says of the shipped systems, and what `predict` says of NCCL."""

import csv
import json
import unittest

import yaml

from ringside_case import SOURCE, RingsideCase

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


class Evaluate(RingsideCase):
    @classmethod
    def setUpClass(cls):
        cls.records_of_all = None

    def summaries(self):
        """Medians over systems, by (class, model, fold, sizes)."""
        if Evaluate.records_of_all is None:
            result = self.run_ringside("evaluate", SOURCE / "configs/evaluation", "--format", "json")
            self.assertEqual(result.returncode, 0, result.stderr)
            Evaluate.records_of_all = self.records(result.stdout)
        return {
            (r["class"], r["model"], r["fold"], r["band"]): r
            for r in Evaluate.records_of_all
            if r["record"] == "accuracy" and r.get("statistic") == "median"
        }

    def test_held_out_errors_stay_below_the_thresholds_of_the_page(self):
        report = (SOURCE / "docs/accuracy.md").read_text()
        rows = report.split("<!-- thresholds and goals -->")[1].split("<!-- end of")[0].splitlines()
        bars = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.startswith("| ")][2:]
        self.assertEqual(len(bars), 8)
        for what, threshold, _, reached, _ in bars:
            self.assertLessEqual(float(reached), float(threshold), what)

    def test_both_other_models_are_further_off_in_every_class(self):
        medians = self.summaries()
        for machine_class in ("node_nvlink", "node_pcie", "multi_node"):
            ours = medians[(machine_class, "ringside", "held_out", "all")]
            for model in ("nccl_tuner", "alpha_beta"):
                other = medians[(machine_class, model, "held_out", "all")]
                self.assertLess(ours["factor"], other["factor"], (machine_class, model))

    def test_intervals_hold_what_they_say(self):
        medians = self.summaries()
        for machine_class in ("node_nvlink", "node_pcie", "multi_node"):
            coverage = medians[(machine_class, "ringside", "held_out", "all")]["coverage"]
            self.assertGreaterEqual(coverage, 0.84, machine_class)
            self.assertLessEqual(coverage, 0.96, machine_class)
        self.assertLessEqual(medians[("node_nvlink", "ringside", "held_out", "large")]["width"], 2.6)

    def test_every_table_is_evaluated_or_listed_with_the_reason(self):
        result = self.run_ringside("evaluate", SOURCE / "configs/evaluation")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.summaries()
        evaluated = {r["system"] for r in Evaluate.records_of_all if r["record"] == "accuracy" and "system" in r}
        for file in (SOURCE / "configs/evaluation").glob("*.yaml"):
            if file.stem not in evaluated:
                self.assertRegex(result.stdout, f"not evaluated: {file.stem}: .+")
        with open(SOURCE / "configs/evaluation/not_evaluated.csv", newline="") as table:
            for row in csv.DictReader(table):
                self.assertIn(f"not evaluated: {row['table']} ({row['source']}): {row['why']}", result.stdout)

    def test_a_list_of_what_is_not_evaluated_needs_its_columns(self):
        for name in ("aic-h100_sxm-2x.yaml", "aic-h100_sxm-2x.csv"):
            self.write(name, (SOURCE / "configs/evaluation" / name).read_text())
        self.write("not_evaluated.csv", "table,why\nx,y\n")
        self.assert_rejected(self.run_ringside("evaluate", self.folder), 2, "not_evaluated.csv", "column `source`")

    def test_a_bad_file_is_named_and_the_others_are_evaluated(self):
        for name in ("aic-h100_sxm-2x.yaml", "aic-h100_sxm-2x.csv"):
            self.write(name, (SOURCE / "configs/evaluation" / name).read_text())
        self.write("a-bad.yaml", "ranks: 0\nmessage_sizes: [1 MiB]\nmachine: p4d.24xlarge\n")
        self.write("z-empty.yaml", "")
        self.write("z-log.yaml", (SOURCE / "configs/evaluation/aic-h100_sxm-2x.yaml").read_text().replace("aic-h100_sxm-2x.csv", "log.txt"))
        self.write("log.txt", "no log of anything")
        result = self.run_ringside("evaluate", self.folder, "--output", self.folder / "out")
        self.assert_rejected(result, 2, "3 of 4 scenarios cannot be read", "a-bad.yaml:1:8: ranks", "z-empty.yaml: is empty", "log.txt")
        self.assertIn("medians over systems", result.stdout)
        # What is written for good is of all systems or of none.
        page = self.write("page.md", "as it was")
        self.assert_rejected(self.run_ringside("evaluate", self.folder, "--page", page), 2, "3 of 4 scenarios")
        self.assertEqual(page.read_text(), "as it was")

    def test_a_row_faster_than_the_links_is_refused_by_name(self):
        for name in ("aic-h100_sxm-2x.yaml", "aic-h100_sxm-2x.csv"):
            self.write(name, (SOURCE / "configs/evaluation" / name).read_text())
        with open(self.folder / "aic-h100_sxm-2x.csv", "a") as table:
            table.write("8589934592,73.75\n")
        result = self.run_ringside("evaluate", self.folder, "--output", self.folder / "out")
        self.assert_rejected(result, 2, "aic-h100_sxm-2x.csv: the row of 8589934592 bytes says 73.75 us", "450 GB/s need")

    def test_the_tables_of_the_page_are_what_the_command_writes(self):
        page = self.write("accuracy.md", (SOURCE / "docs/accuracy.md").read_text())
        result = self.run_ringside("evaluate", SOURCE / "configs/evaluation", "--page", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(page.read_text(), (SOURCE / "docs/accuracy.md").read_text())

    def test_a_page_without_places_for_the_tables_is_an_error_and_stays(self):
        for name in ("aic-h100_sxm-2x.yaml", "aic-h100_sxm-2x.csv"):
            self.write(name, (SOURCE / "configs/evaluation" / name).read_text())
        page = self.write("page.md", "# A page\n")
        self.assert_rejected(self.run_ringside("evaluate", self.folder, "--page", page), 2, "page.md", "<!-- thresholds and goals -->")
        self.assertEqual(page.read_text(), "# A page\n")

    def test_the_committed_parameters_are_what_the_fit_finds(self):
        result = self.run_ringside("evaluate", SOURCE / "configs/evaluation", "--fit", "--output", self.folder / "nccl", deadline=1200)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ("parameters.yaml", "held_out.yaml"):
            found = yaml.safe_load((self.folder / "nccl" / name).read_text())
            committed = yaml.safe_load((SOURCE / "configs/nccl" / name).read_text())
            self.assert_alike(found, committed, name)

    def assert_alike(self, found, committed, place):
        """Equal but for what another processor's rounding does to a minimum."""
        if isinstance(committed, dict):
            self.assertEqual(found.keys(), committed.keys(), place)
            for key in committed:
                self.assert_alike(found[key], committed[key], f"{place}: {key}")
        elif isinstance(committed, list):
            self.assertEqual(len(found), len(committed), place)
            for index, value in enumerate(committed):
                self.assert_alike(found[index], value, f"{place}[{index}]")
        elif isinstance(committed, float):
            self.assertAlmostEqual(found, committed, delta=0.02 * abs(committed), msg=place)
        else:
            self.assertEqual(found, committed, place)

    def test_a_folder_without_measurements_is_an_error(self):
        self.assert_rejected(self.run_ringside("evaluate", self.folder), 2, "no scenario")
        self.assert_rejected(self.run_ringside("evaluate", self.folder / "nowhere"), 2, "no such directory")


class Ledger(RingsideCase):
    def setUp(self):
        super().setUp()
        # As before anybody has measured: `measured:` names no file yet.
        self.text = (SOURCE / "configs/evaluation/aic-h100_sxm-2x.yaml").read_text()
        self.scenario = self.write("box.yaml", self.text.replace("measured: aic-h100_sxm-2x.csv\n", ""))
        self.ledger = self.folder / "ledger.csv"
        result = self.run_ringside("evaluate", self.folder, "--freeze", self.ledger)
        self.assertEqual(result.returncode, 0, result.stderr)

    def measure(self):
        """A published table comes to the scenario; its row of 1 KiB is a hundred times what was predicted."""
        self.scenario.write_text(self.text.replace("aic-h100_sxm-2x.csv", "times.csv"))
        rows = self.frozen()
        self.write("times.csv", "bytes,time_us\n" + "".join(
            f"{row['bytes']},{1e6 * float(row['predicted_seconds']) * (100 if row['bytes'] == '1024' else 1)}\n" for row in rows))
        return rows

    def frozen(self):
        with open(self.ledger, newline="") as table:
            return list(csv.DictReader(table))

    def score(self):
        return self.run_ringside("evaluate", self.folder, "--score", self.ledger)

    def test_what_is_known_is_not_predicted(self):
        sizes = len(self.frozen())
        known = "  known: [{native: {ranks: 2, bytes: 1 KiB, seconds: 20 us}}]\n"
        self.assertIn("\nmachine:\n", self.text)
        self.scenario.write_text(self.scenario.read_text().replace("\nmachine:\n", "\nmachine:\n" + known))
        self.ledger.unlink()
        result = self.run_ringside("evaluate", self.folder, "--freeze", self.ledger)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.frozen()), sizes - 1)
        self.assertNotIn("1024", [row["bytes"] for row in self.frozen()])

    def test_what_was_frozen_is_scored_once_against_the_times(self):
        rows = self.measure()
        self.assertTrue(all(float(r["low_seconds"]) < float(r["predicted_seconds"]) < float(r["high_seconds"]) for r in rows))
        result = self.score()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"all points +{len(rows)} ")
        with open(self.folder / "ledger.csv.scored.csv", newline="") as table:
            for row, before in zip(csv.DictReader(table), rows):
                measured = float(row.pop("measured_seconds"))
                self.assertEqual(row, before)
                slower = 100 if row["bytes"] == "1024" else 1
                self.assertAlmostEqual(measured / float(row["predicted_seconds"]), slower, delta=1e-3 * slower)
        self.assert_rejected(self.score(), 2, "ledger.csv: was scored before", "scored once")

    def test_a_scenario_that_is_no_longer_what_was_predicted_is_refused(self):
        self.measure()
        self.scenario.write_text(self.scenario.read_text().replace("links_per_gpu: 18", "links_per_gpu: 12"))
        self.assert_rejected(self.score(), 2, "box.yaml: has changed since it was predicted", self.frozen()[0]["hash"])

    def test_words_about_the_measurement_change_nothing(self):
        self.measure()
        self.scenario.write_text(self.scenario.read_text() + '  excluded: "a fan had failed"\n')
        self.assertEqual(self.score().returncode, 0)

    def test_a_row_that_nobody_measured_is_counted(self):
        self.measure()
        table = self.folder / "times.csv"
        table.write_text("\n".join(table.read_text().splitlines()[:-1]) + "\n")
        self.assertIn("1 frozen points were not measured", self.score().stdout)

    def test_a_name_with_quotes_is_read_back(self):
        self.scenario = self.scenario.rename(self.folder / 'the "box".yaml')
        self.ledger = self.folder / "again.csv"
        self.assertEqual(self.run_ringside("evaluate", self.folder, "--freeze", self.ledger).returncode, 0)
        self.measure()
        self.assertEqual(self.frozen()[0]["scenario"], 'the "box".yaml')
        self.assertEqual(self.score().returncode, 0)

    def test_nothing_is_scored_before_it_was_measured(self):
        self.assert_rejected(self.score(), 2, "box.yaml: has no `measured:` yet")

    def test_a_ledger_is_never_replaced(self):
        before = self.ledger.read_text()
        result = self.run_ringside("evaluate", self.folder, "--freeze", self.ledger)
        self.assert_rejected(result, 2, "ledger.csv: exists")
        self.assertEqual(self.ledger.read_text(), before)

    def test_a_file_that_is_no_ledger_is_refused(self):
        self.ledger.write_text("bytes,time_us\n1,1\n")
        self.assert_rejected(self.score(), 2, "is no ledger")


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
            2, "bears on none", "NCCL's steps are not copies")
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
