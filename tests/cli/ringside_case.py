"""What the command tests share: a scratch folder, a run of the program with a deadline, and its verdict."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["RINGSIDE"]
LAB = os.environ.get("RINGSIDE_LAB")  # ringside-lab, for what tests it.
SOURCE = pathlib.Path(os.environ["RINGSIDE_SOURCE"])


class RingsideCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def run_lab(self, *arguments, **how):
        return self.run_ringside(*arguments, program=LAB, **how)

    def run_ringside(self, *arguments, deadline=240, environment=None, program=PROGRAM):
        """Runs the program in the scratch folder; a hang is a failure, not a wait."""
        return subprocess.run(
            [program, *map(str, arguments)],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=deadline,
            check=False,
            env={**os.environ, **(environment or {})},
        )

    def assert_rejected(self, result, status, *words):
        """The exit status, one clear message on standard error, nothing that looks like a crash."""
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        for crash in ("terminate called", "Aborted", "bug of ringside", "what():", "core dumped"):
            self.assertNotIn(crash, result.stderr)
        self.assertLessEqual(len(result.stderr.splitlines()), 8, result.stderr)

    @staticmethod
    def records(text):
        return [json.loads(line) for line in text.splitlines() if line.strip()]


CUSTOM = """name: custom
algorithms: [naive, tutorial_ring, ring]
ranks: 8
message_sizes: [80 MB]
machine:
  intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}
"""
