"""What the tests of the tutorial's programs share: every number of ranks on every backend, with a deadline."""

import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAMS = pathlib.Path(os.environ["RINGSIDE_EXAMPLES"])
# A rehearsal of GPUs asks for its own backend, and for few numbers of ranks.
BACKENDS = os.environ.get("RINGSIDE_EXAMPLES_BACKENDS", "threads gloo" if os.environ["RINGSIDE_HAS_GLOO"] == "ON" else "threads").split()
RANKS = [int(n) for n in os.environ.get("RINGSIDE_EXAMPLES_RANKS", "1 2 3 4 8").split()]


class ExamplesCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, name, *arguments, deadline=240):
        return subprocess.run(
            [PROGRAMS / name, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=deadline,
            check=False,
        )

    def output(self, name, *arguments, deadline=240):
        """Standard output of a run that must go well."""
        result = self.start(name, *arguments, deadline=deadline)
        self.assertEqual(result.returncode, 0, f"{name} {arguments}\n{result.stdout}{result.stderr}")
        self.assertEqual(result.stderr, "")
        return result.stdout

    def outputs(self, name, *arguments, ranks=RANKS, deadline=240):
        """(number of ranks, output) for every number of ranks on every backend."""
        for backend in BACKENDS:
            for n in ranks:
                with self.subTest(backend=backend, ranks=n):
                    yield n, self.output(name, "--ranks", n, "--backend", backend, *arguments, deadline=deadline)

    def assert_rejected(self, result, status, *words):
        """The exit status and one clear message on standard error, nothing else."""
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertNotIn("bug", result.stderr)
        self.assertLessEqual(len(result.stderr.splitlines()), 3, result.stderr)
