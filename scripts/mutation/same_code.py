"""Whether the compiler makes the same code with a mutant as without it: then no test can see it, and nobody has to argue why."""

import pathlib
import re
import subprocess
import tempfile

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class SameCode:
    """`flags`: of each of the product's files those of the compiler. Headers are named from `root` on."""

    def __init__(self, root, flags):
        self.root, self.flags, self.included, self.plain = root, flags, {}, {}

    def holds_for(self, mutant):
        """Compiles all sources that see the mutant, as users' programs are compiled, until one differs."""
        text = (self.root / mutant.file).read_bytes().decode("latin-1")
        with tempfile.TemporaryDirectory(prefix="ringside-same-code-") as overlay:
            changed = pathlib.Path(overlay, mutant.file)
            changed.parent.mkdir(parents=True)
            changed.write_bytes((text[:mutant.start] + mutant.changed + text[mutant.end:]).encode("latin-1"))
            for source in sorted(file for file in self.flags if file.endswith(".cpp") and mutant.file in self.files_of(file)):
                if source not in self.plain:
                    self.plain[source] = self.code(self.root / source, [], self.flags[source])
                path = changed if source == mutant.file else self.root / source
                if self.code(path, [f"-I{overlay}"], self.flags[source]) != self.plain[source]:
                    return False
        return True

    def files_of(self, file):
        """The file and what it includes of the product, at any depth."""
        if file not in self.included:
            self.included[file] = {file}
            path = self.root / file
            for name in INCLUDE.findall(path.read_text(encoding="utf-8")) if path.is_file() else []:
                self.included[file] |= self.files_of(name)
        return self.included[file]

    @staticmethod
    def code(path, first, flags):
        """The object file's content. What does not compile is like nothing."""
        with tempfile.NamedTemporaryFile(suffix=".o") as target:
            done = subprocess.run(["c++", "-O2", "-DNDEBUG", "-w", *first, *flags, "-c", str(path), "-o", target.name],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
            return pathlib.Path(target.name).read_bytes() if done.returncode == 0 else object()
