"""Every log of ../shared/data/logs is read as its index says, or refused with the reason. Those logs are other people's and stay where they are."""

import csv
import json
import re
import unittest

from ringside_case import SOURCE, RingsideCase

LOGS = SOURCE.parent / "shared/data/logs"

# What a person has to add, because the log does not say it.
SAID = {
    "nccl/dstack_a3high_tcpx.log": ["--collective", "all_gather"],
    "nccl/gcp_a3mega_allgather_zero_rows.log": ["--collective", "all_gather"],
    "nccl/nrel_kestrel_h100_allgather.log": ["--collective", "all_gather"],
    "nccl/azure_skill_inconsistent.log": ["--ranks", "8"],
    "topoxml/azure_ndv4.log": ["--gpu", "A100-SXM4-40GB"],
    "topoxml/azure_ndv5.log": ["--gpu", "H100-SXM"],
    "topoxml/rccl_3p_pcie.log": ["--gpu", "MI100"],
}

# What is refused without it, and what holds nothing that ringside has a word for.
REFUSED = {
    "nccl/empty_file_0_bytes.log": "is empty",
    "nccl/gcp_a3ultra_placeholders.log": "6 rows from line 5 on were skipped: it has no time",
    "nccl/sophia_failed_run.log": "line 20: the run failed: Test NCCL failure common.cu:1012 'unhandled system error",
    "nccl/dstack_a3high_tcpx.log": "give --collective all_gather",
    "nccl/gcp_a3mega_allgather_zero_rows.log": "give --collective all_gather",
    "nccl/nrel_kestrel_h100_allgather.log": "give --collective all_gather",
    "nccl/azure_skill_inconsistent.log": "line 4: nothing says on how many ranks",
    "osu/dexhunter_get_latency.log": "OSU MPI_Get latency Test",
    "osu/nrel_mbw_mr.log": "OSU MPI Multiple Bandwidth / Message Rate Test",
    "osu/ulhpc_get_bw_2013.log": "line 10: ",
    "imb/alaska_ib_biband2.log": "the benchmark Biband is of no collective",
    "topoxml/azure_ndv4.log": "does not say which GPUs these are; give --gpu MODEL",
    "topoxml/rccl_3p_pcie.log": "PCI devices 0x1002:0x740f, which ringside does not know; give --gpu MODEL",
}

# Logs of two nodes, with what they do not say of their machine.
TWO_NODES = {
    "nccl/a100pcie_2node_nogdr_stepbytes.log": [],
    "nccl/abci_a100_2node_nccl284_error_col.log": ["4 x 200 Gb/s infiniband"],
    "nccl/v100_p3dn_2node_efa_info_dictline.log": ["1 x 100 Gb/s efa"],
    "nccl/h100_2node_1gpu_roce_info.log": ["1 x 200 Gb/s roce"],
    "nccl/polaris_2node.log": ["2 x 200 Gb/s slingshot"],
    "nccl/polaris_2node_dat2.log": ["2 x 200 Gb/s slingshot"],
    "nccl/polaris_2node_dat4.log": ["2 x 200 Gb/s slingshot"],
    "nccl/sophia_dgxa100_2node.log": ["8 x 200 Gb/s infiniband"],
    "nccl/a3mega_2node_no_hash.log": ["8 x 200 Gb/s tcpxo"],
    "nccl/alps_gh200_2node_ofi_indent.log": ["4 x 200 Gb/s slingshot"],
    "nccl/alps_gh200_2node_v2.18.2.log": ["4 x 200 Gb/s slingshot", "4 x GH200"],
    "nccl/oci_h100_2node_rdma.log": ["16 x 200 Gb/s roce"],
    "nccl/oci_a100_b4_2node_slurm.log": ["16 x 100 Gb/s roce"],
    "nccl/dstack_b200_a4_2node.log": ["8 x 400 Gb/s roce", "8 x B200"],
    "nccl/dstack_a3high_tcpx.log": ["4 x 200 Gb/s tcpx", "8 x H100-SXM"],
    "nccl/dstack_b200_lambda_2node.log": ["8 x 400 Gb/s infiniband", "8 x B200"],
    "nccl/azure_ndv4_2node.log": ["8 x 200 Gb/s infiniband", "8 x A100-SXM4-40GB"],
    "nccl/deepops_roce_k8s.log": ["2 x 100 Gb/s roce", "8 x V100-SXM2-32GB"],
    "nccl/aws_p4de_2node_slurm0.log": ["4 x 100 Gb/s efa", "8 x A100-SXM4-80GB"],
    "nccl/aws_p5_2node_slurm0.log": ["32 x 100 Gb/s efa", "8 x H100-SXM"],
    "nccl/gcp_a3mega_allgather_zero_rows.log": ["8 x 200 Gb/s tcpxo", "8 x H100-SXM"],
    "rccl/mi300x_2node_rocm634.log": ["8 x 400 Gb/s roce"],
    "rccl/mi355x_2node_pollara.log": ["8 x 400 Gb/s roce", "8 x MI355X"],
}

# Machines that no word of a machine file describes.
NO_WORD = {
    "topo/v100_3gpu_nv6_ansi.log": "`wiring` has no word for",
    "topoxml/a100_2gpu_pcie_nvbridge_dump.log": "joins its GPUs by links that differ from GPU to GPU",  # 1 and 12
}


def index():
    if not (LOGS / "index.csv").exists():
        return []
    with open(LOGS / "index.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@unittest.skipUnless(index(), f"the folder of real logs, {LOGS}, is not here")
class RealLogs(RingsideCase):
    def read(self, file, *more):
        return self.run_ringside("import", LOGS / file, *more, "--format", "json", "--output", self.folder / "read" / str(file).replace("/", "_"))

    def measured(self, file, *more):
        """The points of each series."""
        result = self.read(file, *SAID.get(file, []), *more)
        self.assertEqual(result.returncode, 0, f"{file}: {result.stderr}")
        series = {}
        for record in self.records(result.stdout):
            if record["record"] == "point":
                series.setdefault(record.get("series", 1), []).append(record)
        return list(series.values())

    def of_kind(self, *kinds):
        return [row for row in index() if row["kind"] in kinds]

    def assert_row(self, file, point, size, microseconds):
        self.assertEqual(point["bytes"], size, file)
        self.assertAlmostEqual(point["measured"]["seconds"] * 1e6, microseconds, delta=1e-6 * microseconds, msg=file)

    def test_what_the_index_says_of_tables_is_what_is_read(self):
        for row in self.of_kind("nccl", "rccl", "osu"):
            file, values = row["file"], row["values"]
            said = re.search(r"rows=(\d+)(?: \(\+(\d+) zero-size)?.*?first=(\d+) B ([\d.]+) us; last=(\d+) B ([\d.]+) us", values)
            if not said:
                self.assertTrue(file in REFUSED or "MB/s" in values, file)
                continue
            if row["kind"] == "osu" and file in REFUSED:
                continue
            with self.subTest(file=file):
                series = self.measured(file, *(["--ranks", "8"] if row["kind"] == "osu" else []))
                points = [point for one in series for point in one]
                self.assertEqual(len(points), int(said[1]) - int(said[2] or 0))
                self.assert_row(file, points[0], int(said[3]), float(said[4]))
                self.assert_row(file, points[-1], int(said[5]), float(said[6]))
                if blocks := re.search(r"blocks=(\d+)", values):
                    self.assertEqual(len(series), int(blocks[1]))
                if busbw := re.search(r"last busbw=([\d.]+)", values):
                    last, n = points[-1], points[-1]["ranks"]
                    factor = (2 if last["collective"] == "all_reduce" else 1) * (n - 1) / n
                    if file not in SAID or "--ranks" not in SAID[file]:
                        self.assertAlmostEqual(last["bytes"] / last["measured"]["seconds"] * 1e-9 * factor, float(busbw[1]),
                                               delta=0.011 + 0.0005 * float(busbw[1]))

    def check_log(self, file, *more):
        return self.run_ringside("check", LOGS / file, *SAID.get(file, []), *more, "--no-charts", "--format", "json")

    def test_every_log_of_two_nodes_is_judged_with_its_network(self):
        for file, said in TWO_NODES.items():
            with self.subTest(file=file):
                result = self.check_log(file, *(word for pair in zip(("--network", "--gpu"), said) for word in pair))
                self.assertEqual(result.returncode, 0, result.stderr)
                for record in self.records(result.stdout):
                    self.assertTrue(record["bands"], file)
                    self.assertTrue(record["machine"].startswith("2 x "), record["machine"])
                    self.assertGreater(record["nics"]["per_nic"], 0)

    def test_the_end_of_real_runs(self):
        self.assert_rejected(self.check_log("nccl/sophia_failed_run.log"), 1, "the run failed: line 20: Test NCCL failure")
        for file, incomplete in (("nccl/4090_2gpu_killed_runs.log", True), ("nccl/4090_8gpu_multirun.log", False),
                                 ("nccl/h800_8gpu_multirun.log", False), ("rccl/mi300x_1node_8gpu.log", False)):
            (record,) = self.records(self.check_log(file).stdout)
            self.assertEqual(record["incomplete"], incomplete, file)
            self.assertEqual("incomplete" in [band["verdict"] for band in record["bands"]], incomplete, file)

    def test_one_process_for_all_gpus_holds_back_what_is_short(self):
        for file, held in (("nccl/h100_4gpu_v2.18.3.log", ["held_back", "held_back", "healthy"]),
                           ("nccl/h100_4gpu_allgather_v2.18.3.log", ["held_back", "held_back", "healthy"])):
            (record,) = self.records(self.check_log(file).stdout)
            self.assertEqual([band["verdict"] for band in record["bands"]], held, file)

    def test_a_pair_of_nodes_with_one_gpu_each_is_no_node(self):
        (record,) = self.records(self.check_log("nccl/a100pcie_2node_nogdr_stepbytes.log", "--machine", "BM.GPU4.8").stdout)
        self.assertIn("The log has 1 rank on each host of 8 GPUs.", record["assumptions"])
        self.assertEqual(record["bands"][-1]["verdict"] != "slower", not record["alarm"])
        self.assertNotIn("peer_to_peer_off", [cause["cause"] for cause in record["causes"]])

    def test_what_cannot_be_used_is_refused_with_the_reason(self):
        for file, reason in REFUSED.items():
            with self.subTest(file=file):
                self.assert_rejected(self.read(file, *(["--ranks", "8"] if file.startswith("osu") else [])), 2, file, reason)

    def test_several_runs_in_one_file_are_several_series(self):
        for file, number in (("nccl/h800_8gpu_multirun.log", 27), ("nccl/4090_8gpu_multirun.log", 27),
                             ("nccl/4090_2gpu_killed_runs.log", 3), ("nccl/h100_algo_sweep_rows_no_header.log", 3)):
            self.assertEqual(len(self.measured(file)), number, file)

    def test_in_place_times_are_kept_apart(self):
        for file, bytes_and_us in (("nccl/h100_g2_ring_info_glued.log", (268435456, 893.35)),
                                   ("nccl/aws_p5en_elided.log", (8, 166.1))):
            (point, *_), *_ = self.measured(file, "--in-place")
            self.assert_row(file, point, *bytes_and_us)

    def test_what_is_missing_or_odd_is_said(self):
        for file, note in (("nccl/aws_p5en_elided.log", "line 5: rows were left out here; they stay absent"),
                           ("nccl/azure_skill_inconsistent.log", "line 6: its busbw is below its algbw"),
                           ("nccl/coreweave_gb200_144gpu.log", "lists 144 ranks, but its bandwidths are those of 128"),
                           ("nccl/sb_a100_8gpu_allreduce.log", "2 rows from line 17 on were skipped: a message of 0 bytes"),
                           ("p2p/rtx6kpro_latency_elided.log", "line 5: rows of this matrix were left out")):
            result = self.run_ringside("import", LOGS / file, *SAID.get(file, []))
            self.assertIn(note, result.stdout, file)

    def test_an_anonymous_log_reads_as_before(self):
        for file, gone in (("nccl/gh200_4node_slurm_label.log", "nid00"), ("nccl/sophia_dgxa100_2node.log", "sophia-gpu"),
                           ("nccl/2080ti_16node_1gpu_stepbytes_info.log", "10.0.0.19"), ("nccl/h100_g2_ring_info_glued.log", "38dcf168f605:")):
            result = self.run_ringside("import", LOGS / file, "--anonymise", "--output", "anonymous")
            self.assertEqual(result.returncode, 0, result.stderr)
            written = self.folder / result.stdout.strip()
            self.assertTrue(gone in (LOGS / file).read_text(), file)
            self.assertFalse(gone in written.read_text(), file)  # Without the text in the message.
            self.assertEqual(self.measured(file), self.measured(written), file)

    def test_blocks_of_intel_mpi_benchmarks(self):
        for row in self.of_kind("imb"):
            file = row["file"]
            if file in REFUSED:
                continue
            points = [point for one in self.measured(file) for point in one if point["collective"] == "all_reduce"]
            for said in re.finditer(r"processes = (\d+): rows=(\d+); first=0 B .*?last=(\d+) B ([\d.]+) us", row["values"]):
                of_ranks = [point for point in points if point["ranks"] == int(said[1])]
                self.assertEqual(len(of_ranks), int(said[2]) - 1, file)  # One is of 0 bytes.
                self.assert_row(file, of_ranks[-1], int(said[3]), float(said[4]))

    def test_scripts_that_print_bandwidths(self):
        ((*table,),) = self.measured("allreduce_bench/mle_4node_table.log")
        self.assertEqual((len(table), table[0]["bytes"], table[-1]["bytes"], table[0]["ranks"]), (20, 32 << 10, 16 << 30, 32))
        self.assertAlmostEqual(table[-1]["bytes"] / table[-1]["measured"]["seconds"] * 1e-9, 47.32, places=6)
        (((point,),)) = self.measured("allreduce_bench/gke_a3high_2node_prefixed.log")
        self.assertEqual((point["bytes"], point["ranks"]), (4_000_000_000, 16))
        self.assertAlmostEqual(4 / point["measured"]["seconds"], 44.947, places=6)
        (((point,),)) = self.measured("allreduce_bench/llmjp_53node.log")
        self.assertEqual((point["bytes"], point["ranks"]), (6_000_000_000, 424))
        self.assertAlmostEqual(6 / point["measured"]["seconds"] * 2 * 423 / 424, 186.96, places=2)
        (((point,),)) = self.measured("gloo/hoplite_gloo_4p.log")
        self.assert_row("gloo", point, 1073741824, 1443672)
        self.assertEqual((point["ranks"], point["measured"]["backend"], point["algorithm"]), (4, "gloo", "allreduce_ring_chunked"))

    def test_deepspeed_gives_what_it_says_unambiguously(self):
        for file, microseconds in (("ds/deepspeed_log_summary.log", 80), ("ds/deepspeed_log_summary_debug.log", 60)):
            ((small, large),) = self.measured(file)
            self.assertEqual((small["collective"], small["ranks"], small["measured"]["iterations"]), ("broadcast", 16, 146))
            self.assert_row(file, small, 2048, microseconds)
            self.assertEqual(large["bytes"], round(98.25 * 2**20))
            shown = self.run_ringside("import", LOGS / file).stdout
            self.assertIn("does not say whether the size of reduce_scatter_tensor is one rank's or the whole", shown)
            self.assertIn("no benchmark", shown)

    def copies(self, file, record):
        result = self.read(file)
        self.assertEqual(result.returncode, 0, f"{file}: {result.stderr}")
        return [one for one in self.records(result.stdout) if one["record"] == record]

    def matrices(self, file):
        return self.copies(file, "copies")

    def test_pairs_of_copies(self):
        for file, title, gpus, both_ways in (
            ("p2p/rtx6000ada_4gpu_cpu_latency.log", "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", 4, True),
            ("p2p/rossum_az_4x_m60.log", "Unidirectional P2P=Enabled Bandwidth Matrix (GB/s)", 4, True),
            ("p2p/mle_h100_8gpu.log", "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)", 8, False),
            ("nvbandwidth/nvb_8gpu_nvlink.log", "device_to_device_memcpy_write_ce", 8, False),
        ):
            with self.subTest(file=file):
                pairs = self.copies(file, "pair")
                (matrix,) = [matrix for matrix in self.matrices(file) if matrix["title"] == title]
                self.assertEqual([(one["from"], one["to"]) for one in pairs],
                                 [(i, j) for i in range(gpus) for j in range(gpus) if i != j])
                self.assertEqual({one["both_ways"] is not None for one in pairs}, {both_ways})
                # Only writes of p2pBandwidthLatencyTest go from the row's GPU.
                rate = matrix["rows"][0][1] if "P2P Writes" in title else matrix["rows"][1][0]
                self.assertAlmostEqual(pairs[0]["bytes_per_second"], rate * 1e9, delta=1)

    def test_matrices_of_copies(self):
        for row in self.of_kind("p2p"):
            file = row["file"]
            matrices = [matrix for matrix in self.matrices(file) if not matrix["title"].endswith("by the CPU's clock")]
            self.assertEqual(len(matrices), int(re.search(r"matrices=(\d+)", row["values"])[1]), file)
            for said in re.finditer(r"((?:Unidirectional )?P2P=[^;]*?Matrix \(\S+\)): n=(\d+) \((full|(\d+) of \d+ rows)\) "
                                    r"\[0\]\[1\]=([\d.]+) \[last\]\[last-1\]=([\d.]+)", row["values"]):
                (matrix,) = [matrix for matrix in matrices if matrix["title"] == said[1]]
                self.assertEqual((matrix["columns"], len(matrix["rows"])), (int(said[2]), int(said[4] or said[2])), file)
                self.assertEqual(matrix["rows"][0][1], float(said[5]), file)
                rows = matrix["rows"]
                last = rows[-1][-2] if not said[4] else rows[-1][2]
                self.assertEqual(last, float(said[6]) if not said[4] else 0.44, file)

    def test_matrices_of_nvbandwidth(self):
        (matrix,) = self.matrices("nvbandwidth/nvb_8gpu_nvlink.log")
        self.assertEqual((matrix["title"], matrix["rows"][0][1], matrix["rows"][7][0]), ("device_to_device_memcpy_write_ce", 276.07, 276.12))
        rows = {matrix["title"]: matrix["rows"] for matrix in self.matrices("nvbandwidth/superbench_gh200.log")}
        self.assertAlmostEqual(sum(map(sum, rows["host_to_device_memcpy_ce"])), 1985.60, places=6)
        self.assertAlmostEqual(sum(map(sum, rows["device_to_host_memcpy_ce"])), 607.26, places=6)
        self.assertEqual(rows["host_to_device_bidirectional_memcpy_ce"], [[176.92]])
        shown = self.run_ringside("import", LOGS / "nvbandwidth/nvb_8gpu_nvlink.log").stdout
        self.assertIn("known: [{p2p: {bandwidth: 276.4 GB/s}}]", shown)

    def machine(self, file, *more):
        result = self.read(file, *more)
        self.assertEqual(result.returncode, 0, f"{file}: {result.stderr}")
        return json.loads(result.stdout)["yaml"]

    def test_topologies_become_machines(self):
        for row in self.of_kind("topo"):
            file, values = row["file"], row["values"]
            if NO_WORD.get(file):
                self.assert_rejected(self.read(file, "--gpu", "A100-SXM4-40GB"), 2, NO_WORD[file])
                continue
            self.assert_rejected(self.read(file), 2, "give --gpu MODEL")
            yaml = self.machine(file, "--gpu", "A100-SXM4-40GB")
            self.assertIn(f"gpus_per_node: {re.search(r'GPUs=([0-9]+)', values)[1]}\n", yaml, file)
            kinds = set(re.search(r"GPU-GPU kinds=([^;]*)", values)[1].split("/"))
            if links := [kind for kind in kinds if kind.startswith("NV")]:
                self.assertIn(f"nvlink, links_per_gpu: {links[0][2:]}", yaml, file)
            else:
                self.assertIn("kind: pcie", yaml, file)
                self.assertEqual("sockets" in yaml, bool(kinds & {"SYS", "SOC"}), file)

    def test_topology_xml_becomes_a_machine(self):
        for row in self.of_kind("topoxml"):
            file, values = row["file"], row["values"]
            if NO_WORD.get(file):
                self.assert_rejected(self.read(file), 2, NO_WORD[file])
                continue
            yaml = self.machine(file, *SAID.get(file, []))
            elements = int(re.search(r"gpu elements=(\d+)", values)[1])
            pci = int(re.search(r"class 0x0302 (\d+)", values)[1])
            self.assertIn(f"gpus_per_node: {max(elements, pci)}\n", yaml, file)
            if speed := re.search(r"net speeds Mbps=(\d+)", values):
                nets = int(re.search(r"net=(\d+)", values)[1])
                self.assertIn(f"rate: {int(speed[1]) / 8000:g} GB/s", yaml, file)
                self.assertEqual(f"nics: {nets}" in yaml, nets > 1, file)

    def test_records_of_nccl_inspector_are_points_and_its_prometheus_text_is_refused(self):
        for row in self.of_kind("inspector"):
            (points,) = self.measured(row["file"])
            self.assertEqual({point["ranks"] for point in points}, {2 if "2gpu" in row["file"] else 4})
            self.assertEqual(points[-1]["bytes"], 1 << (30 if "2gpu" in row["file"] else 32), row["file"])
        for row in self.of_kind("inspector-prom"):
            self.assert_rejected(self.read(row["file"]), 2, "holds no measurement; ringside reads")

    def test_bandwidths_between_two_processes_are_known(self):
        for file, known in (("osu/alaska_ib_bw.log", "10.87 GB/s"), ("osu/alps_bw_v7.5_validation.log", "23.98 GB/s"),
                            ("osu/mi250_bw_blocks_rocm.log", "38.96 GB/s")):
            result = self.run_ringside("import", LOGS / file)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"known: [{{p2p: {{bandwidth: {known}}}}}]", result.stdout)

    def test_every_log_is_named_in_some_test(self):
        kinds = {"inspector", "inspector-prom", "nccl", "rccl", "osu", "imb", "p2p", "topo", "topoxml", "nvbandwidth", "allreduce_bench", "gloo", "ds"}
        self.assertEqual({row["kind"] for row in index()} - kinds, set())


if __name__ == "__main__":
    unittest.main()
