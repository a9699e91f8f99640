"""Names of GPUs and machines as people type them."""

import unittest

from ringside_case import RingsideCase


class Names(RingsideCase):
    def planned(self, gpus):
        return self.run_ringside("plan", "--model", "vit-l16", "--gpus", gpus, "--no-charts")

    def test_gpus_are_found_however_they_are_spelt(self):
        for typed, model in (("4x2080Ti", "RTX 2080 Ti"), ("4x3090Ti", "RTX 3090 Ti"), ("2x3060", "RTX 3060"), ("2x3070", "RTX 3070"),
                             ("2x3080Ti", "RTX 3080 Ti"), ("2x4060Ti", "RTX 4060 Ti"), ("2x4070", "RTX 4070"), ("2x4070Ti", "RTX 4070 Ti"),
                             ("2x5070Ti", "RTX 5070 Ti"), ("2x1080Ti", "GTX 1080 Ti"), ("2xA4500", "RTX A4500"), ("2xTITAN V", "TITAN V"),
                             ("2xTITANV", "TITAN V"), ("2xQ RTX 6000", "Quadro RTX 6000"), ("8xA800", "A800-SXM4-80GB"), ("8xL20", "L20"), ("7900XTX", "RX 7900 XTX"),
                             ("2x7900XTX", "RX 7900 XTX"), ("8xMI300X VF", "MI300X")):
            with self.subTest(typed=typed):
                result = self.planned(typed)
                self.assertNotIn("unknown GPU", result.stderr)
                self.assertIn(f"× {model}", result.stdout + result.stderr)

    def test_instances_of_one_gpu_are_machines(self):
        for name in ("g4dn.xlarge", "g5.xlarge", "g6.xlarge", "p3.2xlarge", "a2-highgpu-1g", "Standard_NC24ads_A100_v4"):
            self.assertNotIn("unknown GPU", self.planned(name).stderr, name)
        self.assertIn("Azure NC24ads A100 v4", self.planned("NC24ads").stdout)
        self.assert_rejected(self.planned("NC24ad"), 2, "did you mean 'Standard_NC24ads_A100_v4'?")

    def test_nodes_of_gpus_are_nodes_of_the_cheapest_machine_that_has_so_many(self):
        for typed, machine in (("2x8xL40S", "g6e.48xlarge"), ("2 x 8 x H100", "p5.48xlarge")):
            result = self.planned(typed)
            self.assertIn(f"2 × AWS {machine}", result.stdout)
            self.assertIn(f"network are those of {machine}", result.stdout)
        self.assert_rejected(self.planned("2x8xRTX 3060"), 2, "no machine here has 8 RTX 3060 on a node")

    def test_more_gpus_than_a_node_has_are_refused(self):
        self.assert_rejected(self.planned("16xL40S"), 2, "one node has at most 10 L40S", "'2 x g6e.48xlarge'")
        self.assert_rejected(self.planned("2xGB10"), 2, "one node has at most 1 GB10", "'2 x dgx-spark'")

    def test_a_name_of_several_models_says_which_was_taken(self):
        self.assertIn("A100 is taken for A100-SXM4-40GB; there are also A100-SXM4-80GB", self.planned("8xA100").stdout)

    def test_parameters_are_counted_in_millions(self):
        plan = self.write("plan.yaml", "name: x\nworkload: {name: v, parameters: 304 M, batch_per_gpu: 64}\n"
                                       "offers: [{machine: p4d.24xlarge}]\n")
        self.assertNotIn("parameters", self.run_ringside("plan", plan, "--no-charts").stderr)


if __name__ == "__main__":
    unittest.main()
