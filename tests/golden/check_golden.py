#!/usr/bin/env python3
"""Answers of whole commands to the last digit: a changed number is a reviewed diff.

check_golden.py PROGRAM SOURCE [PATH…] [--update]: every *.jsonl of a folder (tests/golden) holds the records that a command must print as JSON Lines.
Its first line says the command, `{"golden": "plan --model …", "without": ["source"]}`: all its records but `run`, without those fields. `"only": {"record": "offer"}`
keeps some, and the first line then has the digest of all.
A file without such a line is of `predict` and the scenario of its name, beside it or in configs/scenarios: its points.
A transcript, *.golden, holds commands (`$ ringside …`), each with all that it prints; `exit N` ends one that fails. `$ file NAME` and
the lines below it are a file, which commands call IN/NAME. `$ cat OUT/NAME` prints what the command before it wrote.
`$ digest plan …  # 3: ab01` asks for JSON Lines and keeps only their number and digest: for answers that are long and of one kind.
`$ drawn plan …` keeps what gnuplot is told: of each picture its title, its subtitle and a digest of the script. `$ page report …` keeps the number of
words that report.html shows, and their digest without what differs from run to run. Both show the
lines that name files, and standard error; they run in a folder with configs/, tests/, IN/ and OUT/.
A command that reads ../shared/data, or draws where gnuplot is not installed, is left out.
"""

import difflib
import hashlib
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


COMMAND = "$ ringside "
FILE = "$ file "
CAT = "$ cat OUT/"
DIGEST = "$ digest "
DRAWN = "$ drawn "
PAGE = "$ page "
DRAWS = ("trace", "doctor")  # These have no --no-charts.


def question_of(golden, source):
    first = json.loads(golden.read_text().partition("\n")[0])
    if "golden" in first:
        return first
    beside = golden.with_suffix(".yaml")
    scenario = beside if beside.exists() else source / "configs" / "scenarios" / beside.name
    return {"predict": scenario}


def answer_of(program, source, question, scratch):
    asked = shlex.split(question["golden"]) if "golden" in question else ["predict", question["predict"]]
    result = subprocess.run([program, *asked, "--format", "json", "--output", scratch],
                            cwd=source, capture_output=True, text=True, timeout=240, check=False)
    if result.returncode != 0:
        return [f"exit {result.returncode}: {result.stderr.strip()}"]
    if "golden" not in question:
        return [line for line in result.stdout.splitlines() if json.loads(line)["record"] == "point"]
    records = [json.loads(line) for line in result.stdout.splitlines()]
    kept = [{key: value for key, value in record.items() if key not in question.get("without", [])}
            for record in records if record.get("record") != "run"]
    if "only" in question:
        question = {**question, "digest": hashlib.sha256(json.dumps(kept).encode()).hexdigest()}
        kept = [record for record in kept if question["only"].items() <= record.items()]
    return [json.dumps(each, ensure_ascii=False) for each in [question, *kept]]


def written(file):
    """The text of a file; JSON without its line breaks."""
    text = file.read_text()
    return json.dumps(json.loads(text), ensure_ascii=False) if file.suffix == ".json" else text


def digest_of(answer, inputs):
    said = "\n".join(answer[1:] or answer).replace(inputs, "IN")
    return f"{len(answer) - 1}: {hashlib.sha256(said.encode()).hexdigest()[:16]}" if len(answer) > 1 else said


# Keeps its script, and ends as a picture of that kind does.
GNUPLOT = r"""#!/bin/sh
cat > "$DRAWN/$$"
case "$(head -n 2 "$DRAWN/$$")" in
  *"terminal svg"*) printf '</svg>' ;;
  *"terminal pdf"*) printf '%%%%EOF' ;;
  *) printf 'IEND\256\102\140\202' ;;
esac
"""


def run_beside(program, source, inputs, asked, scratch):
    """Runs the command where all paths that it prints are short and the same everywhere, with a gnuplot that only keeps what it is told.

    Gives the folder, what was said of files and on standard error, and whether it failed.
    """
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
    for name, target in (("configs", source / "configs"), ("tests", source / "tests"), ("IN", inputs)):
        (folder / name).symlink_to(os.path.realpath(target))
    (folder / "OUT").mkdir()
    for name in ("programs", "scripts"):
        (folder / name).mkdir()
    gnuplot = folder / "programs" / "gnuplot"
    gnuplot.write_text(GNUPLOT)
    gnuplot.chmod(0o755)
    result = subprocess.run([os.path.realpath(program), *shlex.split(asked), "--output", "OUT"], cwd=folder, capture_output=True, text=True, timeout=120, check=False,
                            env={**os.environ, "PATH": f"{folder / 'programs'}:{os.environ['PATH']}", "DRAWN": str(folder / "scripts")})
    files = [line for line in result.stdout.splitlines() if "OUT/" in line or line == "charts:"]
    problem = [f"exit {result.returncode}"] if result.returncode else []
    return folder, [*files, *result.stderr.splitlines(), *problem], bool(problem)


def short_digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def pictures_of(folder):
    """A line for each script of gnuplot."""
    lines = []
    for script in (file.read_text() for file in (folder / "scripts").iterdir()):
        labels = re.findall(r"^set label '(.*)' at \d+,\d+ left font", script, re.MULTILINE)
        lines.append(f"{' | '.join(labels[:2])}  # {short_digest(script)}")
    return sorted(lines)


def words_of_page(program, folder):
    """How many words the page shows, and their digest. Times, hosts, the program's folder and what follows from them are left out."""
    page = (folder / "OUT" / "report.html").read_text()
    shown = html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)))
    shown = shown.replace(os.path.realpath(program), "ringside")
    shown = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", shown)
    shown = re.sub(r"\b[\da-f]{64}\b", "SHA", shown)
    shown = re.sub(r"ringside \d+\.\d+\.\d+", "VERSION", shown)
    shown = re.sub(r"host of the run.*?SHA-256", "HOST SHA-256", shown, flags=re.DOTALL)
    words = shown.split()
    return f"{len(words)}: {short_digest(' '.join(words))}"


def can_run(asked, source):
    return (all((source / word).exists() for word in asked if word.startswith("../")) and
            (asked[0] not in DRAWS or "--help" in asked or shutil.which("gnuplot") is not None))


def transcript_of(program, source, golden, scratch):
    """The same commands with what they print now; those that cannot run here stay as they are."""
    inputs = tempfile.mkdtemp(dir=scratch)
    lines, file, output, runs = [], None, "", False
    for line in golden.read_text().splitlines():
        if line.startswith(FILE):
            file = pathlib.Path(inputs, line[len(FILE):])
            file.write_text("")
        elif line.startswith(COMMAND):
            file = None
            asked = shlex.split(line[len(COMMAND):])
            runs = can_run(asked, source)
            if runs:
                output = tempfile.mkdtemp(dir=scratch)  # Nothing is there from commands before.
                result = subprocess.run([program, *(word.replace("IN/", inputs + "/") for word in asked), "--output", output],
                                        cwd=source, capture_output=True, text=True, timeout=60, check=False)
                said = (result.stdout + result.stderr).replace(output, "OUT").replace(inputs, "IN")
                lines += [line, *said.splitlines(), *([f"exit {result.returncode}"] if result.returncode else [])]
            else:
                print(f"{golden.name}: left out, for what it needs is not here: {line}")
        elif line.startswith(CAT):
            file = None
            if runs:
                lines += [line, *written(pathlib.Path(output, line[len(CAT):])).replace(output, "OUT").replace(inputs, "IN").splitlines()]
        elif line.startswith(DIGEST):
            file, runs = None, True
            line = line.partition("  # ")[0]
            asked = line[len(DIGEST):].replace("IN/", inputs + "/")
            answer = answer_of(program, source, {"golden": asked, "without": ["source"]}, tempfile.mkdtemp(dir=scratch))
            lines.append(f"{line}  # {digest_of(answer, inputs)}")
        elif line.startswith((DRAWN, PAGE)):
            file, runs = None, True
            asked = line.partition("  # ")[0]
            folder, said, failed = run_beside(program, source, inputs, asked.removeprefix(DRAWN).removeprefix(PAGE), scratch)
            runs = "libjs-chart.js" not in str(said)
            if runs:
                lines += [f"{asked}  # {words_of_page(program, folder)}" if line.startswith(PAGE) and not failed else asked, *said, *pictures_of(folder)]
        elif file:
            with file.open("a") as stream:
                stream.write(line + "\n")
        if file or not runs:
            lines.append(line)
    return lines


def main():
    program, source = sys.argv[1], pathlib.Path(sys.argv[2])
    update = "--update" in sys.argv
    paths = [pathlib.Path(word) for word in sys.argv[3:] if word != "--update"] or [source / "tests" / "golden"]
    golden_files = [file for path in paths for file in ([path] if path.is_file() else [*sorted(path.glob("*.jsonl")), *sorted(path.glob("*.golden"))])]
    changed = 0
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as scratch:
        for golden in golden_files:
            if golden.suffix == ".golden":
                actual = transcript_of(program, source, golden, scratch)
            else:
                actual = answer_of(program, source, question_of(golden, source), scratch)
            expected = golden.read_text().splitlines()
            if actual == expected:
                continue
            changed += 1
            print("\n".join(difflib.unified_diff(expected, actual, str(golden), "now", lineterm="", n=0)))
            if update:
                golden.write_text("".join(line + "\n" for line in actual))
    print(f"{len(golden_files)} goldens, {changed} changed")
    return 0 if golden_files and (update or not changed) else 1


if __name__ == "__main__":
    sys.exit(main())
