#!/usr/bin/env python3
"""The program is hardened as docs/security.md says ("How it is built"). usage: check_hardening.py PROGRAM LIBRARY CONFIGURATION
LIBRARY: a static one of ours; what others have compiled into the program is hardened or not as they chose. Exit 77 (skipped) without readelf."""

import re
import shutil
import subprocess
import sys


def read(flag, file):
    return subprocess.run(["readelf", "-W", flag, file], capture_output=True, text=True, check=True).stdout


def faults_of(program, library, release):
    segments, dynamic, symbols = read("-l", program), read("-d", program), read("-s", library)
    if "GNU_RELRO" not in segments or not re.search(r"\(FLAGS\).*BIND_NOW|\(BIND_NOW\)", dynamic):
        yield "what the loader has bound can be exchanged (-z relro -z now)"
    if re.search(r"GNU_STACK.* RWE ", segments):
        yield "its stack can be executed (-z noexecstack)"
    if not release:
        return
    if not re.search(r"Type:\s+DYN", read("-h", program)):
        yield "it lies at the same place each time (-pie)"
    if "__stack_chk_fail" not in symbols:
        yield "no function notices that the stack behind its arrays was written to (-fstack-protector-strong)"
    if not re.search(r" __\w+_chk\b", symbols):
        yield "no call of the C library checks sizes (_FORTIFY_SOURCE)"


def main():
    program, library, configuration = sys.argv[1:]
    if not shutil.which("readelf"):
        print("readelf is not installed (Debian package binutils)")
        return 77
    faults = list(faults_of(program, library, configuration == "Release"))
    print("\n".join(f"{program}: {fault}" for fault in faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
