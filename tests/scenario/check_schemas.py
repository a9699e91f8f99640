#!/usr/bin/env python3
"""The JSON Schemas accept every YAML file that the loader accepts, and refuse the broken ones; exit 77 = cannot check."""

import json
import pathlib
import re
import sys
import warnings

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"skipped: {missing} (Debian packages python3-jsonschema and python3-yaml)")
    sys.exit(77)


class Loader(yaml.SafeLoader):
    """YAML 1.2 as editors read it: `yes` and 2026-11-01 are text, as they are for ringside."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+0123456789."),
]:
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first))


def validator(path):
    schema = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Newer versions have another way, older ones only this.
        resolver = jsonschema.RefResolver(path.as_uri(), schema)
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    faults = checked = 0
    for kind in ("machine", "scenario", "source", "workload", "plan"):
        check = validator(root / "configs" / f"{kind}.schema.json")
        shipped = "evaluation" if kind == "source" else f"{kind}s"
        accepted = [root / "configs" / shipped, root / "tests/scenario/accepted" / f"{kind}s"]
        for folder, expected in [*((folder, True) for folder in accepted),
                                 (root / "tests/scenario/broken" / f"{kind}s", False)]:
            files = sorted(folder.glob("*.yaml"))
            if not files:
                faults += 1
                print(f"{folder}: no files")
            for path in files:
                checked += 1
                errors = list(check.iter_errors(yaml.load(path.read_text(encoding="utf-8"), Loader)))
                if bool(errors) == expected:
                    faults += 1
                    print(f"{path.relative_to(root)}: {errors[0].message if errors else 'accepted, but it is broken'}")
    print(f"{checked} files, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
