#!/usr/bin/env python3
"""page.py BUILD OUT: puts the compiled program, the library of charts, scripts, styles and configs together as OUT/index.html, one file."""

import base64
import gzip
import hashlib
import html
import json
import pathlib
import subprocess
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


def prepared(build, files):
    """The questions of an address without state, with the answers of this very program, which node runs here."""
    (build / "files.json").write_text(json.dumps(files), encoding="utf-8")
    run = subprocess.run(["node", ROOT / "web/ask.js", build], input="first\n", capture_output=True, text=True, check=True)
    asked = [json.loads(line) for line in run.stdout.splitlines()]
    return [[json.dumps(each["question"], ensure_ascii=False, separators=(",", ":")), each["answer"]] for each in asked]


def page(build):
    wasm = (build / "ringside.wasm").read_bytes()
    packed = gzip.compress(wasm, 9, mtime=0)
    read = lambda name: (ROOT / name).read_text(encoding="utf-8")
    files = configs()
    style = read("plots/html/report.css") + read("web/page.css")
    first = "".join(map(read, ("plots/html/charts.js", "web/questions.js", "web/program.js", "web/page.js")))
    start, library = (build / "ringside.js").read_text(encoding="utf-8"), CHART_JS.read_text(encoding="utf-8")
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    scripts = [first, start, read("web/start.js"), library]
    policy = (f"default-src 'none'; script-src 'wasm-unsafe-eval' {' '.join(map(digest, scripts))}; style-src {digest(style)}; "
              "img-src data:; base-uri 'none'; form-action 'none'")
    data = lambda name, text: f'<script type="text/plain" id="{name}">{text}</script>\n'
    quoted = lambda value: json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
    script = "<script>{}</script>\n".format
    # What answers first comes first, then the program, which is compiled while the rest is read.
    return "".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n',
        '<title>ringside: what will all_reduce cost there?</title>\n<link rel="icon" href="data:,">\n',
        f"<style>{style}</style>\n</head>\n<body>\n",
        read("web/page.html").replace("@LICENCES@", html.escape(LICENCES + read("plots/html/licences.txt"))),
        data("files", quoted(files)), data("prepared", quoted(prepared(build, files))), script(first),
        script(start), data("program", base64.b64encode(packed).decode()), script(scripts[2]), data("library", library),
        "</body>\n</html>\n"]), len(wasm), len(packed)


def main():
    build, out = map(pathlib.Path, sys.argv[1:3])
    text, wasm, packed = page(build)
    out.mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(text, encoding="utf-8")
    print(f"{out}/index.html: {len(text.encode()) / 1e6:.2f} MB; the program {wasm / 1e6:.2f} MB, {packed / 1e6:.2f} MB by gzip -9")


if __name__ == "__main__":
    main()
