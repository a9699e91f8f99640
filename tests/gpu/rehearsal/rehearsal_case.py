"""What tests of whole programs on the rehearsal device share."""

import os
import time

from ringside_case import PROGRAM, RingsideCase

SCENARIO = """name: rehearsal
algorithms: [ring]
ranks: {ranks}
message_sizes: 4 KiB
machine: {{intra: {{kind: custom, latency: 10 us, bandwidth: 10 GB/s}}}}
"""
DEADLINE = 2  # Seconds that ranks wait for each other.
# Besides the deadline itself: starting, aborting and ending, also on a busy machine.
GRACE = 20


def ranks_alive():
    """Ranks of this program, which name themselves so."""
    alive = []
    for process in os.listdir("/proc"):
        if process.isdigit():
            try:
                with open(f"/proc/{process}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ").decode(errors="replace")
                with open(f"/proc/{process}/environ", "rb") as file:
                    ours = f"RINGSIDE_REHEARSAL_TEST={os.getpid()}".encode() in file.read()
            except OSError:
                continue
            if ours and PROGRAM in command and " rank " in command:
                alive.append(command)
    return alive


class Rehearsal(RingsideCase):
    def measure(self, *flags, device="", faults="", ranks=2, deadline=DEADLINE, environment=None):
        self.output = self.folder / f"out-{time.monotonic_ns()}"
        start = time.monotonic()
        result = self.run_ringside(
            *("measure", self.write("rehearsal.yaml", SCENARIO.format(ranks=ranks)), "--backend", "nccl"),
            *("--timeout", f"{deadline} s", "--time-per-point", "1 ms", "--output", self.output, *flags),
            environment={
                "RINGSIDE_REHEARSAL": device,
                "RINGSIDE_REHEARSAL_FAULTS": faults,
                "RINGSIDE_REHEARSAL_TEST": str(os.getpid()),
                **(environment or {}),
            },
        )
        self.assertLess(time.monotonic() - start, deadline + GRACE)
        self.assertEqual(ranks_alive(), [])
        return result

    def points(self):
        records = self.records((self.output / "results.jsonl").read_text())
        # The last record of a point holds what all repetitions have found.
        points = {(record["algorithm"], record["ranks"], record["bytes"]): record["measured"]
                  for record in records if record["record"] == "point"}
        return list(points.values())

    def assert_well(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual([point["outcome"] for point in self.points()], ["ok"])
