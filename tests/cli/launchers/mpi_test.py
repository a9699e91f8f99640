"""ringside under mpirun, with the library's own collectives: what users type on a cluster, here on one machine."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from ringside_case import PROGRAM, RingsideCase

MPIRUN = shutil.which("mpirun")
SCENARIO = """name: small
machine: this
backend: mpi
collective: {collective}
algorithms: [{algorithms}]
ranks: {ranks}
message_sizes: [{sizes}]
"""
QUICK = ("--time-per-point", "0.01 s", "--repetitions", 1, "--quiet")


def why_not():
    if MPIRUN is None:
        return "mpirun is not installed (Debian package openmpi-bin)"
    rows = subprocess.run([PROGRAM, "list", "backends", "--format", "json"], capture_output=True, text=True, check=True).stdout
    (row,) = [row for row in map(json.loads, rows.splitlines()) if row["backend"] == "mpi"]
    return None if row["available"] == "yes" else row["detail"]


SKIPPED = why_not()


def launched(ranks, *arguments):
    """As another MPI's launcher than Open MPI's does it, which refuses more ranks than cores and the user root."""
    words = [MPIRUN]
    if "Open MPI" in subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=False).stdout:
        words += ["--allow-run-as-root", "--oversubscribe"]
    return [*words, "-n", str(ranks), PROGRAM, *map(str, arguments)]


class Mpi(RingsideCase):
    def setUp(self):
        super().setUp()
        if SKIPPED:
            self.skipTest(SKIPPED)

    def scenario(self, ranks, algorithms="ring, native", collective="all_reduce", sizes="4 KiB"):
        return self.write("small.yaml", SCENARIO.format(ranks=ranks, algorithms=algorithms, collective=collective, sizes=sizes))

    def run_ranks(self, ranks, *arguments, deadline=120):
        return subprocess.run(launched(ranks, *arguments), cwd=self.folder, capture_output=True, text=True, timeout=deadline, check=False)

    def points(self, folder="out"):
        return [record for record in self.records((self.folder / folder / "results.jsonl").read_text()) if record["record"] == "point"]

    def test_every_algorithm_and_every_collective_of_the_library_is_right_on_one_to_four_ranks(self):
        algorithms = {}
        for row in self.records(self.run_ringside("list", "algorithms", "--format", "json").stdout):
            algorithms.setdefault(row["collective"], []).append(row["algorithm"])
        del algorithms["any"]
        self.assertEqual(len(algorithms), 8)
        for ranks in (1, 2, 3, 4):
            for collective, names in algorithms.items():
                # No size, one element, fewer elements than ranks, uneven and even parts, and what no cache of a core holds.
                file = self.scenario(ranks, ", ".join(names + ["native"]), collective, "4 B, 148 B, 4800 B, 3 MiB")
                result = self.run_ranks(ranks, "measure", file, *QUICK, "--output", "out")
                self.assertEqual(result.returncode, 0, f"{collective} on {ranks}\n{result.stderr}")
                points = self.points()
                self.assertEqual(len(points), 4 * (len(names) + 1))
                for point in points:
                    measured = point["measured"]
                    what = (collective, ranks, point["algorithm"], point["bytes"], measured.get("note"))
                    if measured["outcome"] == "unsupported":
                        self.assertRegex(measured["note"], "power of two|do not divide|even number", what)
                    else:
                        self.assertEqual((measured["outcome"], measured["backend"]), ("ok", "mpi"), what)
                natives = [p for p in points if p["algorithm"] == "native" and p["measured"]["outcome"] == "ok"]
                self.assertGreaterEqual(len(natives), 2, f"{collective} on {ranks}")

    def test_every_operation_and_type_of_the_library_is_right(self):
        for dtype in ("float32", "float64", "int32", "int64"):
            for op in ("sum", "prod", "min", "max", "avg"):
                for collective in ("all_reduce", "reduce_scatter", "reduce"):
                    if dtype != "float32" and collective != "all_reduce":
                        continue
                    file = self.scenario(3, "native", collective, "240 B")
                    file.write_text(file.read_text() + f"dtype: {dtype}\nop: {op}\n")
                    result = self.run_ranks(3, "measure", file, *QUICK, "--output", "out")
                    self.assertEqual(result.returncode, 0, f"{collective} {op} {dtype}\n{result.stderr}")
                    self.assertEqual([p["measured"]["outcome"] for p in self.points()], ["ok"])

    def test_the_record_names_the_library(self):
        result = self.run_ranks(2, "measure", self.scenario(2), *QUICK, "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        header = self.records((self.folder / "out" / "results.jsonl").read_text())[0]
        self.assertRegex(header["host"]["mpi"], r"^(Open MPI v|MPICH )\d+\.\d+")
        for command in (["list", "backends"], ["doctor"]):
            text = " ".join(self.run_ringside(*command).stdout.split())
            self.assertIn(header["host"]["mpi"], text)
            # Debian builds neither library with CUDA, and its MPICH has no such word.
            self.assertRegex(text, r"buffers in host memory; [^,]*, which (is not|does not say whether it is) CUDA-aware")
            self.assertRegex(header["host"]["sockets"], r"^\d+$")

    def test_the_record_names_what_decides_about_algorithms_in_place_of_the_library(self):
        for setting, decides in (("OMPI_MCA_coll_tuned_priority=30", True), ("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=auto", True),
                                 ("MPIR_CVAR_NOLOCAL=0", False), ("OMPI_MCA_btl_tcp_eager_limit=65536", False)):
            name, value = setting.split("=")
            result = subprocess.run(launched(1, "measure", self.scenario(1, "native"), *QUICK, "--output", name), cwd=self.folder, capture_output=True,
                                    text=True, timeout=120, check=False, env={**os.environ, name: value})
            self.assertEqual(result.returncode, 0, result.stderr)
            library = self.records((self.folder / name / "results.jsonl").read_text())[0]["host"]["mpi"]
            self.assertRegex(library, rf" with {setting}$" if decides else r"^(Open MPI v|MPICH )[\d.]+( ch4:\w+)?$")

    def test_without_a_launcher_one_sentence_shows_the_command(self):
        for command in ("measure", "compare"):
            result = self.run_ringside(command, self.scenario(4))
            self.assert_rejected(result, 3, "`mpirun -n 4 ringside measure …`")
            self.assertFalse((self.folder / "out").exists())
        self.assert_rejected(self.run_ringside("measure", self.scenario(4).rename(self.folder / "s.yaml"), "--backend", "mpi",
                                               environment={"OMPI_COMM_WORLD_RANK": "0"}), 3, "mpirun -n 4")

    def test_ranks_that_were_started_alone_are_told_within_a_second_or_so(self):
        begin = time.monotonic()
        result = self.run_ringside("measure", self.scenario(8), "--quiet", "--output", "out",
                                   environment={"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "8", "SLURM_JOB_ID": "7"})
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("asked 8, found 8 times 1", result.stderr)
        self.assertIn("--mpi=pmix", result.stderr)
        self.assertLess(time.monotonic() - begin, 20, "it does not wait for ranks that never come")

    def test_another_number_of_ranks_than_the_scenario_has_is_refused(self):
        result = self.run_ranks(3, "measure", self.scenario(4), "--output", "out")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("started 3 ranks, and this scenario is for 4", result.stderr)

    def test_what_is_wrong_with_the_input_is_said_once(self):
        for arguments in (["measure", self.folder / "none.yaml"], ["measure", "--nonsense"], ["measure", self.scenario(2), "--rendezvous", "file:///x"]):
            result = self.run_ranks(3, *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertEqual(len(re.findall(r"^ringside: ", result.stderr, re.MULTILINE)), 1, result.stderr)
        # What only one rank finds is said by that rank, whichever it is.
        for first, second in (("none", "nothing"), ("list", "nothing")):
            one, other = (launched(1, "list" if name == "list" else "measure", "backends" if name == "list" else self.folder / name)
                          for name in (first, second))
            result = subprocess.run([*one, ":", *other[1:]], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("nothing: ", result.stderr)

    def test_a_place_to_meet_has_no_effect(self):
        result = self.run_ranks(2, "measure", self.scenario(2), "--rendezvous", f"file://{self.folder}/meet")
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("--rendezvous: has no effect with mpi", result.stderr)

    def test_gloo_under_mpirun_meets_as_before(self):
        file = self.scenario(2)
        result = self.run_ranks(2, "measure", file, "--backend", "gloo", "--rendezvous", f"file://{self.folder}/meet", *QUICK, "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({point["measured"]["backend"] for point in self.points()}, {"gloo"})

    def test_compare_probes_and_predicts_over_mpi(self):
        file = self.scenario(2, "ring, recursive_doubling, native", sizes="1 KiB, 256 KiB")
        for seconds in (1, 4, 15):  # Beside other load short probes contradict each other, and nothing is predicted.
            result = self.run_ranks(2, "compare", file, *QUICK, "--calibrate-time", f"{seconds} s", "--no-charts", "--output", "out")
            self.assertEqual(result.returncode, 0, result.stderr)
            if (self.folder / "out" / "machine.yaml").exists():
                break
        machine = (self.folder / "out" / "machine.yaml").read_text()
        self.assertIn('backend: "mpi"', machine)
        self.assertRegex(machine, r'mpi: "(Open MPI v|MPICH )')
        self.assertNotRegex(machine, r"cores: 1\b" if os.cpu_count() > 1 else "none", "each rank is bound to a core of its own")
        predicted = {(point["algorithm"], point["bytes"]) for point in self.points() if "predicted" in point}
        self.assertLessEqual({("ring", 1024), ("ring", 262144)}, predicted)
        if "Open MPI v4.1" in machine or "Open MPI v5.0" in machine:
            self.assertLessEqual({("native", 1024), ("native", 262144)}, predicted)

    def ranks_of(self, launcher):
        """By rank, the processes of ringside below a launcher."""
        parents = {}
        found = {}
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    fields = (folder / "stat").read_text().rpartition(")")[2].split()
                    parents[int(folder.name)] = int(fields[1])
                    variables = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
                    name = os.readlink(folder / "exe")
                except OSError:
                    continue
                for variable in variables:
                    match = re.fullmatch(r"(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", variable)
                    if match and name == os.path.realpath(PROGRAM):
                        found[int(match[1])] = int(folder.name)

        def below(process):
            while process not in (0, launcher):
                process = parents.get(process, 0)
            return process == launcher

        return {rank: process for rank, process in found.items() if below(process)}

    def long_run(self, *more):
        """A run of three ranks that has finished a point, and is far from its end."""
        command = launched(3, "measure", self.scenario(3, sizes="4 KiB, 8 KiB"), "--time-per-point", "60 s", "--repetitions", 1000, "--output", "out", *more)
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        results = self.folder / "out" / "results.jsonl"
        while not (results.exists() and '"record":"point"' in results.read_text()):
            self.assertLess(time.monotonic(), deadline, "no point was finished")
            self.assertIsNone(process.poll(), "ended before its first point")
            time.sleep(0.05)
        return process

    def assert_ended(self, process):
        error = "".join(process.communicate(timeout=60))  # Launchers use either stream.
        self.assertNotEqual(process.returncode, 0, error)
        self.assertEqual(self.ranks_of(process.pid), {})
        self.assertGreaterEqual(len(self.points()), 1)
        return error

    def test_a_killed_rank_ends_the_run_and_finished_points_stay(self):
        process = self.long_run()
        os.kill(self.ranks_of(process.pid)[1], signal.SIGKILL)
        error = self.assert_ended(process)
        self.assertRegex(error, r"rank 1|signal 9|KILLED")  # mpirun says it, each in its own words.

    def test_a_rank_that_hangs_is_named_and_ends_the_run(self):
        process = self.long_run("--timeout", "2 s")
        stopped = self.ranks_of(process.pid)[2]
        os.kill(stopped, signal.SIGSTOP)
        error = self.assert_ended(process)
        self.assertRegex(error, r"rank [01] waited 2 s (to (send to|receive from) rank \d|in MPI's own collective)")


if __name__ == "__main__":
    sys.exit(unittest.main())
