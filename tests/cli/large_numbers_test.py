"""Every number of every YAML that is accepted, in turn much larger: a command answers with what an answer may take, or refuses at once and
with little memory. A sample of the day's seed (RINGSIDE_LARGE_NUMBERS says how many; 0: all, as at night)."""

import datetime
import os
import random
import re
import shutil
import sys
import unittest

from ringside_case import PROGRAM, SOURCE, RingsideCase

sys.path.insert(0, str(SOURCE / "tests/fuzz"))
from command_inputs import commands, seeds_of  # pylint: disable=wrong-import-position
from measured_run import GIGABYTE, measured_run  # pylint: disable=wrong-import-position

SAMPLE = int(os.environ.get("RINGSIDE_LARGE_NUMBERS", "250"))
SEED = os.environ.get("RINGSIDE_SEED", f"{datetime.date.today():%Y%m%d}")
LARGE = ["64", "1024", "4096", "65536", "1000000", "16777216", "1000000000", "9e15", "1e30", "1e308"]
NUMBER = re.compile(r"(?<![\w./-])\d[\d_.]*(?:e[+-]?\d+)?")

# Of a refusal, and of an answer, which may take as long as what is fuzzed (scripts/fuzz-commands).
REFUSAL, ANSWER = (1, 200_000_000), (5, GIGABYTE)


def allowed(limit):
    """(seconds of a core, bytes); beside other load, which shares caches and cores with what is measured, twice as many seconds."""
    seconds, memory = limit
    return (2 * seconds if os.getloadavg()[0] > 1.5 * os.cpu_count() else seconds), memory


def texts():
    """(kind, text, where a number begins and ends): each key of a document in turn, wherever it stands."""
    for kind in ("scenario", "machine", "workload", "plan", "offers_yaml"):
        for data in seeds_of(kind):
            text = data.decode(errors="replace")
            for number in NUMBER.finditer(text):
                line = text[text.rfind("\n", 0, number.start()) + 1:number.start()]
                if "#" not in line and not line.lstrip().startswith(("name:", "source:", "- name:")):
                    yield kind, text, number.span()


class LargeNumbers(RingsideCase):
    def test_a_large_number_is_answered_or_refused_at_once(self):
        trials = [(kind, text, span, large) for kind, text, span in dict.fromkeys(texts()) for large in LARGE]
        self.assertGreater(len(trials), 2000)
        if SAMPLE:
            trials = random.Random(SEED).sample(trials, SAMPLE)
        statuses = set()
        for kind, text, (begin, end), large in trials:
            changed = text[:begin] + large + text[end:]
            for path in self.folder.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            for words in commands(kind, changed.encode(), self.folder):
                run = measured_run([PROGRAM, *map(str, words), "--quiet", "--output", str(self.folder / "out")], self.folder, 2 * ANSWER[0], ANSWER[1])
                line = changed[changed.rfind("\n", 0, begin) + 1:].split("\n")[0]
                with self.subTest(kind=kind, line=line, command=words[:2], seed=SEED):
                    seconds, memory = allowed(ANSWER if run.status == 0 else REFUSAL)
                    self.assertIn(run.status, (0, 2, 3), run.errors[-300:])
                    self.assertLessEqual((run.seconds > seconds, run.memory > memory), (False, False), f"{run.seconds:.1f} s, {run.memory / 1e6:.0f} MB")
                statuses.add(run.status)
        self.assertEqual(statuses & {0, 2}, {0, 2})


if __name__ == "__main__":
    unittest.main()
