"""The page of scripts/web: its program's numbers beside those of the command line, and what a browser makes of it."""

import functools
import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["RINGSIDE_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/cli"))
from browser import browser_for  # pylint: disable=wrong-import-position
from pages.page_case import AXE, PageCase  # pylint: disable=wrong-import-position

GOLDEN = SOURCE / "tests/golden"
BUILD = SOURCE / "build/web"
# Flags of `ringside plan` and the keys of the page's question.
PLAN_KEYS = {"--model": "model", "--gradients": "gradients", "--gpus": "gpus", "--batch": "batch", "--shard": "sharding", "--search": "search",
             "--sequence": "sequence", "--tokens": "tokens", "--epochs": "epochs", "--deadline": "deadline", "--budget": "budget",
             "--bandwidth": "bandwidth", "--known": "known"}
NOT_ASKED = {"plan-bert-vast": "a listing, and a plan file", "plan-listing": "a listing", "plan-odd-listing": "a listing",
             "plan-resnet34-tutorial": "a plan file", "plan-sweep": "a sweep"}


@functools.cache
def built():
    """The folder of the page, or why there is none."""
    for program, package in (("emcmake", "emscripten"), ("node", "nodejs")):
        if not shutil.which(program):
            return None, f"no {program} here (Debian package {package})"
    for library in ("yaml-cpp", "pugixml"):
        if not (SOURCE / "build/sources" / library).exists():
            return None, f"no source of {library} here (scripts/install-packages web)"
    if not pathlib.Path("/usr/share/javascript/chart.js/chart.min.js").exists():
        return None, "no Chart.js here (Debian package libjs-chart.js)"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-web-"))
    result = subprocess.run([SOURCE / "scripts/web", folder], env={**os.environ, "RINGSIDE_SKIP_INSTALL": "1"},
                            capture_output=True, text=True, timeout=1700, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stdout[-3000:] + result.stderr[-3000:])
    return folder, ""


class Page(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        if built()[0]:
            shutil.rmtree(built()[0])

    def setUp(self):
        self.folder, why = built()
        if why:
            self.skipTest(why)

    def answers(self, questions):
        """Of the program in node."""
        text = "".join(json.dumps(question) + "\n" for question in questions)
        result = subprocess.run(["node", SOURCE / "web/ask.js", BUILD], input=text,
                                capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        return [json.loads(line) for line in result.stdout.splitlines()]

    def assert_alike(self, ours, theirs, where):
        """To 12 significant digits."""
        if isinstance(theirs, dict):
            self.assertEqual(ours.keys(), theirs.keys(), where)
            for key, value in theirs.items():
                self.assert_alike(ours[key], value, f"{where}: {key}")
        elif isinstance(theirs, list):
            self.assertEqual(len(ours), len(theirs), where)
            for index, value in enumerate(theirs):
                self.assert_alike(ours[index], value, f"{where}[{index}]")
        elif isinstance(theirs, float):
            self.assertLessEqual(abs(ours - theirs), 0.5e-11 * abs(theirs), f"{where}: {ours} beside {theirs}")
        else:
            self.assertEqual(ours, theirs, where)

    def test_numbers_are_those_of_the_command_line(self):
        goldens = []
        for golden in sorted(GOLDEN.glob("*.jsonl")):
            beside = golden.with_suffix(".yaml")
            scenario = beside if beside.exists() else SOURCE / "configs/scenarios" / beside.name
            if "golden" not in json.loads(golden.read_text().partition("\n")[0]):
                goldens.append((golden, scenario))
        self.assertGreaterEqual(len(goldens), 13)
        answers = self.answers([{"ask": "predict", "scenario": scenario.read_text(), "records": True} for _, scenario in goldens])
        for (golden, _), answered in zip(goldens, answers):
            self.assertNotIn("error", answered["answer"], golden.name)
            self.assert_alike([json.loads(line) for line in answered["answer"]["records"]],
                              [json.loads(line) for line in golden.read_text().splitlines()], golden.name)

    @staticmethod
    def plan_question(words):
        """What the page asks instead of `ringside plan …`; None where it cannot."""
        question = {"ask": "plan", "records": True}
        words = iter(word for word in words[1:] if word != "--no-charts")
        for word in words:
            if word not in PLAN_KEYS:
                return None
            question[PLAN_KEYS[word]] = "all" if word == "--search" else next(words)
        return question

    def test_plans_are_those_of_the_command_line(self):
        asked = {}
        for golden in sorted(GOLDEN.glob("plan-*.jsonl")):
            first, *records = map(json.loads, golden.read_text().splitlines())
            question = self.plan_question(shlex.split(first["golden"]))
            self.assertEqual(question is None, golden.stem in NOT_ASKED, golden.name)
            if question:
                asked[golden.stem] = question, first["without"], records
        self.assertGreaterEqual(len(asked), 9)
        answers = self.answers([question for question, _, _ in asked.values()])
        for (name, (_, without, records)), answered in zip(asked.items(), answers):
            self.assertNotIn("error", answered["answer"], name)
            ours = [json.loads(line) for line in answered["answer"]["records"]]
            self.assert_alike([{key: value for key, value in record.items() if key not in without} for record in ours], records, name)

    def test_a_sweep_and_a_log_and_a_plan(self):
        custom = "machine: {intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}\n"
        sweep = ("algorithms: [naive, ring, tutorial_ring, binomial_tree]\nranks: [2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64]\n"
                 "message_sizes: {from: 1 KiB, to: 16 GiB, factor: 2}\n" + custom)
        log = (GOLDEN / "logs/l40s-slow.log").read_text()
        topology = "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n"
        asked = [{"ask": "predict", "scenario": sweep}, {"ask": "check", "log": log},
                 {"ask": "plan", "gpus": "4x3090, p4d.24xlarge", "model": "resnet34-imagenet"},
                 {"ask": "plan", "gpus": "4x3090", "gradients": "88 MB"},
                 {"ask": "machine", "text": topology, "gpu": "RTX 3090"}, {"ask": "show", "algorithm": "ring", "ranks": 4}]
        swept, checked, planned, gradients, machine, shown = (each["answer"] for each in self.answers(asked))
        self.assertEqual(len(swept["table"]["rows"]), 1200)
        self.assertRegex(" ".join(checked[0]["start"] + checked[0]["end"]), "L40S")
        self.assertTrue(checked[0]["table"]["rows"])
        self.assertEqual(len(planned["table"]["rows"]), 2)
        self.assertEqual(len(gradients["table"]["rows"]), 1)
        self.assertIn("RTX", machine["yaml"])
        self.assertEqual(len(shown["rounds"]), 6)

    def test_bad_input_is_said_as_the_program_says_it(self):
        program = os.environ["RINGSIDE"]
        bad = {"key": "algorithms: [ring]\nranks: 8\nmessage_size: [1 MB]\nmachine: {intra: {kind: custom}}\n",
               "name": "algorithms: [rong]\nranks: 8\nmessage_sizes: [1 MB]\nmachine: p4d.24xlage\n", "yaml": "a: [\n"}
        asked = [{"ask": "predict", "scenario": text} for text in bad.values()]
        asked += [{"ask": "check", "log": "nothing\n"}, {"ask": "plan", "gpus": "4x4000000", "model": "resnet34-imagenet"}]
        answers = [each["answer"] for each in self.answers(asked)]
        for text, answer in zip(bad.values(), answers):
            with tempfile.TemporaryDirectory() as folder:
                # Beside machines, as in the page.
                (pathlib.Path(folder) / "machines").symlink_to(SOURCE / "configs/machines")
                scenarios = pathlib.Path(folder) / "scenarios"
                scenarios.mkdir()
                (scenarios / "scenario.yaml").write_text(text)
                result = subprocess.run([program, "predict", "scenario.yaml"], cwd=scenarios, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, answer["status"])
            said = re.sub(r"\s+", " ", result.stderr)
            for line in answer["error"].splitlines():
                self.assertIn(re.sub(r"\s+", " ", line), said)
        for answer in answers[len(bad):]:
            self.assertEqual(answer["status"], 2, answer)

    def browser(self, fragment=""):
        browser = browser_for(self)
        browser.open(self.folder / "index.html", fragment)
        return browser

    def test_the_first_answer_is_that_of_the_program(self):
        again = subprocess.run(["node", SOURCE / "web/ask.js", BUILD], input="first\n", capture_output=True, text=True, check=True).stdout
        browser = self.browser()
        prepared = browser.run("[...ringsidePrepared]")
        first = [[each["question"], each["answer"]] for each in map(json.loads, again.splitlines())]
        self.assertEqual([[json.loads(question), answer] for question, answer in prepared[:len(first)]], first)
        self.assertIn('{"ask":"machine","machine":"p4d.24xlarge"}', [question for question, _ in prepared[len(first):]])
        for question, answer in prepared:
            self.assertEqual(browser.run(f"ringsideAsk({question})"), answer)
        times = lambda shown: json.loads(shown.run("document.documentElement.dataset.first"))
        self.assertLess(times(browser)["answered"], times(browser)["whole"])  # It was there before the program was.

    def test_the_first_part_of_the_program_answers_what_is_usual_and_the_whole_program_all(self):
        for fragment, verdict in (("#ranks=9", "9 ranks"), ("#machine=p4d.24xlarge&algorithms=naive%2Cring%2Cnative&nodes=1&ranks=16", "16 ranks")):
            browser = self.browser(fragment)
            times = json.loads(browser.run("document.documentElement.dataset.first"))
            self.assertLess(times["started"], times["answered"], fragment)
            self.assertLess(times["answered"], times["whole"], fragment)
            self.assertIn(verdict, browser.run(self.VERDICT))
        other = self.browser("#machine=yaml&yaml=a")
        times = json.loads(other.run("document.documentElement.dataset.first"))
        self.assertLess(times["whole"], times["answered"])  # The first part has no mistakes, and says nothing instead of something wrong.
        self.assertIn("scenario.yaml: is a single value", other.run(self.VERDICT))

    def test_the_program_is_small(self):
        self.assertLess(sum(len(gzip.compress((BUILD / f"{part}.wasm").read_bytes(), 9)) for part in ("first", "rest")), 1.5e6)

    SETTLED = "new Promise((done) => setTimeout(done, 400))"
    VERDICT = "document.querySelector('#verdict p').textContent"

    def test_a_browser_answers_and_follows_a_slider(self):
        browser = self.browser()
        first = browser.run(self.VERDICT)
        self.assertRegex(first, r"ring is predicted to be .*× faster")
        browser.run(self.SETTLED)
        self.assertFalse(browser.run("document.getElementById('charts').hidden"))
        browser.run("""(() => { const slider = document.querySelector('[name=ranks]'); slider.value = '64';
          slider.dispatchEvent(new Event('input', { bubbles: true })); })()""")
        browser.run(self.SETTLED)
        second = browser.run(self.VERDICT)
        self.assertNotEqual(first, second)
        self.assertIn("64 ranks", second)
        fragment = browser.run("location.hash")
        self.assertEqual(fragment, "#ranks=64")
        browser.run("""(() => { const slider = document.querySelector('[name=size]'); slider.value = '20';
          slider.dispatchEvent(new Event('input', { bubbles: true })); })()""")
        browser.run(self.SETTLED)
        self.assertIn("at 1 MiB on 64 ranks", browser.run(self.VERDICT))
        self.assertEqual(browser.run("document.querySelector('[name=size]').parentElement.querySelector('output').textContent"), "1 MiB")
        second = browser.run(self.VERDICT)
        fragment = browser.run("location.hash")
        self.assertEqual(browser.messages, [])
        self.assertEqual([url for url in browser.requests if not url.startswith(("file:", "data:", "about:", "blob:"))], [])
        again = self.browser(fragment)
        self.assertEqual(again.run(self.VERDICT), second)

    def test_every_view_answers_and_a_mistake_is_one_message(self):
        browser = self.browser("#view=schedule&clock=30")
        browser.run("void (location.hash = '#view=schedule&shown=8')")
        browser.run(self.SETTLED)
        self.assertRegex(browser.run(self.VERDICT), r"^tutorial_ring sends 8× the bytes of ring")
        self.assertEqual(browser.run("document.querySelectorAll('#schedules svg').length"), 2)
        browser.run("document.getElementById('step').click()")
        self.assertNotEqual(browser.run("location.hash"), "#view=schedule&shown=8")
        for view, expected in (("plan", "resnet|ResNet|3090"), ("check", "Paste a log")):
            browser.run(f"document.querySelector('[data-view={view}]').click()")
            browser.run(self.SETTLED)
            self.assertRegex(browser.run("document.getElementById('verdict').textContent"), expected)
        browser.run("document.querySelector('[data-view=predict]').click()")
        browser.run("""(() => { const machine = document.querySelector('[name=machine]'); machine.value = 'yaml';
          machine.dispatchEvent(new Event('input', { bubbles: true }));
          const yaml = document.querySelector('[name=yaml]'); yaml.value = '<b>algorithms</b>: [ring]';
          yaml.dispatchEvent(new Event('input', { bubbles: true })); })()""")
        self.assertRegex(browser.run(self.VERDICT), "scenario.yaml")
        self.assertEqual(browser.run("document.querySelectorAll('#verdict p').length"), 1)
        self.assertEqual(browser.run("document.querySelectorAll('b').length"), 0)
        self.assertEqual(browser.messages, [])

    def test_what_a_link_says_is_shown_where_it_is_no_choice(self):
        browser = self.browser("#machine=scenario%3Aquickstart")
        self.assertRegex(browser.run(self.VERDICT), "machine: this: a page cannot probe")
        where = "(({ selectedOptions: [one] }) => [one.value, one.textContent])(document.querySelector('[name=machine]'))"
        self.assertEqual(browser.run(where), ["scenario:quickstart"] * 2)
        self.assertIn("machine: this", browser.run("document.querySelector('[name=yaml]').value"))
        browser.run("void (location.hash = '#machine=<b>p4x</b>')")
        browser.run(self.SETTLED)
        self.assertEqual(browser.run(where), ["<b>p4x</b>"] * 2)
        self.assertEqual(browser.run("document.querySelectorAll('b').length"), 0)
        browser.run("void (location.hash = '#machine=p4d.24xlarge')")
        browser.run(self.SETTLED)
        self.assertEqual(browser.run(where), ["p4d.24xlarge"] * 2)
        self.assertEqual(browser.messages, [])

    def test_the_policy_knows_scripts_and_style_by_their_hashes(self):
        page = (self.folder / "index.html").read_text(encoding="utf-8")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
        self.assertNotIn("unsafe-inline", policy)
        self.assertNotIn("'unsafe-eval'", policy)
        self.assertEqual(policy.count("sha256-"), 5)

    def test_axe_finds_nothing(self):
        browser = browser_for(self)
        if not AXE.exists():
            self.skipTest("no axe-core here (npm ci --prefix tests/cli/pages/axe; scripts/install-packages does it where npm is)")
        for view in ("#machine=p4d.24xlarge&algorithms=naive%2Cring%2Cnative", "#machine=yaml&yaml=a", "#view=schedule&clock=30&shown=6", "#view=plan",
                     "#view=check"):
            browser.call("Page.navigate", url="about:blank")
            browser.open(self.folder / "index.html", view)
            browser.run(self.SETTLED)
            for width in (1280, 320):
                for scheme in ("light", "dark"):
                    browser.look(width, scheme)
                    PageCase.assert_clean(self, browser, f"{view} {width} {scheme}")

    def test_dark_and_narrow(self):
        pictures = {}
        for fragment in ("#machine=p4d.24xlarge&algorithms=naive%2Cring%2Cnative", "#view=schedule&clock=30&shown=6", "#view=plan"):
            browser = self.browser(fragment)
            browser.run(self.SETTLED)
            for width, scheme in ((1280, "light"), (1280, "dark"), (320, "light"), (320, "dark")):
                browser.look(width, scheme)
                self.assertLessEqual(browser.run("document.documentElement.scrollWidth"), width, fragment)
                pictures[fragment.split("=")[1].split("&")[0], width, scheme] = browser.picture(whole=True)
            self.assertEqual(browser.messages, [])
        self.assertEqual(len(set(pictures.values())), len(pictures))
        if keep := os.environ.get("RINGSIDE_KEEP_PICTURES"):  # For people to look at.
            folder = pathlib.Path(keep)
            folder.mkdir(parents=True, exist_ok=True)
            for name, picture in pictures.items():
                (folder / f"web-{'-'.join(map(str, name))}.png").write_bytes(picture)


if __name__ == "__main__":
    unittest.main()
