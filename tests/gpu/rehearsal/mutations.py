#!/usr/bin/env python3
"""Breaks the executor on GPUs in one place after the other and sees which test of the rehearsal fails.

Usage: mutations.py BUILD [WORD]: changes files of this checkout for a moment, builds in BUILD, and runs the tests named beside each
mutation (only those with WORD in their name). Ends with 1 if one is not caught. Not part of CTest: it compiles for minutes.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
NCCL = "real/backend/nccl/"

# Programs and what of them is run; the first failure is enough.
STREAMS = ("test_rehearsal", "Seeds/*")
GRAPH = ("test_rehearsal", "*AsAGraph/2")
ONE = ("test_rehearsal", "*AsAGraph/0")
CALLS = ("test_rehearsal", "*CallByCall/2")
KERNELS = ("test_gpu", "Kernels.*-*85*")
API = ("test_communicator", "*")
OPS = ("test_gpu", "*EveryTypeAndOp*")
FAULTS, LOST = ("faults", "EveryCallThatFails"), ("faults", "ARankThatIsLost")

# Name, file, what stands there, what is put there instead, the test that catches it.
MUTATIONS = (
    ("the arithmetic does not wait for arrivals", "program_call.cpp",
     "return streams().order(streams().arithmetic(), streams().communication());", "return;", STREAMS),
    ("transfers do not wait for the arithmetic", "program_call.cpp",
     "return streams().order(streams().communication(), streams().arithmetic());", "return;", STREAMS),
    ("the arithmetic stream does not start with the other", "program_call.cpp",
     "    streams().order(streams().arithmetic(), streams().communication());\n    for", "    for", ONE),
    ("the arithmetic stream is not joined at the end", "program_call.cpp",
     "    streams().order(streams().communication(), streams().arithmetic());\n  }", "  }", GRAPH),
    ("the wait is put on the wrong stream", "gpu_call.cpp",
     "cudaStream_t awaited) {\n", "cudaStream_t awaited) {\n  std::swap(waiting, awaited);\n", STREAMS),
    ("a round is split into a group for each transfer", "program_call.cpp",
     "      for (const GroupTransfer& transfer : op.transfers) {\n",
     "      for (const GroupTransfer& transfer : op.transfers) {\n"
     "        if (&transfer != op.transfers.data()) {\n"
     "          communicator.library().group_end();\n"
     "          ncclResult_t state = ncclInProgress;\n"
     "          while (state == ncclInProgress) communicator.library().comm_get_async_error(communicator.get(), &state);\n"
     "          communicator.library().group_start();\n        }\n", CALLS),
    ("a send leaves out its last byte", "program_call.cpp",
     "const auto size = static_cast<std::size_t>(transfer.region.bytes);",
     "const auto size = static_cast<std::size_t>(transfer.region.bytes) - (transfer.sends ? 1 : 0);", CALLS),
    ("a reduction leaves out its last source", "program_call.cpp",
     ".num_sources = static_cast<int>(op.sources.size()),", ".num_sources = static_cast<int>(op.sources.size()) - 1,", GRAPH),
    ("a region begins at the start of its buffer", "program_call.cpp", "] + region.offset;", "];", GRAPH),
    ("an average divides by one more", "program_call.cpp", ".divisor = num_ranks_}", ".divisor = num_ranks_ + 1}", OPS),
    ("groups of two rounds become one", "group_plan.cpp",
     "if (ops_.empty() || ops_.back().kind != StreamOpKind::group) {",
     "if (ops_.empty() || (ops_.back().kind != StreamOpKind::group && ops_.back().kind != StreamOpKind::await_arrivals)) {\n"
     "    } else if (ops_.back().kind == StreamOpKind::await_arrivals) {\n      ops_.pop_back();\n    }\n"
     "    if (ops_.empty() || ops_.back().kind != StreamOpKind::group) {", GRAPH),
    ("the first call, which connects the ranks, is left out", "gpu_call.cpp",
     "  work_->enqueue();\n  check_cuda(cudaEventRecord(end_.get(), streams_.communication()), streams_.gpu(), what_);\n",
     "  check_cuda(cudaEventRecord(end_.get(), streams_.communication()), streams_.gpu(), what_);\n", GRAPH),
    ("a capture refuses what other threads put on the stream", "gpu_call.cpp",
     "cudaStreamCaptureModeRelaxed", "cudaStreamCaptureModeGlobal", GRAPH),
    ("the end of a call is not waited for", "gpu_call.cpp",
     "  streams_.communicator().wait(end_.get(), what_);\n", "", CALLS),
    ("the result is read before it was copied", "gpu_call.cpp",
     '  check_cuda(cudaStreamSynchronize(stream), gpu, "checking the result");\n', "", STREAMS),
    ("the input is written on the other stream", "gpu_call.cpp",
     "streams_.multiprocessors(), streams_.communication()),\n               streams_.gpu(), \"writing the input\"",
     "streams_.multiprocessors(), streams_.arithmetic()),\n               streams_.gpu(), \"writing the input\"", STREAMS),
    ("memory that was moved is freed", "device/cuda.hpp",
     "bytes_(std::exchange(other.bytes_, nullptr))", "bytes_(other.bytes_)", GRAPH),
    ("the clearing of memory is not waited for", "device/cuda.cpp",
     "cleared = cudaStreamSynchronize(nullptr);", "cleared = cudaSuccess;", FAULTS),
    ("NCCL is asked for more before it is ready", "communicator.cpp",
     "  check(library_->group_end(), doing);\n  settle(doing);", "  check(library_->group_end(), doing);", CALLS),
    ("an asynchronous error is not looked at", "communicator.cpp", "    if (now >= next_look) {", "    if (false && now >= next_look) {", FAULTS),
    ("the deadline of NCCL's calls is ignored", "communicator.cpp",
     "    if (Clock::now() >= deadline) {", "    if (false && Clock::now() >= deadline) {", LOST),
    ("a communicator that failed is not aborted", "communicator.cpp",
     "    abandon();\n  }\n  throw error;", "    communicator_ = nullptr;\n  }\n  throw error;", FAULTS),
    ("an abort that never ends is waited for", "communicator.cpp", "done.wait_for(kAbortPatience)", "done.wait_for(100 * kAbortPatience)", LOST),
    ("a group that failed stays open", "communicator.cpp",
     "  if (std::exchange(group_is_open_, false)) {", "  if (false) {", FAULTS),
    ("other ranks do not get the id of rank 0", "backend.cpp",
     "  numbers = coordination.maximum(numbers);\n",
     "  const std::vector<double> all = coordination.maximum(numbers);\n  if (coordination.rank() == 0) numbers = all;\n", CALLS),
    ("ranks do not agree that NCCL refused to be captured", "backend.cpp",
     "if (coordination.anywhere(!device->usable())) {", "if (!device->usable()) {", FAULTS),
    ("an all_gather sends the first part", "native.cpp",
     "return nccl.all_gather(own, all,", "return nccl.all_gather(all, all,", GRAPH),
    ("messages of a program start one after another", "borrowed_calls.cpp",
     "      messages_.started_.push_back(message_);\n", "      messages_.started_.push_back(message_);\n      messages_.start_all();\n",
     API),
    ("messages that are started stay behind a barrier", "borrowed_calls.cpp",
     "void start_messages() override { messages_.start_all(); }", "void start_messages() override {}", API),
    ("a call does not wait for the stream that writes its message", "borrowed_calls.cpp",
     "    streams_.order(streams_.communication(), awaited);\n", "", API),
    ("a copy does not wait for the stream that writes its message", "borrowed_calls.cpp",
     "    streams_.order(streams_.arithmetic(), awaited);\n", "", API),
    ("a call leaves the GPU of its thread as it is", "borrowed_calls.cpp",
     '  check_cuda(cudaSetDevice(streams.gpu()), streams.gpu(), "being taken");\n', "  static_cast<void>(streams);\n", API),
    ("the end of a program's call is not waited for", "borrowed_calls.cpp",
     "      finish(streams_, *done, streams_.communication(), work->what());\n", "", API),
    ("borrowed memory is not what a program works on", "program_call.cpp",
     "buffers_.push_back(borrowed ? message : ", "buffers_.push_back(false ? message : ", API),
    ("a message that nobody waits for is sent", "borrowed_calls.cpp",
     "std::erase(messages_.started_, message_);", "static_cast<void>(0);", API),
    ("a thread reduces vectors twice", "device/kernel_bodies.hpp",
     "first < extent.vectors; first += stride * kUnroll", "first < extent.vectors; first += stride", KERNELS),
    ("elements before the first vector are left out", "device/kernel_bodies.hpp",
     "i < extent.head ? i : i + behind", "i + behind", KERNELS),
)


def caught(build, test):
    program, what = test
    environment = dict(os.environ)
    if program == "faults":
        environment.update(RINGSIDE=str(build / "rehearsal/ringside"), RINGSIDE_SOURCE=str(ROOT), PYTHONPATH=str(ROOT / "tests/cli"))
        command = [sys.executable, "-B", "-m", "unittest", "-f", f"faults_test.{what}"]
    else:
        command = [str(build / "rehearsal" / program), f"--gtest_filter={what}", "--gtest_fail_fast"]
    try:
        run = subprocess.run(command, env=environment, cwd=ROOT / "tests/gpu/rehearsal", capture_output=True, timeout=150, check=False)
    except subprocess.TimeoutExpired:
        return "hangs"
    return "fails" if run.returncode else None


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    word = sys.argv[2] if len(sys.argv) > 2 else ""
    missed = 0
    for name, file, old, new, test in MUTATIONS:
        if word not in name:
            continue
        path = ROOT / NCCL / file
        text = path.read_text(encoding="utf-8")
        if text.count(old) < 1:
            print(f"{name}: what it changes is no longer in {file}")
            missed += 1
            continue
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        try:
            targets = ["ninja", "-C", build, "-j2", "rehearsal_ringside", "test_rehearsal", "rehearsal_test_gpu", "rehearsal_test_communicator"]
            built = subprocess.run(targets, capture_output=True, text=True, check=False)
            verdict = caught(build, test) if built.returncode == 0 else None
        finally:
            path.write_text(text, encoding="utf-8")
        if built.returncode != 0:
            verdict = None
            print(built.stdout[-1500:])
        missed += verdict is None
        print(f"{name} ({file}): " + (f"{' '.join(test)} {verdict}" if verdict else "NOT CAUGHT"), flush=True)
    print(f"{missed} not caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
