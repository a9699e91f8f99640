#!/usr/bin/env python3
"""No promises left in the tree, no comments without a noun, no links to files that are not there."""

import pathlib
import re
import shutil
import subprocess
import sys

PROMISE = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|to be do" + r"ne|not yet impl" + r"emented")
NO_NOUN = re.compile(r"//[/<]*\s+Of\b")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(#[^)]*)?\)")
SKIPPED_PARTS = {"build", "out", ".git", ".cache"}


def files_of(root: pathlib.Path):
    """Tracked files of a checkout; every file of a plain folder, or where there is no git."""
    listed = shutil.which("git") and subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False)
    if listed and listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in root.rglob("*") if not SKIPPED_PARTS & set(path.relative_to(root).parts)]


def faults_of(root: pathlib.Path):
    for path in files_of(root):
        if not path.is_file() or path.suffix not in {".cpp", ".hpp", ".cu", ".md", ".py", ".sh", ".cmake", ".txt", ".yaml"}:
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if PROMISE.search(line):
                yield f"{name}:{number}: a promise instead of the thing: {line.strip()}"
            if NO_NOUN.search(line) and path.suffix in {".cpp", ".hpp", ".cu"}:
                yield f"{name}:{number}: a comment that begins with Of says of what, but not what: {line.strip()}"
            if path.suffix == ".md":
                for target, _ in LINK.findall(line):
                    if "://" not in target and not (path.parent / target).exists():
                        yield f"{name}:{number}: link to a file that is not there: {target}"


def report(faults) -> int:
    """Prints what a check of this folder found, a line each; its exit status."""
    found = list(faults)
    for fault in found:
        print(fault)
    print(f"{len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(report(faults_of(pathlib.Path(sys.argv[1]))))
