"""What the commands say on a terminal: no line is wider than it, the verdict comes first, and nothing is coloured."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase

CARDS = """name: four cards
algorithms: [naive, ring, double_binary_tree, native]
ranks: [2, 4]
message_sizes: [88 MB]
machine: 4x-rtx3090-pcie4
"""
SHOWN = 24  # Rows of the terminal.


class Terminal(RingsideCase):
    def on_terminal(self, columns, *arguments, status=0, environment=None):
        """What a person sees who runs the command: standard output and error on one terminal."""
        try:
            ours, theirs = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminals here (is /dev/pts mounted?): {error}")
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", SHOWN, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, stdout=theirs, stderr=theirs,
                                   env={**os.environ, **(environment or {})})
        # Our end of the other side stays open: a terminal that nobody has open any more may lose what was written last.
        self.addCleanup(os.close, theirs)
        text = b""
        ended = False
        while True:
            ready, _, _ = select.select([ours], [], [], 0.02)
            if ready:
                text += os.read(ours, 65536)
            elif ended:
                break
            ended = ended or process.poll() is not None
        self.assertEqual(process.wait(timeout=120), status, text.decode())
        return text.decode()

    def test_long_cells_of_a_list_are_cut(self):
        lines = self.on_terminal(70, "list", "algorithms").splitlines()
        self.assertGreater(len(lines), 10)
        self.assertLessEqual(max(map(len, lines)), 70)
        self.assertTrue(any("…" in line for line in lines))

    def assert_fits(self, text, columns):
        for drawn in re.split(r"[\r\n]", text):
            line = re.sub(r"\033\[[0-9;]*[Km]", "", drawn)
            if re.match(r"  (then |ringside |mpirun )", line):
                continue  # Commands stay whole: people copy them.
            if " " not in line.strip():
                continue  # Nor is a word broken.
            self.assertLessEqual(len(line), columns, line)

    def test_no_line_is_wider_than_the_terminal(self):
        scenario = self.write("cards.yaml", CARDS)
        measured = SOURCE / "configs/evaluation/aic.yaml#aic-l40s-2x"
        for columns in (60, 80, 132):
            for command in (
                ("predict", scenario),
                ("predict", scenario, "--sweep", "lanes=8,16"),
                ("compare", measured, "--no-charts"),
                ("list", "machines"),
                ("list", "algorithms"),
                ("show", "ring", "--ranks", "4", "--no-charts"),
                ("doctor",),
            ):
                with self.subTest(columns=columns, command=command):
                    self.assert_fits(self.on_terminal(columns, *command, "--output", "out") if command[0] != "doctor"
                                     else self.on_terminal(columns, *command), columns)

    def test_a_narrow_terminal_loses_no_prediction_and_no_interval(self):
        scenario = self.write("cards.yaml", CARDS)
        wide = self.run_ringside("predict", scenario, "--output", "out").stdout
        narrow = self.on_terminal(60, "predict", scenario, "--output", "out")
        values = re.findall(r"[0-9.]+ [mu]s–?[0-9.]*|[0-9.]+–[0-9.]+ [mu]s", wide)
        self.assertGreater(len(values), 8)
        for value in values:
            self.assertIn(value, narrow)
        self.assertIn("4 ranks, 88 MB", narrow)

    def test_a_row_that_no_terminal_fits_is_stacked(self):
        self.assertIn("hop 0 → 1  latency 3.1 µs", self.on_terminal(30, "show", "machine", "p4d.24xlarge"))

    def test_columns_that_may_go_go_from_the_last(self):
        measured = SOURCE / "configs/evaluation/aic.yaml#aic-l40s-2x"
        for columns, droppable in ((80, ["points", "mean error", "bias"]), (70, ["points", "mean error"]), (60, ["points"]), (52, [])):
            (head,) = [line for line in self.on_terminal(columns, "compare", measured, "--no-charts", "--output", "out").splitlines()
                       if "median error" in line]
            self.assertEqual([title for title in ("points", "mean error", "bias") if title in head], droppable, head)

    def test_numbers_and_their_titles_stay_whole(self):
        for columns in range(38, 46):
            shown = self.on_terminal(columns, "show", "ring", "--ranks", "4", "--no-charts", "--size", "64MiB", "--on", "own_core")
            self.assertIn("receive posted in", shown, columns)

    def test_what_people_copy_is_not_wrapped(self):
        cards = self.write("cards.yaml", CARDS)
        copied = [line for line in self.run_ringside("predict", cards).stdout.splitlines() if line.startswith("  then --known")]
        self.assertEqual(len(copied), 1)
        self.assertIn(copied[0], self.on_terminal(40, "predict", cards).splitlines())
        lines = self.on_terminal(40, "predict", self.write("scenario.yaml", CUSTOM), "--format", "json").splitlines()
        for line in lines:
            self.assertIn("record", json.loads(line))

    def test_numbers_end_below_their_title_and_no_line_with_a_blank(self):
        lines = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM)).stdout.splitlines()
        header = next(i for i, line in enumerate(lines) if line.startswith("ranks"))
        end = lines[header].index("predicted") + len("predicted")
        for line in lines[header + 1:header + 4]:
            self.assertEqual(line[end - 3:end + 2], " ms  ", line)
        for line in lines:
            self.assertEqual(line, line.rstrip())

    def test_those_who_want_it_quiet_are_told_nothing_but_the_answer(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        sweep = ("predict", scenario, "--sweep", "bandwidth=1GB/s,2GB/s")
        self.assertIn("sweep_bandwidth.png", self.run_ringside(*sweep).stdout)
        self.assertEqual(self.run_ringside(*sweep, "--quiet").stderr, "")
        drawn = ("predict", scenario, "--charts")
        self.assertIn("drawing charts …", self.run_ringside(*drawn).stderr)
        self.assertNotIn("drawing charts …", self.run_ringside(*drawn, "--quiet").stderr)

    def test_the_verdict_comes_first(self):
        text = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM)).stdout
        self.assertTrue(text.startswith("ring is predicted to be 7.9× faster than naive at 80 MB on 8 ranks\n"), text)

    def test_the_winner_is_coloured_on_terminals_alone_and_not_where_nobody_wants_it(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        self.assertIn("\033[1;32mfastest\033[0m", self.on_terminal(80, "predict", scenario))
        for flags, environment in (((), {"NO_COLOR": "1"}), (("--color", "never"), {})):
            text = self.on_terminal(80, "predict", scenario, *flags, environment=environment)
            self.assertEqual(re.findall(r"\033\[[0-9;]*m", text), [])
        self.assertNotIn("\033", self.run_ringside("predict", scenario).stdout)
        self.assertIn("\033[1;32m", self.run_ringside("predict", scenario, "--color", "always").stdout)
        self.assertIn("\033[1;31mringside\033[0m: ", self.on_terminal(80, "predict", "absent.yaml", status=2))
        self.assert_rejected(self.run_ringside("predict", scenario, "--color", "blue"), 2, "auto", "never")

    def test_help_of_every_command_is_one_screen_with_an_example_that_it_takes(self):
        listed = self.run_ringside("--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
        commands = [re.split(r"  +", line.strip())[0] for line in listed.splitlines()]
        self.assertGreater(len(commands), 12)
        for command in commands:
            with self.subTest(command=command):
                lines = self.on_terminal(80, *command.split(), "--help").splitlines()
                self.assertLessEqual(len(lines), 40)
                example = [line for line in lines if line.startswith("Example:  ringside " + command)]
                self.assertEqual(len(example), 1, lines)
                for flag in re.findall(r" (--[a-z-]+)", example[0]):
                    self.assertTrue(any(re.match(rf"  (\S+,)?{flag}\b", line) for line in lines), flag)

    def test_help_is_within_the_terminal(self):
        for columns in (80, 120):
            described = [line for line in self.on_terminal(columns, "predict", "--help").splitlines() if line.startswith(" ")]
            self.assertGreater(len(described), 10)
            self.assertLessEqual(max(map(len, described)), columns)


if __name__ == "__main__":
    unittest.main()
