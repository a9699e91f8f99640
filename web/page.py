#!/usr/bin/env python3
"""page.py BUILD OUT: puts the compiled program, the library of charts, scripts, styles and configs together as OUT/index.html, one file."""

import base64
import gzip
import hashlib
import html
import json
import pathlib
import re
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHART_JS = pathlib.Path("/usr/share/javascript/chart.js/chart.min.js")
# What the page reads by name. Evaluations and the like are the laboratory's.
CONFIGS = ["machines/*.yaml", "scenarios/*.yaml", "workloads/*.yaml", "workloads/tensors/*"]
GLOBALS, CODE, DATA = 6, 10, 11  # Kinds of sections of WebAssembly.
TOTAL_STACK = 4 << 20  # As CMakeLists.txt says.
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


def asked(build, which, *program):
    """Questions of questions.js with the answers of the program, which node runs here."""
    run = subprocess.run(["node", ROOT / "web/ask.js", build, *program], input=f"{which}\n", capture_output=True, text=True, check=True)
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


def sized(data):
    return encoded(len(data)) + data


def sections(wasm):
    """Pairs of what a section is and its bytes."""
    at = 8
    while at < len(wasm):
        size, start = number(wasm, at + 1)
        yield wasm[at], wasm[start:start + size]
        at = start + size


def bodies(wasm):
    """Those of the functions."""
    code = dict(sections(wasm))[CODE]
    count, at = number(code, 0)
    for _ in range(count):
        size, start = number(code, at)
        yield code[start:start + size]
        at = start + size


def pieces(wasm, kind, section):
    """The same program with other bytes in one section, as pieces: what comes before them, they, and what comes after."""
    whole = [b"\0asm\1\0\0\0", [], b""]
    for each, old in sections(wasm):
        if each == kind:
            whole[1:2] = [[bytes([kind]) + encoded(sum(map(len, section)))] + section]
        else:
            whole[2 if whole[1] else 0] += bytes([each]) + sized(old)
    return [whole[0], *whole[1], whole[2]]


def with_memory(wasm, memory):
    """The program, whose memory begins like this."""
    # Constants have a sign, so one whose last byte could be that of a negative number gets another byte.
    place = lambda at: b"\0\x41" + re.sub(rb"[\x40-\x7f]\Z", lambda last: bytes([last[0][0] | 128, 0]), encoded(at)) + b"\x0b"
    runs = list(re.finditer(rb"[^\0](?:.{0,7}[^\0])*", memory, re.DOTALL))
    return b"".join(pieces(wasm, DATA, [encoded(len(runs)), *(place(run.start()) + sized(run[0]) for run in runs)]))


def with_bodies(wasm, functions):
    return pieces(wasm, CODE, [encoded(len(functions)), *map(sized, functions)])


def changes(part, whole):
    """What turns a part of the program into the whole: how many bytes to copy, to leave out and to take from what follows; and again."""
    steps, taken = [[0, 0, 0]], b""
    for ours, theirs in zip(part, whole):
        if ours == theirs:
            if steps[-1][1]:
                steps.append([0, 0, 0])
            steps[-1][0] += len(ours)
        else:
            steps[-1][1] += len(ours)
            steps[-1][2] += len(theirs)
            taken += theirs
    numbers = [sum(map(len, whole)), len(steps), *(number for step in steps for number in step)]
    return struct.pack(f"<{len(numbers)}I", *numbers) + taken


def split(build):
    """The program in two parts: the first has all functions that usual questions call, the second is what makes the whole of it."""
    tool = lambda name, *arguments: subprocess.run([name, "--enable-exception-handling", "--enable-mutable-globals", *arguments], check=True)
    program = build / "program.wasm"
    # Half of what is called are functions of a few instructions, and a browser compiles each when it is first called.
    tool("wasm-opt", "--inlining-optimizing", "--always-inline-max-function-size", "10", build / "ringside.wasm", "-o", build / "inlined.wasm")
    # What it makes once, such as the catalogue, is in its memory from the beginning: as it is after some questions.
    asked(build, "warm", "inlined.wasm")
    wasm, memory = (build / "inlined.wasm").read_bytes(), bytearray((build / "memory").read_bytes())
    stack, _ = number(dict(sections(wasm))[GLOBALS], 4)  # The only variable of the program is where its stack ends.
    memory[stack - TOTAL_STACK:stack] = bytes(TOTAL_STACK)
    program.write_bytes(with_memory(wasm, memory))
    start = (build / "ringside.js").read_text(encoding="utf-8")
    (build / "started.js").write_text(re.sub(r'addOnInit\(Module\["asm"\]\["\w+"\]\);', "", start, count=1), encoding="utf-8")
    tool("wasm-split", "--instrument", program, "-o", build / "counted.wasm")
    asked(build, "usual", "counted.wasm")
    functions = list(bodies(program.read_bytes()))
    called = struct.unpack(f"<{len(functions)}I", (build / "calls").read_bytes()[8:])
    missing = b"\0\0\x0b"  # It has no variables, and what it does is a trap.
    first = with_bodies(program.read_bytes(), [body if when else missing for body, when in zip(functions, called)])
    whole = with_bodies(program.read_bytes(), functions)
    (build / "first").write_bytes(b"".join(first))
    (build / "rest").write_bytes(changes(first, whole))


def page(build):
    read = lambda name: (ROOT / name).read_text(encoding="utf-8")
    files = configs()
    (build / "files.json").write_text(json.dumps(files), encoding="utf-8")
    split(build)
    packed = {part: gzip.compress((build / part).read_bytes(), 9, mtime=0) for part in ("first", "rest")}
    # Questions of an address without state, and what every named machine is, with the answers of this very program.
    machines = [json.dumps({"ask": "machine", "machine": pathlib.Path(name).stem}) for name in files if "/machines/" in name]
    prepared = [[json.dumps(each["question"], ensure_ascii=False, separators=(",", ":")), each["answer"]]
                for each in asked(build, "\n".join(["first", *machines]))]
    # ASCII alone: a browser decodes and reads it much faster than text with one other letter in it.
    escaped = lambda form, text: re.sub("[^\0-\x7f]", lambda found: form.format(ord(found[0])), text)
    script_text = lambda text: escaped("\\u{:04x}", text)
    style = escaped("\\{:x} ", read("plots/html/report.css") + read("web/page.css"))
    first = script_text("".join(map(read, ("plots/html/charts.js", "web/questions.js", "web/program.js", "web/page.js"))))
    start, library = (script_text(path.read_text(encoding="utf-8")) for path in (build / "started.js", CHART_JS))
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
