"""Lets a test of scripts/link-lab run in network, mount and, without root, user namespaces of its own.

What such a test builds or forgets cannot be seen outside and ends with it, so test runs cannot disturb each other or
a lab that somebody is using. From the inside it looks like a machine without any lab.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

LINK_LAB = Path(__file__).resolve().parents[2] / "scripts" / "link-lab"
TRAFFIC = Path(__file__).with_name("traffic.py")
PREFIX = "labtest"
INSIDE = "RINGSIDE_LAB_TEST_INSIDE"
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def enter():
    """Starts this program again inside; returns there. Exits with SKIPPED where that is not permitted."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if INSIDE in os.environ:
        subprocess.run(["ip", "link", "set", "dev", "lo", "up"], check=True)
        return
    for tool in ("ip", "tc", "ethtool", "unshare"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed")
    way = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "--net"]
    prepare = "mount -t tmpfs tmpfs /run && mkdir /run/netns"
    trial = subprocess.run([*way, "sh", "-c", f"{prepare} && ip netns add x && ip netns exec x true"],
                           capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        skip(f"network namespaces are not permitted here: {' '.join(trial.stderr.split())}")
    os.environ[INSIDE] = "1"
    os.execvp(way[0], [*way, "sh", "-c", f'{prepare} && exec "$@"', "sh", sys.executable, *sys.argv])


def main():
    enter()
    unittest.main(verbosity=2)


def link_lab(*arguments, prefix=PREFIX, **options):
    """Runs link-lab; its outcome with standard output and standard error as text."""
    command, *rest = map(str, arguments)
    return subprocess.run([sys.executable, LINK_LAB, command, "--prefix", prefix, *rest], capture_output=True,
                          text=True, check=False, timeout=60, **options)


def address(rank):
    """Of a host, in a lab that had the first choice of subnets."""
    return f"10.77.0.{rank + 1}"


class Traffic:
    """A traffic.py that runs inside a host of the lab."""

    running = []

    def __init__(self, rank, *words):
        command = ["ip", "netns", "exec", f"{PREFIX}-{rank}", sys.executable, TRAFFIC, *map(str, words)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        Traffic.running.append(self.process)

    def line(self):
        return json.loads(self.process.stdout.readline())

    def finish(self):
        """What it printed last."""
        lines = self.process.communicate(timeout=60)[0].split()
        assert self.process.returncode == 0, f"{self.process.args} failed"
        return json.loads(" ".join(lines)) if lines else None

    @classmethod
    def stop_all(cls):
        for process in cls.running:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
        cls.running.clear()


def links_and_namespaces():
    listing = [subprocess.run(command, capture_output=True, text=True, check=True).stdout
               for command in (["ip", "-o", "link"], ["ip", "netns", "list"])]
    return listing[0], sorted(listing[1].split("\n"))


class LabTest(unittest.TestCase):
    """Nothing may be left behind by any test."""

    def setUp(self):
        self.before = links_and_namespaces()

    def tearDown(self):
        Traffic.stop_all()
        link_lab("down")
        self.assertEqual(links_and_namespaces(), self.before, "left behind")

    def expect(self, outcome, status, *words):
        """The exit status is as given and every one of the words was printed."""
        said = outcome.stdout + outcome.stderr
        self.assertEqual(outcome.returncode, status, said)
        self.assertNotIn("Traceback", said)
        for word in words:
            self.assertIn(word, said)
        return outcome
