#!/usr/bin/env python3
"""README and docs are short: few pages, few words, short sentences, and each page opens with its question.

Tables, code, headings, pictures and the targets of links are no sentences. An inline `piece of code` counts as one word.
`check_prose.py ROOT --show PAGE` prints the page's longest sentences, for whoever shortens them.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_text import files_of, report  # pylint: disable=wrong-import-position

LONG_SENTENCE, MOST_LONG, MOST_MEAN = 30, 0.03, 16
MOST_PAGES, MOST_WORDS = 23, 35_000
README_LINES, README_WORDS = 100, 650
MOST_TERMS = 45
OPENING_LINES = 14
# Pages that need no command of their own, and why.
NO_OPENING = {
    "README.md": "it is the page of the project",
    "docs/README.md": "it is the list of all commands",
}

NOT_PROSE = re.compile(r"<!--.*?-->|^[ ]*```.*?^[ ]*```[ ]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
INLINE_CODE = re.compile(r"`[^`\n]+(?:\n[^`\n]+)?`")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
# A full stop, a question mark or an exclamation mark ends a sentence, also before a closing bracket or emphasis.
END = re.compile(r"(?<=[.!?])[)\"”*_]*\s+")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf|fig|no|ch)\.\s*$", re.IGNORECASE)
WORD = re.compile(r"[^\W_]")


def paragraphs_of(text: str):
    """The paragraphs and list items of a page, as plain text on one line each."""
    lines, paragraph = NOT_PROSE.sub("\n\n", text).splitlines(), []

    def joined():
        plain = LINK.sub(r"\1", INLINE_CODE.sub("code", PICTURE.sub("", " ".join(paragraph))))
        return re.sub(r"\s+", " ", plain.replace("**", "").replace("__", "")).strip()

    for line in [*lines, ""]:
        if not line.strip() or line.lstrip().startswith(("|", "#", ">")) or ITEM.match(line):
            if paragraph:
                yield joined()
            paragraph = [ITEM.sub("", line)] if ITEM.match(line) else []
        else:
            paragraph.append(line.strip())


def sentences_of(text: str):
    """The sentences of a page, each with its number of words."""
    for paragraph in paragraphs_of(text):
        parts = []
        for part in END.split(paragraph):
            if parts and ABBREVIATION.search(parts[-1]):
                parts[-1] += " " + part
            else:
                parts.append(part)
        for sentence in parts:
            words = sum(1 for word in sentence.split() if WORD.search(word))
            if words:
                yield sentence, words


def faults_of_page(name: str, text: str):
    """A page of its own: long sentences, `what` as a subject, no question at the top."""
    sentences = list(sentences_of(text))
    long = [(sentence, words) for sentence, words in sentences if words > LONG_SENTENCE]
    if len(long) > MOST_LONG * len(sentences):
        yield f"{name}: {len(long)} of {len(sentences)} sentences have more than {LONG_SENTENCE} words: {long[0][0]}"
    for sentence, _ in sentences:
        if re.match(r"What\b", sentence) and not sentence.rstrip(")*").endswith("?"):
            yield f"{name}: `what` is the subject: {sentence}"
    opening = text.splitlines()[:OPENING_LINES]
    if name not in NO_OPENING and not (any("?" in line for line in opening) and any(line.startswith("```") for line in opening)):
        yield f"{name}: the first {OPENING_LINES} lines have no question with the command that answers it"


def mean(counts) -> float:
    counts = list(counts)
    return sum(counts) / max(1, len(counts))


def faults_of(root: pathlib.Path):
    names = [path.relative_to(root).as_posix() for path in files_of(root) if path.is_file()]
    pages = {name: (root / name).read_text(encoding="utf-8") for name in sorted(names)
             if name == "README.md" or (name.startswith("docs/") and name.endswith(".md"))}
    for name, text in pages.items():
        yield from faults_of_page(name, text)
    readme = pages.pop("README.md", "")
    for what, found, most in (
        ("README.md: lines", len(readme.splitlines()), README_LINES),
        ("README.md: words", len(readme.split()), README_WORDS),
        ("README.md: words a sentence", mean(words for _, words in sentences_of(readme)), MOST_MEAN),
        ("docs/: pages", len(pages), MOST_PAGES),
        ("docs/: words", sum(len(text.split()) for text in pages.values()), MOST_WORDS),
        ("docs/: words a sentence", mean(words for text in pages.values() for _, words in sentences_of(text)), MOST_MEAN),
        ("docs/glossary.md: terms", len(re.findall(r"^\| \*\*", pages.get("docs/glossary.md", ""), re.MULTILINE)), MOST_TERMS),
    ):
        if found > most:
            yield f"{what}: {found:,.1f}, and {most:,} are the most".replace(".0,", ",")


def show(page: pathlib.Path) -> int:
    text = page.read_text(encoding="utf-8")
    found = sorted(sentences_of(text), key=lambda pair: -pair[1])
    counts = [words for _, words in found]
    print(f"{len(text.split())} words in all, {len(found)} sentences, mean {mean(counts):.1f}, "
          f"{sum(words > LONG_SENTENCE for words in counts)} over {LONG_SENTENCE}, {sum(words > 25 for words in counts)} over 25")
    print("\n".join(f"{words:4} {sentence}" for sentence, words in found[:12]))
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[2] == "--show":
        sys.exit(show(pathlib.Path(sys.argv[1]) / sys.argv[3]))
    sys.exit(report(faults_of(pathlib.Path(sys.argv[1]))))
