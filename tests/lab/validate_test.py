"""What plans say beside what others published."""

import unittest

from ringside_case import SOURCE, RingsideCase


class Validate(RingsideCase):
    def test_published_runs_of_language_models_are_planned_better_than_by_the_40_percent_rule(self):
        table = SOURCE / "configs/scaling/language_models.csv"
        result = self.run_lab("validate", table)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (SOURCE / "lab/docs/accuracy_language_models.md").read_text()
        self.assertEqual(page.split("```text\n")[1].split("```")[0].strip(), result.stdout.strip())
        dense = next(line for line in result.stdout.splitlines() if line.startswith("dense, bfloat16")).split("  ")
        factors = [float(cell.split(" / ")[0]) for cell in dense if cell.count(" / ") == 2]
        self.assertLess(factors[0], factors[1], "planned beside 6·N·tokens at 40 % of the peak")
        records = self.records(self.run_lab("validate", table, "--format", "json").stdout)
        self.assertEqual(len(records), len(table.read_text().splitlines()) - 1)

    def test_runs_of_one_source_are_planned_without_another_to_fit_to(self):
        head, row, *_ = (SOURCE / "configs/scaling/language_models.csv").read_text().splitlines()
        result = self.run_lab("validate", self.write("x.csv", f"{head}\n{row}\n"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^dense, bfloat16 +1 +1 ")

    def test_a_table_of_scaling_without_rows_or_with_parts_of_a_gpu_is_refused(self):
        head, first, *_ = (SOURCE / "configs/scaling/published.csv").read_text().splitlines()
        self.assert_rejected(self.run_lab("validate", self.write("x.csv", head + "\n")), 2, "x.csv: has no rows")
        part = self.write("x.csv", head + "\n" + first.replace(",8,", ",0.1,", 1) + "\n")
        self.assert_rejected(self.run_lab("validate", part), 2, "x.csv:2: gpus: '0.1' is not a whole number")

    def test_every_published_row_is_predicted(self):
        result = self.run_lab("validate", SOURCE / "configs/scaling/published.csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^all +80 ")
        page = (SOURCE / "lab/docs/accuracy_plans.md").read_text()
        self.assertEqual(page.split("```text\n")[1].split("```")[0].strip(), result.stdout.strip())
        checked = self.records(self.run_lab("validate", SOURCE / "configs/scaling/published.csv", "--format", "json").stdout)
        self.assertEqual([record["record"] for record in checked], 80 * ["scaling"])

    def test_every_published_speed_is_predicted(self):
        table = SOURCE / "configs/scaling/speeds.csv"
        result = self.run_lab("validate", table)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (SOURCE / "lab/docs/accuracy_speeds.md").read_text()
        self.assertEqual(page.split("```text\n")[1].split("```")[0].strip(), result.stdout.strip())
        records = self.records(self.run_lab("validate", table, "--format", "json").stdout)
        self.assertEqual(len(records), len(table.read_text().splitlines()) - 1)


if __name__ == "__main__":
    unittest.main()
