"""What commands read, by kinds of text, as a user gives it to them; and texts made of such ones by random changes."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 64 * 1024
PLANNED = ROOT / "configs/plans/resnet34-tutorial.yaml"

OF_FOUR_GPUS = """name: of four GPUs
algorithms: [ring, native]
ranks: 4
message_sizes: [1 MiB, 128 MiB]
machine: MACHINE
"""
OFFERED = "name: p\nworkload: WORKLOAD\noffers:\n  - {name: one, machine: 4x-rtx3090-pcie4, price: {per_hour: 2 USD}}\n"
EVALUATED = """name: evaluated
ranks: 8
message_sizes: {from: 1 KiB, to: 16 GiB, factor: 2}
algorithms: native
backend: nccl
machine: p4d.24xlarge
measured: input.csv
evaluation: {source: somewhere}
"""

# From which texts changes begin. Those of tests/fuzz/corpus and regressions whose folder has the kind's name are added.
SEEDS = {
    "scenario": ["tests/golden/*.yaml", "configs/scenarios/*.yaml", "tests/scenario/accepted/s*/*"],
    "machine": ["configs/machines/*.yaml", "tests/scenario/accepted/machines/*"],
    "workload": ["configs/workloads/*.yaml", "tests/scenario/accepted/workloads/*"],
    "plan": ["configs/plans/*.yaml", "tests/scenario/accepted/plans/*"],
    "csv": ["configs/evaluation/a*.csv", "tests/fuzz/regressions/measured/*"],
    "log": ["tests/fuzz/corpus/*/*.log", "tests/golden/logs/*", "tests/fuzz/corpus/copy_matrices/*", "tests/fuzz/corpus/nccl_tests_json/*"],
    "journal": ["tests/golden/*.jsonl"],
    "topology_matrix": [],
    "topology_xml": [],
    "lspci": [],
    "model_config": [],
    "tensors": ["configs/workloads/tensors/*.csv"],
    "vms": ["tests/cli/offers/*.csv"],
    "vast": ["tests/cli/offers/*.json"],
    "offers_yaml": [],
    "known": [],
    "measured": [],
    "evaluate": ["configs/evaluation/a*.csv"],
    "scaling": ["configs/scaling/*.csv"],
}
OF_THE_LAB = {"evaluate", "scaling"}
KNOWN = [b"{native: {ranks: 4, bytes: 128 MiB, seconds: 95 ms}}", b"{ring: {ranks: 4, bytes: 1 MiB, seconds: 1 ms}}",
         b"{p2p: {bandwidth: 12 GB/s, latency: 8 us}}", b"{all_gather: {ranks: 4, bytes: 1 MiB, bandwidth: 10 GB/s}}"]


def files_of(kind: str) -> list[pathlib.Path]:
    patterns = [*SEEDS[kind], f"tests/fuzz/corpus/{kind}/*", f"tests/fuzz/regressions/{kind}/*"]
    return sorted({path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file() and path.stat().st_size <= LARGEST})


def seeds_of(kind: str) -> list[bytes]:
    return [path.read_bytes() for path in files_of(kind)] or KNOWN


def probes_this_machine(data: bytes) -> bool:
    """A scenario without a machine is one of the machine that runs it, which is probed for seconds."""
    return b"this" in data or not re.search(rb"^machine\s*:|[{,]\s*machine\s*:", data, re.MULTILINE)


def commands(kind: str, data: bytes, folder: pathlib.Path) -> list[list]:
    """The commands that read such a text, which is written into the folder; none where it would be measured."""
    def write(name, text):
        (folder / name).unlink(missing_ok=True)  # A link, perhaps.
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder / name

    # A scenario that names it without the whole path.
    beside = lambda name, key, value: write(name, OF_FOUR_GPUS.replace("MACHINE", value) if key == "machine" else  # pylint: disable=unnecessary-lambda-assignment
                                            OF_FOUR_GPUS.replace("MACHINE", "4x-rtx4090-pcie4") + f"{key}: {value}\n")
    as_json = ["--no-charts", "--format", "json"]
    if kind == "scenario":
        file = write("input.yaml", data)
        return [] if probes_this_machine(data) else [["predict", file, *as_json], ["predict", file, "--explain"]]
    if kind == "machine":
        file = write("input.yaml", data)
        return [["show", "machine", file, "--no-charts"], ["predict", beside("scenario.yaml", "machine", "input.yaml"), *as_json]]
    if kind == "workload":
        write("input.yaml", data)
        return [["plan", write("plan.yaml", OFFERED.replace("WORKLOAD", "input.yaml")), "--no-charts", "--explain", "one"]]
    if kind == "tensors":
        write("input.csv", data)
        write("workload.yaml", "name: w\nbatch_per_gpu: 4\ntensors: input.csv\n")
        return [["plan", write("plan.yaml", OFFERED.replace("WORKLOAD", "workload.yaml")), *as_json]]
    if kind == "plan":
        return [["plan", write("input.yaml", data), "--no-charts"]]
    if kind == "model_config":
        return [["plan", "--model", write("config.json", data), "--gpus", "8xH100", "--no-charts"]]
    if kind in ("vms", "vast", "offers_yaml"):
        file = write({"vms": "vms.csv", "vast": "vast.json"}.get(kind, "offers.yaml"), data)
        return [["plan", PLANNED, "--no-charts", "--offers", file], ["plan", PLANNED, *as_json, "--offers", file]]
    if kind == "csv":
        file = write("input.csv", data)
        return [["import", file, "--ranks", "4", "--format", "json"], ["plan", PLANNED, "--no-charts", "--offers", file]]
    if kind == "measured":
        write("input", data)
        return [["import", folder / "input", "--ranks", "4"], ["compare", beside("scenario.yaml", "measured", "input"), *as_json]]
    if kind == "journal":
        file = write("results.jsonl", data)
        return [["import", file], ["compare", beside("scenario.yaml", "measured", "results.jsonl"), "--no-charts"]]
    if kind in ("log", "gloo_benchmark", "imb", "osu"):
        file = write("input.log", data)
        return [["import", file, "--ranks", "8"], ["check", file, "--gpu", "8 x A100-SXM4-40GB", *as_json], ["import", file, "--anonymise"]]
    if kind in ("topology_matrix", "topology_xml", "lspci"):
        return [["import", write("input.txt", data)], ["import", "topo", folder / "input.txt", "--gpu", "V100-SXM2-16GB"]]
    if kind == "known":
        text = data.replace(b"\0", b"0")  # No argument holds one.
        return [["predict", write("scenario.yaml", OF_FOUR_GPUS.replace("MACHINE", "4x-rtx4090-pcie4")), "--known", text, *as_json]]
    file = write("input.csv", data)
    write("evaluated.yaml", EVALUATED)
    return [["evaluate", folder]] if kind == "evaluate" else [["validate", file]]


NUMBERS = [b"0", b"-1", b"1", b"7", b"1e308", b"1e-308", b"5e-324", b"-0.0", b"nan", b"inf", b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807",
           b"9223372036854775808", b"18446744073709551616", b"0x10", b"1_000", b"1,5", b"16777216", b"16777217", b"65536", b"1e9", b"1e18", b"0.1"]
PIECES = [b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", "\u202e".encode(), "\u2066".encode(), "\u0085".encode(), b"\x1b[2J", b"\r\n", b"\n", b"\t", b"'", b'"', b"{", b"}",
          b"[", b"]", b":", b",", b"&a", b"*a", b"<<: *a", b"!!binary", b"~", b"null", b"true", b"|", b">", b"%", b"# ", b"---\n", b"../", b"GB/s", b"us", b"KiB", b" ", b""]


def changed(text: bytes, seeds: list[bytes], dice) -> bytes:
    """One to four random changes."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        at = dice.randrange(len(text) + 1)
        change = dice.randrange(9)
        numbers = [match.span() for match in re.finditer(rb"\d[\d.e+]*", text)] if change < 3 else []
        lines = text.splitlines(keepends=True) if change in (5, 6, 7) else []
        if numbers:
            begin, end = dice.choice(numbers)
            text = text[:begin] + dice.choice(NUMBERS) + text[end:]
        elif change == 3:
            text = text[:at] + bytes([dice.randrange(256)]) + text[at + 1:]
        elif change == 4:
            text = text[:at] + dice.choice(PIECES) + text[at + dice.choice((0, 0, 1, 8)):]
        elif len(lines) > 1:
            line, other = dice.randrange(len(lines)), dice.randrange(len(lines))
            if change == 5:
                del lines[line]
            elif change == 6:
                lines[line], lines[other] = lines[other], lines[line]
            else:
                lines[line:line] = [lines[other]] * dice.choice((1, 1, 2, 50))
            text = b"".join(lines)
        elif change == 8 and dice.random() < 0.5:
            text = text[:at]
        else:
            other = dice.choice(seeds)
            begin = dice.randrange(len(other) + 1)
            text = text[:at] + other[begin:begin + dice.choice((8, 64, 512))] + text[at:]
    return text[:LARGEST]
