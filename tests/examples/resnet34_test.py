"""resnet34: the real network, a step of it on every number of ranks."""

import os
import unittest

import examples_case

MACHINES = os.path.join(os.environ["RINGSIDE_SOURCE"], "configs", "machines")


class ResNet34(examples_case.ExamplesCase):
    def test_gradients_are_synchronised(self):
        for _, text in self.outputs("resnet34", "--steps", 1, "--batch", 2, "--machines", MACHINES, deadline=120):
            self.assertIn("ResNet-34: 21289802 parameters in 110 tensors, 85159208 bytes of gradients.\n", text)
            self.assertIn("Gradients and parameters are the same at all ranks.\n", text)
            self.assertRegex(text, r"  +\S+ µs    8 ranks  8 × A100-SXM4\n")

    def test_it_reads_cifar10(self):
        image = bytes([3]) + bytes(range(256)) * 12
        (self.folder / "data_batch_1.bin").write_bytes(image * 4)
        two = ("resnet34", "--ranks", 2, "--backend", "threads", "--steps", 1, "--machines", MACHINES, "--data")
        self.assertIn("the same at all ranks", self.output(*two, ".", "--batch", 2))
        self.assert_rejected(self.start(*two, ".", "--batch", 4), 2, "no CIFAR-10 file of")
        self.assert_rejected(self.start(*two, "nowhere"), 2, "there is no nowhere/data_batch_1.bin")


if __name__ == "__main__":
    unittest.main()
