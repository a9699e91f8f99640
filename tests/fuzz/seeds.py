"""From which texts fuzzing begins: the files of the repository that each target reads, and those written for it (tests/fuzz/corpus)."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Longer ones are cut where texts are made from them, and slow everything down.
LARGEST = 16 * 1024
MOST = 24

YAML = ["configs/scenarios/*.yaml", "configs/machines/*.yaml", "configs/workloads/*.yaml", "configs/plans/*.yaml"]
# Besides corpus/TARGET and regressions/TARGET.
FILES = {
    "document": YAML,
    "tree": ["configs/machines/*.yaml"],
    "machine": ["configs/machines/*.yaml", "tests/scenario/accepted/machines/*", "tests/scenario/broken/machines/*"],
    "scenario": ["tests/golden/*.yaml", "configs/scenarios/*.yaml", "tests/scenario/accepted/s*/*", "tests/scenario/broken/s*/*"],
    "workload": ["configs/workloads/*.yaml", "tests/scenario/accepted/workloads/*", "tests/scenario/broken/workloads/*"],
    "plan": ["tests/scenario/accepted/plans/*", "configs/plans/*.yaml", "tests/scenario/broken/plans/*"],
    "import": ["tests/fuzz/corpus/*/*.log", "configs/evaluation/a*.csv", "tests/fuzz/regressions/csv/*", "tests/fuzz/regressions/measured/*"],
    "import_in_place": ["tests/fuzz/corpus/*/*.log"],
    "import_csv": ["configs/evaluation/a*.csv", "tests/fuzz/regressions/csv/*", "tests/fuzz/regressions/evaluate/*"],
    "anonymise": ["tests/fuzz/corpus/*/*.log"],
    "run_facts": ["tests/fuzz/corpus/*/*.log"],
    "journal": ["tests/golden/custom*.jsonl", "tests/golden/lab*.jsonl"],
    "csv": ["tests/cli/offers/*.csv", "tests/fuzz/regressions/csv/*"],
    "vast_offers": ["tests/cli/offers/*.json"],
    "skypilot_offers": ["tests/cli/offers/*.csv", "tests/fuzz/regressions/vms/*"],
    "listing_format": ["tests/cli/offers/*"],
    "published_scaling": ["tests/fuzz/regressions/scaling/*"],
}


def seeds_of(target: str) -> list[pathlib.Path]:
    """The smallest of them, at least one."""
    patterns = [f"tests/fuzz/corpus/{target}/*", f"tests/fuzz/regressions/{target}/*", *FILES.get(target, [])]
    files = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file() and path.stat().st_size <= LARGEST}
    chosen = sorted(files, key=lambda path: (path.stat().st_size, path.as_posix()))[:MOST]
    if not chosen:
        raise SystemExit(f"no text for {target}: put one into tests/fuzz/corpus/{target}/")
    return chosen
