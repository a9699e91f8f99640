"""What the tests of pages share: a report of each command, and a browser."""

import json
import pathlib

from browser import browser_for
from check_test import log
from ringside_case import CUSTOM, RingsideCase

SWEEP = CUSTOM.replace("[80 MB]", "[1 KB, 10 KB, 100 KB, 1 MB, 10 MB, 80 MB]").replace("ranks: 8", "ranks: [4, 8]")
LOG = log(230, gpu="NVIDIA A100-SXM4-80GB")

AXE = pathlib.Path(__file__).parent / "axe/node_modules/axe-core/axe.min.js"
RUN = """axe.run(document, { runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] },
  resultTypes: ['violations'] }).then((found) => [found.violations.map((v) => [v.id, v.nodes.map((n) => n.html.substring(0, 200))]),
  found.passes.length])"""


class PageCase(RingsideCase):
    def report_of(self, *arguments):
        """The path of the report that a command writes."""
        folder = self.folder / f"out-{arguments[0]}"
        result = self.run_ringside(*arguments, "--no-charts", "--report", "--output", folder)
        if result.returncode == 3 and "libjs-chart.js" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(f"report: {folder}/report.html", result.stdout)
        return folder / "report.html"

    def predicted(self):
        return self.report_of("predict", self.write("scenario.yaml", SWEEP))

    def planned(self):
        return self.report_of("plan", "--model", "resnet34", "--gpus", "4x3090 @ 1 USD, 8x4090 @ 2 USD, p4d.24xlarge @ 30 USD")

    def checked(self):
        return self.report_of("check", self.write("a100.log", LOG))

    def browser(self):
        return browser_for(self)

    def assert_clean(self, browser, where):
        browser.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        browser.run(AXE.read_text(encoding="utf-8") + "; 0")
        violations, passes = browser.run(RUN)
        self.assertEqual(violations, [], f"{where}: {json.dumps(violations)}")
        self.assertGreater(passes, 10, where)
