"""`ringside show`: the schedule of an algorithm, and what ranks run of it under the policy of a place."""

import re
import shutil
import unittest

from ringside_case import RingsideCase

RING = ("show", "ring", "--ranks", "4")


class Show(RingsideCase):
    def shown(self, *arguments):
        result = self.run_ringside(*RING, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_the_rules_of_an_mpi_library_are_shown(self):
        result = self.run_ringside("show", "native", "--backend", "mpi", "--ranks", 8, "--library", "Open MPI v4.1.4", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([(row["from_bytes"], row["algorithm"]) for row in self.records(result.stdout)],
                         [(4, "recursive_doubling"), (8192, "halving_doubling")])
        table = self.run_ringside("show", "native", "--backend", "mpi", "--ranks", 16, "--ranks-per-node", 8, "--library", "Open MPI 5.0.7").stdout
        self.assertRegex(table, r"4 B +han +all_reduce recursive_doubling|4 B +han +reduce \S+ in nodes")
        self.assert_rejected(self.run_ringside("show", "native", "--backend", "mpi", "--ranks", 8, "--library", "Intel MPI 2021.1"), 2,
                             "known are Open MPI 4.1 to 5.0")
        self.assert_rejected(self.run_ringside("show", "native", "--backend", "gloo", "--ranks", 8), 2, "no schedule", "--backend mpi")

    def test_the_schedule_alone_has_whole_chunks(self):
        text = self.shown("--no-charts")
        self.assertIn("every i → i+1: reduce chunk i−1 (mod 4)", text)
        self.assertNotIn("segment", text)

    def test_what_is_cut_stands_in_the_words_of_the_collective(self):
        self.assertIn("the message S is cut into 4 chunks", self.shown("--no-charts"))
        said = {
            "all_to_all": "every rank has a message S of its own, cut into 3 parts, one for each rank: "
                          "chunk 3i+j goes from rank i to rank j",
            "send_recv": "every rank has a message S of its own, in one chunk: chunk i is rank i's",
        }
        for collective, sentence in said.items():
            result = self.run_ringside("show", "direct", "--collective", collective, "--ranks", "3", "--no-charts")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(sentence, result.stdout)

    def test_a_size_says_which_policy_applies_where(self):
        text = self.shown("--no-charts", "--size", "64MiB")
        self.assertRegex(text, r"own_core +receives posted ahead, each chunk in 43 segments, 4 in flight")
        self.assertRegex(text, r"gpu +receives posted with their round, whole chunks")

    def test_what_runs_is_shown_in_its_segments(self):
        text = self.shown("--no-charts", "--size", "64MiB", "--on", "own_core")
        self.assertIn("ranks on own_core run 64 MiB with receives posted ahead, each chunk in 43 segments", text)
        self.assertRegex(text, r"\n +5 +2 +every i → i\+1: reduce segment 0 of chunk i\+2 \(mod 4\)")
        self.assertRegex(text, r"\n +2 +every i → i\+1: reduce segment 4 of chunk i−1 \(mod 4\)")

    def test_json_has_every_segment_and_when_its_receive_is_posted(self):
        records = self.records(self.shown("--size", "64MiB", "--on", "own_core", "--format", "json"))
        (policy,) = [one for one in records if one["record"] == "policy"]
        self.assertEqual((policy["site"], policy["segments"], policy["in_flight"]), ("own_core", 43, 4))
        moves = [one for one in records if one["record"] == "move"]
        self.assertEqual(len(moves), 4 * 6 * 43)
        self.assertEqual({one["segment"] for one in moves}, set(range(43)))
        self.assertTrue(all(one["receive_posted_in"] <= one["round"] for one in moves))
        self.assertTrue(any(one["receive_posted_in"] < one["round"] for one in moves))

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_whatever_is_drawn_has_a_file_of_its_own(self):
        for more in ((), ("--size", "64MiB", "--on", "own_core"), ("--size", "64MiB", "--on", "gpu"),
                     ("--collective", "all_gather"), ("--collective", "broadcast", "--root", "2"),
                     ("--collective", "broadcast", "--segments", "3")):
            self.shown("--output", "drawn", *more)
        self.assertEqual(sorted(path.name for path in (self.folder / "drawn").iterdir()), [
            "program_ring_4_ranks_64-MiB_gpu.png",
            "program_ring_4_ranks_64-MiB_own_core.png",
            "schedule_all_gather_ring_4_ranks.png",
            "schedule_broadcast_ring_4_ranks_root_2.png",
            "schedule_broadcast_ring_4_ranks_segments_3.png",
            "schedule_ring_4_ranks.png",
        ])

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_every_machine_is_drawn_in_a_file_of_its_own_and_the_text_names_what_limits_its_ring(self):
        shown = {}
        for name in ("8x-rtx3090-pcie4", "p4d.24xlarge", "gb200-nvl72"):
            result = self.run_ringside("show", "machine", name, "--output", "drawn")
            self.assertEqual(result.returncode, 0, result.stderr)
            shown[name] = result.stdout
        self.assertEqual(sorted(path.name for path in (self.folder / "drawn").iterdir()), [
            "topology_8x-rtx3090-pcie4_8_ranks.png",
            "topology_gb200-nvl72_72_ranks.png",
            "topology_p4d.24xlarge_8_ranks.png",
        ])
        self.assertIn("limit of the ring: 2 flows share staging of GPU 0 in host memory, and 7 more alike; 11 GB/s a hop", shown["8x-rtx3090-pcie4"])
        self.assertIn("limit of the ring: GPU 0 NVLink up, and 15 more alike; 272 GB/s a hop", shown["p4d.24xlarge"])

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_links_are_lines_and_what_a_socket_shares_stands_in_its_box(self):
        result = self.run_ringside("show", "machine", "8x-rtx3090-pcie4", "--svg", "--output", "drawn")
        self.assertEqual(result.returncode, 0, result.stderr)
        picture = (self.folder / "drawn/topology_8x-rtx3090-pcie4_8_ranks.svg").read_text()
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
        self.assertIn("socket 0: host memory 164 GB/s", texts)
        self.assertEqual(texts.count("4 × PCIe slot 19.5 GB/s"), 4)

    def test_what_cannot_be_shown_is_refused(self):
        self.assert_rejected(self.run_ringside(*RING, "--on", "own_core"), 2, "--on requires --size")
        self.assert_rejected(self.run_ringside(*RING, "--size", "1MiB", "--on", "own_cor"), 2, "'own_core'")
        self.assert_rejected(
            self.run_ringside("show", "ring", "--ranks", "4096", "--size", "1MiB", "--on", "cpu"), 2, "too many"
        )
        self.assert_rejected(self.run_ringside(*RING, "--size", "7B", "--on", "cpu"), 2, "7 B")


if __name__ == "__main__":
    unittest.main()
