"""scripts/accuracy-page: the tables of lab/docs/accuracy.md and of docs/accuracy.md."""

import importlib.machinery
import importlib.util
import json
import subprocess
import sys
import unittest

from ringside_case import LAB, SOURCE, RingsideCase

SCRIPT = SOURCE / "scripts/accuracy-page"
loader = importlib.machinery.SourceFileLoader("accuracy_page", str(SCRIPT))
accuracy_page = importlib.util.module_from_spec(importlib.util.spec_from_loader("accuracy_page", loader))
loader.exec_module(accuracy_page)


def system(name, trait, **more):
    return {"record": "evaluated_system", "system": name, "group": trait, "class": "node_nvlink", "kind": "nvlink", "collective": "all_reduce",
            "traits": [trait, "common"], **more}


def accuracy(name, error, band="all", model="ringside", **more):
    return {"record": "accuracy", "system": name, "band": band, "model": model, "fold": "held_out", "points": 1, "mape": error, "bias": -error, **more}


def records_of(*records):
    return accuracy_page.Records([json.dumps(record) for record in records])


class Page(RingsideCase):
    def run_script(self, page, summary, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--lab", LAB, "--page", page, "--summary", summary, "--errors",
                               self.folder / "errors.jsonl", *arguments],
                              capture_output=True, text=True, check=False)

    def test_the_committed_tables_are_what_the_script_writes(self):
        texts = {name: (SOURCE / name).read_text() for name in ("lab/docs/accuracy.md", "docs/accuracy.md")}
        pages = [self.write(name.replace("/", "_"), text.replace("| 12.2 |", "| 99 |").replace("| 1.23 |", "| 9 |"))
                 for name, text in texts.items()]
        result = self.run_script(*pages)
        self.assertEqual(result.returncode, 0, result.stderr)
        for page, text in zip(pages, texts.values()):
            self.assertEqual(page.read_text(), text)
        self.assertEqual((self.folder / "errors.jsonl").read_text(), (SOURCE / "configs/nccl/held_out_errors.jsonl").read_text())

    def test_a_page_without_places_for_the_tables_is_an_error_and_stays(self):
        goals = "<!-- goals -->\n| one node, PCIe | 28 |\n<!-- end of goals -->\n"
        records = self.write("records.jsonl", "\n".join(json.dumps(each) for each in (
            {"record": "evaluation", "better": 0, "compared": 0, "better_pcie": 0, "compared_pcie": 0, "fitted_to_these": True},
            {"record": "nccl_fit", "systems": 0, "points": 0, "data": ""})))
        for text, words in (("# A page\n", "<!-- goals -->"), (goals, "<!-- goals and what is reached -->")):
            page = self.write("page.md", text)
            result = self.run_script(page, SOURCE / "docs/accuracy.md", "--records", records)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)
            self.assertEqual(page.read_text(), text)

    def test_the_page_for_users_says_how_far_off_each_class_is(self):
        records = records_of(*({"record": "accuracy", "statistic": "median", "class": "node_pcie", "band": band, "model": model, "fold": "held_out",
                                "systems": 3, "points": 9, "mape": error, "bias": 0, "coverage": 0.9, "width": 4.26}
                               for band, model, error in (("all", "ringside", 0.305), ("large", "ringside", 0.2), ("all", "nccl_tuner", 0.4))))
        self.assertIn("| one node, PCIe | 3 | 30.5 | 20.0 | 40.0 |  | 90 | 4.3 |\n", accuracy_page.errors_for_users(records))
        self.assertNotIn("PCIe", accuracy_page.known_for_users(records), "nothing known was measured")

    def test_misses_name_what_is_commoner_among_them(self):
        lines = [system("broken", "a broken fan", excluded="it is broken"), accuracy("broken", 0.9)]
        for number in range(4):
            for name, trait, error in ((f"slow{number}", "slow bridges", 0.3), (f"fast{number}", "a switch", 0.05)):
                lines += [system(name, trait), accuracy(name, error, coverage=0.9 - error), accuracy(name, error, "large", coverage=0.9 - error)]
        records = records_of(*lines)
        self.assertEqual(accuracy_page.misses_row(records, "one node", "node_nvlink", 0.1),
                         "| one node | 10 | 4 of 8 | 1 | large 4 | slow bridges (4 of 4) |\n")
        inside = accuracy_page.misses_row(records, "inside", "node_nvlink", 0.8, band="large", of_coverage=True)
        self.assertEqual(inside, "| inside | 80 | 4 of 8 | 1 | large 4 | slow bridges (4 of 4) |\n")
        self.assertEqual(accuracy_page.misses_row(records, "inside", "node_nvlink", 0.8, model="ringside+known2"), "")

    def test_a_goal_of_large_messages_has_misses_of_its_own(self):
        lines = [system("box", "a fan"), accuracy("box", 0.05), accuracy("box", 0.2, "large")]
        for band, error in (("all", 0.05), ("large", 0.2)):
            lines.append({"record": "accuracy", "statistic": "median", "class": "node_nvlink", "band": band, "model": "ringside", "fold": "held_out",
                          "systems": 1, "points": 1, "mape": error, "bias": 0})
        goals = {"one node, NVLink or xGMI": {"error": 0.085, "large": 0.045}}
        misses = accuracy_page.misses(records_of(*lines), goals)
        self.assertNotIn("| 8.5 |", misses, "that goal is reached")
        self.assertIn("| one node, NVLink or xGMI, large messages | 4.5 | 1 of 1 |", misses)

    def test_every_fourth_counts_the_systems_on_which_ours_is_not_worse(self):
        lines = []
        for ours in (0.02, 0.045, 0.2):
            lines += [system(str(ours), "any"), accuracy(str(ours), ours, model="ringside+every4"), accuracy(str(ours), 0.04, model="line+every4")]
        self.assertIn("| all | 3 | 4.5 | 4.0 | 1 | 1 |\n", accuracy_page.every_fourth(records_of(*lines)))

    def test_the_line_of_all_runs_is_found_in_each_form(self):
        for printed in ("rows of  rows\nall    80  3.7 / 10.8  88\n\nrows of\nall    80    1.25    1.77    92\n",
                        "dense, bfloat16    80  7  1.25 / 1.77 / 93  1.31  92  2.40\n",
                        "every source held out in turn: 80 runs, median factor 1.25, 90th percentile 1.77, 92 % inside their interval\n"):
            self.assertEqual(accuracy_page.all_runs_of(printed), ["80", "1.25", "1.77", "92"])
        self.assertIsNone(accuracy_page.all_runs_of("all  80  3.7 / 10.8  88\n"))

    def test_times_have_three_digits(self):
        for seconds, text in ((0.0009999, "1 ms"), (3.02e-3, "3.02 ms"), (22e-3, "22 ms"), (1.2345, "1.23 s"), (5e-7, "500 ns")):
            self.assertEqual(accuracy_page.seconds_text(seconds), text)


if __name__ == "__main__":
    unittest.main()
