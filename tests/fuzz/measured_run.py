"""A command that runs alone, with what it took."""

import dataclasses
import os
import pathlib
import resource
import signal
import subprocess
import time

GIGABYTE = 1_000_000_000


@dataclasses.dataclass
class Run:
    """Bytes that were resident at most; seconds of a core, which other load does not change much."""

    status: int
    output: bytes
    errors: bytes
    seconds: float
    memory: int


def measured_run(command, folder: pathlib.Path, seconds: float, memory: int, patience: float = 60) -> Run:
    """Ends what takes more than twice of what is permitted, as the kernel does, or hangs for longer than `patience`."""
    def limit():
        most = int(2 * seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))
        resource.setrlimit(resource.RLIMIT_AS, (2 * memory + GIGABYTE, 2 * memory + GIGABYTE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with open(folder / "stdout", "w+b") as output, open(folder / "stderr", "w+b") as errors:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, preexec_fn=limit, start_new_session=True)
        deadline = time.monotonic() + patience
        pid, pause = 0, 0.001
        while pid == 0 and time.monotonic() < deadline:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                time.sleep(pause)
                pause = min(2 * pause, 0.02)
        if pid == 0:
            os.killpg(process.pid, signal.SIGKILL)
            _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        return Run(process.returncode, output.read(), errors.read(), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
