#!/usr/bin/env python3
"""Runs every command that the docs show in ```console blocks, from the root of the repository.

Each line that starts with `$ ` is a command and must exit 0; the lines below it are its output and must stand in the
real output in that order. A line `…` stands for anything left out. `build/release` is replaced by the folder of the program
under test, and results go to a scratch folder.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands_of(text):
    """(line number, command, expected output lines) of every console block."""
    for block in BLOCK.finditer(text):
        first = text[: block.start(1)].count("\n") + 1
        current = None
        for offset, line in enumerate(block.group(1).splitlines()):
            if line.startswith("$ "):
                if current:
                    yield current
                current = (first + offset, line[2:], [])
            elif current:
                current[2].append(line.rstrip())
        if current:
            yield current


def missing_line(expected, actual):
    """The first expected line that does not follow, or None."""
    position = 0
    for line in expected:
        if line.strip() in ("", "…"):
            continue
        while position < len(actual) and actual[position].rstrip() != line:
            position += 1
        if position == len(actual):
            return line
        position += 1
    return None


def main():
    root, build = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).parent)
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    failed = run = 0
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as scratch:
        for page in pages:
            for line, command, expected in commands_of(page.read_text(encoding="utf-8")):
                if "build/release/ringside-lab " in command and not (pathlib.Path(build) / "ringside-lab").exists():
                    print(f"{page.relative_to(root)}:{line}: left out, for there is no ringside-lab in this build: {command}")
                    continue
                run += 1
                real = command.replace("build/release/", shlex.quote(build) + "/")
                real = re.sub(r"--output \S+", f"--output {shlex.quote(scratch)}/out", real)
                result = subprocess.run(["bash", "-c", real], cwd=root, capture_output=True, text=True, timeout=120,
                                        check=False, env={**os.environ, "NO_COLOR": "1"})
                where = f"{page.relative_to(root)}:{line}: {command}"
                missing = missing_line(expected, result.stdout.splitlines())
                if result.returncode != 0:
                    failed += 1
                    print(f"{where}\n  exit {result.returncode}: {result.stderr.strip()}")
                elif missing is not None:
                    failed += 1
                    print(f"{where}\n  the page shows a line that the command does not print:\n  {missing}\n  it printed:")
                    print("    " + "\n    ".join(result.stdout.splitlines()))
    print(f"{run} commands, {failed} failed")
    return 1 if failed or run == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
