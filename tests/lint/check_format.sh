#!/usr/bin/env bash
# clang-format would change nothing. Exit 77 (skipped) without clang-format.
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
find common scenario schedule sim real results analysis plots cli tests bench \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \) -print0 | xargs -0 clang-format --dry-run -Werror
