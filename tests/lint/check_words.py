#!/usr/bin/env python3
"""Nobody writes a retired word: what docs/glossary.md refuses stands in no code, comment, output or page."""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_text import files_of, report  # pylint: disable=wrong-import-position

SUFFIXES = {".cpp", ".hpp", ".cu", ".in", ".md", ".py", ".sh", ".cmake", ".txt", ".yaml", ".json", ""}
# Where a retired word may stand, and why.
ALLOWED = {
    "docs/glossary.md": "it lists them",
    "CHANGELOG.md": "it names what is still read in the old spelling",
    "study/trace.cpp": "Perfetto calls an interval of a track a slice",
    "tests/lint/check_words.py": "it says where they may stand",
    "results/probe_kind.cpp": "it reads curves of machine files in their old spelling",
    "docs/scenario.md": "it says which old spelling of a curve is still read",
    "tests/scenario/machine/machine_file_test.cpp": "it reads an old file",
    "configs/evaluation/": "quotes its sources",
    "configs/catalog/": "quotes its sources",
}
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
SEPARATOR = re.compile(r"[\s_\-]+")


def retired_words(root: pathlib.Path):
    """The third column of the glossary's table."""
    section = (root / "docs" / "glossary.md").read_text(encoding="utf-8").split("## Retired words")[1]
    rows = [line.strip("|\n").split("|") for line in section.splitlines() if line.startswith("|")][2:]
    return [word.strip() for row in rows for word in row[2].split(",") if word.strip()]


def plain(text: str) -> str:
    """Identifiers as the words they are made of."""
    return SEPARATOR.sub(" ", CAMEL.sub(" ", text)).lower()


def faults_of(root: pathlib.Path):
    words = retired_words(root)
    anywhere = "|".join(re.escape(word) for word in words if "_" not in word)
    pattern = re.compile(rf"\b({anywhere})s?\b")
    # One that is refused only as an identifier, in either spelling.
    identifiers = [word for word in words if "_" in word]
    spellings = identifiers + [word.title().replace("_", "") for word in identifiers]
    identifier = re.compile(r"(?<![a-z])(" + "|".join(spellings) + ")")

    def find(text):
        return pattern.search(plain(text)) or identifier.search(text)

    for path in files_of(root):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or path.suffix not in SUFFIXES or name.startswith(tuple(ALLOWED)):
            continue
        match = find(name)
        if match:
            yield name, f"{name}:1: the file's name has a retired word: {match.group()}"
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            match = find(line)
            if match:
                yield name, f"{name}:{number}: retired word (docs/glossary.md has the new one): {match.group()}"


if __name__ == "__main__":
    sys.exit(report(fault for _, fault in faults_of(pathlib.Path(sys.argv[1]))))
