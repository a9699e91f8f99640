#!/usr/bin/python3
"""torch.distributed.all_reduce over PyTorch's gloo, in place. One rank per process:

    torch_all_reduce.py --rank R --ranks N --store DIRECTORY --interface NAME --budget SECONDS --bytes B...

Rank 0 prints a line per size. Rule and values are those of timed_calls.hpp.
"""

import argparse
import json
import os
import statistics
import sys
import time

MIN_CALLS, MAX_CALLS, MAX_WARM_UP_CALLS, WARM_UP_SHARE = 5, 2000, 10, 0.1
PERIOD, STRIDE = 251, 17


def contribution(torch, rank, count):
    return ((torch.arange(count) + STRIDE * rank) % PERIOD).float()


def run_batch(torch, message, own, count):
    """Seconds of the slowest rank, call by call, and of all of it."""
    distributed, clock = torch.distributed, time.perf_counter
    start, samples = clock(), []
    for _ in range(count):
        message.copy_(own)
        distributed.barrier()
        begin = clock()
        distributed.all_reduce(message)
        samples.append(clock() - begin)
        distributed.barrier()  # As ringside's: who is early does not take a shared core from those who still receive.
    slowest = torch.tensor([*samples, clock() - start], dtype=torch.float64)
    distributed.all_reduce(slowest, op=distributed.ReduceOp.MAX)
    *samples, total = slowest.tolist()
    return samples, total


def time_calls(torch, message, own, budget):
    def calls_within(seconds, seconds_per_call, least, most):
        return int(min(max(seconds / seconds_per_call, least), most))

    _, first = run_batch(torch, message, own, 1)
    more = calls_within(WARM_UP_SHARE * budget, first, 1, MAX_WARM_UP_CALLS - 1)
    _, warm = run_batch(torch, message, own, more)
    samples, _ = run_batch(torch, message, own, calls_within(budget, warm / more, MIN_CALLS, MAX_CALLS))
    return statistics.median(samples), len(samples)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--interface", default="lo")
    parser.add_argument("--budget", type=float, default=0.2)
    parser.add_argument("--bytes", type=int, nargs="+", required=True)
    arguments = parser.parse_args()

    os.environ["GLOO_SOCKET_IFNAME"] = arguments.interface
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # As torchrun does: ranks share the cores.
    import torch  # After the environment is set, which it reads.
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{arguments.store}/torch", rank=arguments.rank,
                                   world_size=arguments.ranks)
    for size in arguments.bytes:
        own = contribution(torch, arguments.rank, size // 4)
        message = own.clone()
        seconds, calls = time_calls(torch, message, own, arguments.budget)
        due = sum(contribution(torch, rank, size // 4) for rank in range(arguments.ranks))
        if not torch.equal(message, due):
            sys.exit(f"torch_all_reduce: rank {arguments.rank} has a wrong sum of {size} bytes")
        if arguments.rank == 0:
            print(json.dumps({"library": f"PyTorch {torch.__version__}", "variant": "all_reduce", "bytes": size,
                              "seconds": seconds, "calls": calls}), flush=True)
    distributed.barrier()


if __name__ == "__main__":
    main()
