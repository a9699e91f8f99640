"""The kinds of faults: each makes one in a run that is under way, or before it starts, and says what may come of it.

Only what must hold at any moment is asserted; where a fault came too late to matter, the run ends well.
"""

import os
import pathlib
import random
import resource
import signal
import subprocess
import time

from trial import GRACE, Failed, Trial, processes_of, ranks_of, require

# Seconds from the start within which something goes wrong: all phases of an undisturbed run.
SPAN = {"gloo": 1.5, "threads": 0.5, "mpi": 2.0, "rehearsal": 1.2}


def wait_a_while(trial):
    """A random moment of the run. False: it was over before."""
    until = time.monotonic() + trial.random.uniform(0, SPAN[trial.backend] * (2 if trial.command == "compare" else 1))
    while time.monotonic() < until:
        if trial.process.poll() is not None:
            return False
        time.sleep(0.005)
    return True


def send(pids, what):
    for pid in pids:
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass


def signal_to_program(trial):
    what = trial.random.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
    trial.start()
    made = wait_a_while(trial)
    if made:
        send([trial.process.pid], what)
    trial.wait(GRACE)
    interrupted = {-what, 130} if what == signal.SIGINT else {-what}
    if trial.backend == "mpi":  # mpirun answers in words of its own.
        interrupted |= {1, 128 + what, 137, 143, 129, 130}
    trial.check_end({0} | interrupted)
    trial.check_nothing_left(killed=what == signal.SIGKILL or trial.backend == "mpi")
    trial.check_resumed()
    return made


def signal_to_rank(trial):
    what = trial.random.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT])
    trial.start()
    made = wait_a_while(trial)
    ranks = ranks_of(trial.folder)
    made = made and bool(ranks)
    if made:
        send([trial.random.choice(ranks)], what)
    trial.wait(trial.timeout + GRACE)
    trial.check_end({0, 1})
    trial.check_nothing_left()
    trial.check_resumed()
    return made


def pause(trial):
    """Parent, ranks or all are stopped and go on; for longer than ranks wait for each other, or not."""
    trial.timeout = trial.random.choice([1.0, 3.0, 60.0])
    trial.start()
    made = wait_a_while(trial)
    who = trial.random.choice(["parent", "ranks", "one", "all"])
    ranks = ranks_of(trial.folder)
    pids = {"parent": [trial.process.pid], "ranks": ranks, "one": ranks[:1], "all": [trial.process.pid, *ranks]}[who]
    made = made and bool(pids)
    if made:
        send(pids, signal.SIGSTOP)
        time.sleep(trial.random.uniform(0.2, 6.0))
        trial.random.shuffle(pids)
        send(pids, signal.SIGCONT)
    trial.wait(trial.timeout + GRACE)
    # Where ranks wait for longer than the pause was, nobody may notice it.
    trial.check_end({0} if trial.timeout == 60 else {0, 1})
    if trial.process.returncode == 1:
        said = trial.said()
        # Who was stopped is named, or that nobody is at fault; a rank that ran all the time never is.
        require("did not run" in said or "is stopped" in said or who == "one", "paused:", who, trial.timeout, said[-400:])
    trial.check_nothing_left()
    trial.check_resumed()
    return made


def beneath(kind, who, most, allowed, resumes=True):
    """A fault that the shim makes at a random one of the first `most` calls."""
    def make(trial):
        rank = trial.random.randrange(2)
        seed = trial.random.randrange(1, 1 << 40)
        at = int(most ** trial.random.random())
        trial.start(f"{kind} {rank if who == 'rank' else 'parent'} {at} {seed}")
        trial.wait(trial.timeout + GRACE)
        made = trial.mark.exists()
        trial.check_end(allowed(trial) if made else {0})
        trial.check_nothing_left()
        if resumes:
            trial.check_resumed()
        return made
    return make


def flipped_bit(trial):
    """Every payload is of more than 4 KiB, and the sums of whole numbers keep every bit."""
    rank = trial.random.randrange(2)
    at = int(300 ** trial.random.random())
    trial.start(f"flip {rank} {at} {trial.random.randrange(1, 1 << 40)}")
    trial.wait(GRACE)
    made = trial.mark.exists()
    trial.check_end({1} if made else {0})
    require(not made or "wrong result" in trial.said(), "a flipped bit was not told:", trial.said()[-400:])
    trial.check_nothing_left()
    return made


def limited(trial):
    """Too little memory, too few files, or files that may not grow, for all or for the ranks."""
    what = trial.random.choice(["memory of ranks", "memory", "files", "length"])
    before = None
    if what == "memory of ranks":
        trial.extra = ["--wrap", f"prlimit --as={trial.random.randrange(10, 200) << 20}"]
    elif what == "memory":
        most = trial.random.randrange(40, 240) << 20
        before = lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))  # pylint: disable=unnecessary-lambda-assignment
    elif what == "files":
        most = trial.random.randrange(6, 40)
        before = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # pylint: disable=unnecessary-lambda-assignment
    else:
        most = trial.random.randrange(0, 8192)
        before = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # pylint: disable=unnecessary-lambda-assignment
    trial.start(before=before)
    trial.wait(trial.timeout + GRACE)
    # 127: the system's loader could not even start the program.
    loader = trial.process.returncode == 127 and "error while loading shared libraries" in trial.said()
    if not loader:
        trial.check_end({0, 1, 2, 3})
    failed = trial.process.returncode != 0
    trial.check_nothing_left()
    trial.extra = []
    trial.check_resumed()
    return failed


class ControlGroup:
    """A limit that a container or a batch system would set. `what`: memory, processes or time of the processor."""

    ROOT = pathlib.Path("/sys/fs/cgroup")
    # The controller, its file in the second and in the first version of control groups.
    FILES = {"memory": ("memory", "memory.max", "memory.limit_in_bytes"), "processes": ("pids", "pids.max", "pids.max"),
             "time": ("cpu", "cpu.max", "cpu.cfs_quota_us")}

    def __init__(self, what, most, name):
        """`most`: bytes, processes or a share of one core. OSError: not permitted here."""
        controller, second, first = self.FILES[what]
        unified = (self.ROOT / "cgroup.controllers").exists()
        self.folder = self.ROOT / ("" if unified else controller) / name
        self.folder.mkdir()
        try:
            limit = str(most)
            if what == "time":
                limit = f"{int(most * 1e5)} 100000" if unified else str(int(most * 1e5))
            (self.folder / (second if unified else first)).write_text(limit)
        except OSError:
            self.folder.rmdir()
            raise

    def enter(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        for _ in range(100):  # Until the last process is gone from it.
            try:
                return self.folder.rmdir()
            except OSError:
                time.sleep(0.05)
        raise Failed(f"processes are left in {self.folder}")


def control_group(trial):
    """Too little memory, too few processes or little time of the processor for all that the run starts."""
    what = trial.random.choice(list(ControlGroup.FILES))
    most = {"memory": trial.random.randrange(6, 120) << 20, "processes": trial.random.randrange(1, 40),
            "time": trial.random.uniform(0.1, 1)}[what]
    if what == "time":
        trial.timeout = 60.0
    try:
        group = ControlGroup(what, most, trial.folder.name)
    except OSError:
        return None  # Not permitted here.
    try:
        trial.start(before=group.enter)
        trial.wait(trial.timeout + GRACE)
        status = trial.process.returncode
        # Where memory is short, the kernel may choose this program instead of a rank.
        killed = what == "memory" and status == -9
        trial.check_end({0} if what == "time" else {0, 1, 2, 3} | ({-9} if killed else set()))
        trial.check_nothing_left(killed=killed)
    finally:
        for pid in processes_of(trial.folder):
            send([pid], signal.SIGKILL)
        group.remove()
    trial.check_resumed()
    return what == "time" or status != 0


def small_disk(trial):
    """The results lie on a file system of a few pages."""
    pages = trial.random.randrange(0, 8)
    trial.out.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={max(1, pages) * 4096}", "faults", trial.out], check=False, capture_output=True)
    if mounted.returncode != 0:
        return None  # Not permitted here.
    try:
        trial.start()
        trial.wait(GRACE)
        trial.check_end({0, 1, 2, 3})
        failed = trial.process.returncode != 0
        require(not failed or "No space left" in trial.said(), "said:", trial.said()[-400:])
        subprocess.run(["mount", "-o", "remount,size=64m", trial.out], check=True)
        trial.check_nothing_left()
        trial.check_resumed()
    finally:
        subprocess.run(["umount", "-l", trial.out], check=False)
    return failed


def busy_core(trial):
    """All share one core with two others that never rest."""
    trial.timeout = 60.0
    core = {min(os.sched_getaffinity(0))}
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=lambda: os.sched_setaffinity(0, core)) for _ in range(2)]
    try:
        trial.start(before=lambda: os.sched_setaffinity(0, core))
        trial.wait(trial.timeout + GRACE)
    finally:
        for other in others:
            other.kill()
            other.wait()
    trial.check_end({0})
    trial.check_nothing_left()
    return True


def ends_well(_trial):
    return {0}


def ends_named(_trial):
    return {0, 1}


def is_refused(_trial):
    return {0, 1, 2, 3}


# (name, backends, commands, what it does, promise)
KINDS = [
    ("signal to the program", ("gloo", "gloo", "threads", "mpi", "rehearsal"), ("measure", "compare"), signal_to_program,
     "ends by it; ranks and files go with it"),
    ("signal to a rank", ("gloo", "rehearsal"), ("measure", "compare"), signal_to_rank, "exit 1 within seconds, the rank and its signal named"),
    ("pause and continue", ("gloo", "gloo", "threads", "rehearsal"), ("measure", "compare"), pause,
     "goes on; for longer than `--timeout`: exit 1, and it says that nobody is at fault or who was stopped"),
    ("flipped bit in a message", ("gloo", "gloo", "mpi"), ("measure",), flipped_bit, "exit 1, wrong result with rank and element"),
    ("half-closed connection", ("gloo", "rehearsal"), ("measure", "compare"), beneath("shut", "rank", 400, ends_named), "exit 1, a rank named"),
    ("slow rank", ("gloo", "rehearsal"), ("measure",), beneath("slow", "rank", 200, ends_well, resumes=False), "slower, exit 0"),
    ("full disk, at any write", ("gloo", "threads"), ("measure", "compare"), beneath("full", "parent", 30, is_refused),
     "exit 2 or 3 with the file; the answer is printed where only charts are lost; what was written is kept"),
    ("small disk", ("gloo", "threads"), ("measure",), small_disk, "the same"),
    ("limits of memory, files and their length", ("gloo", "gloo", "threads"), ("measure",), limited, "exit 1, 2 or 3, the cause named"),
    ("no more processes or threads", ("gloo", "gloo", "threads"), ("measure", "compare"), beneath("processes", "parent", 12, is_refused),
     "exit 1 or 3, the cause named"),
    ("limits of a control group", ("gloo", "gloo", "threads"), ("measure", "compare"), control_group,
     "little time: slower, exit 0; else exit 1, 2 or 3, the cause named, or the kernel kills the program itself"),
    ("steps of the clock", ("gloo", "threads"), ("measure", "compare"), beneath("clock", "parent", 4, ends_well), "nothing changes, exit 0"),
    ("steps of a rank's clock", ("gloo", "rehearsal"), ("measure",), beneath("clock", "rank", 2, ends_well), "nothing changes, exit 0"),
    ("busy core", ("gloo", "threads"), ("measure",), busy_core, "slower, exit 0"),
]


def run_trial(number, seed, programs, only=None):
    """Trial `number` of a campaign: (kind, backend, whether the fault came in time, what was not kept or None)."""
    choice = random.Random(f"{seed}-{number}")
    kinds = [kind for kind in KINDS if not only or only in kind[0]]
    name, backends, commands, make, _ = kinds[number % len(kinds)]
    backends = [backend for backend in backends if backend != "rehearsal" or programs["rehearsal"]]
    backends = [backend for backend in backends if backend != "mpi" or programs["mpirun"]]
    backend = choice.choice(backends)
    command = choice.choice(commands) if backend == "gloo" else "measure"
    flips = make is flipped_bit
    trial = Trial(programs, backend, f"{seed}-{number}", command, dtype="int32" if flips else "float32", large=flips)
    try:
        return name, backend, make(trial), None
    except Failed as error:
        return name, backend, True, f"{command}: {error}"
    finally:
        trial.end()
        assert not processes_of(trial.folder)
