#!/usr/bin/env python3
"""Runs the jq examples of docs/results.md on the lines that the page shows; each must print something."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def main() -> int:
    if shutil.which("jq") is None:
        print("skipped: jq is not installed")
        return SKIPPED
    page = (pathlib.Path(sys.argv[1]) / "docs" / "results.md").read_text(encoding="utf-8")
    examples = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
        lines = [line for line in page.splitlines() if line.startswith('{"record"')]
        (pathlib.Path(folder) / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for example in examples:
            result = subprocess.run(["bash", "-c", example], cwd=folder, capture_output=True, text=True, check=False)
            if result.returncode != 0 or not result.stdout.strip():
                failed += 1
                print(f"{example}exit {result.returncode}, printed {result.stdout!r} {result.stderr}")
    print(f"{len(examples)} examples, {failed} failed")
    return 1 if failed or not examples else 0


if __name__ == "__main__":
    sys.exit(main())
