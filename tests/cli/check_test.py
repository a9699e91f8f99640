"""`ringside check`: recognised machines, verdicts, causes, gates, live rows and many logs."""

import re
import subprocess
import unittest

from ringside_case import PROGRAM, SOURCE, RingsideCase

HEAD = "# nThread 1 nGpus 8 minBytes 8 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1\n"
TITLE = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"


def log(busbw, ranks=8, gpu="NVIDIA L40S", hosts=1, info="", wrong=0, ended=True):
    """A log of large all_reduces at this bus bandwidth, GB/s."""
    text = HEAD
    for rank in range(ranks):
        text += f"#  Rank {rank:2} Group  0 Pid {rank} on node{rank * hosts // ranks} device {rank} [0x17] {gpu}\n"
    text += info + TITLE
    for exponent in range(25, 31):
        size, factor = 2**exponent, 2 * (ranks - 1) / ranks
        time = size * factor / busbw / 1e3
        row = f"{time:.1f} {size / time / 1e3:.2f} {size / time / 1e3 * factor:.2f} {wrong}"
        text += f"{size} {size // 4} float sum -1 {row} {row}\n"
    if ended:
        text += f"# Out of bounds values : {'12 FAILED' if wrong else '0 OK'}\n# Avg bus bandwidth    : {busbw}\n"
    return text


class Check(RingsideCase):
    def check(self, *arguments):
        return self.run_ringside("check", *arguments, "--no-charts")

    def record(self, *arguments):
        result = self.check(*arguments, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.records(result.stdout)[0]

    def test_eight_l40s_at_1_45_gigabytes_a_second(self):
        result = self.check(self.write("x.log", log(1.45)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("8x L40S, as the log says", result.stdout)
        self.assertIn("The L40S are taken to sit in PCIe 4 slots of 16 lanes", result.stdout)
        self.assertRegex(result.stdout, r"slower than 9\d\.\d % of such machines")
        self.assertRegex(result.stdout, r"above +6 +256 MiB +1\.45 +\d+\.\d \(\d\.\d\d to \d+\.\d\) +0\.1\d× +0\.0 %")
        self.assertIn("measured / predicted bandwidth, above 1 is faster", result.stdout)
        self.assertIn("1. GPUs do not reach each other's memory: copies go through host memory", result.stdout)
        self.assertIn("to tell: nvidia-smi topo -p2p r", result.stdout)

    def test_a_healthy_machine_and_what_its_log_says_beside(self):
        record = self.record(self.write("x.log", log(230, gpu="NVIDIA A100-SXM4-80GB")))
        self.assertEqual((record["alarm"], record["bands"][0]["verdict"], record["recognised"]), (False, "healthy", True))
        info = "node0:1:1 [0] NCCL INFO NCCL_PROTO set by environment to LL128.\nnode0:1:1 [0] NCCL INFO Using network Socket\n"
        shown = self.check(self.write("y.log", log(230, gpu="NVIDIA A100-SXM4-80GB", info=info))).stdout
        self.assertIn("Not slow, but line 10: NCCL_PROTO is LL128: the protocol LL128 is forced", shown)
        self.assertNotIn("TCP sockets", shown)  # Nothing goes through a network.
        info = info.replace("NCCL_PROTO", "NCCL_ALGO").replace("LL128", "Ring")
        shown = self.check(self.write("z.log", log(230, gpu="NVIDIA A100-SXM4-80GB", info=info))).stdout
        self.assertNotIn("Not slow, but", shown)  # A ring is what runs there anyway.

    def test_sockets_on_p4d(self):
        info = "node0:1:1 [0] NCCL INFO Using network Socket\n"
        path = self.write("x.log", log(4, ranks=16, hosts=2, gpu="NVIDIA A100-SXM4-40GB", info=info))
        record = self.record(path, "--machine", "p4d.24xlarge")
        self.assertTrue(record["alarm"])
        self.assertEqual(record["causes"][0]["cause"], "tcp")
        self.assertEqual(record["causes"][0]["evidence"], ["line 18: NCCL uses the network Socket"])

    def test_a_pair_without_gpudirect_is_held_back_by_it(self):
        # Healthy pairs differ so much that it is no alarm; NCCL's lines say what is wrong, and what joins the nodes.
        info = ("node0:1:1 [0] NCCL INFO NET/IB : Using [0]mlx5_2:1/IB [RO]; OOB ib0:10.0.0.1<0>\n"
                "node0:1:1 [0] NCCL INFO Using network IB\n"
                "node0:1:1 [0] NCCL INFO               + NET[25.0] - NET/0 (7a852d0003f6ceb8/1/25.000000)\n"
                "node0:1:1 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0\n")
        text = log(6, ranks=2, hosts=2, gpu="NVIDIA A100-PCIE-40GB", info=info)
        record = self.record(self.write("x.log", text))
        self.assertEqual((record["alarm"], record["bands"][-1]["verdict"]), (False, "held_back"))
        self.assertEqual(record["held_back"]["cause"], "gpudirect_off")
        self.assertIn("1 NIC of 25 GB/s in a node", record["assumptions"][-1])
        shown = self.check(self.write("y.log", text)).stdout
        self.assertRegex(shown, r"Known reason: NICs do not reach the GPUs' memory .*\n   line \d+: channels go via the network without GDRDMA")
        # The same times where the log says that GPUs' memory is reached.
        self.assertIsNone(self.record(self.write("z.log", text.replace("NET/IB/0\n", "NET/IB/0/GDRDMA\n")))["held_back"])

    def test_what_the_log_does_not_say_is_asked_for(self):
        path = self.write("x.log", log(100, ranks=16, hosts=2, gpu="NVIDIA A100-SXM4-40GB"))
        self.assert_rejected(self.check(path), 2, "how fast the network between its 2 nodes is", "--network: ", "'4 x 200 Gb/s infiniband'", "p4d.24xlarge")
        self.assert_rejected(self.check(self.write("y.log", TITLE + log(100).split(TITLE)[1])), 2, "which GPUs these are", "--gpu: ", "'8 x B200'")
        self.assert_rejected(self.check(self.write("z.log", log(100, gpu="NVIDIA H900"))), 2, "does not know the GPU 'NVIDIA H900'")
        self.assert_rejected(self.check(path, "--machine", "p4d", ), 2, "did you mean 'p4d.24xlarge'")

    def test_a_description_that_does_not_fit_the_log_is_doubted(self):
        shown = self.check(self.write("x.log", log(230, gpu="NVIDIA H100 80GB HBM3")), "--machine", "dgx-a100").stdout
        self.assertIn("The log lists NVIDIA H100 80GB HBM3, the description has A100", shown)

    def test_a_topology_says_the_machine(self):
        matrix = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tSYS\t0-23\nGPU1\tSYS\t X \t24-47\n"
        record = self.record(self.write("x.log", log(12, ranks=2)), "--topology", self.write("topo.txt", matrix))
        self.assertIn("does not say how wide the slots are", record["assumptions"][0])

    def test_gates(self):
        good, bad = self.write("good.log", log(230, gpu="NVIDIA A100-SXM4-80GB")), self.write("bad.log", log(2))
        gate = ["--gate", "busbw@1GiB >= p05"]
        passed = self.check(good, *gate)
        self.assertEqual(passed.returncode, 0, passed.stderr)
        self.assertIn("passed", passed.stdout)
        self.assert_rejected(self.check(bad, *gate), 1, "--gate 'busbw@1GiB >= p05' failed")
        result = self.check(bad, *gate, "--format", "json")
        self.assertEqual([r["passed"] for r in self.records(result.stdout) if r["record"] == "gate"], [False])
        self.assert_rejected(self.check(good, "--gate", "busbw@1GiB"), 2, "busbw@1GiB >= p05")
        self.assert_rejected(self.check(good, "--gate", "busbw@8GiB >= p05"), 2, "8 GiB was not measured")

    def test_wrong_results_are_said_and_never_pass(self):
        result = self.check(self.write("x.log", log(230, gpu="NVIDIA A100-SXM4-80GB", wrong=3)))
        self.assertIn("6 rows had wrong results, whatever their speed", result.stdout)
        self.assert_rejected(result, 1, "results do not count", "Out of bounds values : 12 FAILED")

    def test_a_failed_run_is_status_1(self):
        failed = "node1: Test NCCL failure common.cu:1012 'unhandled system error'\n"
        self.assert_rejected(self.check(self.write("x.log", HEAD + TITLE + failed)), 1, "the run failed: line 3: Test NCCL failure")
        timeout = "node0:1:1 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.1<4> with error 12, opcode 0, len 0, vendor err 129\n"
        path = self.write("y.log", log(230, gpu="NVIDIA A100-SXM4-80GB", info=timeout))
        result = self.check(path)
        self.assert_rejected(result, 1, "NCCL WARN NET/IB : Got completion")
        self.assertIn("as expected, but its results do not count", result.stdout)
        self.assertNotIn("healthy", result.stdout)
        good = self.write("z.log", log(230, gpu="NVIDIA A100-SXM4-80GB"))
        many = self.check(good, path)
        self.assert_rejected(many, 1, "y.log: line 10")
        self.assertIn("results do not count", many.stdout)
        self.assert_rejected(self.run_ringside("submit", path), 1, "its results do not count")

    def test_a_run_without_its_last_lines_is_incomplete(self):
        path = self.write("x.log", log(230, gpu="NVIDIA A100-SXM4-80GB", ended=False))
        record = self.record(path)
        self.assertEqual((record["incomplete"], record["bands"][0]["verdict"]), (True, "incomplete"))
        shown = self.check(path).stdout
        self.assertIn("Incomplete: the last lines of a run", shown)
        self.assertNotIn("healthy", shown)
        submitted = self.run_ringside("submit", path, "--output", "given").stdout
        self.assertIn("the end of the run: the log lacks `Out of bounds values`", submitted)

    def test_ranks_stand_where_the_log_says(self):
        # Two nodes with one of eight GPUs each are no node with two.
        path = self.write("x.log", log(20, ranks=2, hosts=2, gpu="NVIDIA A100-SXM4-40GB"))
        record = self.record(path, "--machine", "Standard_ND96asr_v4")
        self.assertFalse(record["alarm"], record)
        self.assertEqual(record["assumptions"], ["The log has 1 rank on each host of 8 GPUs."])
        self.assertEqual(record["nics"]["nics"], 1)
        given = self.run_ringside("submit", path, "--machine", "Standard_ND96asr_v4", "--output", "given")
        self.assertEqual(given.returncode, 0, given.stderr)
        (scenario,) = (self.folder / "given").glob("*.yaml")
        self.assertIn("    ranks_per_node: 1\n", scenario.read_text())
        self.assertEqual(self.run_ringside("predict", scenario).returncode, 0)
        # More hosts than the description has nodes, and ranks that do not fit.
        path = self.write("y.log", log(150, ranks=64, hosts=8, gpu="NVIDIA H100 80GB HBM3"))
        record = self.record(path, "--machine", "2 x BM.GPU.H100.8")
        self.assertEqual(record["assumptions"], ["The log has 8 hosts, the description 2 nodes: 8 were taken."])
        uneven = log(20, ranks=3, hosts=2, gpu="NVIDIA A100-SXM4-40GB")
        self.assert_rejected(self.check(self.write("z.log", uneven), "--machine", "p4d.24xlarge"), 2, "its 3 ranks are not spread evenly over its 2 hosts")

    def test_six_machines_of_many_are_named(self):
        asked = self.check(self.write("h.log", log(90, ranks=16, hosts=2, gpu="NVIDIA H100 80GB HBM3"))).stderr
        self.assertEqual(len(re.search("one of (.*), or a file", asked)[1].split(", ")), 6, asked)

    def test_a_network_in_one_line_completes_what_the_log_says(self):
        path = self.write("x.log", log(90, ranks=16, hosts=2, gpu="NVIDIA A100-SXM4-40GB"))
        record = self.record(path, "--network", "4 x 200 Gb/s infiniband")
        self.assertEqual((record["machine"], record["nics"]["nics"], record["nics"]["line_rate"]), ("2 x 8x A100-SXM4-40GB", 4, 25))
        shown = self.check(path, "--network", "4 x 200 Gb/s infiniband").stdout
        self.assertIn("Per NIC: 22.5 GB/s, 90 % of its line rate of 25.0 GB/s (90.0 GB/s at", shown)
        self.assertIn("A ring reaches at most 100 GB/s; Tree may reach 188 GB/s on 2 nodes.", shown)
        # A table alone says neither GPUs nor hosts.
        table = self.write("y.log", TITLE + log(90, ranks=16).split(TITLE)[1])
        given = ("--network", "4 x 200 Gb/s infiniband", "--gpu", "8 x A100-SXM4-40GB")
        self.assertEqual(self.record(table, *given)["machine"], "2 x 8x A100-SXM4-40GB")
        self.assert_rejected(self.check(table, *given[:2], "--gpu", "A100-SXM4-40GB"), 2, "--gpu: ", "on how many nodes its 16 ranks stand")
        self.assert_rejected(self.check(table, *given[:2], "--gpu", "8 x B20"), 2, "--gpu: ", "did you mean 'B200'?")
        self.assert_rejected(self.check(path, *given[:2], "--gpu", "4 x A100-SXM4-40GB"), 2, "how 16 ranks stand on 2 hosts")
        for wrong, why in (("4 x 200 Gb/s infinband", "did you mean 'infiniband'"), ("4 x 200 infiniband", "Gb/s"),
                           ("infiniband", "4 x 200 Gb/s infiniband"), ("0 x 200 Gb/s roce", "0 x 200")):
            self.assert_rejected(self.check(path, "--network", wrong), 2, "--network: ", why)
        # A topology says nothing of the network, and neither do some machines.
        self.write("topo.txt", "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV12\t0-23\nGPU1\tNV12\t X \t24-47\n")
        four = self.write("four.log", log(20, ranks=4, hosts=2, gpu="NVIDIA A100-SXM4-80GB"))
        for described in (("--topology", "topo.txt"), ("--machine", self.write("box.yaml", "name: box\ngpus_per_node: 2\ngpu: {model: A100-SXM4-80GB}\nintra: {kind: nvlink, switch: true}\n"))):
            self.assert_rejected(self.check(four, *described), 2, "--network: ", "its 4 ranks need 2 nodes of ", "nothing says what joins them")
            self.assertEqual(self.record(four, *described, "--network", "1 x 200 Gb/s roce")["nics"]["nics"], 1)
        self.assert_rejected(self.check(path, "--machine", "p4d.24xlarge", *given[:2]), 2, "says already what joins its nodes")
        one = self.write("z.log", log(230, gpu="NVIDIA A100-SXM4-80GB"))
        self.assert_rejected(self.check(one, "--network", "4 x 200 Gb/s roce"), 2, "--network: has no effect here")

    def test_a_node_alone_and_two_of_them_are_judged_together(self):
        network = ("--network", "8 x 400 Gb/s infiniband")
        two = self.write("two.log", log(110, ranks=16, hosts=2, gpu="NVIDIA H100 80GB HBM3"))
        alone = self.write("alone.log", log(474, gpu="NVIDIA H100 80GB HBM3"))
        inside = {"links_half", "nvls_off", "peer_to_peer_off"}

        def of_two(*logs):
            (record,) = [one for one in self.records(self.check(*logs, *network, "--format", "json").stdout) if one["ranks"] == 16]
            self.assertTrue(record["alarm"])
            return {one["cause"]: one["probability"] for one in record["causes"]}, record
        before, _ = of_two(two)
        after, record = of_two(two, alone)
        self.assertLess(sum(after.get(one, 0) for one in inside), 0.1 * sum(before.get(one, 0) for one in inside))
        (links,) = [one for one in record["causes"] if one["cause"] == "links_half"]
        self.assertIn("alone.log: one of these nodes alone reaches 474 GB/s", links["evidence"][0])

    def test_several_logs_say_what_one_would(self):
        gpu = "NVIDIA A100-SXM4-80GB"
        text = log(230, gpu=gpu)
        other = text.replace("# nThread", "# Collective test starting: all_gather_perf\n# nThread").replace(" float sum ", " float none ")
        self.write("a.log", text)
        self.write("b.log", other)
        small = "1024 256 float sum -1 50.0 0.02 0.04 0 50.0 0.02 0.04 0\n"
        self.write("c.log", text.replace(TITLE, TITLE + small).replace("Pid", "Pid 7 #"))
        shown = self.check("a.log", "b.log", "c.log").stdout
        self.assertRegex(shown, r"b\.log .* A100-SXM4-80GB, all_gather ".replace(" .* ", " .*"))
        self.assertIn("all_reduce unless another is named", shown)
        self.assertRegex(shown, r"c\.log .* \d\.\d\d× h ")
        self.assertIn("3 logs: Their NVLinks are taken to go through NVSwitches.", shown)
        shown = self.check("a.log", "c.log", "--machine", "BM.GPU.H100.8").stdout
        self.assertRegex(shown, "2 logs: The log lists NVIDIA A100-SXM4-80GB, the description has H100.*: is it the right one")

    def test_many_logs(self):
        for i in range(3):
            self.write(f"good{i}.log", log(230 + i, gpu="NVIDIA A100-SXM4-80GB"))
        self.write("bad.log", log(1.45))
        self.write("empty.log", "")
        result = self.run_ringside("check", *sorted(self.folder.glob("*.log")))
        self.assert_rejected(result, 2, "1 log was not checked")
        self.assertIn("1 of 4 slow, 1 not checked", result.stdout)
        self.assertRegex(result.stdout, r"bad\.log +8x L40S +0\.12× ! +1\.45 of 11\.8 at 256 MiB +GPUs do not reach")
        self.assertRegex(result.stdout, r"good0\.log +8x A100-SXM4-80GB +1\.\d\d× +230 of 2\d\d at 256 MiB\n")
        lines = result.stdout.splitlines()
        cell = next(line for line in lines if "0.12×" in line).index("0.12×")
        self.assertGreater(cell, lines[0].index("up to 16 MiB") + len("up to 16 MiB"))
        self.assertIn("is empty", result.stdout)
        self.assertTrue("check_map" in result.stdout or "gnuplot" in result.stderr, result.stderr)

    def test_rows_are_judged_as_they_arrive(self):
        process = subprocess.Popen([PROGRAM, "check", "-", "--no-charts"], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        lines = log(1.45).splitlines(keepends=True)
        process.stdin.write("".join(lines[:-2]))
        process.stdin.flush()
        self.assertIn("slower", process.stdout.readline())  # Before the run is over.
        shown, _ = process.communicate("".join(lines[-2:]), timeout=240)
        self.assertEqual(process.returncode, 0)
        self.assertIn("Likely causes", shown)

    def test_a_baseline_sees_what_such_machines_hide(self):
        before = self.write("before.log", log(230, gpu="NVIDIA A100-SXM4-80GB"))
        record = self.record(self.write("now.log", log(190, gpu="NVIDIA A100-SXM4-80GB")), "--baseline", before)
        self.assertEqual((record["bands"][0]["verdict"], record["baseline"][0]["verdict"]), ("healthy", "slower"))
        again = self.record(before, "--baseline", before)
        self.assertEqual(again["baseline"][0]["verdict"], "healthy")
        shown = self.check("now.log", "--baseline", before).stdout
        self.assertIn("beside its baseline:", shown)
        self.assert_rejected(self.check("now.log", "--baseline", self.write("no.log", "hello\n")), 2, "no.log: holds no measurement")

    def test_a_submission_is_a_source_that_names_what_is_missing(self):
        path = self.write("x.log", log(12, ranks=2))
        result = self.run_ringside("submit", path, "--output", "given")
        self.assertEqual(result.returncode, 0, result.stderr)
        for missing in ("where it is published", "the version of NCCL", "who makes the CPUs", "peer_to_peer"):
            self.assertIn(missing, result.stdout)
        (scenario,) = (self.folder / "given").glob("*.yaml")
        self.assertNotIn("node0", scenario.read_text() + scenario.with_suffix(".csv").read_text())
        self.assertEqual(scenario.name, scenario.name.lower())
        self.assertRegex(scenario.name, "^[a-z]")
        rows = scenario.with_suffix(".csv").read_text().splitlines()
        self.assertIn(f"- name: {rows[-1].split(',')[0]}\n", scenario.read_text())
        size, microseconds = map(float, rows[-1].split(",")[1:])
        self.assertAlmostEqual(size / (1e3 * microseconds), 12, delta=0.2)  # Between two ranks busbw is algbw.
        cloud = self.run_ringside("submit", self.write("y.log", log(230, gpu="NVIDIA H100 80GB HBM3")), "--machine", "BM.GPU.H100.8", "--output", "cloud")
        self.assertEqual(cloud.returncode, 0, cloud.stderr)
        self.assertNotIn("gpudirect", cloud.stdout, "within one node")
        (of_a_cloud,) = (self.folder / "cloud").glob("*.yaml")
        self.assertNotIn("price", of_a_cloud.read_text())

    def test_one_submission_is_one_table(self):
        text = log(230, gpu="NVIDIA A100-SXM4-80GB")
        other = text.replace("# nThread", "# Collective test starting: all_gather_perf\n# nThread").replace(" float sum ", " float none ")
        result = self.run_ringside("submit", self.write("two.log", text + other), "--output", "given")
        self.assert_rejected(result, 2, "holds runs of several collectives", "submit each of its own")

    def test_the_version_of_rccl_is_a_version(self):
        rows = self.write("x.log", log(230, gpu="AMD Instinct MI300X"))
        for software, missing in (("", True), ("software: {rccl: 2.20.5}\n", False)):
            machine = self.write("box.yaml", "name: box\ngpus_per_node: 8\ngpu: {model: MI300X}\nintra: {kind: xgmi, generation: 4}\n" + software)
            result = self.run_ringside("submit", rows, "--machine", machine, "--output", "given")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual("the version of NCCL" in result.stdout, missing, result.stdout)

    def test_a_machine_that_nobody_knows(self):
        result = self.check(self.write("x.log", log(230)), "--machine", "p4d.24xlage")
        self.assert_rejected(result, 2, "--machine: 'p4d.24xlage'", "p4d.24xlarge")

    def test_what_is_no_log(self):
        self.assert_rejected(self.check(), 2, "LOG is required")
        self.assert_rejected(self.check("absent.log"), 2, "absent.log")
        osu = "# OSU MPI Broadcast Latency Test v5.7\n# Size  Avg Latency(us)\n4  12.0\n"
        self.assert_rejected(self.check(self.write("x.log", osu), "--ranks", "4"), 2, "which GPUs these are")


if __name__ == "__main__":
    unittest.main()
