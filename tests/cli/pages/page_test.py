"""Reports of plans and checks, a report read back as a command, and the zoom of charts."""

import html
import json
import re
import unittest

from pages.page_case import LOG, PageCase
from ringside_case import SOURCE

CHART = "Chart.getChart(document.querySelectorAll('canvas')[{}])"


class Page(PageCase):
    def embedded(self, page):
        return self.records(re.search(r'id="records" data-sha256="\w+">\n(.*?)</script>', page, re.DOTALL).group(1))

    def test_a_plan_has_its_verdict_first_and_its_curves(self):
        file = self.planned()
        page = file.read_text()
        verdict = html.unescape(re.search(r'class="verdict">(.*?)</p>', page).group(1))
        screen = self.run_ringside("plan", file.parent / "plan.yaml", "--no-charts", "--output", "again").stdout
        self.assertIn(verdict, screen)
        for word in ("The offers", "p4d.24xlarge", "GPUs up to which one more adds", "Licences of what this page holds"):
            self.assertIn(word, page)
        self.assertEqual(self.embedded(page), self.records((file.parent / "plan.jsonl").read_text()))
        browser = self.browser()
        browser.open(file)
        self.assertEqual(browser.run("document.documentElement.dataset.ready"), "2")
        self.assertEqual(browser.run(CHART.format(0) + ".scales.y.options.title.text"), "Share of a step lost")
        self.assertEqual(browser.messages, [])

    def test_a_check_is_drawn_and_reads_back(self):
        file = self.checked()
        page = file.read_text()
        self.assertRegex(page, r'class="verdict">above 16 MiB: healthy')
        self.assertIn("The check", page)
        records = self.embedded(page)
        self.assertEqual([r["record"] for r in records if r["record"] != "point"], ["run", "check"])
        self.assertGreater(len(records), 5)
        again = self.run_ringside("compare", file, "--no-charts")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertIn("native", again.stdout)

    def test_a_check_of_many_logs_and_a_plan_that_is_swept(self):
        logs = [self.write(f"{i}.log", LOG) for i in (1, 2)]
        result = self.run_ringside("check", *logs, "--no-charts", "--report", "--output", "many")
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.folder / "many/report.html").read_text()
        self.assertIn('class="verdict">0 of 2 logs slow', page)
        swept = self.run_ringside("plan", "--model", "resnet34", "--gpus", "4x3090", "--sweep", "gpus=2,4", "--report", "--output", "s")
        self.assertEqual(swept.returncode, 0, swept.stderr)
        self.assertIn("No report", swept.stderr)

    def test_compare_reads_a_report_back_as_it_was(self):
        file = self.predicted()
        first = self.run_ringside("predict", self.folder / "scenario.yaml", "--no-charts", "--output", "p").stdout
        result = self.run_ringside("compare", file, "--no-charts", "--report", "--output", "again")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split("results:")[0], first.split("results:")[0])
        self.assertEqual((self.folder / "again/report.html").read_text(), file.read_text())
        self.assertFalse((self.folder / "again/results.jsonl").exists())
        cut = self.write("cut.jsonl", (self.folder / "p/predictions.jsonl").read_text()[:-5])
        result = self.run_ringside("compare", cut, "--no-charts")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("cut.jsonl", result.stderr)
        for flags in (("--repetitions", "2"), ("--live",)):
            self.assert_rejected(self.run_ringside("compare", file, *flags), 2, f"{flags[0]} has no effect here")
        self.assert_rejected(self.run_ringside("measure", file), 2)

    def test_how_far_such_predictions_were_off_is_said(self):
        published = [json.loads(line) for line in (SOURCE / "configs/nccl/held_out_errors.jsonl").read_text().splitlines()]
        for machine, ranks, collective, words in (
                ("8x-a100-nvswitch", 8, "all_reduce", "one node, NVLink or xGMI"),
                ("8x-a100-nvswitch", 8, "all_gather", "other collectives on one node, NVLink or xGMI"),
                ("2x8-a100-infiniband", 16, "all_reduce", "several nodes, InfiniBand or RoCE, two or more GPUs each"),
                ("8x-rtx4090-pcie4", 8, "all_reduce", "one node, PCIe")):
            scenario = f"name: n\nalgorithms: native\nranks: {ranks}\nmessage_sizes: [1 MiB]\nmachine: {machine}\ncollective: {collective}\n"
            page = self.report_of("predict", self.write("node.yaml", scenario)).read_text()
            said = re.search(r"accuracy of such predictions</dt><dd>(.*?)</dd>", page).group(1)
            record = next(each for each in published if each["class"] == words)
            self.assertIn(f"on {record['systems']} published systems ({words})", said)
            self.assertIn(f"is {100 * record['mape']:.0f} %; {100 * record['coverage']:.0f} %", said)
        self.assertNotIn("accuracy of such predictions", self.predicted().read_text())

    def test_a_drag_zooms_and_a_double_click_shows_all(self):
        browser = self.browser()
        browser.open(self.predicted())
        ends = f"(() => {{ const {{ x, y }} = {CHART.format(0)}.scales; return [x.min, x.max, y.min, y.max]; }})()"
        whole = browser.run(ends)
        browser.drag("canvas", 0.5, 0.8)
        zoomed = browser.run(ends)
        self.assertGreater(zoomed[0], whole[0])
        self.assertLess(zoomed[1], whole[1])
        self.assertTrue(whole[2] <= zoomed[2] < zoomed[3] <= whole[3], (whole, zoomed))
        self.assertRegex(browser.run("document.getElementById('live').textContent"), "^Zoomed to 1")
        other = browser.run(ends.replace("[0]", "[1]"))
        self.assertEqual(other, whole[:2] + other[2:])  # Each chart for itself.
        browser.run("document.getElementById('linear').click()")
        self.assertEqual(browser.run(ends)[:2], zoomed[:2])
        browser.run("document.getElementById('linear').click()")
        browser.run("document.querySelector('canvas').dispatchEvent(new MouseEvent('dblclick'))")
        self.assertEqual(browser.run(ends), whole)
        browser.drag("canvas", 0.6, 0.602)  # A click is no choice.
        self.assertEqual(browser.run(ends), whole)
        self.assertEqual(browser.messages, [])

    def test_the_keyboard_zooms_around_its_point(self):
        browser = self.browser()
        browser.open(self.predicted())
        ends = f"(() => {{ const {{ x }} = {CHART.format(0)}.scales; return [x.min, x.max]; }})()"
        whole = browser.run(ends)
        browser.run("document.querySelector('canvas').focus()")
        for key in ("ArrowRight", "ArrowRight", "ArrowRight", "+"):
            browser.press(key)
        low, high = browser.run(ends)
        self.assertTrue(whole[0] < low < 100e3 < high < whole[1], (whole, low, high))
        browser.press("-")
        browser.press("Escape")
        self.assertEqual(browser.run(ends), whole)
        browser.press("+")
        button = "[...document.querySelectorAll('figure > button')].find((b) => b.textContent === 'Whole chart')"
        self.assertFalse(browser.run(button + ".hidden"))
        browser.run(button + ".click()")
        self.assertEqual(browser.run(ends), whole)

    def test_paper_cuts_no_table_and_breaks_no_number(self):
        A4 = 718  # Pixels between Chromium's margins.
        for file in (self.predicted(), self.planned(), self.checked()):
            browser = self.browser()
            browser.open(file)
            browser.look(A4, "dark")
            browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
            browser.run("dispatchEvent(new Event('beforeprint'))")
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), A4, file)
            broken = browser.run("""[...document.querySelectorAll('td.right')].filter((cell) => {
              const range = document.createRange(); range.selectNodeContents(cell);
              return range.getClientRects().length > 1; }).map((cell) => cell.textContent)""")
            self.assertEqual(broken, [], file)
            self.assertEqual(browser.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
            self.assertTrue(browser.printed().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main()
