"""ringside under srun: a Slurm of two nodes on this machine, made for the test and taken away after it."""

import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from launchers import mpi_test
from ringside_case import PROGRAM, RingsideCase

# Both nodes are one host, in which Open MPI would take the same names of shared memory on each.
APART = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}
NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "sinfo")
NODES = 2
CONFIGURATION = """ClusterName=ringside
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
JobAcctGatherType=jobacct_gather/none
KillWait=2
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=8
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=8
PartitionName=all Nodes=n0,n1 Default=YES State=UP
"""


def why_not():
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian packages slurm-wlm and munge)"
    return "Slurm's daemons start ranks as root only" if os.geteuid() != 0 else None


SKIPPED = why_not()


def processes_with(text):
    """Whose command or environment holds the text, this process aside."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                known = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            except OSError:
                continue
            if text.encode() in known:
                found.append(int(folder.name))
    return found


def wait_until(condition, seconds):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


class Slurm:
    """munged, slurmctld and a slurmd for each node, all in one folder."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-slurm-"))
        self.folder.chmod(0o755)
        for name in ("munge", "state", "n0", "n1"):
            (self.folder / name).mkdir(mode=0o755)
        key = self.folder / "munge" / "key"
        key.touch(mode=0o400)
        key.write_bytes(os.urandom(1024))
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(NODES + 1)]
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        self.configuration = self.folder / "slurm.conf"
        self.configuration.write_text(CONFIGURATION.format(folder=self.folder, ports=ports, host=socket.gethostname().partition(".")[0]))
        self.environment = {**os.environ, "SLURM_CONF": str(self.configuration)}
        munge = self.folder / "munge"
        self.daemons = []
        self.start("munged", "--foreground", *(f"--{what}={munge}/{what.partition('-')[0]}" for what in ("key-file", "socket", "pid-file", "log-file", "seed-file")))
        if not wait_until((munge / "socket").exists, 10):
            raise unittest.SkipTest(f"munged does not start: {self.said()}")
        self.start("slurmctld", "-D")
        for node in range(NODES):
            self.start("slurmd", "-D", "-N", f"n{node}")
        if not wait_until(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(NODES), 20):
            raise unittest.SkipTest(f"Slurm does not start here: {self.said()}")

    def start(self, *command):
        with (self.folder / "said").open("ab") as said:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=said, stderr=said))

    def said(self):
        return (self.folder / "said").read_text(errors="replace")[-1000:]

    def run(self, *command, cwd=None, deadline=60, more=None):
        return subprocess.run([*map(str, command)], cwd=cwd, env={**self.environment, **(more or {})}, capture_output=True, text=True, timeout=deadline, check=False)

    def stop(self):
        """Returns what is left of it."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in reversed(self.daemons):
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        wait_until(lambda: not processes_with(str(self.folder)), 5)
        left = processes_with(str(self.folder))
        for process in left:  # A failure, and still nobody else's to clear up.
            os.kill(process, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
        return left


class UnderSlurm(RingsideCase):
    @classmethod
    def setUpClass(cls):
        if SKIPPED:
            raise unittest.SkipTest(SKIPPED)
        try:
            cls.slurm = Slurm.__new__(Slurm)
            cls.slurm.__init__()
        except BaseException:
            cls.slurm.stop()
            raise

    @classmethod
    def tearDownClass(cls):
        left = cls.slurm.stop()
        if left:
            raise AssertionError(f"processes {left} are left")

    def scenario(self, ranks, sizes="4 KiB, 256 KiB"):
        return self.write("small.yaml", mpi_test.SCENARIO.format(ranks=ranks, algorithms="ring, native", collective="all_reduce", sizes=sizes))

    def srun(self, *arguments, ranks=4, mpi="none", nodes=NODES):
        more = APART if nodes > 1 else {}
        return self.slurm.run("srun", "-N", nodes, "-n", ranks, f"--mpi={mpi}", PROGRAM, *arguments, cwd=self.folder, more=more)

    def points(self):
        return [record for record in self.records((self.folder / "out" / "results.jsonl").read_text()) if record["record"] == "point"]

    def need(self, *words):
        """Skips unless the MPI library of this build is one of these."""
        if mpi_test.SKIPPED:
            self.skipTest(mpi_test.SKIPPED)
        doctor = self.run_ringside("doctor").stdout
        if not any(word in doctor for word in words):
            self.skipTest(f"this build's MPI is none of {', '.join(words)}")

    def test_mpi_over_pmix_on_one_node_and_on_two(self):
        self.need("Open MPI v")
        kinds = self.slurm.run("srun", "--mpi=list")
        if "pmix" not in kinds.stdout + kinds.stderr:
            self.skipTest("this Slurm has no PMIx")
        for nodes, ranks in ((1, 2), (2, 4)):
            result = self.srun("measure", self.scenario(ranks), *mpi_test.QUICK, "--output", "out", mpi="pmix", nodes=nodes, ranks=ranks)
            self.assertEqual(result.returncode, 0, result.stderr)
            found = [(point["measured"]["outcome"], point["measured"]["backend"], point["ranks"]) for point in self.points()]
            self.assertEqual(found, [("ok", "mpi", ranks)] * 4)

    def test_ranks_that_srun_started_each_alone_are_told_what_to_say(self):
        self.need("Open MPI v")
        begin = time.monotonic()
        result = self.srun("measure", self.scenario(4), *mpi_test.QUICK, "--output", "out")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("asked 4, found 4 times 1", result.stderr)
        self.assertIn("--mpi=pmix", result.stderr)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(self.points(), [])

    def test_gloo_meets_in_a_folder(self):
        for mpi in ("none", "pmi2"):
            result = self.srun("measure", self.scenario(3), "--backend", "gloo", "--rendezvous", f"file://{self.folder}/meet", *mpi_test.QUICK,
                               "--output", "out", ranks=3, mpi=mpi)
            self.assertEqual(result.returncode, 0, f"{mpi}: {result.stderr}")
            self.assertEqual({(point["measured"]["outcome"], point["measured"]["backend"]) for point in self.points()}, {("ok", "gloo")})

    def test_without_a_place_to_meet_every_rank_says_so(self):
        result = self.srun("measure", self.scenario(2), "--backend", "gloo", "--output", "out", ranks=2)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("Slurm started this process as rank 0 of 2", result.stderr)
        self.assertIn("--rendezvous file:///", result.stderr)

    def test_a_batch_script_itself_starts_ranks_of_its_own(self):
        script = self.write("job.sh", f"#!/bin/sh\nexec {PROGRAM} measure small.yaml --backend threads {shlex.join(map(str, mpi_test.QUICK))} --output out\n")
        self.scenario(2)
        result = self.slurm.run("sbatch", "--wait", "-N", NODES, "--ntasks-per-node", 2, "-o", "said", script, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr + (self.folder / "said").read_text())
        self.assertEqual({point["measured"]["backend"] for point in self.points()}, {"threads"})


if __name__ == "__main__":
    sys.exit(unittest.main())
