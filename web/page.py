#!/usr/bin/env python3
"""page.py BUILD OUT: puts the compiled program, the library of charts, scripts, styles and configs together as OUT/index.html, one file."""

import base64
import gzip
import hashlib
import html
import json
import pathlib
import re
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


def asked(build, which, *counted):
    """Questions of questions.js with the answers of the program, which node runs here."""
    run = subprocess.run(["node", ROOT / "web/ask.js", build, *counted], input=f"{which}\n", capture_output=True, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def number(data, at):
    """An unsigned LEB128 number of WebAssembly, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def encoded(value):
    return bytes([value & 127 | 128]) + encoded(value >> 7) if value > 127 else bytes([value])


def named_by_type(wasm):
    """Imports of `rest` are named by their type instead of each by itself: all that any of them does is to fail."""
    named = lambda match: b"\x04rest" + bytes([2 * len(match[1])]) + match[1].hex().encode() + b"\0" + match[1]
    result, at = wasm[:8], 8
    while at < len(wasm):
        size, start = number(wasm, at + 1)
        section = wasm[start:start + size]
        if wasm[at] == 2:  # Imports: of a module, its name, the kind `function`, its type.
            section = re.sub(rb"\x04rest[\x01-\x09]\d+\0([\x80-\xff]*[\0-\x7f])", named, section)
        result += wasm[at:at + 1] + encoded(len(section)) + section
        at = start + size
    return result


def split(build):
    """The program in two parts: the first has all functions that usual questions call."""
    tool = lambda name, *arguments: subprocess.run([name, "--enable-exception-handling", "--enable-mutable-globals", *arguments], check=True)
    program, first = build / "inlined.wasm", build / "first.wasm"
    # Half of what is called are functions of a few instructions, and a browser compiles each when it is first called.
    tool("wasm-opt", "--inlining-optimizing", "--always-inline-max-function-size", "10", build / "ringside.wasm", "-o", program)
    tool("wasm-split", "--instrument", program, "-o", build / "counted.wasm")
    asked(build, "usual", "counted.wasm")
    tool("wasm-split", "--profile", build / "calls", "--export-prefix", "%", "--import-namespace", "first", "--placeholder-namespace", "rest",
         program, "-o1", first, "-o2", build / "rest.wasm")
    first.write_bytes(named_by_type(first.read_bytes()))
    tool("wasm-opt", "--duplicate-import-elimination", first, "-o", first)


def page(build):
    read = lambda name: (ROOT / name).read_text(encoding="utf-8")
    files = configs()
    (build / "files.json").write_text(json.dumps(files), encoding="utf-8")
    split(build)
    packed = {part: gzip.compress((build / f"{part}.wasm").read_bytes(), 9, mtime=0) for part in ("first", "rest")}
    # Questions of an address without state, and what every named machine is, with the answers of this very program.
    machines = [json.dumps({"ask": "machine", "machine": pathlib.Path(name).stem}) for name in files if "/machines/" in name]
    prepared = [[json.dumps(each["question"], ensure_ascii=False, separators=(",", ":")), each["answer"]]
                for each in asked(build, "\n".join(["first", *machines]))]
    # ASCII alone: a browser decodes and reads it much faster than text with one other letter in it.
    escaped = lambda form, text: re.sub("[^\0-\x7f]", lambda found: form.format(ord(found[0])), text)
    script_text = lambda text: escaped("\\u{:04x}", text)
    style = escaped("\\{:x} ", read("plots/html/report.css") + read("web/page.css"))
    first = script_text("".join(map(read, ("plots/html/charts.js", "web/questions.js", "web/program.js", "web/page.js"))))
    start, library = (script_text(path.read_text(encoding="utf-8")) for path in (build / "ringside.js", CHART_JS))
    digest = lambda text: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
    scripts = [first, start, read("web/start.js"), library]
    policy = (f"default-src 'none'; script-src 'wasm-unsafe-eval' {' '.join(map(digest, scripts))}; style-src {digest(style)}; "
              "img-src data:; base-uri 'none'; form-action 'none'")
    data = lambda name, text: f'<script type="text/plain" id="{name}">{text}</script>\n'
    quoted = lambda value: json.dumps(value).replace("<", "\\u003c")
    program = lambda part: data(f"program-{part}", base64.b64encode(packed[part]).decode())
    script = "<script>{}</script>\n".format
    # What answers first comes first, then the program, which is compiled while the rest is read.
    return "".join([
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n',
        '<title>ringside: what will all_reduce cost there?</title>\n<link rel="icon" href="data:,">\n',
        f"<style>{style}</style>\n</head>\n<body>\n",
        escaped("&#{};", read("web/page.html").replace("@LICENCES@", html.escape(LICENCES + read("plots/html/licences.txt")))),
        data("files", quoted(files)), data("prepared", quoted(prepared)), script(first),
        script(start), program("first"), script(scripts[2]), data("library", library), program("rest"),
        "</body>\n</html>\n"]), packed


def main():
    build, out = map(pathlib.Path, sys.argv[1:3])
    text, packed = page(build)
    out.mkdir(parents=True, exist_ok=True)
    (out / "index.html").write_text(text, encoding="utf-8")
    sizes = ", ".join(f"{part} {len(data) / 1e6:.2f} MB" for part, data in packed.items())
    print(f"{out}/index.html: {len(text.encode()) / 1e6:.2f} MB; the parts of the program by gzip -9: {sizes}")


if __name__ == "__main__":
    main()
