#!/usr/bin/env python3
"""page.py BUILD OUT: puts the compiled program, the library of charts, scripts, styles and configs together as OUT/index.html, one file."""

import base64
import gzip
import hashlib
import html
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHART_JS = pathlib.Path("/usr/share/javascript/chart.js/chart.min.js")
# What the page reads by name. Evaluations and the like are the laboratory's.
CONFIGS = ["machines/*.yaml", "scenarios/*.yaml", "workloads/*.yaml", "workloads/tensors/*"]
LICENCES = """The program and the scripts of this page are ringside's, Apache License 2.0.
Compiled into the program: fmt, yaml-cpp, pugixml and JSON for Modern C++ (MIT License), Eigen (Mozilla Public License 2.0, its source is
at https://eigen.tuxfamily.org), and libraries of emscripten: musl (MIT License), libc++ and compiler-rt (Apache License 2.0 with LLVM
exceptions). The script that starts it is emscripten's (MIT License).

"""


def configs():
    found = {}
    for pattern in CONFIGS:
        for path in sorted((ROOT / "configs").glob(pattern)):
            if path.is_file():
                found[f"/{path.relative_to(ROOT)}"] = path.read_text(encoding="utf-8")
    return found


def page(build):
    wasm = (build / "ringside.wasm").read_bytes()
    packed = gzip.compress(wasm, 9, mtime=0)
    read = lambda name: (ROOT / name).read_text(encoding="utf-8")
    scripts = [CHART_JS.read_text(encoding="utf-8"), (build / "ringside.js").read_text(encoding="utf-8"),
               read("plots/html/charts.js") + read("web/program.js") + read("web/page.js")]
    style = read("plots/html/report.css") + read("web/page.css")
    data = {"files": json.dumps(configs(), ensure_ascii=False).replace("<", "\\u003c"), "program": base64.b64encode(packed).decode()}
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    policy = (f"default-src 'none'; script-src 'wasm-unsafe-eval' {' '.join(map(digest, scripts))}; style-src {digest(style)}; "
              "img-src data:; base-uri 'none'; form-action 'none'")
    parts = ['<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
             f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
             '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n',
             '<title>ringside: what will all_reduce cost there?</title>\n<link rel="icon" href="data:,">\n',
             f"<style>{style}</style>\n</head>\n<body>\n",
             read("web/page.html").replace("@LICENCES@", html.escape(LICENCES + read("plots/html/licences.txt")))]
    parts += [f'<script type="text/plain" id="{name}">{text}</script>\n' for name, text in data.items()]
    parts += [f"<script>{text}</script>\n" for text in scripts]
    return "".join(parts) + "</body>\n</html>\n", len(wasm), len(packed)


def main():
    build, out = map(pathlib.Path, sys.argv[1:3])
    text, wasm, packed = page(build)
    out.mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(text, encoding="utf-8")
    print(f"{out}/index.html: {len(text.encode()) / 1e6:.2f} MB; the program {wasm / 1e6:.2f} MB, {packed / 1e6:.2f} MB by gzip -9")


if __name__ == "__main__":
    main()
