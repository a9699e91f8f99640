"""What goes wrong on GPUs ends as docs/gpus.md promises: within the deadline, with the exit status, in one sentence, with nobody left."""

import unittest

from rehearsal_case import SCENARIO, Rehearsal

UNKNOWN, FAILED = 999, 3
# Each by rank 1, the first time: what it says it was doing. None: nothing is lost, and the run ends well.
CUDA_CALLS = {
    "cudaFree": "being taken",
    "cudaDeviceGetAttribute": "multiprocessors",
    "cudaStreamCreateWithFlags": "making a stream",
    "cudaEventCreateWithFlags": "making an event",
    "cudaMalloc": "taking memory",
    "cudaMemset": "clearing memory",
    "cudaStreamSynchronize": "clearing memory",
    "cudaEventRecord": "connecting",
    "cudaEventQuery": "connecting the GPUs",
    "cudaStreamWaitEvent": "ordering its streams",
    "cudaGraphLaunch": "starting a barrier",
    "cudaMemcpyAsync": "bringing the input",
    "cudaLaunchKernel": "",
    "cudaMemsetAsync": "checking the result",
    "cudaEventElapsedTime": "running the schedule",
    "cudaStreamBeginCapture": None,
    "cudaStreamEndCapture": None,
    "cudaGraphInstantiate": None,
    "cudaGraphDestroy": None,
    "cudaGraphExecDestroy": None,
    "cudaEventDestroy": None,
    "cudaStreamDestroy": None,
}
NCCL_CALLS = {
    "ncclCommInitRankConfig": "connecting through NCCL",
    "ncclCommGetAsyncError": "connecting through NCCL",
    "ncclGroupStart": "starting a barrier",
    "ncclGroupEnd": "starting a barrier",
    "ncclAllReduce": "starting a barrier",
    "ncclSend": "sending",
    "ncclRecv": "receiving",
    "ncclCommAbort": None,
}


class WhatTheMachineLacks(Rehearsal):
    def test_ends_with_exit_3_and_one_sentence(self):
        for device, words in (
            ("driver=0", "no NVIDIA driver is loaded"),
            ("driver=12080", "runs CUDA up to 12.8"),
            ("gpus=0", "finds no GPU"),
            ("gpus=1", "2 ranks need 2 GPUs, but this machine has 1"),
            ("memory=4096", "of memory on GPU 0 (rehearsal device)"),
            ("taken=1", "another process has it for itself"),
            ("nccl=21700", "is too old"),
        ):
            with self.subTest(device):
                self.assert_rejected(self.measure(device=device), 3, words)

    def test_too_little_memory_at_one_rank_names_its_gpu(self):
        self.assert_rejected(self.measure(faults="cudaMalloc#3@1=2"), 3, "rank 1", "GPU 1 has", "more are needed")

    def test_doctor_names_the_device_and_its_links(self):
        result = self.run_ringside("doctor", environment={"RINGSIDE_REHEARSAL": "gpus=4,others=2"})
        for words in ("4 × rehearsal device", "NVLink with peer access", "PCIe host bridge", "1 GiB free"):
            self.assertIn(words, result.stdout)
        result = self.run_ringside("doctor", environment={"RINGSIDE_REHEARSAL": "gpus=2,peers=0"})
        self.assertNotIn("NVLink", result.stdout)
        self.assertNotIn("with peer access", result.stdout)


class EveryCallThatFails(Rehearsal):
    def check(self, call, code, doing):
        result = self.measure(faults=f"{call}@1={code}")
        if doing is None:
            self.assert_well(result)
        else:
            self.assert_rejected(result, 1, "rank 1", doing)

    def test_of_cuda_ends_the_run_and_says_what_was_done(self):
        for call, doing in CUDA_CALLS.items():
            with self.subTest(call):
                self.check(call, UNKNOWN, doing)

    def test_of_nccl_ends_the_run_and_says_what_was_done(self):
        for call, doing in NCCL_CALLS.items():
            with self.subTest(call):
                self.check(call, FAILED, doing)

    def test_while_a_kernel_runs_shows_at_the_next_wait(self):
        self.assert_rejected(self.measure(faults="cudaGraphLaunch#2@1=late:700"), 1, "GPU 1 failed", "cudaErrorIllegalAddress")

    def test_of_nccl_in_flight_is_a_lost_peer(self):
        # By another call that NCCL refuses, or where rank 1 only waits by its next look at the communicator: long before
        # anybody has waited in vain.
        for group in ("ncclGroupEnd#3", "ncclGroupEnd#5"):
            with self.subTest(group):
                self.assert_rejected(self.measure(faults=f"{group}@1=late:6", deadline=60), 1, "rank 1 lost a peer")

    def test_of_the_meeting_point_is_said_by_the_rank_that_opens_it(self):
        self.assert_rejected(self.measure(faults="ncclGetUniqueId@0=3"), 1, "rank 0", "opening a meeting point")

    def test_that_does_nothing_is_a_wrong_result(self):
        # The first kernel adds for the first time, the second writes the input of a call that counts, the third adds in it.
        result = self.measure(faults="cudaLaunchKernel#3@1=nothing", environment={"RINGSIDE_CUDA_GRAPH": "0"})
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertEqual([point["outcome"] for point in self.points()], ["wrong_result"])

    def test_where_a_call_cannot_be_captured_though_a_barrier_can(self):
        self.assert_well(self.measure(faults="cudaStreamBeginCapture#2=900"))
        self.assertEqual(self.points()[0]["launch"], "stream")
        # What NCCL refuses ends its communicator, and what to do is said.
        self.assert_rejected(self.measure(faults="ncclGroupEnd#5=5"), 3, "RINGSIDE_CUDA_GRAPH=0 does without CUDA graphs")

    def test_where_nothing_can_be_captured_calls_are_launched_one_by_one(self):
        # The first two are of CUDA; after the others, NCCL's communicator is lost, and another one takes its place.
        for fault in ("cudaStreamBeginCapture", "cudaStreamEndCapture", "ncclGroupEnd#2", "ncclAllReduce#2"):
            for where in ("", "@1"):
                with self.subTest(fault + where):
                    self.assert_well(self.measure(faults=f"{fault}{where}=5"))
                    if not where:
                        self.assertEqual(self.points()[0]["launch"], "stream")
                        self.assertIn("not as a CUDA graph", self.points()[0]["note"])


class ARankThatIsLost(Rehearsal):
    # In the order in which they are called: meeting, the first barrier, the first round, a timed call, after it.
    PHASES = (
        "ncclCommInitRankConfig",
        "ncclGroupEnd",
        "ncclGroupEnd#2",
        "ncclGroupEnd#3",
        "cudaGraphInstantiate#2",
        "cudaGraphLaunch",
        "cudaGraphLaunch#4",
        "cudaEventElapsedTime",
        "cudaMemsetAsync",
    )

    def test_by_death_is_named_at_once(self):
        for phase in self.PHASES:
            with self.subTest(phase):
                self.assert_rejected(self.measure(faults=f"{phase}@1=die", ranks=3), 1, "rank 1 was killed by signal 9")

    def test_by_silence_is_named_at_the_deadline(self):
        for phase in ("ncclCommInitRankConfig", "ncclGroupEnd", "cudaGraphLaunch#2"):
            with self.subTest(phase):
                result = self.measure(faults=f"{phase}@1=stop")
                self.assert_rejected(result, 1, "rank 1 did not answer within 2 s")

    def test_call_by_call_too(self):
        for fault in ("ncclGroupEnd#4@1=die", "ncclSend#3@1=die"):
            with self.subTest(fault):
                result = self.measure(faults=fault, environment={"RINGSIDE_CUDA_GRAPH": "0"})
                self.assert_rejected(result, 1, "rank 1 was killed by signal 9")

    def assert_given_up(self, faults, words):
        """Ranks that other load kept from running for most of 2 s say that instead: then once more."""
        for _ in range(4):
            result = self.measure(faults=faults)
            if "did not run for" not in result.stderr:
                break
        self.assert_rejected(result, 1, words)

    def test_a_call_that_never_ends_is_given_up_at_the_deadline(self):
        self.assert_given_up("ncclGroupEnd#3@1=late:7", "waited 2 s for the others while running the schedule")
        self.assert_given_up("ncclGroupEnd#3=late:7", "waited 2 s for the others while starting a round")

    def test_an_abort_that_never_ends_keeps_nobody_from_hearing_why(self):
        # As NCCL 2.28.3 on an H200 after two ranks had both begun to send.
        self.assert_given_up("ncclGroupEnd#3=late:7;ncclCommAbort=slow:60000", "waited 2 s for the others while starting a round")

    def test_a_call_that_one_rank_leaves_out_is_no_hang(self):
        result = self.measure(faults="cudaGraphLaunch#3@1=nothing")
        self.assert_rejected(result, 3, "NCCL refuses this", "calls must match in their order")

    def test_points_that_were_finished_are_kept(self):
        scenario = SCENARIO.format(ranks=2).replace("4 KiB", "[4 KiB, 8 KiB]")
        self.output = self.folder / "out"
        result = self.run_ringside(
            *("measure", self.write("two.yaml", scenario), "--backend", "nccl", "--timeout", "2 s"),
            *("--time-per-point", "1 ms", "--output", self.output),
            environment={"RINGSIDE_REHEARSAL_FAULTS": "cudaGraphInstantiate#3@1=die"},
        )
        self.assert_rejected(result, 1, "rank 1 was killed by signal 9")
        self.assertEqual(self.points()[0]["outcome"], "ok")


if __name__ == "__main__":
    unittest.main()
