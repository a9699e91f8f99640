"""One trial: a run of the program, something that goes wrong, and what must hold afterwards whenever it went wrong."""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

SCENARIO = """name: faults
algorithms: [{algorithms}]
ranks: {ranks}
message_sizes: [{sizes}]
dtype: {dtype}
machine: {machine}
"""
GPUS = "{intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}"
CRASHES = ("bug of ringside", "terminate called", "core dumped", "AddressSanitizer")
# Beyond the deadlines that are asked for: starting, drawing and ending on a machine where others compute.
GRACE = 180
NAMED = re.compile(
    r"rank \d|ranks \d|this program did not run|memory|grants|refuses|Resource temporarily|No space left|too large|permitted|did not meet|cannot|"
    r"too many|Too many")


class Failed(Exception):
    """A promise that was not kept."""


def require(condition, *why):
    if not condition:
        raise Failed(" ".join(map(str, why)))


def ended_within(process, seconds, progress=lambda: None):
    """Whether it ends before it makes no progress for this time, in which only what we see passing counts: whoever stops the campaign stops
    the program, too. Beside other load a run that goes on is no hang."""
    piece = 0.5
    left, seen = seconds, progress()
    while left > 0:
        try:
            process.wait(timeout=piece)
            return True
        except subprocess.TimeoutExpired:
            now = progress()
            left, seen = (left - piece if now == seen else seconds), now
    return False


def processes_of(folder):
    """Living processes whose temporary directory is in this folder: the program and all its ranks."""
    mark = f"TMPDIR={folder}/tmp".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    ours = mark in file.read().split(b"\0")
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    ours = ours and file.read().rsplit(")", 1)[1].split()[0] != "Z"
            except OSError:
                continue
            if ours:
                found.append(int(entry))
    return sorted(found)


def ranks_of(folder):
    ranks = []
    for pid in processes_of(folder):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if len(words) > 2 and words[1] == b"rank":
            ranks.append(pid)
    return ranks


def measured_points(journal):
    """What a journal says of each point, repetitions added up; every whole line must be a record."""
    points = {}
    if not journal.exists():
        return points
    for line in journal.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        if not line.endswith("\n"):
            break  # What a killed run may leave.
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise Failed(f"the journal has a line that is no record: {line[:80]!r}") from error
        if record["record"] in ("point", "repetition") and record.get("measured"):
            key = record["algorithm"], record["ranks"], record["bytes"]
            samples = record["measured"].get("samples", [])
            if record["record"] == "repetition" and key in points:
                samples = points[key]["samples"] + samples
            points[key] = {**record["measured"], "samples": samples}
    return points


class Trial:
    """A run in a folder of its own. `backend`: gloo, threads, mpi or rehearsal; mpi: ranks that mpirun starts."""

    def __init__(self, programs, backend, seed, command="measure", timeout=3.0, dtype="float32", large=False):
        self.programs, self.backend, self.command, self.timeout = programs, backend, command, timeout
        self.random = random.Random(seed)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-fault-")).resolve()
        (self.folder / "tmp").mkdir()
        self.out = self.folder / "out"
        self.mark = self.folder / "mark"
        native = ", native" if backend in ("gloo", "mpi") else ""
        self.ranks = [2] if backend in ("mpi", "rehearsal") else [2, 3]
        (self.folder / "faults.yaml").write_text(SCENARIO.format(
            algorithms=f"naive, ring{native}", ranks=self.ranks, sizes="256 KiB" if large else "4 KiB, 256 KiB", dtype=dtype,
            machine=GPUS if backend == "rehearsal" else "this"), encoding="utf-8")
        self.process = None
        self.extra = []

    def arguments(self, *more, timeout=None):
        program = self.programs["rehearsal" if self.backend == "rehearsal" else "ringside"]
        words = [program, self.command, "faults.yaml", "--output", "out", "--timeout", f"{timeout or self.timeout} s", "--time-per-point", "0.2 s"]
        if self.command == "compare":
            words += ["--calibrate-time", "0.3 s"]
        if self.backend != "mpi":
            words += ["--backend", {"rehearsal": "nccl"}.get(self.backend, self.backend)]
            return words + self.extra + list(more)
        words += ["--backend", "gloo", "--rendezvous", f"file://{self.folder}/meet"]
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(self.ranks[0])] + words + self.extra + list(more)

    def environment(self, fault):
        variables = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_", "PMIX_"))}
        variables |= {"TMPDIR": f"{self.folder}/tmp", "RINGSIDE_REHEARSAL": "gpus=2"}
        if fault:
            variables |= {"LD_PRELOAD": self.programs["shim"], "RINGSIDE_FAULT": f"{fault} {self.mark}"}
        return variables

    def start(self, fault="", before=None):
        """`fault`: what the shim does, "KIND WHO AT SEED"."""
        # A group of its own, so that nothing that we do to it reaches the campaign. Output goes to files: a pipe that nobody reads would be a
        # fault of its own.
        with open(self.folder / "stdout", "wb") as out, open(self.folder / "stderr", "wb") as err:
            self.process = subprocess.Popen(self.arguments(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=self.environment(fault), start_new_session=True, preexec_fn=before)
        return self.process

    def wait(self, seconds):
        require(ended_within(self.process, seconds, self.said), f"it hangs: nothing new for {seconds:.0f} s;", self.said()[-300:])

    def said(self):
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")

    def check_end(self, allowed):
        """The exit status is one of `allowed`, nothing crashed, and what went wrong is named."""
        status, said = self.process.returncode, self.said()
        for crash in CRASHES:
            require(crash not in said, "said:", said[-400:])
        require(status in allowed, "exit status", status, "is none of", allowed, "said:", said[-400:])
        if status > 0 and status != 130 and self.backend != "mpi":
            require("ringside: " in said, "it says nothing of why it failed:", said[-400:])
        if status in (1, 3):
            require(NAMED.search(said) or "wrong result" in said, "neither rank nor cause is named:", said[-400:])

    def check_nothing_left(self, killed=False):
        """No process, no temporary file; one that had no time to clean up may leave a folder, which the next run removes."""
        until = time.monotonic() + 20
        while (left := processes_of(self.folder)) and time.monotonic() < until:
            time.sleep(0.02)
        require(not left, "processes are left:", left)
        files = list((self.folder / "tmp").iterdir())
        if self.backend == "mpi":  # mpirun has a folder of its own for a session.
            files = [file for file in files if "ringside" in file.name]
        require(killed or not files, "files are left:", files)
        for file in files:
            minutes_ago = time.time() - 120
            os.utime(file, (minutes_ago, minutes_ago))
        hidden = [file.name for file in self.out.glob(".*")] if self.out.exists() else []
        require(not hidden, "drafts are left:", hidden)

    def check_resumed(self):
        """--resume ends well, keeps every sample of what was finished and measures the rest."""
        before = measured_points(self.out / "results.jsonl")
        with open(self.folder / "stdout", "ab") as out, open(self.folder / "stderr2", "wb") as err:
            self.process = done = subprocess.Popen(self.arguments("--resume", timeout=60), cwd=self.folder, stdin=subprocess.DEVNULL,
                                                   stdout=out, stderr=err, env=self.environment(""), start_new_session=True)
        in_time = ended_within(done, GRACE + 60)
        said = (self.folder / "stderr2").read_text(encoding="utf-8", errors="replace")
        require(in_time, "--resume hangs:", said[-300:])
        finished = [key for key, point in before.items() if point["outcome"] == "ok"]
        wrong = [key for key, point in before.items() if point["outcome"] == "wrong_result"]
        require(done.returncode == (1 if wrong else 0), "--resume ended with", done.returncode, said[-400:])
        after = measured_points(self.out / "results.jsonl")
        natives = 1 if self.backend in ("gloo", "mpi") else 0
        sizes = 1 if "[256" in (self.folder / "faults.yaml").read_text(encoding="utf-8") else 2
        require(len(after) == len(self.ranks) * sizes * (2 + natives), "points after --resume:", sorted(after))
        for key in finished:
            require(after[key]["samples"][:len(before[key]["samples"])] == before[key]["samples"], "samples were lost of", key)
        left = [file for file in (self.folder / "tmp").iterdir() if "ringside" in file.name]
        require(not left, "after --resume there are still", left)

    def end(self):
        if self.process and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        for pid in processes_of(self.folder):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
