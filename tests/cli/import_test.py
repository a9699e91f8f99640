"""`ringside import`, and scenarios whose `measured:` is a foreign log."""

import json
import os
import shutil
import subprocess
import sys
import unittest

from ringside_case import PROGRAM, RingsideCase

LOG = """# nThread 1 nGpus 4 minBytes 1048576 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    101.4   10.34   15.51      0    99.87   10.50   15.75      0
   134217728      33554432     float     sum      -1   8341.0   16.09   24.14      0   8333.1   16.11   24.16      0
# Avg bus bandwidth    : 19.9
"""

SCENARIO = """algorithms: [ring, native]
ranks: 4
message_sizes: [1 MiB, 128 MiB]
machine: 4x-rtx4090-pcie4
measured: x.log
backend: nccl
"""

MEASURE = """import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_maxrss)
"""


class Import(RingsideCase):
    def results(self, name="x", file="results.jsonl"):
        return self.records((self.folder / "out" / name / file).read_text())

    def test_writes_what_it_read(self):
        result = self.run_ringside("import", self.write("x.log", LOG + LOG))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 rows of nccl-tests", result.stdout)
        points = [record for record in self.results() if record["record"] == "point"]
        self.assertEqual([(point["series"], point["bytes"]) for point in points],
                         [(1, 1048576), (1, 134217728), (2, 1048576), (2, 134217728)])
        self.assertAlmostEqual(points[0]["measured"]["seconds"], 101.4e-6)
        again = self.run_ringside("import", "out/x/results.jsonl", "--output", "again")
        self.assertIn("     2 ", again.stdout, "the series stay apart")

    def test_a_log_of_many_runs_is_one_file_and_one_screen(self):
        result = self.run_ringside("import", self.write("x.log", LOG * 3000))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([file.name for file in (self.folder / "out" / "x").iterdir()], ["results.jsonl"])
        self.assertLessEqual(len(result.stdout.splitlines()), 40)
        self.assertIn("… and 2976 more", result.stdout)

    def test_a_long_log_is_never_in_memory_as_a_whole(self):
        rows = "".join(line + "\n" for line in LOG.splitlines() if "float" in line)
        log = self.write("x.log", LOG + rows * 100_000)
        # A process starts with what its parent has: this one is small.
        measured = subprocess.run([sys.executable, "-c", MEASURE, PROGRAM, "import", str(log), "--quiet"],
                                  cwd=self.folder, capture_output=True, text=True, check=True)
        status, kilobytes = map(int, measured.stdout.split())
        self.assertEqual(status, 0, measured.stderr)
        results = (self.folder / "out" / "x" / "results.jsonl").read_bytes()
        self.assertEqual(results.count(b"\n"), 1 + 200_002)
        if not os.environ.get("RINGSIDE_SANITIZED"):
            self.assertLess(kilobytes, 150_000, "200,000 rows as points take 229 MB")

    def test_a_scenario_takes_the_log_directly(self):
        self.write("x.log", LOG)
        result = self.run_ringside("compare", self.write("s.yaml", SCENARIO), "--no-charts")
        self.assertEqual(result.returncode, 0, result.stderr)
        measured = {record["bytes"]: record["measured"]["seconds"] for record in self.results("s")
                    if record["record"] == "point" and "measured" in record}
        self.assertAlmostEqual(measured[134217728], 8341.0e-6)

    def test_a_point_that_was_given_is_not_scored_anywhere(self):
        self.write("x.log", LOG)
        machine = ("{gpus_per_node: 4, gpu: {model: RTX 4090}, "
                   "intra: {kind: pcie, generation: 4, lanes: 16, peer_to_peer: false}, "
                   "known: [{native: {ranks: 4, bytes: 128 MiB, seconds: 8341 us}}]}")
        scenario = self.write("s.yaml", SCENARIO.replace("4x-rtx4090-pcie4", machine))
        result = self.run_ringside("compare", scenario, "--no-charts")
        self.assertEqual(result.returncode, 0, result.stderr)
        points = {r["bytes"]: r["predicted"] for r in self.results("s") if r["record"] == "point" and r["algorithm"] == "native"
                  and "predicted" in r}
        self.assertEqual((points[134217728].get("known"), points[1048576].get("known")), (True, None))
        accuracy = [r for r in self.results("s") if r["record"] == "accuracy"]
        self.assertEqual({r["points"] for r in accuracy}, {1})
        self.assertIn("the prediction was off by", result.stdout)

    def test_times_that_cannot_be_are_skipped_with_the_reason(self):
        table = "bytes,time_us,ranks\n1048576,1e-314,4\n2097152,1e200,4\n4194304,99,4\n"
        result = self.run_ringside("import", self.write("x.csv", table))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 rows from line 2 on were skipped: its time is not between 1 ns and 1e+09 s", result.stdout + result.stderr)
        self.assertEqual(len([r for r in self.results() if r["record"] == "point"]), 1)
        self.assert_rejected(self.run_ringside("import", self.write("y.csv", "bytes,time_us,ranks\n4,1e-314,4\n")), 2, "its time is not")

    def test_a_size_that_no_file_has_is_no_negative_size(self):
        for size in (2**63, 2**64 - 1):
            line = ('{"record":"point","collective":"all_reduce","algorithm":"ring","ranks":2,"bytes":%d,"dtype":"float32","op":"sum",'
                    '"measured":{"seconds":1,"backend":"gloo","outcome":"ok"}}' % size)
            run = '{"record":"run","schema":"ringside/1","version":"0","command":"","scenario":{"name":""},"started":""}'
            self.assert_rejected(self.run_ringside("import", self.write("x.jsonl", run + "\n" + line + "\n")), 2, f"bytes is {size}")

    def test_orders_to_the_terminal_in_a_log_are_spelt_out(self):
        table = "bytes,time_us,ranks,algorithm\n1048576,99,4,\x1b[2Jri\x9bng\x7f\n"
        result = self.run_ringside("import", self.write("x.csv", table))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("\\u001b[2Jri", result.stdout)
        for order in "\x1b\x9b\x7f":
            self.assertNotIn(order, result.stdout + result.stderr)
        # In JSON it is the same text.
        shown = self.run_ringside("import", self.folder / "x.csv", "--format", "json").stdout
        self.assertNotIn("\x1b", shown)
        self.records(shown)

    def test_a_log_of_something_else_says_what_it_holds(self):
        self.write("x.log", LOG)
        scenario = self.write("s.yaml", SCENARIO.replace("ranks: 4", "ranks: 2"))
        self.assert_rejected(self.run_ringside("compare", scenario, "--no-charts"), 2, "x.log",
                             "native all_reduce (sum) of float32 on 4 ranks, 1 MiB to 128 MiB")

    def test_a_large_log_of_other_things(self):
        line = "step 1234 loss 0.31 tokens 128 time 12.3 something that nobody reads\n"
        half = line * (50 * 1024 * 1024 // len(line))
        result = self.run_ringside("import", self.write("x.log", half + LOG + half))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 rows of nccl-tests", result.stdout)

    def test_a_binary_and_an_absent_file(self):
        self.assert_rejected(self.run_ringside("import", self.write("x.bin", bytes(range(256)) * 64)), 2, "is no text")
        self.assert_rejected(self.run_ringside("import", "absent.log"), 2, "absent.log")

    def test_the_gpu_of_a_topology_bears_on_no_log(self):
        log = self.write("x.log", LOG)
        self.assert_rejected(self.run_ringside("import", log, "--gpu", "A100"), 2, "--gpu has no effect here")
        self.assert_rejected(self.run_ringside("import", "a", "b"), 2, "was not expected: b")

    def test_another_log_does_not_replace_what_was_there(self):
        log = self.write("x.log", LOG)
        for _ in range(2):  # The same again loses nothing.
            self.assertEqual(self.run_ringside("import", log).returncode, 0)
        self.assertEqual([path.name for path in (self.folder / "out/x").iterdir()], ["results.jsonl"])
        first = (self.folder / "out/x/results.jsonl").read_bytes()
        result = self.run_ringside("import", self.write("x.log", LOG.replace("8341.0", "8888.0")))
        self.assertEqual(result.returncode, 0, result.stderr)
        (kept,) = (self.folder / "out/x").glob("results-*.jsonl")
        self.assertEqual(kept.read_bytes(), first)
        self.assertIn(f"kept in out/x/{kept.name}", result.stderr)

    def test_tags_of_mpirun_within_a_row_are_taken_off(self):
        tagged = "".join(f"[1,0]<stdout>:{line}\n" for line in LOG.splitlines()).replace("-1 ", "-1[1,0]<stdout>: ", 1)
        result = self.run_ringside("import", self.write("x.log", tagged))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 rows of nccl-tests", result.stdout)

    def test_a_pipe_is_read(self):
        result = subprocess.run([PROGRAM, "import", "-"], input=LOG, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 rows of nccl-tests", result.stdout)
        nothing = subprocess.run([PROGRAM, "import", "-"], input="", cwd=self.folder, capture_output=True, text=True, check=False)
        self.assert_rejected(nothing, 2, "is empty: the run printed nothing")

    def test_the_title_of_an_old_alltoall_tells_it_from_all_gather(self):
        title = "#       size         count    type   {}time   algbw   busbw  error     time   algbw   busbw  error\n"
        row = "  1073741824      33554432   float   5000.0  214.75  187.90    N/A    5000.0  214.75  187.90    N/A\n"
        for column, collective in (("redop     ", "all_to_all"), ("", "all_gather")):
            result = self.run_ringside("import", self.write("x.log", title.format(column) + row))
            self.assertIn(f"native {collective} (sum) of float32 on 8 ranks", result.stdout)

    def test_decimal_commas_are_refused_by_name(self):
        log = LOG.replace(".", ",")
        self.assert_rejected(self.run_ringside("import", self.write("x.log", log)), 2, "decimal commas", "LC_ALL=C")

    def test_json_of_nccl_tests_says_its_gpus_version_and_collective(self):
        for program, collective, busbw in (("alltoall", "all_to_all", 7.86), ("sendrecv", "send_recv", 10.49)):
            half = {"time": 100.0, "alg_bw": 10.49, "bus_bw": busbw, "nwrong": 0}
            run = {"version": "2.17.0", "args": [f"./build/{program}_perf"], "nccl_version": 22803,
                   "devices": [{"rank": rank, "device_name": "NVIDIA H100 80GB HBM3"} for rank in range(4)],
                   "results": [{"size": 1048576, "count": 65536, "type": "float", "redop": "none", "root": "-1",
                                "out_of_place": half, "in_place": half}]}
            result = self.run_ringside("import", self.write("x.json", json.dumps(run)))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"native {collective} (sum) of float32 on 4 ranks, 1 MiB", result.stdout)
            self.assertIn("NCCL 2.28.3, on NVIDIA H100 80GB HBM3", result.stdout)

    def test_tables_that_name_size_time_and_busbw_with_units_are_read(self):
        nccom = ("$ nccom-test -r 32 -b 1MB allr\n   size(B)  count(elems)  type  time:avg(us)  algbw(GB/s)  busbw(GB/s)\n"
                 "   1048576  262144  fp32  58.15  18.03  34.93\n   4194304  1048576  fp32  100.0  41.94  81.26\n")
        self.assertIn("native all_reduce (sum) of float32 on 32 ranks",
                      self.run_ringside("import", self.write("x.log", nccom)).stdout)
        nvshmem = ("#alltoall_on_stream\n| size(B) | count | type | latency(us) | algbw(GB/s) | busbw(GB/s) |\n"
                   "| 1048576 | 65536 | float | 100.0 | 10.49 | 7.86 |\n")
        self.assertIn("native all_to_all (sum) of float32 on 4 ranks",
                      self.run_ringside("import", self.write("y.log", nvshmem)).stdout)
        nameless = nvshmem.replace("#alltoall_on_stream", "")
        self.assert_rejected(self.run_ringside("import", self.write("z.log", nameless)), 2, "give --collective")

    def test_records_of_nccl_inspector_are_one_call_for_each_number(self):
        record = ('{"header":{"id":"0x1","rank":%d,"n_ranks":4,"nnodes":1},"metadata":{},"coll_perf":{"coll":"%s","coll_sn":%d,'
                  '"coll_msg_size_bytes":1024,"coll_exec_time_us":%d,"coll_timing_source":"kernel_gpu"}}\n')
        # Of one call the fastest rank, of three calls the median; one rank's part of an all_gather is a quarter.
        text = "".join(record % (rank, "AllGather", call, us)
                       for rank, call, us in ((0, 1, 50), (1, 1, 10), (0, 2, 20), (0, 3, 30))) + record % (0, "AllGatherV", 4, 9)
        result = self.run_ringside("import", self.write("x.log", text))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("line 5 was skipped: AllGatherV is none of ringside's collectives", result.stdout)
        (point,) = [record for record in self.results() if record["record"] == "point"]
        self.assertEqual((point["collective"], point["bytes"], point["ranks"]), ("all_gather", 4096, 4))
        self.assertAlmostEqual(point["measured"]["seconds"], 20e-6)
        self.assertEqual(point["measured"]["iterations"], 3)

    def test_transfers_between_two_processes_are_a_line_for_known(self):
        osu = "# OSU MPI-CUDA {} Test v7.3\n# Size   {}\n1     2.50\n4194304     12000.00\n"
        text = osu.format("Bandwidth", "Bandwidth (MB/s)") + osu.format("Latency", "Latency (us)")
        result = self.run_ringside("import", self.write("x.log", text))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("known: [{p2p: {bandwidth: 12 GB/s, latency: 2.5 us}}]", result.stdout)
        self.assert_rejected(self.run_ringside("check", "x.log"), 2, "transfers between two processes")

    def test_the_topology_of_rocm_smi_is_that_of_its_link_types(self):
        table = "       GPU0   GPU1\nGPU0   0      {}\nGPU1   {}   0\n"
        start = "===== Weight between two GPUs =====\n" + table.format(15, 15)
        nodes = "GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[1]\t\t: (Topology) Numa Node: 1\n"
        for kind, described in (("XGMI", "intra: {kind: xgmi}"), ("PCIE", "intra: {kind: pcie, sockets: 2}")):
            text = start + "===== Link Type between two GPUs =====\n" + table.format(kind, kind) + nodes
            result = self.run_ringside("import", self.write("x.txt", text), "--gpu", "MI300X")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(described, result.stdout)
        self.assert_rejected(self.run_ringside("import", self.write("y.txt", start), "--gpu", "MI300X"), 2, "rocm-smi --showtopo")
        mixed = start + "===== Link Type between two GPUs =====\n" + table.format("XGMI", "PCIE")
        self.assert_rejected(self.run_ringside("import", self.write("z.txt", mixed), "--gpu", "MI300X"), 2, "under `links`")

    def test_accelerators_of_a_topology_are_known_by_their_pci_numbers(self):
        for device, model in (("0x1002\" device=\"0x74b5", "MI300X"), ("0x1002\" device=\"0x74a5", "MI325X"),
                              ("0x1002\" device=\"0x740c", "MI250X"), ("0x10de\" device=\"0x2230", "RTX A6000"),
                              ("0x10de\" device=\"0x2324", "H800-SXM")):
            gpu = f'<pci class="0x120000" vendor="{device}" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0"/></pci>'
            text = f'<system version="1"><cpu numaid="0" vendor="AuthenticAMD">{gpu}{gpu}</cpu></system>'
            result = self.run_ringside("import", self.write("x.xml", text))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(model, result.stdout)

    def test_topology(self):
        matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0-23\nGPU1\tSYS\t X \t24-47\n"
        result = self.run_ringside("import", "topo", self.write("box.txt", matrix), "--gpu", "RTX 4090")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sockets: 2", result.stdout)
        as_json = self.run_ringside("import", "topo", "box.txt", "--gpu", "RTX 4090", "--format", "json")
        (record,) = self.records(as_json.stdout)
        self.assertEqual((record["record"], record["file"]), ("machine", "out/box/machine.yaml"))
        scenario = self.write("s.yaml", "ranks: 2\nmessage_sizes: 1 MiB\nmachine: out/box/machine.yaml\n")
        self.assertEqual(self.run_ringside("predict", scenario).returncode, 0)

    def test_machines_by_name(self):
        listed = self.run_ringside("list", "machines", "P4D").stdout
        self.assertIn("p4d.24xlarge", listed)
        for name, word in (("p4d.24xlrge", "did you mean 'p4d.24xlarge'?"), ("9x-toaster", "described by hand")):
            scenario = self.write("s.yaml", f"ranks: 2\nmessage_sizes: 1 MiB\nmachine: {name}\n")
            self.assert_rejected(self.run_ringside("predict", scenario), 2, word)

    def test_machines_by_part_of_their_name_and_by_number(self):
        def predicted(name, extra=""):
            text = f"ranks: 16\nalgorithms: ring\nmessage_sizes: 1 MiB\nmachine: {name}\n{extra}"
            return self.run_ringside("predict", self.write("s.yaml", text))
        self.assert_rejected(predicted("p4d"), 2, "did you mean 'p4d.24xlarge'")
        self.assert_rejected(predicted("3090"), 2, "did you mean '", "rtx3090", " more?")
        self.assert_rejected(predicted("2x p4d"), 2, "did you mean 'p4d.24xlarge'")
        for name in ("2 x p4d.24xlarge", "2x p4d.24xlarge"):
            self.assertEqual(predicted(name).returncode, 0, name)

    def test_a_program_that_was_copied_alone_says_what_is_missing(self):
        alone = self.folder / "ringside"
        shutil.copy(PROGRAM, alone)
        for kind, command in (("machines", ["list", "machines"]), ("workloads", ["list", "workloads"]),
                              ("machines", ["show", "machine", "p4d.24xlarge"])):
            result = subprocess.run([alone, *command], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assert_rejected(result, 3, f"configs/{kind}", "copy configs/")
        scenario = self.write("s.yaml", "ranks: 2\nmessage_sizes: 1 MiB\nmachine: p4d.24xlarge\n")
        result = subprocess.run([alone, "predict", scenario], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assert_rejected(result, 2, "configs/machines", "not here")

    def test_a_gpu_that_the_catalogue_does_not_know(self):
        machine = "machine: {intra: {kind: pcie, generation: 4}, gpu: {model: RTX 4091%s}}\n"
        text = "ranks: 2\nalgorithms: ring\nmessage_sizes: 1 MiB\n"
        unknown = self.run_ringside("predict", self.write("s.yaml", text + machine % ""))
        self.assert_rejected(unknown, 2, "did you mean 'RTX 4090'?", "memory_bandwidth")
        known = self.run_ringside("predict", self.write("s.yaml", text + machine % ", memory_bandwidth: 1000 GB/s"))
        self.assertEqual(known.returncode, 0, known.stderr)
        cables = "machine: {gpus_per_node: 2, intra: {kind: nvlink, generation: 5, links_per_gpu: 18, switch: true}, gpu: {model: Zeta 9}}\n"
        taken = self.run_ringside("predict", self.write("s.yaml", text.replace("ring", "[native, ring]") + cables))
        self.assertEqual(taken.returncode, 0, taken.stderr)
        self.assertRegex(taken.stderr, r"No data sheet of Zeta 9 is known: it is taken for one of the \d+ GPUs \(blackwell\)")


if __name__ == "__main__":
    unittest.main()
