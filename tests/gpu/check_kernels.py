#!/usr/bin/env python3
"""What the compiler makes of real/backend/nccl/device/kernels.cu for one architecture of GPUs.

Usage: check_kernels.py spills|sass|table ARCHITECTURE SOURCE [NVCC]
  spills: fails where a kernel keeps registers in memory, or a reduction does not load and store 16 bytes at a time (PTX, and
          loads in flight: a vector of the target and of a source for each of the four that a thread works on)
  sass:   fails where the machine code of a reduction has no loads and stores of 128 bits
  table:  prints registers and, on paper, how many bytes of a float32 sum a multiprocessor has in flight
Ends with 77 and the reason where nvcc or cuobjdump is not installed.
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
UNROLL = 4  # kUnroll of kernel_bodies.hpp.
THREADS = 256  # kThreads.
VECTOR = 16  # Bytes.
REGISTERS = 65536  # Of a multiprocessor, which gives them to a warp in units of 256. Source: CUDA C++ Programming Guide, "Compute Capabilities".
RESIDENT = {"sm_80": 2048, "sm_86": 1536, "sm_89": 1536, "sm_90": 2048, "sm_100": 2048, "sm_120": 1536}  # Threads; the same source.
# How kernels are named in the machine code: the type and the operation of a reduction.
REDUCTION = re.compile(r"reduce_kernelI(?P<type>f|d|i|l|6__half|13__nv_bfloat16)LNS\w*?ReduceOpE(?P<op>\d)")
WIDE = re.compile(r"\b(ld|st)\.global(?:\.nc)?\.(v4\.[a-z]32|v2\.[a-z]64)\b")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def compiled(nvcc, source, architecture, folder):
    """What ptxas says; PTX and machine code lie in the folder then."""
    command = [nvcc, "-std=c++20", f"-I{source}", f"-arch={architecture}", "-cubin", "-Xptxas", "-v", "--keep", "--keep-dir", folder,
               "-o", folder / "kernels.cubin", source / "real/backend/nccl/device/kernels.cu"]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=folder)
    if run.returncode != 0:
        print(run.stdout + run.stderr)
        sys.exit(1)
    return run.stderr


def kernels_in(said):
    """(name, spilled bytes, registers) of each kernel."""
    found = re.findall(
        r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers",
        said, re.DOTALL)
    return [(name, int(stack) + int(stores) + int(loads), int(registers)) for name, stack, stores, loads, registers in found]


def bodies(text, begin):
    """The text of each function, by name, of what begins with `begin` and its name."""
    parts = re.split(begin, text)
    return dict(zip(parts[1::2], parts[2::2]))


def check_spills(said, folder):
    kernels = kernels_in(said)
    faults = [f"{name} keeps {spilled} B of its registers in memory" for name, spilled, _ in kernels if spilled > 0]
    reductions = 0
    for name, body in bodies((folder / "kernels.ptx").read_text(), r"\.entry (\w+)\(").items():
        if not REDUCTION.search(name):
            continue
        reductions += 1
        wide = collections.Counter(kind for kind, _ in WIDE.findall(body))
        if wide["ld"] < 2 * UNROLL or wide["st"] < UNROLL:
            faults.append(f"{name} has {wide['ld']} loads and {wide['st']} stores of 16 bytes, not {2 * UNROLL} and {UNROLL}")
    print(f"{len(kernels)} kernels, {reductions} of them reductions")
    return faults if reductions == 24 else [*faults, f"{reductions} reductions, not 24: six types and four operations"]


def check_sass(folder, cuobjdump):
    listed = subprocess.run([cuobjdump, "-sass", folder / "kernels.cubin"], capture_output=True, text=True, check=True).stdout
    faults, reductions = [], 0
    for name, body in bodies(listed, r"Function : (\w+)").items():
        if REDUCTION.search(name):
            reductions += 1
            loads, stores = len(re.findall(r"\bLDG\.E\S*\.128", body)), len(re.findall(r"\bSTG\.E\S*\.128", body))
            if loads < 2 * UNROLL or stores < UNROLL:
                faults.append(f"{name} has {loads} loads and {stores} stores of 128 bits, not {2 * UNROLL} and {UNROLL}")
    print(f"{reductions} reductions")
    return faults if reductions == 24 else [*faults, f"{reductions} reductions, not 24: six types and four operations"]


def print_table(said, architecture):
    print("| sum of | registers | threads of a multiprocessor | bytes in flight |\n| --- | ---: | ---: | ---: |")
    names = {"f": "float32", "d": "float64", "6__half": "float16", "13__nv_bfloat16": "bfloat16", "i": "int32", "l": "int64"}
    for name, _, registers in kernels_in(said):
        found = REDUCTION.search(name)
        if found and found["op"] == "0":
            per_warp = (registers * 32 + 255) // 256 * 256
            blocks = min(REGISTERS // (per_warp * THREADS // 32), RESIDENT[architecture] // THREADS)
            in_flight = blocks * THREADS * UNROLL * VECTOR
            print(f"| {names[found['type']]} | {registers} | {blocks * THREADS} of {RESIDENT[architecture]} | {in_flight // 1024} KiB |")


def main():
    if len(sys.argv) < 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    what, architecture, source = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    nvcc = sys.argv[4] if len(sys.argv) > 4 else "nvcc"
    if not shutil.which(nvcc):
        skip("nvcc is not installed")
    if architecture not in subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=True).stdout.split():
        skip(f"this nvcc makes no machine code for {architecture}")
    cuobjdump = shutil.which("cuobjdump") or shutil.which(pathlib.Path(shutil.which(nvcc)).resolve().parent / "cuobjdump")
    if what == "sass" and not cuobjdump:
        skip("cuobjdump is not installed, so the machine code cannot be read")
    with tempfile.TemporaryDirectory(prefix="ringside-kernels-") as name:
        folder = pathlib.Path(name)
        said = compiled(nvcc, source, architecture, folder)
        if what == "table":
            print_table(said, architecture)
            return 0
        faults = check_spills(said, folder) if what == "spills" else check_sass(folder, cuobjdump)
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
