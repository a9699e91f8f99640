"""The numbers and records of `predict`, as a user types it."""

import re
import shutil
import unittest

from ringside_case import CUSTOM, SOURCE, RingsideCase


class Predict(RingsideCase):
    def points(self, text, *flags):
        result = self.run_ringside("predict", self.write("scenario.yaml", text), "--format", "json", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {p["algorithm"]: p for p in self.records(result.stdout) if p["record"] == "point"}

    def test_a_replay_is_no_faster_than_a_port_carries_and_says_which(self):
        scenario = self.write("nics.yaml", """ranks: 16
algorithms: [naive, ring, direct, direct_two_shot]
message_sizes: [128 MiB]
machine:
  nodes: 16
  gpus_per_node: 1
  gpu: {model: H100-PCIE}
  intra: {kind: pcie, generation: 5}
  inter: {kind: infiniband, rate: 100 Gb/s, nics: 1}
""")
        result = self.run_ringside("predict", scenario, "--fidelity", "replay", "--format", "json")
        self.assertIn("Replay gives each message its own links. At 2 points", result.stderr)
        self.assertIn("NIC", result.stderr)
        for point in self.records(result.stdout):
            if point["record"] == "point":
                busbw = point["bytes"] * 2 * 15 / 16 / point["predicted"]["seconds"]
                self.assertLessEqual(busbw, 12.5e9, point["algorithm"])
        self.assertNotIn("fastest of all", self.run_ringside("predict", scenario, "--fidelity", "replay").stdout)

    def test_eight_ranks_at_ten_gigabytes_per_second(self):
        # 14 messages of 10 us each; naive 14 x 80 MB at 10 GB/s, ring 14 x 10 MB.
        points = self.points(CUSTOM)
        for algorithm, seconds in {"naive": 0.11214, "tutorial_ring": 0.11214, "ring": 0.01414}.items():
            predicted = points[algorithm]["predicted"]
            self.assertAlmostEqual(predicted["seconds"], seconds, delta=1e-6 * seconds)
            self.assertEqual(predicted["fidelity"], "closed_form")
            self.assertEqual(predicted["source"], "given")

    def test_every_fidelity_agrees_on_private_links(self):
        expected = self.points(CUSTOM)
        for fidelity in ("closed_form", "replay", "flow"):
            for algorithm, point in self.points(CUSTOM, "--fidelity", fidelity).items():
                want = expected[algorithm]["predicted"]["seconds"]
                self.assertAlmostEqual(point["predicted"]["seconds"], want, delta=1e-9 * want)
                self.assertEqual(point["predicted"]["fidelity"], fidelity)

    def test_reduction_cost_is_added(self):
        text = CUSTOM.replace("10 GB/s}", "10 GB/s, reduction: 0.1 ns/B}")
        # naive reduces 7 x 80 MB at 0.1 ns/B = 56 ms, ring 7 x 10 MB = 7 ms.
        points = self.points(text)
        self.assertAlmostEqual(points["naive"]["predicted"]["seconds"], 0.16814, delta=1e-7)
        self.assertAlmostEqual(points["ring"]["predicted"]["seconds"], 0.02114, delta=1e-7)

    def test_what_is_shared_is_said_and_costs_what_it_must(self):
        machine = "name: eight\nalgorithms: [ring]\nranks: 8\nmessage_sizes: [256 MiB]\nmachine:\n  gpus_per_node: 8\n"
        staged = machine + "  intra: {kind: pcie, generation: 4, lanes: 16, peer_to_peer: false, sockets: 2}\n"
        switched = machine + "  intra: {kind: nvlink, generation: 3, links_per_gpu: 12, switch: true}\n"
        predicted = self.points(staged)["ring"]["predicted"]
        # Every card sends and receives at once.
        limit = predicted["limits"][0]
        self.assertRegex(limit.pop("link"), r"^staging of GPU \d in host memory$")
        self.assertEqual(limit, {"kind": "shared_link", "link_kind": "staging", "flows": 2, "crossings": 2,
                                 "others": True})
        # A private link of that kind (19.5 GB/s) would take 2 · 7/8 · 256 MiB / 19.5 GB/s = 24 ms, a card's staging for both
        # directions together (22 GB/s) 43 ms.
        self.assertAlmostEqual(predicted["seconds"], 0.043, delta=0.001)
        self.assertEqual(self.points(switched)["ring"]["predicted"].get("limits", []), [])

    def test_three_listed_bandwidths_are_three_ordered_answers_for_every_algorithm(self):
        result = self.run_ringside("predict", SOURCE / "configs/scenarios/listed-4x3090.yaml", "--sweep",
                                   "intra.bandwidth=16GB/s,20GB/s,24GB/s", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        points = [p for p in self.records(result.stdout) if p["record"] == "point"]
        for algorithm in ("naive", "ring", "native"):
            times = {p["sweep"]["intra.bandwidth"]: p["predicted"]["seconds"] for p in points if p["algorithm"] == algorithm}
            slow, middle, fast = (times[f"{rate}GB/s"] for rate in (16, 20, 24))
            # Nearly in proportion to the bandwidth: 88 MB are many times what latency costs.
            self.assertGreater(slow, 1.15 * middle, algorithm)
            self.assertGreater(middle, 1.1 * fast, algorithm)
            self.assertLess(slow, 24 / 16 * fast, algorithm)

    def test_a_bandwidth_that_the_slot_cannot_have_is_refused(self):
        scenario = SOURCE / "configs/scenarios/listed-4x3090.yaml"
        result = self.run_ringside("predict", scenario, "--sweep", "intra.bandwidth=40GB/s")
        self.assert_rejected(result, 2, "intra.bandwidth: 40 GB/s", "31.5")

    def test_one_ring_beside_nccls_own_says_how_many_nics_each_drives(self):
        text = ("name: two nodes\nalgorithms: [naive, ring, native]\nranks: 16\nmessage_sizes: [256 MiB]\n"
                "machine: 2 x p4d.24xlarge\n")
        points = self.points(text)
        self.assertEqual(points["ring"]["predicted"]["nics"], {"used": 1, "of": 4})
        self.assertEqual(points["native"]["predicted"]["nics"], {"used": 4, "of": 4})
        printed = self.run_ringside("predict", self.write("scenario.yaml", text)).stdout
        self.assertIn("1 of the 4 NICs", printed)
        self.assertIn("do not compare native", printed)
        self.assertNotIn("all_reduce is predicted to be", printed)
        # A node's four NICs of 12.5 GB/s, and one of them.
        self.assertGreater(points["ring"]["predicted"]["seconds"], 3 * points["native"]["predicted"]["seconds"])

    def test_what_is_uncertain_has_its_interval_in_table_and_verdict(self):
        known = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM))
        self.assertNotIn("90 %", known.stdout)
        text = "name: cards\nalgorithms: [naive, ring]\nranks: 4\nmessage_sizes: [256 MiB]\nmachine: 4x-rtx3090-pcie4\n"
        ours = self.run_ringside("predict", self.write("scenario.yaml", text)).stdout
        self.assertIn("90 % interval", ours)
        self.assertRegex(ours, r"ring +[\d.]+ ms +[\d.]+–[\d.]+ ms")
        self.assertRegex(ours, r"ring is predicted to be [\d.]+× faster than naive at 256 MiB on 4 ranks "
                               r"\(90 %: [\d.]+ to [\d.]+\)")

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_charts_are_drawn_as_svg_too_when_asked(self):
        text = CUSTOM.replace("[80 MB]", "{from: 1 KiB, to: 16 MiB, factor: 16}")
        result = self.run_ringside("predict", self.write("scenario.yaml", text), "--charts", "--svg", "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        for kind in ("png", "svg"):
            self.assertIn(f"out/time_vs_size.{kind}", result.stdout)
        self.assertIn("<svg", (self.folder / "out" / "time_vs_size.svg").read_text())

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_a_chart_of_a_sweep_says_of_which_ranks_and_size_it_is(self):
        result = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM), "--sweep", "bandwidth=1GB/s,2GB/s", "--svg", "--output", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(">predicted time over bandwidth, 8 ranks, 80 MB<", (self.folder / "out/sweep_bandwidth.svg").read_text())

    def test_a_sweep_says_once_under_its_table_who_leaves_nics_idle(self):
        text = ("name: two nodes\nalgorithms: [naive, ring, native]\nranks: [8, 16]\nmessage_sizes: [256 MiB]\n"
                "machine: 2 x p4d.24xlarge\n")
        scenario = self.write("scenario.yaml", text)
        lines = self.run_ringside("predict", scenario, "--sweep", "rate=100 Gb/s,200 Gb/s").stdout.splitlines()
        notes = [line for line in lines if "NIC" in line]
        self.assertEqual(len(notes), 1)
        self.assertIn("ring uses 1 of the 4", notes[0])
        swept = self.run_ringside("predict", scenario, "--sweep", "nics=4,8", "--format", "json")
        rings = [point for point in self.records(swept.stdout) if point["algorithm"] == "ring" and point["ranks"] == 16]
        self.assertEqual([(point["sweep"], point["predicted"]["nics"]) for point in rings],
                         [({"nics": "4"}, {"used": 1, "of": 4}), ({"nics": "8"}, {"used": 1, "of": 8})])

    def test_messages_of_one_rank_share_its_port_unless_every_pair_has_a_link(self):
        scenario = CUSTOM.replace("[naive, tutorial_ring, ring]", "[naive, ring, direct_two_shot]")
        points = self.points(scenario)
        # 2 x 7 messages of 10 MB through one port of 10 GB/s; the ring sends as much, in 14 rounds.
        self.assertAlmostEqual(points["direct_two_shot"]["predicted"]["seconds"], 2e-5 + 0.014, delta=1e-9)
        self.assertEqual(points["direct_two_shot"]["predicted"]["limits"][0]["link"], "rank 0's port out")
        self.assertAlmostEqual(points["ring"]["predicted"]["seconds"], 0.01414, delta=1e-9)
        mesh = self.points(scenario.replace("10 GB/s}", "10 GB/s, ports: all}"))
        self.assertAlmostEqual(mesh["direct_two_shot"]["predicted"]["seconds"], 2e-5 + 0.002, delta=1e-9)
        self.assertEqual(mesh["ring"], points["ring"])
        self.assert_rejected(self.run_ringside("predict", self.write("two.yaml", scenario.replace("10 GB/s}", "10 GB/s, ports: 2}"))),
                             2, "two.yaml:6:", "unknown number of ports '2'. Known: 1, all")

    def test_a_gpu_that_nobody_knows_is_predicted_by_its_links_and_native_says_why_it_is_not(self):
        text = ("algorithms: [%s]\nranks: 4\nmessage_sizes: [64 MiB]\n"
                "machine: {gpus_per_node: 4, gpu: {model: FooBar 9000}, intra: {kind: pcie, generation: 4, bandwidth: 20 GB/s}}\n")
        result = self.run_ringside("predict", self.write("x.yaml", text % "ring, native"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("No prediction of native: NCCL's behaviour depends on the vendor of FooBar 9000", result.stderr)
        self.assert_rejected(self.run_ringside("predict", self.write("y.yaml", text % "native")), 3, "nothing can be predicted")

    def test_ranks_that_fill_some_nodes_are_said(self):
        text = "algorithms: [ring]\nranks: [%s]\nmessage_sizes: [1 MiB]\nmachine: %s x p4d.24xlarge\n"
        for ranks, nodes, said in (("8, 16", 2, "8 ranks stand on the first of the 2 nodes of 8 GPUs."),
                                   ("16, 32", 4, "16 ranks stand on 2 of the 4 nodes of 8 GPUs.")):
            self.assertIn(said, self.run_ringside("predict", self.write("x.yaml", text % (ranks, nodes))).stderr)

    def test_native_stands_once_and_its_details_are_explained(self):
        text = "algorithms: [native]\nranks: [4, 8]\nmessage_sizes: [1 KiB, 1 MiB, 1 GiB]\nmachine: dgx-a100\n"
        scenario = self.write("x.yaml", text)
        printed = self.run_ringside("predict", scenario).stdout
        self.assertEqual(printed.count("NCCL takes"), 2)
        self.assertEqual(printed.count("90 %"), 1)
        self.assertLessEqual(len(printed.splitlines()), 40)
        explained = self.run_ringside("predict", scenario, "--explain").stdout
        self.assertEqual(explained.count("NCCL takes") - explained.count("what NCCL takes"), 6)

    def test_many_sizes_fit_a_screen_and_are_explained_whole(self):
        scenario = SOURCE / "configs/scenarios/a100-node.yaml"
        printed = self.run_ringside("predict", scenario).stdout
        self.assertLessEqual(len(printed.splitlines()), 40)
        self.assertIn("--explain shows all", printed)
        self.assertGreater(len(self.run_ringside("predict", scenario, "--explain").stdout.splitlines()), 100)

    def test_compare_of_many_sizes_fits_a_screen_and_is_explained_whole(self):
        sizes = [1 << exponent for exponent in range(12, 30)]
        rows = [f"{size},{20 + size / 1e4},4,{algorithm}" for size in sizes for algorithm in ("naive", "ring")]
        self.write("times.csv", "bytes,time_us,ranks,algorithm\n" + "\n".join(rows) + "\n")
        scenario = self.write("x.yaml", "algorithms: [naive, ring]\nranks: 4\nmachine: 4x-rtx4090-pcie4\nmeasured: times.csv\n"
                                        f"message_sizes: [{', '.join(f'{size} B' for size in sizes)}]\n")
        compare = ("compare", scenario, "--no-charts", "--output", self.folder / "out")
        printed = self.run_ringside(*compare).stdout
        self.assertLessEqual(len(printed.splitlines()), 40)
        self.assertIn("of 36 rows", printed)
        explained = self.run_ringside(*compare, "--explain").stdout
        self.assertGreater(len(explained.splitlines()), 60)
        self.assertIn("accuracy of the predictions", explained)

    def test_a_rate_of_roce_is_taken_as_it_is_written(self):
        machine = ("{nodes: 2, gpus_per_node: 8, gpu: {model: A100-SXM4-40GB}, intra: {kind: nvlink, switch: true, links_per_gpu: 12}, "
                   "inter: {kind: roce, rate: %s, nics: 4}}")
        text = "algorithms: [ring, native]\nranks: 16\nmessage_sizes: [64 MiB]\nmachine: %s\n"
        self.assertEqual(self.points(text % machine % "25 GB/s"), self.points(text % machine % "200 Gb/s"))

    def test_machines_are_listed_by_their_gpu_by_a_word_or_all(self):
        classes = self.run_ringside("list", "machines").stdout
        self.assertRegex(classes, r"(?m)^RTX 4090 +\d+  2x-rtx4090-vast, ")
        words = self.run_ringside("list", "machines", "h200").stdout
        self.assertIn("p5en.48xlarge", words)
        self.assertNotIn("p4d.24xlarge", words)
        self.assertNotIn("skypilot", words)
        self.assertIn("g5.xlarge", self.run_ringside("list", "machines", "--all").stdout)
        self.assert_rejected(self.run_ringside("list", "machines", "toaster"), 2, "no machine has 'toaster'")
        self.assert_rejected(self.run_ringside("list", "backends", "H100"), 2, "is for machines alone")

    def test_every_machine_says_where_it_comes_from_and_when_that_was(self):
        machines = {one["name"]: one for one in self.records(self.run_ringside("list", "machines", "--format", "json").stdout)}
        for name, machine in machines.items():
            if name != "custom" and not name.startswith("lab-"):
                self.assertTrue(machine["source"], name)
                self.assertRegex(machine["as_of"], r"^20\d\d", name)
        for name in ("p5e.48xlarge", "p5en.48xlarge", "p5.4xlarge", "g6.12xlarge", "g6e.48xlarge", "g5.24xlarge", "a2-highgpu-2g", "a2-highgpu-4g",
                     "a3-highgpu-4g", "a3-megagpu-8g", "a4-highgpu-8g", "a4x-highgpu-4g", "g2-standard-48", "Standard_ND96isr_MI300X_v5",
                     "Standard_ND128isr_NDR_GB200_v6", "Standard_ND96isr_H200_v5", "coreweave-8x-h100", "crusoe-8x-h100", "runpod-8x-h100",
                     "nebius-8x-h200", "4x-rtx3090-vast", "8x-rtx-a5000-pcie4", "8x-rtx-a6000-pcie4", "8x-l40-pcie4", "8x-l40s-pcie4-two-sockets",
                     "8x-rtx-6000-ada-pcie4", "8x-rtx-pro-6000-pcie5", "8x-h100-pcie", "8x-h100-nvl", "8x-h200-vast"):
            self.assertIn(name, machines)
            shown = self.run_ringside("show", "machine", name, "--output", "shown", "--format", "json")
            self.assertEqual(shown.returncode, 0, shown.stderr)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_values_of_a_winner_map_grow_upwards_and_to_the_right(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        result = self.run_ringside("predict", scenario, "--sweep", "bandwidth=5GB/s:40GB/s:2x", "--sweep", "ranks=2:16:2x", "--svg", "--output", "map")
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = (self.folder / "map/winner_map.svg").read_text()
        place = {text: (float(x), float(y)) for x, y, text in re.findall(
            r'translate\(([0-9.]+),([0-9.]+)\)"[^>]*>\s*<text[^>]*>([^<]*)</text>', picture)}
        heights = [place[f"{rate} GB/s"][1] for rate in (5, 10, 20, 40)]
        self.assertEqual(heights, sorted(heights, reverse=True))  # Pixels are counted from the top.
        rights = [place[str(ranks)][0] for ranks in (2, 4, 8, 16)]
        self.assertEqual(rights, sorted(rights))

    def test_many_ranks_are_predicted_or_refused_but_never_simulated_for_hours(self):
        text = CUSTOM.replace("ranks: 8", "ranks: 65536").replace("naive, tutorial_ring, ring", "ring")
        predicted = self.points(text)["ring"]["predicted"]
        self.assertEqual(predicted["fidelity"], "closed_form")
        refused = self.run_ringside("predict", self.write("scenario.yaml", text), "--fidelity", "flow")
        self.assert_rejected(refused, 2, "8.6e+09 messages", "GiB of memory", "force")

    def test_the_header_names_the_schema_and_the_scenario(self):
        result = self.run_ringside("predict", self.write("scenario.yaml", CUSTOM), "--format", "json")
        header, *others = self.records(result.stdout)
        self.assertIn("verdict", [record["record"] for record in others])
        self.assertEqual(header["record"], "run")
        self.assertEqual(header["schema"], "ringside/1")
        self.assertEqual(header["command"].split(" ")[1:], ["predict", str(self.folder / "scenario.yaml"), "--format", "json"])

    def test_a_known_time_of_another_unit_is_refused_and_one_beyond_the_links_is_doubted(self):
        cards = self.write("cards.yaml", "name: cards\nalgorithms: [native]\nranks: 4\nmessage_sizes: [1 GiB]\nmachine: 4x-rtx3090-pcie4\n")

        def told(seconds):
            return self.run_ringside("predict", cards, "--known", "{native: {ranks: 4, bytes: 1 GiB, seconds: %s}}" % seconds)

        self.assert_rejected(told("150 us"), 2, "known: all_reduce of 1 GiB on 4 ranks in 150 µs cannot be: links of this description take", "is the unit right?")
        self.assert_rejected(told("150 s"), 2, "in 150 s cannot be:", "is predicted; is the unit right?")
        self.assertIn("in 20 ms is shorter than the described links allow", told("20 ms").stdout)
        self.assertNotIn("which is known", told("150 ms").stdout)

    def test_links_of_another_vendor_are_impossible(self):
        for gpu, kind, word in (("MI300X", "nvlink", "has `xgmi`, not NVLink"), ("H100-SXM", "xgmi", "has `nvlink`, not xGMI")):
            scenario = self.write("s.yaml", "name: s\nalgorithms: [native]\nranks: 8\nmessage_sizes: [1 MiB]\nbackend: nccl\n"
                                            f"machine: {{gpus_per_node: 8, gpu: {{model: {gpu}}}, intra: {{kind: {kind}, generation: 4}}}}\n")
            self.assert_rejected(self.run_ringside("predict", scenario, "--output", "out"), 2, "intra.kind", word)

    def test_nothing_predicted_is_no_answer(self):
        scenario = self.write("s.yaml", "name: s\nalgorithms: [native]\nranks: 4\nmessage_sizes: [1 MiB]\nbackend: nccl\n"
                                        "machine: {intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}\n")
        for more in ((), ("--format", "json")):
            result = self.run_ringside("predict", scenario, "--output", "out", *more)
            self.assert_rejected(result, 3, "nothing can be predicted")


if __name__ == "__main__":
    unittest.main()
