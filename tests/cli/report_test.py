"""report.html: what is in it, what it reads back as, and what a browser makes of it."""

import base64
import hashlib
import html
import os
import pathlib
import re
import unittest

from browser import browser_for
from ringside_case import CUSTOM, RingsideCase

SIZES = CUSTOM.replace("[80 MB]", "[1 KB, 10 KB, 100 KB, 1 MB, 10 MB, 80 MB]").replace("ranks: 8", "ranks: [4, 8]")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \"quoted\" 'name'"
# What was measured, as results.jsonl: twice as long as predicted for ring, with many samples.
MEASURED = """  {{"record": "point", "collective": "all_reduce", "algorithm": "{algorithm}", "ranks": 8, "bytes": {bytes},
"dtype": "float32", "op": "sum", "predicted": {{"seconds": {predicted}, "low": {low}, "high": {high}, "fidelity": "flow",
"source": "spec"}}, "measured": {{"outcome": "ok", "seconds": {measured}, "low": {low}, "high": {high}, "min": {low},
"p95": {high}, "iterations": {count}, "samples": {samples}, "backend": "gloo", "note": "{note}"}}}}"""


def results(samples=3, note=""):
    lines = ['{"record": "run", "schema": "ringside/1", "version": "0.1.0", "command": "ringside compare x.yaml", "scenario": '
             '{"name": "made up"}, "host": {"cpu": "a <b>bold</b> CPU"}, "started": "2026-03-01T12:34:56Z", "seed": 1}']
    for size in (1024, 1048576, 67108864):
        for algorithm, factor in (("naive", 4), ("ring", 1)):
            seconds = (20e-6 + size / 1e10) * factor
            lines.append(MEASURED.format(algorithm=algorithm, bytes=size, predicted=seconds, measured=seconds * 1.1, low=seconds * 0.9,
                                         high=seconds * 1.3, count=samples, samples=[seconds] * samples, note=note).replace("\n", " "))
    return "\n".join(lines) + "\n"


class Report(RingsideCase):
    def report(self, name="results.jsonl", text=None, *flags):
        result = self.run_ringside("report", self.write(name, text or results()), *flags)
        if result.returncode == 3 and "libjs-chart.js" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("report: ", result.stdout)
        return (self.folder / "report.html").read_text(encoding="utf-8")

    def browser(self):
        return browser_for(self)

    def predicted(self, text=SIZES, *flags):
        result = self.run_ringside("predict", self.write("scenario.yaml", text), "--report", "--output", self.folder, *flags)
        if result.returncode == 3 and "libjs-chart.js" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        return result, (self.folder / "report.html").read_text(encoding="utf-8")

    @staticmethod
    def embedded(page):
        found = re.search(r'<script type="application/jsonl" id="records" data-sha256="(\w+)">\n(.*?)</script>', page, re.DOTALL)
        assert found.group(1) == hashlib.sha256(found.group(2).encode()).hexdigest()
        return found.group(2)

    def test_predict_says_where_the_report_is_and_it_says_what_the_screen_says(self):
        result, page = self.predicted()
        self.assertIn(f"report: {self.folder}/report.html", result.stdout)
        for sentence in result.stdout.split("\n\n")[0].splitlines():
            self.assertIn(html.escape(sentence, quote=True), page)
        for word in ("Who wins", "All times", "Chart.js", "MIT License", "source given, fidelity closed_form"):
            self.assertIn(word, page)
        self.assertLess(len(page), 1_000_000)

    def test_compare_says_in_the_report_what_it_said_of_this_machine(self):
        scenario = self.write("here.yaml", "algorithms: [ring]\nranks: 2\nmessage_sizes: [64 KiB]\nbackend: shm\nmachine: this\n")
        result = self.run_ringside("compare", scenario, "--report", "--no-charts", "--output", self.folder, "--calibrate-time", "1 s",
                                   "--time-per-point", "0.1 s")
        if result.returncode == 3:
            self.skipTest(result.stderr.strip())
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (self.folder / "report.html").read_text(encoding="utf-8")
        for sentence in result.stdout.split("\n\n")[0].splitlines():
            self.assertIn(html.escape(sentence, quote=True).replace("&#x27;", "&#39;"), page)

    def test_the_records_read_back_equal(self):
        _, page = self.predicted()
        records = (self.folder / "predictions.jsonl").read_text(encoding="utf-8")
        self.assertEqual(self.records(self.embedded(page)), self.records(records))
        again = self.run_ringside("report", self.folder / "report.html", "--output", self.folder / "again")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual((self.folder / "again/report.html").read_text(encoding="utf-8"), page)

    def test_compare_reads_what_a_report_measured(self):
        self.report()
        scenario = self.write("read.yaml", "algorithms: [naive, ring]\nranks: 8\nmessage_sizes: [1 KiB, 64 MiB]\nmeasured: report.html\n"
                              "machine:\n  intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n")
        result = self.run_ringside("compare", scenario, "--no-charts", "--report", "--output", "read")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("7.4 ms", result.stdout)
        imported = self.run_ringside("import", self.folder / "report.html", "--output", "imported")
        self.assertEqual(imported.returncode, 0, imported.stderr)
        self.assertIn("Accuracy of the predictions", (self.folder / "read/report.html").read_text(encoding="utf-8"))

    def test_names_full_of_html_are_text(self):
        page = self.report(text=results(note=HOSTILE.replace('"', '\\"')))
        self.assertEqual(page.count("<script"), 4)
        self.assertNotIn("<img", page)
        self.assertNotIn("<b>", page)
        self.assertIn("a &lt;b&gt;bold&lt;/b&gt; CPU", page)
        points = [r for r in self.records(self.embedded(page)) if r["record"] == "point"]
        self.assertEqual({p["measured"]["note"] for p in points}, {HOSTILE})

    def test_the_policy_knows_the_scripts_and_the_style_by_their_hashes(self):
        page = self.report()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
        self.assertNotIn("unsafe", policy)
        inline = re.findall(r"<(?:script|style)>(.*?)</(?:script|style)>", page, re.DOTALL)
        self.assertEqual(len(inline), 3)
        for text in inline:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            self.assertIn(f"'sha256-{digest}'", policy)

    def test_many_samples_are_thinned_and_the_page_says_so(self):
        page = self.report(text=results(samples=20000))
        self.assertIn("hold up to 25 samples of a point", page)
        self.assertLess(len(page), 1_000_000)
        self.assertEqual({len(r["measured"]["samples"]) for r in self.records(self.embedded(page)) if r["record"] == "point"}, {25})

    def test_what_is_no_result_is_refused(self):
        page = self.report()
        for text, words in ((page.replace('id="records"', 'id="other"'), "report without its records"),
                            (page.replace('"seconds":', '"seconds":1', 1), "records were changed"),
                            ("<html></html>\n", "is not JSON"), (results().splitlines()[0] + "\n", "holds no point")):
            result = self.run_ringside("report", self.write("bad.html", text))
            self.assert_rejected(result, 2, "bad.html", words)
        result = self.run_ringside("predict", self.write("s.yaml", CUSTOM), "--sweep", "ranks=2:8:2x", "--report", "--output", "sweep")
        self.assertIn("No report", result.stderr)
        result = self.run_ringside("report", self.write("results.jsonl", results()), "--output", "/proc/none")
        self.assert_rejected(result, 2, "cannot write results to /proc/none")
        self.assert_rejected(self.run_ringside("report", next((self.folder / "sweep").glob("*.jsonl"))), 2, "is a sweep")

    def test_a_browser_shows_it_without_an_error_or_a_request(self):
        self.report()
        browser = self.browser()
        browser.open(self.folder / "report.html")
        self.assertEqual(browser.run("document.documentElement.dataset.ready"), "1")
        self.assertEqual(browser.run("document.querySelectorAll('#t1 ~ .scroll tbody tr').length"), 6)
        # Of a copy, for a canvas that is read warns.
        drawn = """(() => { const from = document.querySelector('canvas'); const c = document.createElement('canvas');
          c.width = from.width; c.height = from.height; const to = c.getContext('2d', { willReadFrequently: true });
          to.drawImage(from, 0, 0); const d = to.getImageData(0, 0, c.width, c.height).data; let n = 0;
          for (let i = 0; i < d.length; i += 4) { if (d[i] === 0 && d[i + 1] === 0x72 && d[i + 2] === 0xb2 && d[i + 3] === 255) n++; }
          return n; })()"""
        self.assertGreater(browser.run(drawn), 200)  # The ring's blue.
        browser.run("document.querySelectorAll('.legend button')[1].click()")
        hidden = browser.run("document.querySelectorAll('.legend button')[1].textContent")
        self.assertEqual(hidden, "ring")
        self.assertLess(browser.run(drawn), 50)
        browser.run("document.getElementById('linear').click()")
        self.assertEqual(browser.run("Chart.getChart(document.querySelector('canvas')).scales.x.type"), "linear")
        self.assertEqual(browser.messages, [])
        self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "data:", "about:"))], [])

    def test_tables_sort_by_value_and_copy(self):
        self.report()
        browser = self.browser()
        browser.open(self.folder / "report.html")
        column = "[...document.querySelectorAll('#t1 ~ .scroll tbody tr')].map((row) => row.cells[{}].textContent)"
        heads = browser.run("[...document.querySelectorAll('#t1 ~ .scroll th')].map((head) => head.textContent)")
        place = heads.index("measured")
        for _ in range(2):
            browser.run(f"document.querySelectorAll('#t1 ~ .scroll th button')[{place}].click()")
        self.assertEqual(browser.run(f"document.querySelectorAll('#t1 ~ .scroll th')[{place}].getAttribute('aria-sort')"), "descending")
        times = browser.run(column.format(place))
        units = {"µs": 1e-6, "ms": 1e-3, "s": 1}
        values = [float(text.split()[0]) * units[text.split()[1]] for text in times]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertGreater(len(set(text.split()[1] for text in times)), 1)

    def test_arrow_keys_announce_points(self):
        self.report()
        browser = self.browser()
        browser.open(self.folder / "report.html")
        browser.run("document.querySelector('canvas').focus()")
        browser.press("ArrowRight")
        browser.press("ArrowRight")
        said = browser.run("document.getElementById('live').textContent")
        self.assertRegex(said, r"^naive, predicted, 1 MiB: .* ms|µs")
        browser.press("ArrowDown")
        self.assertRegex(browser.run("document.getElementById('live').textContent"), r"^naive, measured, 1 MiB: .*95 % interval")

    def test_dark_narrow_and_printed(self):
        self.predicted()
        browser = self.browser()
        browser.open(self.folder / "report.html")
        pictures = {}
        for width, scheme, scale in ((1280, "light", 1), (1280, "dark", 1), (320, "light", 1), (320, "dark", 4)):
            browser.look(width, scheme, scale=scale)
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), width)
            pictures[width, scheme] = browser.picture(whole=True)
        self.assertEqual(len(set(pictures.values())), len(pictures))
        printed = browser.printed()
        self.assertTrue(printed.startswith(b"%PDF-"))
        self.assertGreater(len(printed), 10_000)
        self.assertEqual(browser.messages, [])
        if keep := os.environ.get("RINGSIDE_KEEP_PICTURES"):  # For people to look at.
            folder = pathlib.Path(keep)
            folder.mkdir(parents=True, exist_ok=True)
            for (width, scheme), picture in pictures.items():
                (folder / f"{width}-{scheme}.png").write_bytes(picture)
            (folder / "report.pdf").write_bytes(printed)


if __name__ == "__main__":
    unittest.main()
