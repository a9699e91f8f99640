#!/usr/bin/env python3
"""Files of at most 400 lines, folders of at most 25 files, a page in every folder that says what belongs there, and nothing
at the top that is not listed here: what a command left lying is not of the tree.

A longer file says at its top why it is one ("400 lines: …"); a fuller folder is split.
"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_text import files_of, report  # pylint: disable=wrong-import-position

CODE = {".cpp", ".hpp", ".cu", ".py"}
MOST_LINES, MOST_FILES, TOP = 400, 25, 20
# Folders of data, one file for each thing there is.
DATA = ("configs/", "lab/docs/", "docs/images", "tests/scenario/broken", "tests/import/", "tests/golden", "tests/results/")
AT_TOP = {*".ci .clang-format .clang-tidy .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json CONTRIBUTING.md LICENSE README.md SECURITY.md analysis".split(),
          *"bench cli cmake common configs docs examples import lab plots real results ringside scenario schedule scripts sim study tests web".split()}


def faults_of(root: pathlib.Path):
    folders = collections.defaultdict(list)
    for path in files_of(root):
        if path.relative_to(root).parts[0] not in AT_TOP:
            yield f"{path.relative_to(root)}: stands where nothing belongs"
        if path.is_file():
            folders[path.parent.relative_to(root).as_posix()].append(path)
    for folder, files in sorted(folders.items()):
        for path in files:
            if path.suffix not in CODE:
                continue
            lines = path.read_text(encoding="utf-8").splitlines()
            if len(lines) > MOST_LINES and not any(f"{MOST_LINES} lines" in line for line in lines[:TOP]):
                yield f"{path.relative_to(root)}: {len(lines)} lines, and its top does not say why it is more than {MOST_LINES} lines"
        if (folder + "/").startswith(DATA) or folder.startswith(DATA):
            continue
        if len(files) > MOST_FILES:
            yield f"{folder}/: {len(files)} files, and {MOST_FILES} are what a reader takes in at once; split it"
        # The page of a folder speaks for those in it; a folder of tests is explained by the folder that it tests.
        above = [root / part / "README.md" for part in [folder, *map(str, pathlib.PurePosixPath(folder).parents)] if part != "."]
        has_code = any(path.suffix in CODE for path in files)
        if has_code and not folder.startswith("tests/") and not any(page.exists() for page in above):
            yield f"{folder}/: no README.md, here or above, says what belongs here and what does not"


if __name__ == "__main__":
    sys.exit(report(faults_of(pathlib.Path(sys.argv[1]))))
