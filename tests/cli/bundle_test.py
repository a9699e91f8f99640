"""The bundle on a bare machine: a root directory that holds glibc, the unpacked bundle and nothing else."""

import pathlib
import re
import shutil
import subprocess
import unittest

from ringside_case import PROGRAM, SOURCE, RingsideCase

GLIBC = re.compile(r"(ld-linux-x86-64|lib(c|m|pthread|dl|rt|resolv))\.so\.\d+$")
SCENARIO = """name: small
algorithms: [naive, ring, native]
ranks: 2
message_sizes: [4 KiB, 64 KiB]
machine: this
"""


class Bundle(RingsideCase):
    def setUp(self):
        super().setUp()
        namespaces = subprocess.run(["unshare", "--map-root-user", "--mount", "true"], capture_output=True, check=False)
        if namespaces.returncode != 0:
            self.skipTest("this system allows no mount namespaces")
        file = self.folder / "bundle.tar.gz"
        packed = subprocess.run(
            [SOURCE / "scripts" / "bundle", pathlib.Path(PROGRAM).parent, file],
            capture_output=True, text=True, check=False, timeout=240,
        )
        self.assertEqual(packed.returncode, 0, packed.stderr)
        self.assertEqual(packed.stderr, "", "each library comes with its licence")
        self.assertRegex(packed.stdout, r"needs glibc 2\.\d+")
        self.root = self.folder / "root"
        for folder in ("lib64", "lib/x86_64-linux-gnu", "proc", "tmp", "dev", "sys"):
            (self.root / folder).mkdir(parents=True)
        for library in pathlib.Path("/lib/x86_64-linux-gnu").iterdir():
            if GLIBC.match(library.name):
                shutil.copy(library, self.root / "lib/x86_64-linux-gnu" / library.name)
        shutil.copy("/lib64/ld-linux-x86-64.so.2", self.root / "lib64")
        subprocess.run(["tar", "-C", self.root, "-xzf", file], check=True)

    def run_bare(self, *arguments):
        """The bundle's program as root of a machine of its own, with an empty environment."""
        script = (
            'root=$1; shift; mount --rbind /proc "$root/proc"; mount --rbind /dev "$root/dev"; '
            'exec env -i /usr/sbin/chroot "$root" /ringside/bin/ringside "$@"'
        )
        return subprocess.run(
            ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", self.root, *map(str, arguments)],
            capture_output=True, text=True, check=False, timeout=240,
        )

    def test_runs_with_nothing_but_glibc(self):
        doctor = self.run_bare("doctor")
        self.assertEqual(doctor.returncode, 0, doctor.stderr)
        self.assertRegex(doctor.stdout, r"measure with gloo +yes")
        self.assertRegex(doctor.stdout, r"draw charts +no")
        self.assertRegex(doctor.stdout, r"shipped configs +yes +/ringside/configs")

        predicted = self.run_bare(
            "predict", "/ringside/configs/scenarios/custom-10GBps.yaml", "--output", "/tmp/predicted"
        )
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        self.assertIn("ring is predicted to be 7.9× faster than naive", predicted.stdout)

        (self.root / "tmp/small.yaml").write_text(SCENARIO)
        compared = self.run_bare(
            "compare", "/tmp/small.yaml", "--backend", "gloo", "--time-per-point", "50 ms", "--calibrate-time", "1 s",
            "--output", "/tmp/compared",
        )
        self.assertEqual(compared.returncode, 0, compared.stderr)
        self.assertIn("gnuplot is not installed", compared.stderr)

        # At home, what was measured there is compared and drawn.
        home = self.write(
            "home.yaml",
            SCENARIO.replace("machine: this", f"machine: {self.root}/tmp/compared/machine.yaml")
            + f"measured: {self.root}/tmp/compared/results.jsonl\n",
        )
        drawn = self.run_ringside("compare", home, "--output", self.folder / "home")
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        if shutil.which("gnuplot"):
            self.assertTrue(list((self.folder / "home").glob("*.png")))


if __name__ == "__main__":
    unittest.main()
