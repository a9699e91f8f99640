#!/usr/bin/env python3
"""Configures with each optional part installed in half: that never stops CMake, and the summary says what to install."""

import os
import pathlib
import stat
import subprocess
import sys
import tempfile


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def package(prefix, name, text):
    """A CMake package NAME below `prefix` whose configuration file is `text`."""
    folder = prefix / "lib" / "cmake" / name
    folder.mkdir(parents=True)
    (folder / f"{name}Config.cmake").write_text(text, encoding="utf-8")
    return [f"-DCMAKE_PREFIX_PATH={prefix}", f"-D{name}_DIR={folder}"]


def mpi(folder):
    """openmpi-bin without libopenmpi-dev: a compiler wrapper that names a folder of headers that is not there."""
    wrapper = program(folder / "bin" / "mpicxx", f'#!/bin/sh\necho "g++ -I{folder}/include -L{folder}/lib -lmpi"\n')
    return [f"-DMPI_CXX_COMPILER={wrapper}", f"-DCMAKE_PREFIX_PATH={folder}"], {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}


def torch(folder):
    return package(folder, "Torch", 'include("${CMAKE_CURRENT_LIST_DIR}/../Caffe2/Caffe2Config.cmake")\n'), {}


def gloo(folder):
    return package(folder, "Gloo", 'include("${CMAKE_CURRENT_LIST_DIR}/GlooTargets.cmake")\n'), {}


def ceres(folder):
    return package(folder, "Ceres", 'include("${CMAKE_CURRENT_LIST_DIR}/CeresTargets.cmake")\n'), {}


def cuda(folder):
    compiler = program(folder / "bin" / "nvcc", "#!/bin/sh\nexit 1\n")
    return [f"-DRINGSIDE_NVCC={compiler}"], {"PATH": f"{compiler.parent}:{os.environ['PATH']}", "CUDACXX": str(compiler)}


def python(folder):
    return [f"-DPython3_EXECUTABLE={folder}/python3", "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON"], {}


def chart(_folder):
    return ["-DRINGSIDE_CHART_JS=OFF"], {}


# What is broken, and what the summary must then say.
PARTS = [
    (mpi, "MPI is installed in part only; install libopenmpi-dev"),
    (torch, "Torch is installed in part only; install libtorch-dev"),
    (gloo, "Gloo is installed in part only; install libgloo-dev"),
    (ceres, "laboratory   : OFF (Ceres is installed in part only; install libceres-dev"),
    (cuda, "install all of the CUDA Toolkit"),
    (python, "no Python 3 was found"),
    (chart, "HTML reports : OFF (chart.min.js was not found; Debian package libjs-chart.js)"),
]


def main():
    cmake, source = sys.argv[1:3]
    faults = 0
    for part, sentence in PARTS:
        with tempfile.TemporaryDirectory(prefix="ringside-test-") as folder:
            flags, environment = part(pathlib.Path(folder) / "prefix")
            # The others are left out: only what is broken is looked at, and configuring is quick.
            others = [f"-DRINGSIDE_{name.upper()}=OFF" for name in ("torch", "nccl") if (name == "nccl") != (part is cuda) and part.__name__ != name]
            if part is not ceres:
                others.append("-DRINGSIDE_LAB=OFF")
            if part is not mpi:
                others.append("-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON")
            command = [cmake, "-S", source, "-B", f"{folder}/build", "-G", "Ninja", *others, *flags]
            result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **environment})
            good = result.returncode == 0 and sentence in result.stdout
            print(f"{part.__name__}: {'good' if good else f'exit {result.returncode}, without: {sentence}'}")
            if not good:
                print(result.stdout, result.stderr)
            faults += not good
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
