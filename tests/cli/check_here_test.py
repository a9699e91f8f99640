"""`ringside check` and `doctor` of what is here: a pipe as its rows arrive, --live, pairs of a fleet, and what a machine says of its links."""

import os
import subprocess
import unittest

from check_test import log
from ringside_case import PROGRAM, SOURCE, RingsideCase

A100 = "NVIDIA A100-SXM4-80GB"
MATRIX = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-23\nGPU1\tNV4\t X \t24-47\n"


class Here(RingsideCase):
    def check(self, *arguments, **more):
        return self.run_ringside("check", *arguments, "--no-charts", **more)

    def test_each_row_of_a_pipe_is_judged_before_the_next_one_comes(self):
        lines = log(1.45, info="node0:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 8\n", ended=False).splitlines(keepends=True)
        start = next(i for i, line in enumerate(lines) if line.startswith("33554432"))
        process = subprocess.Popen([PROGRAM, "check", "-", "--no-charts"], cwd=self.folder, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, bufsize=1)
        process.stdin.write("".join(lines[:start]))
        for row in lines[start:]:
            process.stdin.write(row)
            process.stdin.flush()
            # Waits until the verdict is there: the next row is not written before.
            self.assertRegex(process.stdout.readline(), r"iB .*GB/s  expected .*: slower$")
        shown, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertIn("Likely causes", shown)

    def fleet(self, slow):
        nodes = ["n1", "n2", "n3", "n4", "n5"]
        for i, first in enumerate(nodes):
            for j, second in enumerate(nodes[:i]):
                busbw = (80 + (i + 2 * j) % 3) / (1.5 if slow in (first, second) else 1)
                text = log(busbw, ranks=16, hosts=2, gpu="NVIDIA A100-SXM4-40GB")
                self.write(f"{second}-{first}.log", text.replace("on node0", f"on {second}").replace("on node1", f"on {first}"))
        return sorted(self.folder.glob("*.log"))

    def test_a_node_that_is_slow_in_each_of_its_pairs_is_named(self):
        logs = self.fleet("n3")
        shown = self.check(*logs, "--machine", "p4d.24xlarge").stdout
        self.assertRegex(shown, r"slow in each of its 4 pairs: node n3, 0\.6\d× the bandwidth of pairs without it")
        records = self.records(self.check(*logs, "--machine", "p4d.24xlarge", "--format", "json").stdout)
        slow = [(r["node"], r["pairs"]) for r in records if r["record"] == "slow_node"]
        self.assertEqual(slow, [("n3", 4)])
        self.assertNotIn("slow in each", self.check(*self.fleet("none"), "--machine", "p4d.24xlarge").stdout)

    def test_a_machine_that_nobody_knows_is_refused_once_and_not_for_each_log(self):
        logs = self.fleet("none")
        self.assert_rejected(self.check(*logs, "--machine", "p4d.24xlarg"), 2, "did you mean 'p4d.24xlarge'")

    def test_live_on_cpus_says_that_there_is_no_population(self):
        result = self.check("--live", "--backend", "gloo", "--calibrate-time", "1 s", "--time-per-point", "50 ms",
                            deadline=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Without NCCL there are no published machines to compare with", result.stdout)
        self.assertRegex(result.stdout, r"ring +4 KiB ")
        self.assertRegex(result.stdout, r"native +16 MiB ")

    def test_live_refuses_what_only_a_population_answers(self):
        for question in (["--gate", "busbw@1GiB >= p05"], ["--baseline", self.write("b.log", log(200, gpu=A100))]):
            self.assert_rejected(self.check("--live", "--backend", "gloo", *question), 3, question[0], "ringside doctor")
        self.assert_rejected(self.check("--live", self.write("x.log", log(1.45))), 2, "was not expected", "x.log")
        self.assert_rejected(self.check("--live", "--backend", "glo"), 2, "did you mean 'gloo'")

    def test_a_machine_and_its_topology_are_not_asked_for_together(self):
        self.assert_rejected(self.check(self.write("x.log", log(1.45)), "--machine", "p4d.24xlarge", "--topology",
                                        self.write("topo.txt", MATRIX)), 2, "--machine excludes --topology")

    def test_doctor_says_which_launcher_has_started_it(self):
        shown = self.run_ringside("doctor", environment={"RANK": "2", "WORLD_SIZE": "4"})
        self.assertRegex(shown.stdout, r"started by +torchrun +rank 2 of 4")
        self.assertNotIn("started by", self.run_ringside("doctor").stdout)

    def test_doctor_says_what_else_runs(self):
        shown = self.run_ringside("doctor").stdout
        self.assertRegex(shown, r"other processes use +\d+\.\d of \d+ cores")
        self.assertRegex(shown, r"the hypervisor took +\d+\.\d of \d+ cores")

    def doctor(self, *arguments, environment=None):
        return self.run_ringside("doctor", "--topology", *arguments, "--output", "found", environment=environment)

    def test_doctor_draws_what_a_file_says_of_a_machine(self):
        shown = self.doctor(self.write("topo.txt", MATRIX), "--gpu", "A100-SXM4-40GB")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("links_per_gpu: 4", shown.stdout)
        self.assertRegex(shown.stdout, r"0 → 1 +\S+ µs")
        again = self.run_ringside("show", "machine", "found/machine.yaml")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_doctor_asks_this_machine(self):
        script = "#!/bin/sh\nif [ \"$1\" = -L ]; then echo 'GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)'; exit; fi\n"
        folder = self.folder / "bin"
        folder.mkdir()
        self.write("bin/nvidia-smi", f"{script}cat <<END\n{MATRIX}END\n").chmod(0o755)
        path = {"PATH": f"{folder}:{os.environ['PATH']}", "NCCL_TOPO_FILE": "", "NCCL_TOPO_DUMP_FILE": ""}
        shown = self.doctor(environment=path)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("# From nvidia-smi topo -m", shown.stdout)
        self.assertIn("A100-SXM4-40GB", shown.stdout)

    def test_doctor_reads_the_topology_that_nccl_is_given(self):
        file = SOURCE / "tests/fuzz/corpus/topology_xml/slots.xml"
        for variable, other in (("NCCL_TOPO_FILE", "NCCL_TOPO_DUMP_FILE"), ("NCCL_TOPO_DUMP_FILE", "NCCL_TOPO_FILE")):
            shown = self.doctor("--gpu", "V100-SXM2-16GB", environment={variable: str(file), other: "nowhere"})
            self.assertEqual(shown.returncode, 0, shown.stderr)
            self.assertIn(f"# From {file}, which {variable} names.\nname: \"topology\"\n", shown.stdout)

    def test_doctor_reads_a_copy_of_sys(self):
        for card in ("17", "65"):
            at = self.folder / f"sys/devices/pci0000:{card}/0000:{card}:01.0/0000:{card}:02.0"
            at.mkdir(parents=True)
            for name, text in {"class": "0x030200", "vendor": "0x10de", "device": "0x26b9", "numa_node": "0",
                               "max_link_speed": "16.0 GT/s PCIe", "max_link_width": "16", "current_link_width": "8"}.items():
                (at / name).write_text(text + "\n")
            (self.folder / "sys/bus/pci/devices").mkdir(parents=True, exist_ok=True)
            (self.folder / f"sys/bus/pci/devices/0000:{card}:02.0").symlink_to(at)
        shown = self.doctor("sys")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("# GPU 0000:17:02.0 runs on 8 of its 16 lanes.", shown.stdout)
        self.assertIn("lanes: 8", shown.stdout)
        self.assertIn('model: "L40S"', shown.stdout)
        (self.folder / "empty").mkdir()
        self.assert_rejected(self.doctor("empty"), 3, "no GPU here", "nvidia-smi topo -m, NCCL's topology XML, lspci -tv")
        self.assert_rejected(self.doctor(self.write("x.txt", "hello\n")), 2, "x.txt")


if __name__ == "__main__":
    unittest.main()
