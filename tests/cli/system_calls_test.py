"""Calls of the system that fail, by strace, one kind in a run: each that a short command makes on its files, and some of ranks."""

import collections
import os
import re
import shutil
import subprocess
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase

STRACE = [shutil.which("strace") or "strace", "-f", "-y", "--seccomp-bpf"]
# `+`: from this call on. A disk that fails once fails again, but what cannot be written may still be told.
ERRORS = {"openat": "EACCES+", "read": "EIO+", "mkdir": "EACCES+", "write": "ENOSPC", "writev": "ENOSPC", "rename": "EACCES", "ftruncate": "EIO",
          "flock": "ENOLCK"}
COMMANDS = {
    "plan": ("plan", "--model", "resnet34", "--gpus", "8xA100", "--no-charts", "--report"),
    "predict": ("predict", "in/small.yaml", "--no-charts", "--report"),
    "sweep": ("predict", "in/small.yaml", "--no-charts", "--sweep", "ranks=2,4"),
    "trace": ("trace", "in/small.yaml", "--algorithm", "ring", "--format", "json", "--quiet"),
    "tune": ("tune", "in/mpi.yaml"),
    "import": ("import", "in/slow.log"),
    "anonymise": ("import", "in/slow.log", "--anonymise"),
    "topology": ("import", "topo", "in/slots.xml"),
    "submit": ("submit", "in/slow.log", "--machine", "8x-l40s-pcie4-two-sockets", "--source", "https://example.org/slow"),
    "check": ("check", "in/slow.log", "--no-charts"),
}
MPI = """name: rules
backend: mpi
algorithms: [ring]
ranks: [2, 4]
message_sizes: [8 B, 32 KiB]
machine: {software: {mpi: Open MPI 4.1.4}, intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}
"""

HERE = """name: here
algorithms: [ring]
ranks: 2
message_sizes: [64 KiB]
machine: this
"""
# (backend, call, which one, error, what is said about it)
OF_RANKS = [
    ("gloo", "socket", 2, "EMFILE", "Too many open files"), ("gloo", "socket", 4, "EMFILE", "Too many open files"),
    ("gloo", "bind", 2, "EADDRINUSE", "Address already in use"), ("gloo", "listen", 1, "EADDRINUSE", "Address already in use"),
    ("gloo", "connect", 1, "ECONNREFUSED", "Connection refused"), ("gloo", "accept4", 1, "EMFILE", "Too many open files"),
    ("gloo", "epoll_create", 1, "EMFILE", "Too many open files"), ("gloo", "clone3", 2, "EAGAIN", "Resource temporarily unavailable"),
    ("gloo", "rename", 1, "EACCES", "Permission denied"), ("shm", "rename", 1, "EACCES", "Permission denied"),
    ("shm", "memfd_create", 1, "ENOSYS", "there is no shared memory here: Function not implemented"),
    ("shm", "ftruncate", 1, "EFBIG", "there is no shared memory of"), ("shm", "ftruncate", 2, "EFBIG", "could not allocate its memory for 64 KiB"),
    ("shm", "clone3", 1, "EAGAIN", "Resource temporarily unavailable"),
]


def why_not():
    if os.environ.get("RINGSIDE_SANITIZED"):
        return "sanitizers do not look for leaks in what is traced"
    if not os.path.exists(STRACE[0]):
        return "strace is not installed"
    tried = subprocess.run([*STRACE, "-o", "/dev/null", "-e", "inject=chroot:error=EPERM", "true"], capture_output=True, text=True, check=False)
    return f"strace may not trace here: {tried.stderr.strip()}" if tried.returncode != 0 else None


@unittest.skipIf(why_not(), why_not())
class SystemCalls(RingsideCase):
    def traced(self, arguments, name, *what):
        """The command in a folder of its own, with strace's `what`: (result, folder, strace's log)."""
        folder = self.folder / name
        (folder / "in").mkdir(parents=True)
        (folder / "in" / "small.yaml").write_text(CUSTOM.replace("tutorial_ring, ", ""))
        (folder / "in" / "mpi.yaml").write_text(MPI)
        shutil.copy(SOURCE / "tests/golden/logs/l40s-slow.log", folder / "in" / "slow.log")
        shutil.copy(SOURCE / "tests/fuzz/corpus/topology_xml/slots.xml", folder / "in" / "slots.xml")
        log = folder / "log"
        result = subprocess.run([*STRACE, "-o", log, *what, PROGRAM, *arguments, "--output", "out"], cwd=folder, capture_output=True, text=True,
                                timeout=30, check=False, env={**os.environ, "PATH": str(folder)})  # Without gnuplot.
        return result, folder, log.read_text(errors="replace")

    @staticmethod
    def calls_on_files(log):
        """(call, how many such calls the program had made, the file's final name) of those on what a user named."""
        counts, main = collections.Counter(), None
        for line in log.splitlines():
            found = re.match(r"(\d+) +(\w+)\((.*)", line)
            if not found:
                continue
            main = main or found[1]
            if found[1] != main:
                continue
            counts[found[2]] += 1
            file = re.search(r"\b(?:in|out)(?:/\.?([\w.-]+?)(?:\.\d+)?)?[\">]", found[3])
            if file:
                yield found[2], counts[found[2]], file[1] or "out"
            elif re.match(r"1<", found[3]):
                yield found[2], counts[found[2]], "standard output"

    def check_files(self, folder, whole):
        """What is there under its final name is as long as it should be; journals may lack lines, but no parts of lines."""
        for path in (folder / "out").iterdir() if (folder / "out").exists() else ():
            self.assertFalse(path.name.startswith("."), "is left over")
            text = path.read_text()
            if path.suffix == ".jsonl":
                self.assertTrue(not text or text.endswith("\n"), path.name)
                self.records(text)
            else:
                self.assertEqual(text.splitlines()[-1], whole[path.name].splitlines()[-1], path.name)

    def check_command(self, arguments):
        good, folder, log = self.traced(arguments, "good", "-e", "trace=" + ",".join(ERRORS))
        whole = {path.name: path.read_text() for path in (folder / "out").glob("*")}
        calls = list(self.calls_on_files(log))
        self.assertGreater(len(calls), 3)
        for call, number, name in calls:
            with self.subTest(call=call, number=number, file=name):
                error, more = ERRORS[call].rstrip("+"), "+" * ERRORS[call].endswith("+")
                result, folder, _ = self.traced(arguments, f"{call}-{number}", "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={number}{more}")
                if result.returncode == good.returncode:
                    # Nothing was lost by it, such as a lock where a file system has none.
                    self.assertEqual((result.stdout, {path.name for path in (folder / "out").glob("*")}), (good.stdout, set(whole)), result.stderr)
                else:
                    self.assertIn(result.returncode, (1, 2, 3), result.stderr)
                    self.assert_rejected(result, result.returncode)
                    # What comes last may be told instead of what failed first.
                    names = {other for at, later, other in calls if at == call and later >= number} if more else {name}
                    self.assertTrue(any(one in result.stderr for one in names), result.stderr)
                self.check_files(folder, whole)

    def test_a_log_that_cannot_be_read_to_its_end_is_no_shorter_log(self):
        head = "# nThread 1 nGpus 4 minBytes 8 maxBytes 8\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        rows = "".join(f"{size * 1000000} {size * 250000} float sum -1 {size * 100}.0 10.00 15.00 0 {size * 100}.0 10.00 15.00 0\n" for size in range(1, 3001))
        long = self.write("long.log", head + rows)
        self.assertIn("3000 rows of nccl-tests", self.run_ringside("import", long, "--ranks", 4, "--output", "out").stdout)
        log = self.folder / "log"
        # The kind of the log takes two reads, its start one.
        result = subprocess.run([*STRACE, "-o", log, "-P", long, "-e", "trace=read", "-e", "inject=read:error=EIO:when=5+", PROGRAM, "import", long, "--ranks", "4",
                                 "--output", "cut"], cwd=self.folder, capture_output=True, text=True, timeout=30, check=False)
        self.assertIn("INJECTED", log.read_text())
        self.assert_rejected(result, 2, f"cannot read {long}: Input/output error")

    def test_ranks_say_what_failed_and_nobody_waits_for_them(self):
        here = self.write("here.yaml", HERE)
        there = {one["backend"] for one in self.records(self.run_ringside("list", "backends", "--format", "json").stdout) if one["available"] == "yes"}
        made = 0
        for backend, call, number, error, said in (one for one in OF_RANKS if one[0] in there):
            with self.subTest(backend=backend, call=call, number=number):
                logs = self.folder / f"{backend}-{call}-{number}"
                result = self.run_ringside("measure", here, "--backend", backend, "--time-per-point", "0.01 s", "--repetitions", 1, "--timeout", "20 s", "--output",
                                           f"{logs}.out", "--wrap", f"{STRACE[0]} -ff -o {logs} -e trace={call} -e inject={call}:error={error}:when={number}", deadline=60)
                if "(INJECTED)" not in "".join(log.read_text(errors="replace") for log in self.folder.glob(f"{logs.name}.[0-9]*")):
                    self.assertEqual(result.returncode, 0, result.stderr)  # Another C library makes another call.
                    continue
                made += 1
                self.assertIn(result.returncode, (1, 3), result.stderr)
                self.assert_rejected(result, result.returncode, said)
                self.assertRegex(result.stderr, r"rank [01]\b")
        self.assertGreater(made, 3)


for NAME, ARGUMENTS in COMMANDS.items():
    setattr(SystemCalls, f"test_{NAME}", lambda self, arguments=ARGUMENTS: self.check_command(arguments))

if __name__ == "__main__":
    unittest.main()
