#!/usr/bin/env bash
# clang-format would change nothing. Exit 77 (skipped) without clang-format.
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
find . -path ./build -prune -o -path ./out -prune -o -path ./.git -prune -o \
  -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \) -print0 | xargs -0 clang-format --dry-run -Werror
