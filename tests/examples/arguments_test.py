"""--help says what a program teaches; a wrong argument gets one clear message; a lost rank ends with exit 1."""

import os
import pathlib
import signal
import subprocess
import time
import unittest

import examples_case

ALL = [path.name for path in sorted(examples_case.PROGRAMS.iterdir()) if path.is_file() and os.access(path, os.X_OK)]


class Arguments(examples_case.ExamplesCase):
    def test_help_says_what_it_teaches(self):
        self.assertIn("send_receive", ALL)
        for name in ALL:
            with self.subTest(name):
                text = self.output(name, "--help")
                self.assertTrue(text.startswith("Teaches: "), text)
                for flag in ("--ranks", "--backend", "--timeout"):
                    self.assertIn(flag, text)

    def test_wrong_arguments_get_one_clear_message(self):
        for name in ALL:
            with self.subTest(name):
                self.assert_rejected(self.start(name, "--backend", "glo"), 2, f"{name}: ", "did you mean 'gloo'?")
                self.assert_rejected(self.start(name, "--ranks", "0"), 2, "at least one rank is needed, not 0")
                self.assert_rejected(self.start(name, "--ranks", "many"), 2, "--ranks", "many", f"{name} --help")
                self.assert_rejected(self.start(name, "--colour"), 2, "--colour")
                self.assert_rejected(self.start(name, "--timeout", "5"), 2, "unit")
        self.assert_rejected(self.start("reduce", "--op", "men"), 2, "did you mean 'mean'?")
        self.assert_rejected(self.start("broadcast", "--root", "4"), 2, "--root 4 is none of the 4 ranks")
        self.assert_rejected(self.start("ring_all_reduce", "--bytes", "4"), 2, "4", "KiB")

    def test_a_backend_that_is_missing_is_refused_in_one_sentence(self):
        result = self.start("simple_model", "--backend", "nccl")
        if result.returncode != 0:
            self.assert_rejected(result, 3)
            self.assertRegex(result.stderr, "nccl backend|NVIDIA driver|GPU|NCCL")
            self.assertEqual(len(result.stderr.splitlines()), 1)

    def long_run(self):
        """A program with three rank processes that would go on for minutes, and the ranks' process ids."""
        if "gloo" not in examples_case.BACKENDS:
            self.skipTest("threads are no processes")
        run = subprocess.Popen(
            [examples_case.PROGRAMS / "ring_all_reduce", "--ranks", "3", "--bytes", "64 MiB", "--iterations", "100000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(run.kill)
        children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
        deadline = time.monotonic() + 20
        while len(children.read_text().split()) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        return run, [int(pid) for pid in children.read_text().split()]

    def assert_gone(self, ranks):
        for pid in ranks:
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), "a rank is left")

    def test_a_rank_that_is_lost_is_named(self):
        run, ranks = self.long_run()
        os.kill(ranks[1], signal.SIGKILL)
        _, errors = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 1)
        self.assertIn("rank 1 was killed by signal 9 (Killed)", errors)
        self.assert_gone(ranks)

    def test_an_interrupt_ends_all_ranks(self):
        run, ranks = self.long_run()
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=120)
        self.assertEqual(run.returncode, -signal.SIGINT)
        self.assert_gone(ranks)


if __name__ == "__main__":
    unittest.main()
