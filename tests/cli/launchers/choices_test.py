"""Which algorithm Open MPI and MPICH really run, beside what `show native` says.

Breakpoints on the functions of their algorithms see it (mpi_choices.c). RINGSIDE_EVERY_CHOICE=1 asks for more ranks and
sizes, some minutes on two cores, and prints the share that agrees.
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from launchers import mpich_functions
from ringside_case import RingsideCase

HERE = pathlib.Path(__file__).resolve().parent
EVERYTHING = os.environ.get("RINGSIDE_EVERY_CHOICE") == "1"
COLLECTIVES = ("all_reduce", "all_gather", "broadcast", "reduce", "reduce_scatter", "gather", "all_to_all")
KINDS = ("allreduce", "allgather", "bcast", "reduce", "reduce_scatter", "gather", "alltoall")
RANKS = (2, 3, 4, 5, 7, 8, 16, 17, 32) if EVERYTHING else (2, 3, 4, 8)
SIZES = [4 << i for i in range(21)] if EVERYTHING else [4, 64, 1 << 11, 1 << 14, 1 << 18, 1 << 20]
# What each library calls them, where the rules have another name for it.
OPEN_MPI = {
    "basic_linear": "naive", "recursivedoubling": "recursive_doubling", "redscat_allgather": "halving_doubling", "two_procs": "recursive_doubling",
    "neighborexchange": "neighbour_exchange", "basic_recursivehalving": "recursive_halving", "pipeline": "chain", "bintree": "binary_tree",
    "binary": "binary_tree", "binomial": "binomial_tree", "knomial": "knomial_tree", "split_bintree": "split_binary_tree",
    "scatter_allgather": "scatter_all_gather", "scatter_allgather_ring": "scatter_ring", "redscat_gather": "reduce_scatter_gather",
    "in_order_binary": "in_order_binary_tree", "linear_sync": "naive", "nonoverlapping": "reduce_then_broadcast"}
OPEN_MPI_OF = {("all_to_all", "basic_linear"): "linear", ("all_to_all", "linear_sync"): "linear", ("all_to_all", "two_procs"): "pairwise",
               ("reduce_scatter", "nonoverlapping"): "reduce_then_scatter"}
MPICH = {"reduce_scatter_allgather": "halving_doubling", "brucks": "bruck", "binomial": "binomial_tree", "scattered": "linear",
         "scatter_recursive_doubling_allgather": "scatter_all_gather", "scatter_ring_allgather": "scatter_ring"}


def missing(*programs):
    lacking = [program for program in programs if shutil.which(program) is None]
    return f"{', '.join(lacking)} not installed" if lacking else None


class Choices(RingsideCase):
    def build(self, compiler, points):
        self.write("points", points)
        program = self.folder / "mpi_choices"
        subprocess.run([compiler, "-O1", "-o", program, HERE / "mpi_choices.c", "-ldl"], check=True)
        return program

    def library_of(self, program, name):
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        return pathlib.Path(re.search(rf"{name}\S* => (\S+)", listed)[1])

    def sizes(self, ranks):
        """By collective; each rank has a whole number of elements where it has a part."""
        for collective in COLLECTIVES:
            for size in SIZES:
                if collective in ("all_reduce", "broadcast", "reduce"):
                    yield collective, size
                elif size // ranks // 4:
                    yield collective, size // ranks // 4 * 4 * ranks

    def met(self, launch, program, warm_ups, ranks, environment=None):
        """(collective, bytes, functions by how many ranks met them), in the order of sizes()."""
        calls = [f"{collective}:{size}" for collective, size in self.sizes(ranks)]
        result = subprocess.run([*launch, "-n", str(ranks), program, self.folder / "points", str(warm_ups), *calls], cwd=self.folder,
                                capture_output=True, text=True, timeout=900, check=False, env={**os.environ, **(environment or {})})
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual(len(rows), len(calls))
        for collective, size, *functions in rows:
            yield collective, int(size), {names: int(count) for count, names in (word.split("=") for word in functions)}

    def said(self, library, collective, ranks, per_node=None):
        """(from, algorithm), in ascending order."""
        result = self.run_ringside("show", "native", "--backend", "mpi", "--library", library, "--collective", collective, "--ranks", ranks,
                                   *(("--ranks-per-node", per_node) if per_node else ()), "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return [(record["from_bytes"], record["algorithm"]) for record in self.records(result.stdout)]

    def compare(self, library, found, per_node=None):
        """`found`: (ranks, collective, size, algorithm)."""
        wrong = []
        count = 0
        for (ranks, collective), rows in itertools.groupby(found, key=lambda row: row[:2]):
            said = self.said(library, collective, ranks, per_node)
            for _, _, size, algorithm in rows:
                count += 1
                expected = [name for begin, name in said if begin <= size][-1]
                if expected != algorithm:
                    wrong.append(f"{collective} of {size} bytes on {ranks} ranks: {library} ran {algorithm}, said is {expected}")
        print(f"{library}, {per_node or 'all'} ranks per node: {count - len(wrong)} of {count} right", file=sys.stderr)
        self.assertGreater(count, 0)
        self.assertEqual(wrong, [])

    def test_open_mpi(self):
        if reason := missing("mpicc.openmpi", "mpirun.openmpi"):
            self.skipTest(reason)
        version = subprocess.run(["mpirun.openmpi", "--version"], capture_output=True, text=True, check=True).stdout
        library = re.search(r"\d+\.\d+\.\d+", version)[0]
        program = self.build("mpicc.openmpi", "")
        symbols = subprocess.run(["nm", "-D", "--defined-only", self.library_of(program, "libmpi.so")], capture_output=True, text=True, check=True).stdout
        names = re.findall(rf"ompi_coll_base_(?:{'|'.join(KINDS)})_intra_(?!generic)\w+", symbols)
        self.assertGreater(len(names), 30)
        self.write("points", "".join(f"{name} -\n" for name in names))
        launch = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]
        found = []
        for ranks in RANKS:
            for collective, size, functions in self.met(launch, program, 0, ranks):
                kind = KINDS[COLLECTIVES.index(collective)]
                (names, count), = functions.items()
                self.assertEqual(count, ranks)
                # One that cannot do it calls another.
                last = [name for name in names.split(",") if name.startswith(f"ompi_coll_base_{kind}_intra_")][-1].rpartition("_intra_")[2]
                found.append((ranks, collective, size, OPEN_MPI_OF.get((collective, last), OPEN_MPI.get(last, last))))
        self.compare(f"Open MPI {library}", found)

    def mpich(self, ranks, environment):
        """(ranks, collective, size, algorithm)."""
        for collective, size, functions in self.met(["mpirun.mpich"], self.program, 6, ranks, environment):
            kind = f"MPIR_{KINDS[COLLECTIVES.index(collective)].capitalize()}_intra_"
            # A breakpoint is met once: where nodes do the same as their leaders, only the other parts tell.
            met = [name for names in functions for name in names.split(",")]
            own = [name.removeprefix(kind) for name in met if name.startswith(kind)]
            if "MPIR_CVAR_NUM_CLIQUES" in environment:
                if collective == "reduce" or (collective == "broadcast" and (ranks < 8 or size < 12288)):
                    continue
                if any(name.startswith("MPIR_Reduce_intra_") for name in met) or (collective == "broadcast" and set(own) == {"binomial"}):
                    yield ranks, collective, size, "by_node"
                    continue
            # The leader of the only node also calls itself.
            shared = [name for name in own if all(kind + name in names.split(",") for names in functions)]
            yield ranks, collective, size, MPICH.get(shared[-1], shared[-1])

    def test_mpich(self):
        if reason := missing("mpicc.mpich", "mpirun.mpich"):
            self.skipTest(reason)
        version = subprocess.run(["mpirun.mpich", "--version"], capture_output=True, text=True, check=True).stdout
        library = "MPICH " + re.search(r"Version:\s*(\d+\.\d+(?:\.\d+)?)", version)[1]
        self.program = self.build("mpicc.mpich", "")
        functions = mpich_functions.functions(self.library_of(self.program, "libmpich.so"))
        self.assertGreater(len(functions), 15, "the functions of this build cannot be found")
        self.write("points", "".join(f"{name} {address:x}\n" for name, address in functions.items()))
        # Its waiting ranks spin: more of them than cores take minutes.
        for ranks in [ranks for ranks in RANKS if ranks <= 8] if EVERYTHING else (3, 4, 8):
            self.compare(library, list(self.mpich(ranks, {})))
            # As if each rank were on a node of its own, and on two nodes.
            self.compare(library, list(self.mpich(ranks, {"MPIR_CVAR_NOLOCAL": "1"})), per_node=1)
            if ranks % 2 == 0 and ranks > 2:
                self.compare(library, list(self.mpich(ranks, {"MPIR_CVAR_NUM_CLIQUES": "2"})), per_node=ranks // 2)


if __name__ == "__main__":
    sys.exit(unittest.main())
