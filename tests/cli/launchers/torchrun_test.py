"""ringside under torchrun, two nodes of it on this machine, and under whoever sets the same variables by hand."""

import os
import shutil
import socket
import subprocess
import sys
import unittest

from ringside_case import PROGRAM, RingsideCase

SCENARIO = """name: small
machine: this
backend: gloo
algorithms: [ring, native]
ranks: {ranks}
message_sizes: [4 KiB]
"""
QUICK = ("--time-per-point", "0.01 s", "--repetitions", "1", "--quiet")
TORCHRUN = shutil.which("torchrun")


def why_not():
    if TORCHRUN is None:
        return "torchrun is not installed (Debian package python3-torch)"
    asked = subprocess.run([TORCHRUN, "--help"], capture_output=True, text=True, check=False)
    return None if asked.returncode == 0 else f"{TORCHRUN} does not run: {asked.stderr.strip().splitlines()[-1]}"


SKIPPED = why_not()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class NotStartedByOthers(RingsideCase):
    def test_what_they_would_be_told_bears_on_nothing(self):
        self.write("small.yaml", SCENARIO.format(ranks=2))
        run = subprocess.run([PROGRAM, "measure", "small.yaml", *QUICK, "--output", "out"], cwd=self.folder, capture_output=True, text=True, check=False,
                             env=os.environ | {"MASTER_ADDR": "nowhere", "MASTER_PORT": "none"})
        self.assertEqual(run.returncode, 0, run.stderr)


class UnderTorchrun(RingsideCase):
    def end(self, processes):
        """What all of them say, and how they end."""
        said = []
        for process in processes:
            out, error = process.communicate(timeout=120)
            said.append((process.returncode, out, error))
        return said

    def start(self, *words, more):
        return subprocess.Popen(list(map(str, words)), cwd=self.folder, env=os.environ | more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def by_hand(self, ranks, *more_words, started=None, **more):
        """The same variables, set by no torchrun. `started`: which ranks there are, and of how many each is told."""
        self.write("small.yaml", SCENARIO.format(ranks=ranks))
        more = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(free_port())} | more
        return self.end([self.start(PROGRAM, "measure", "small.yaml", *QUICK, "--timeout", "3 s", "--output", f"out{rank}", *more_words,
                                    more=more | {"RANK": str(rank), "WORLD_SIZE": str(size)}) for rank, size in started or [(rank, ranks) for rank in range(ranks)]])

    def assert_measured(self, points, ranks):
        found = [(point["measured"]["outcome"], point["measured"]["backend"], point["ranks"])
                 for point in self.records((self.folder / points / "results.jsonl").read_text()) if point["record"] == "point"]
        self.assertEqual(found, [("ok", "gloo", ranks)] * 2)

    @unittest.skipIf(SKIPPED, SKIPPED)
    def test_two_nodes_meet_without_being_told_where(self):
        self.write("small.yaml", SCENARIO.format(ranks=4))
        port = free_port()
        # Python 3.11 has no Std.NONE for Debian's torchrun: without --redirects and --tee it starts nothing.
        nodes = [self.start(TORCHRUN, "--no_python", "--nnodes", 2, "--node_rank", node, "--master_addr", "127.0.0.1", "--master_port", port,
                            "--nproc_per_node", 2, "--redirects", 1, "--tee", 1, "--log_dir", self.folder / "logs",
                            "sh", "-c", 'for output in first second; do "$@" --output $output-$RANK || exit; done', "--",
                            PROGRAM, "measure", "small.yaml", *QUICK, more={}) for node in (0, 1)]
        for status, out, error in self.end(nodes):
            self.assertEqual(status, 0, out + error)
        for run in ("first", "second"):  # The second meets in a store that knows of the first.
            self.assert_measured(f"{run}-0", 4)

    def test_rank_0_serves_where_nobody_does(self):
        for status, out, error in self.by_hand(3):
            self.assertEqual(status, 0, out + error)
        self.assert_measured("out0", 3)

    def assert_all(self, ended, status, *words):
        for found, _, error in ended:
            self.assertEqual(found, status, error)
            for word in words:
                self.assertIn(word, error)
            self.assertEqual(len(error.splitlines()), 1, error)

    def test_what_is_wrong_is_said_once_and_in_time(self):
        self.assert_all(self.by_hand(2, MASTER_PORT="x"), 2, "MASTER_PORT=x, which is no port")
        self.assert_all(self.by_hand(2, TORCHELASTIC_USE_AGENT_STORE="True"), 1, "did not meet within 3 s at localhost:", "Connection refused")
        self.assert_all(self.by_hand(3, started=[(0, 3), (1, 3)]), 1, "rank 0 did not meet rank 2 within 3 s at localhost:")
        self.assert_all(self.by_hand(2, started=[(1, 2)], MASTER_ADDR="no.such.host.invalid"), 1, "no.such.host.invalid")
        self.assert_all(self.by_hand(2, "--rendezvous", "env://", MASTER_ADDR=""), 2, "MASTER_ADDR and MASTER_PORT say, and they are not set")
        self.assert_all(self.by_hand(2, MASTER_ADDR=""), 2, "torchrun started this process", "--rendezvous", "MASTER_ADDR")
        with socket.create_server(("", 0)) as nothing:  # A server that says nothing.
            port = str(nothing.getsockname()[1])
            self.assert_all(self.by_hand(2, MASTER_PORT=port, TORCHELASTIC_USE_AGENT_STORE="True"), 3, f"localhost:{port}", "is no TCPStore of PyTorch")
            self.assert_all(self.by_hand(2, started=[(0, 2)], MASTER_PORT=port), 3, f"cannot listen at MASTER_PORT={port}", "Address already in use")

    def test_without_ranks_of_others_there_is_nothing_to_meet(self):
        self.write("small.yaml", SCENARIO.format(ranks=2))
        self.assert_rejected(self.run_ringside("measure", "small.yaml", *QUICK, "--rendezvous", "env://"), 2, "RANK and WORLD_SIZE are not set")


if __name__ == "__main__":
    sys.exit(unittest.main())
