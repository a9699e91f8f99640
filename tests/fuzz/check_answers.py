#!/usr/bin/env python3
"""What commands say to every text of command_inputs.py and to some made of it: a changed word, number or exit status is a reviewed diff.

check_answers.py PROGRAM KIND [--update]
check_answers.py PROGRAM KIND --show TEXT

answers/KIND.txt has a line for each text: its name, the exit statuses of its commands, and a digest of all that they print. In some of the texts made
of it one number is another, and some are changed as scripts/fuzz-commands does; all follows from the name. --show prints what has only its digest
there, so that the answers of two programs can be compared.
"""

import argparse
import difflib
import hashlib
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from command_inputs import KNOWN, ROOT, SEEDS, changed, commands, files_of

# How many are made of each in both ways: fewer of the kinds that have many texts, or slow commands.
MADE = {"machine": 1, "vms": 1, **dict.fromkeys(("scenario", "workload", "csv", "journal", "log", "tensors"), 3)}
MADE_OF_OTHERS = 10
# What differs from one moment or version to another.
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+Z")
RUN = re.compile(r'^\{"record":"run".*$', re.MULTILINE)


def texts_of(kind):
    """Names and bytes, of files with their folder."""
    named = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files_of(kind)}
    return named or {f"text {number}": text for number, text in enumerate(KNOWN)}


def varied(text, dice):
    """One number is another that may stand there as well."""
    numbers = [match.span() for match in re.finditer(rb"(?<![\w.])\d+", text)]
    if not numbers:
        return text
    begin, end = dice.choice(numbers)
    number = int(text[begin:end])
    return text[:begin] + str(dice.choice((number + 1, 2 * number, (number + 1) // 2))).encode() + text[end:]


def put_beside(scratch, path):
    """A folder of the same name as that of the file, in which relative paths lead to the same files."""
    folder, origin = scratch, ROOT
    for part in [*path.parent.parts, None]:
        for other in ("configs", "tests") if origin == ROOT else [each.name for each in origin.iterdir()]:
            if other != part:
                (folder / other).symlink_to(origin / other)
        if part:
            folder, origin = folder / part, origin / part
            folder.mkdir()
    return folder


def answers(program, kind, name, text):
    """(status, what was printed) of each command on the text and on those made of it."""
    dice = random.Random(f"{kind}/{name}")
    texts = [text]
    for _ in range(MADE.get(kind, MADE_OF_OTHERS)):
        texts += [varied(text, dice), changed(text, [text], dice)]
    with tempfile.TemporaryDirectory(prefix="ringside-answers-") as scratch:
        os.chdir(put_beside(pathlib.Path(scratch), pathlib.Path(name)))  # Paths are printed as they are given: without the scratch folder's.
        for data in texts:
            for words in commands(kind, data, pathlib.Path()):
                ended = subprocess.run([program, *map(os.fsencode, words), "--quiet", "--output", "out"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
                said = ended.stdout.decode(errors="replace").replace(str(ROOT), "ROOT")
                yield ended.returncode, RUN.sub("RUN", MOMENT.sub("TIME", said))
        os.chdir(ROOT)


def lines_of(program, kind, name, text):
    """One, or none when the text would be measured."""
    ended = list(answers(program, kind, name, text))
    statuses, said = ("".join(str(one[part]) for one in ended) for part in (0, 1))
    return [f"{name}  {statuses}  {hashlib.sha256(said.encode()).hexdigest()[:16]}\n"] if ended else []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("kind", choices=sorted(SEEDS))
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--show", metavar="TEXT")
    flags = parser.parse_args()
    program, texts = flags.program.resolve(), texts_of(flags.kind)
    if flags.show:
        for status, said in answers(program, flags.kind, flags.show, texts[flags.show]):
            print(f"exit {status}\n{said}")
        return 0
    record = pathlib.Path(__file__).parent / "answers" / f"{flags.kind}.txt"
    now = [line for name, text in sorted(texts.items()) for line in lines_of(program, flags.kind, name, text)]
    before = record.read_text(encoding="utf-8").splitlines(keepends=True) if record.exists() else []
    if now == before:
        print(f"{len(now)} texts, as before")
        return 0
    print("".join(difflib.unified_diff(before, now, str(record), "now", n=0)))
    if flags.update:
        record.write_text("".join(now), encoding="utf-8")
    return 0 if flags.update else 1


if __name__ == "__main__":
    sys.exit(main())
