"""A Slurm of its own: munged, slurmctld and a slurmd for each node, all of whose files lie in one folder."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "sinfo")
CONFIGURATION = """ClusterName=ringside
SlurmctldHost={controller}({address})
SlurmctldPort={port}
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
SlurmdTimeout={timeout}
MessageTimeout=5
TreeWidth=50
"""


class NoSlurm(Exception):
    """There is none here; says why."""


def why_not():
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        return f"{', '.join(missing)} not installed (Debian packages slurm-wlm and munge)"
    return "Slurm's daemons start ranks as root only" if os.geteuid() != 0 else None


@dataclass(frozen=True)
class Node:
    """Where a slurmd listens, the host name that it finds there, and what is put before its command."""

    address: str = "127.0.0.1"
    host: str = socket.gethostname().partition(".")[0]
    wrap: tuple = ()


def processes_with(text):
    """Whose command or environment holds the text, this process and what it came from aside."""
    found = []
    own = {os.getpid(), os.getppid()}
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) not in own:
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
    """The controller runs where the first node does."""

    def __init__(self, nodes, cpus=8, timeout=10):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-slurm-"))
        self.daemons = []
        self.nodes = nodes
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.folder.chmod(0o755)
        for name in ("munge", "state", *(f"n{i}" for i in range(len(nodes)))):
            (self.folder / name).mkdir(mode=0o755)
        self.configure(cpus, timeout)

    def begin(self):
        """Throws NoSlurm. stop() must follow, even then."""
        self.start_munge()
        self.start(*self.nodes[0].wrap, "slurmctld", "-D")
        self.slurmds = [self.start(*node.wrap, "slurmd", "-D", "-N", f"n{i}") for i, node in enumerate(self.nodes)]
        if not wait_until(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == str(len(self.nodes)), 20):
            raise NoSlurm(f"Slurm does not start here: {self.said()}")

    def configure(self, cpus, timeout):
        # Nodes of one host tell each other apart by ports; those of different hosts may keep the same.
        sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(len(self.nodes) + 1)]
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        first = self.nodes[0]
        text = CONFIGURATION.format(folder=self.folder, port=ports[0], controller=first.host, address=first.address, timeout=timeout)
        for i, (node, port) in enumerate(zip(self.nodes, ports[1:])):
            text += f"NodeName=n{i} NodeHostname={node.host} NodeAddr={node.address} Port={port} CPUs={cpus}\n"
        text += f"PartitionName=all Nodes=n[0-{len(self.nodes) - 1}] Default=YES State=UP\n"
        (self.folder / "slurm.conf").write_text(text)

    def start_munge(self):
        munge = self.folder / "munge"
        key = munge / "key"
        key.touch(mode=0o400)
        key.write_bytes(os.urandom(1024))
        self.start("munged", "--foreground", *(f"--{what}={munge}/{what.partition('-')[0]}" for what in ("key-file", "socket", "pid-file", "log-file", "seed-file")))
        if not wait_until((munge / "socket").exists, 10):
            raise NoSlurm(f"munged does not start: {self.said()}")

    def start(self, *command):
        with (self.folder / "said").open("ab") as said:
            self.daemons.append(subprocess.Popen(command, env=self.environment, stdout=said, stderr=said))
        return self.daemons[-1]

    def said(self):
        return (self.folder / "said").read_text(errors="replace")[-1000:]

    def run(self, *command, cwd=None, deadline=60, more=None):
        """One of Slurm's commands, or any other, where the controller runs."""
        return subprocess.run([*self.nodes[0].wrap, *map(str, command)], cwd=cwd, env={**self.environment, **(more or {})},
                              capture_output=True, text=True, timeout=deadline, check=False)

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
