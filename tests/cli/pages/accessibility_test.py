"""axe-core finds nothing in reports that WCAG 2.2 AA forbids; 400 % zoom and print lose nothing."""

import unittest

from pages.page_case import AXE, PageCase


class Accessibility(PageCase):
    def browser_with_axe(self):
        browser = self.browser()
        if not AXE.exists():
            self.skipTest("no axe-core here (npm ci --prefix tests/cli/pages/axe; scripts/install-packages does it where npm is)")
        return browser

    def test_no_report_breaks_a_rule_in_light_or_dark_or_on_a_phone(self):
        browser = self.browser_with_axe()
        for file in (self.predicted(), self.planned(), self.checked()):
            for width, scheme in ((1280, "light"), (1280, "dark"), (320, "light")):
                browser.open(file)
                browser.look(width, scheme)
                self.assert_clean(browser, f"{file.parent.name} {width} {scheme}")

    def test_axe_sees_what_is_wrong(self):
        browser = self.browser_with_axe()
        browser.open(self.predicted())
        browser.run("document.querySelector('.note').style.color = '#ddd'")
        with self.assertRaisesRegex(AssertionError, "color-contrast"):
            self.assert_clean(browser, "broken")

    def test_four_times_as_large_needs_no_second_direction(self):
        browser = self.browser()
        for file in (self.predicted(), self.planned(), self.checked()):
            browser.open(file)
            browser.look(320, "light", height=225, scale=4)  # 1280 × 900 at 400 %.
            self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), 320)
            # Charts and buttons are inside; tables scroll in their own region.
            outside = browser.run("[...document.querySelectorAll('canvas, button:not(th button), h1, h2, p')]"
                                  ".filter((e) => e.getBoundingClientRect().right > 321).map((e) => e.outerHTML.substring(0, 80))")
            self.assertEqual(outside, [])

    def test_on_paper_charts_cover_nothing_and_end_at_its_edge(self):
        browser = self.browser()
        for file in (self.predicted(), self.planned(), self.checked()):
            browser.open(file)
            browser.look(1280, "light")
            browser.run("dispatchEvent(new Event('beforeprint'))")
            browser.call("Emulation.setEmulatedMedia", media="print")
            browser.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)
            for right, bottom, below, paper in browser.run(
                    "[...document.querySelectorAll('figure')].map((figure) => { const chart = figure.querySelector('canvas').getBoundingClientRect();"
                    "return [chart.right, chart.bottom, figure.querySelector('.legend').getBoundingClientRect().top, innerWidth]; })"):
                self.assertLessEqual(right, paper)
                self.assertLessEqual(bottom, below)


if __name__ == "__main__":
    unittest.main()
