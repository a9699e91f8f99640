#!/usr/bin/env python3
"""Runs every command that the docs show in ```console blocks, from the root of the repository.

Each line that starts with `$ ` is a command and must exit 0; the lines below it are its output and must stand in the
real output in that order. A line `…` stands for anything left out. `build/release` is replaced by the folder of the program
under test, and results go to a scratch folder.

Commands of ```sh blocks need a file, a launcher or minutes, and are not run. Their subcommand and flags must be those of `--help`,
and a script that they name must be there.
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
SHELL_BLOCK = re.compile(r"^( *)```sh\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
PROGRAM = re.compile(r"^(?:build/release/|bin/)?ringside$")
SCRIPT = re.compile(r"^(?:scripts|bench|tests)/[\w/-]+$")


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


def shell_lines_of(text):
    """(line number, command) of every ```sh block, continued lines joined and comments taken off."""
    for block in SHELL_BLOCK.finditer(text):
        first = text[: block.start(2)].count("\n") + 1
        pending = ""
        for offset, line in enumerate(block.group(2).splitlines()):
            pending += " " + line.strip().removesuffix("\\")
            if not line.endswith("\\"):
                yield first + offset, pending.strip()
                pending = ""


def words_of(command):
    """The words of a command; of text that is no whole command the words between blanks."""
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return command.split()


def fault_of_shell(command, root, help_of):
    """What is wrong with a command that is shown and not run, or None."""
    words = words_of(command)
    for place, word in enumerate(words):
        if SCRIPT.match(word) and not (root / word).exists():
            return f"{word} is not there"
        if not PROGRAM.match(word) or (place > 0 and words[place - 1] == "--target"):
            continue
        rest = words[place + 1:]
        rest = rest[:next((at for at, other in enumerate(rest) if other in {"|", "--", "&&", ";"}), len(rest))]
        arguments = [other for other in rest if not other.startswith("-")]
        help_text = help_of(*arguments[:2]) or help_of(*arguments[:1])
        if not help_text:
            return f"ringside has no command {arguments[:1]}"
        for flag in (other.split("=")[0] for other in rest if other.startswith("--")):
            if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", help_text + help_of()):
                return f"ringside {arguments[0]} has no flag {flag}"
    return None


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


def helps_of(program):
    """A function from words of a command to its help; empty for words that are no command."""
    @functools.cache
    def help_of(*words):
        result = subprocess.run([program, *words, "--help"], capture_output=True, text=True, timeout=60, check=False)
        # `show ring --help` is that of `show`: a word that is an argument and no command.
        return result.stdout if result.returncode == 0 and f"ringside {' '.join(words)}".strip() in result.stdout else ""
    return help_of


def main():
    root, build = pathlib.Path(sys.argv[1]), str(pathlib.Path(sys.argv[2]).parent)
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md")), *sorted((root / "lab/docs").rglob("*.md"))]
    failed = run = shown = 0
    help_of = helps_of(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as scratch:
        for page in pages:
            for line, command in shell_lines_of(page.read_text(encoding="utf-8")):
                shown += 1
                fault = fault_of_shell(command, root, help_of)
                if fault:
                    failed += 1
                    print(f"{page.relative_to(root)}:{line}: {command}\n  {fault}")
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
    print(f"{run} commands run, {shown} read, {failed} failed")
    return 1 if failed or run == 0 or shown == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
