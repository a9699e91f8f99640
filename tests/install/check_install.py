#!/usr/bin/env python3
"""Installs a build into an empty folder, and builds and runs a project that finds it there."""

import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    cmake, build, source = sys.argv[1:4]
    project = pathlib.Path(__file__).parent / "project"
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
        prefix, other = pathlib.Path(folder) / "prefix", pathlib.Path(folder) / "build"
        run(cmake, "--install", build, "--prefix", prefix)
        for path in prefix.rglob("*.cmake"):
            if source in path.read_text(encoding="utf-8"):
                sys.exit(f"{path.name} names the source folder, which a user need not have")
        run(cmake, "-S", project, "-B", other, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}")
        run(cmake, "--build", other)
        output = run(other / "uses_ringside")
        print(output, end="")
        if "threads: sum 6" not in output or not ("gloo: sum 6" in output or "no gloo backend" in output):
            sys.exit("the sum of 1, 2 and 3 is missing")
        run(prefix / "bin" / "ringside", "--version")


if __name__ == "__main__":
    main()
