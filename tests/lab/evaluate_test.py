"""The published accuracy: what `ringside-lab` says of the shipped systems, and what it froze and scored."""

import csv
import unittest

import yaml
from check_test import log
from ringside_case import SOURCE, RingsideCase


def published():
    """Two H100 of configs/evaluation/aic.yaml as a scenario of their own, and their table h100.csv."""
    name = "aic-h100_sxm-2x"
    shared = yaml.safe_load((SOURCE / "configs/evaluation/aic.yaml").read_text())
    own = next(system for system in shared.pop("systems") if system["name"] == name)
    shared["measured"] = "h100.csv"
    merged = {**own, **{key: {**value, **own.get(key, {})} if isinstance(value, dict) else own.get(key, value) for key, value in shared.items()}}
    with open(SOURCE / "configs/evaluation/aic.csv", newline="") as table:
        rows = [f"{row['bytes']},{row['time_us']}\n" for row in csv.DictReader(table) if row["system"] == name]
    return yaml.safe_dump(merged, sort_keys=False, width=1000), "bytes,time_us\n" + "".join(rows)


class Evaluate(RingsideCase):
    @classmethod
    def setUpClass(cls):
        cls.records_of_all = None

    def summaries(self):
        """Medians over systems, by (class, model, fold, sizes)."""
        if Evaluate.records_of_all is None:
            result = self.run_lab("evaluate", SOURCE / "configs/evaluation", "--format", "json")
            self.assertEqual(result.returncode, 0, result.stderr)
            Evaluate.records_of_all = self.records(result.stdout)
        return {
            (r["class"], r["model"], r["fold"], r["band"]): r
            for r in Evaluate.records_of_all
            if r["record"] == "accuracy" and r.get("statistic") == "median"
        }

    def write_h100(self):
        for name, text in zip(("h100.yaml", "h100.csv"), published()):
            self.write(name, text)

    def test_held_out_errors_stay_below_thresholds(self):
        """Set with the results at hand: staying below them says that the program did not get worse, and no more."""
        medians = self.summaries()
        for machine_class, band, model, most in (
                ("node_nvlink", "all", "ringside", 0.125), ("node_nvlink", "large", "ringside", 0.06),
                ("multi_node_rdma", "all", "ringside", 0.125), ("multi_node_rdma", "large", "ringside", 0.09),
                ("multi_node_other", "all", "ringside", 0.30), ("node_pcie", "all", "ringside", 0.29),
                ("node_pcie", "all", "ringside+known", 0.16), ("other_collectives_nvlink", "all", "ringside", 0.18)):
            self.assertLessEqual(medians[(machine_class, model, "held_out", band)]["mape"], most, (machine_class, band, model))

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
        self.summaries()
        evaluated = {r["system"] for r in Evaluate.records_of_all if r["record"] == "accuracy" and "system" in r}
        told = "\n".join(r["what"] for r in Evaluate.records_of_all if r["record"] == "not_evaluated")
        for file in (SOURCE / "configs/evaluation").glob("*.yaml"):
            for system in yaml.safe_load(file.read_text())["systems"]:
                if system["name"] not in evaluated:
                    self.assertRegex(told, f"(?m)^{system['name']}: .+")
        with open(SOURCE / "configs/evaluation/not_evaluated.csv", newline="") as table:
            for row in csv.DictReader(table):
                self.assertIn(f"{row['table']} ({row['source']}): {row['why']}", told)

    def test_a_list_of_what_is_not_evaluated_needs_its_columns(self):
        self.write_h100()
        self.write("not_evaluated.csv", "table,why\nx,y\n")
        self.assert_rejected(self.run_lab("evaluate", self.folder), 2, "not_evaluated.csv", "column `source`")
        self.write("not_evaluated.csv", "table,source,why\nx,y,z\n")
        self.assertIn("not evaluated: x (y): z", self.run_lab("evaluate", self.folder).stdout)

    def test_a_bad_file_is_named_and_the_others_are_evaluated(self):
        self.write_h100()
        self.write("a-bad.yaml", "ranks: 0\nmessage_sizes: [1 MiB]\nmachine: p4d.24xlarge\n")
        self.write("z-empty.yaml", "")
        self.write("z-log.yaml", published()[0].replace("h100.csv", "log.txt"))
        self.write("log.txt", "no log of anything")
        result = self.run_lab("evaluate", self.folder, "--output", self.folder / "out")
        self.assert_rejected(result, 2, "3 of 4 scenarios cannot be read", "a-bad.yaml:1:8: ranks", "z-empty.yaml: is empty", "log.txt")
        self.assertIn("medians over systems", result.stdout)

    def test_a_row_faster_than_the_links_is_refused_by_name(self):
        self.write_h100()
        with open(self.folder / "h100.csv", "a") as table:
            table.write("8589934592,73.75\n")
        result = self.run_lab("evaluate", self.folder, "--output", self.folder / "out")
        self.assert_rejected(result, 2, "h100.csv: the row of 8589934592 bytes says 73.75 us", "450 GB/s need")

    def test_the_committed_parameters_are_what_the_fit_finds(self):
        result = self.run_lab("fit", SOURCE / "configs/evaluation", "--output", self.folder / "nccl", deadline=1200)
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
        self.assert_rejected(self.run_lab("evaluate", self.folder), 2, "no scenario")
        self.assert_rejected(self.run_lab("evaluate", self.folder / "nowhere"), 2, "no such directory")

    def test_a_submission_is_evaluated(self):
        self.assertEqual(self.run_ringside("submit", self.write("x.log", log(12, ranks=2)), "--output", "given").returncode, 0)
        evaluated = self.run_lab("evaluate", "given")
        self.assertEqual(evaluated.returncode, 0, evaluated.stderr)

    def test_a_moved_command_says_where_it_is(self):
        for arguments, now in ((("evaluate", "x"), "evaluate"), (("check", "--false-alarms", "x"), "false-alarms"), (("plan", "--validate", "x"), "validate")):
            self.assert_rejected(self.run_ringside(*arguments), 2, f"ringside-lab {now}")


class Ledger(RingsideCase):
    def setUp(self):
        super().setUp()
        # As before anybody has measured: `measured:` names no file yet.
        self.text = published()[0]
        self.scenario = self.write("box.yaml", self.text.replace("measured: h100.csv\n", ""))
        self.ledger = self.folder / "ledger.csv"
        result = self.run_lab("freeze", self.folder, self.ledger)
        self.assertEqual(result.returncode, 0, result.stderr)

    def measure(self):
        """A published table comes to the scenario; its row of 1 KiB is a hundred times what was predicted."""
        self.scenario.write_text(self.text.replace("h100.csv", "times.csv"))
        rows = self.frozen()
        self.write("times.csv", "bytes,time_us\n" + "".join(
            f"{row['bytes']},{1e6 * float(row['predicted_seconds']) * (100 if row['bytes'] == '1024' else 1)}\n" for row in rows))
        return rows

    def frozen(self):
        with open(self.ledger, newline="") as table:
            return list(csv.DictReader(table))

    def score(self):
        return self.run_lab("score", self.folder, self.ledger)

    def test_what_is_known_is_not_predicted(self):
        sizes = len(self.frozen())
        known = "  known: [{native: {ranks: 2, bytes: 1 KiB, seconds: 20 us}}]\n"
        self.assertIn("\nmachine:\n", self.text)
        self.scenario.write_text(self.scenario.read_text().replace("\nmachine:\n", "\nmachine:\n" + known))
        self.ledger.unlink()
        result = self.run_lab("freeze", self.folder, self.ledger)
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
        self.assertEqual(self.run_lab("freeze", self.folder, self.ledger).returncode, 0)
        self.measure()
        self.assertEqual(self.frozen()[0]["scenario"], 'the "box".yaml')
        self.assertEqual(self.score().returncode, 0)

    def test_nothing_is_scored_before_it_was_measured(self):
        self.assert_rejected(self.score(), 2, "box.yaml: has no `measured:` yet")

    def test_a_ledger_is_never_replaced(self):
        before = self.ledger.read_text()
        result = self.run_lab("freeze", self.folder, self.ledger)
        self.assert_rejected(result, 2, "ledger.csv: exists")
        self.assertEqual(self.ledger.read_text(), before)

    def test_a_file_that_is_no_ledger_is_refused(self):
        self.ledger.write_text("bytes,time_us\n1,1\n")
        self.assert_rejected(self.score(), 2, "is no ledger")


if __name__ == "__main__":
    unittest.main()
