#!/usr/bin/env python3
"""No promises left in the tree, no comments without a noun or wider than the code, no links to files or headings that are not there."""

import pathlib
import re
import shutil
import subprocess
import sys

PROMISE = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|to be do" + r"ne|not yet impl" + r"emented")
NO_NOUN = re.compile(r"//[/<]*\s+Of\b")
# As wide as .clang-format has code. Lines quoted from other programs keep their width: they stand two blanks or more behind `//`.
WIDEST = 110
COMMENT = re.compile(r"^\s*//(?!\s{2,}\S)|\s//(/<)?\s")
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
# A page of ours that a comment, a message or a page names, with the heading that it quotes: a file in docs/, a comma, "How …".
NAMED_PAGE = re.compile(r"(?<![\w/.])((?:lab/)?docs/[\w/-]+\.md)(?:\)?,? \(?\"([^\"]+)\")?")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)
CODE_BLOCK = re.compile(r"^\s*```.*?^\s*```\s*$", re.DOTALL | re.MULTILINE)
# Their text belongs to others, or is of another time.
QUOTES_OTHERS = ("configs/evaluation/", "configs/catalog/", "configs/machines/dgx1-v100.yaml", "CHANGELOG.md", "tests/fuzz/regressions/",
                 "tests/lint/lints_test.py")
SKIPPED_PARTS = {"build", "out", ".git", ".cache"}


def files_of(root: pathlib.Path):
    """Tracked files of a checkout; every file of a plain folder, or where there is no git."""
    listed = shutil.which("git") and subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, check=False)
    if listed and listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in root.rglob("*") if not SKIPPED_PARTS & set(path.relative_to(root).parts)]


def headings_of(page: pathlib.Path):
    return HEADING.findall(CODE_BLOCK.sub("", page.read_text(encoding="utf-8")))


def anchor_of(heading: str) -> str:
    """As GitHub makes it: lower case, no punctuation, a hyphen for each blank."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")


def dead_link(path: pathlib.Path, target: str, anchor: str):
    """What is wrong with a link of a page; nothing when it leads somewhere."""
    if "://" in target or target.startswith("mailto:"):
        return None
    page = path.parent / target if target else path
    if not page.exists():
        return f"link to a file that is not there: {target}"
    if anchor and page.suffix == ".md" and anchor not in map(anchor_of, headings_of(page)):
        return f"link to a heading that is not there: {target}#{anchor}"
    return None


def dead_name(root: pathlib.Path, page: str, heading: str):
    """What is wrong with a page that a file names from the root of the repository."""
    if not (root / page).exists():
        return f"names a page that is not there: {page}"
    if heading and heading not in headings_of(root / page):
        return f"names a heading that is not there: {page}, \"{heading}\""
    return None


def faults_of(root: pathlib.Path):
    for path in files_of(root):
        if not path.is_file() or path.suffix not in {".cpp", ".hpp", ".cu", ".md", ".py", ".sh", ".cmake", ".txt", ".yaml", ".json", ""}:
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if PROMISE.search(line):
                yield f"{name}:{number}: a promise instead of the thing: {line.strip()}"
            if NO_NOUN.search(line) and path.suffix in {".cpp", ".hpp", ".cu"}:
                yield f"{name}:{number}: a comment that begins with Of says of what, but not what: {line.strip()}"
            if len(line) > WIDEST and COMMENT.search(line) and path.suffix in {".cpp", ".hpp", ".cu", ".cuh"}:
                yield f"{name}:{number}: a comment of {len(line)} columns, and {WIDEST} are the most: {line.strip()}"
            found = [dead_link(path, *link) for link in LINK.findall(line)] if path.suffix == ".md" else []
            if not name.startswith(QUOTES_OTHERS):
                found += [dead_name(root, *named) for named in NAMED_PAGE.findall(line)]
            for fault in filter(None, found):
                yield f"{name}:{number}: {fault}"


def report(faults) -> int:
    """Prints what a check of this folder found, a line each; its exit status."""
    found = list(faults)
    for fault in found:
        print(fault)
    print(f"{len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(report(faults_of(pathlib.Path(sys.argv[1]))))
