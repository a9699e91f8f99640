"""The tests of a built tree: which mutants each reaches, and which one notices a mutant."""

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

NAMES_OF_CASES = """
import sys, unittest
def names(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            names(one)
        else:
            print(one.id())
sys.path.insert(0, "")
names(unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]))
"""


@dataclasses.dataclass
class Test:
    """A command of CTest, with what it reaches and takes when no mutant is on."""

    name: str
    command: list
    folder: str
    environment: dict
    seconds: float = 0
    reached: frozenset = frozenset()
    passes: bool = True


def outcome(test, deadline, **environment):
    """None when the test passes, else what went wrong."""
    with tempfile.TemporaryDirectory(prefix="ringside-mutant-") as scratch:
        process = subprocess.Popen(test.command, cwd=test.folder, env=os.environ | test.environment | {"TMPDIR": scratch} | environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(timeout=deadline)
        except subprocess.TimeoutExpired:
            status = "hangs"
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
    return None if status in (0, 77) else status


class Suite:
    """Tests that are built, of the labels that are asked for."""

    def __init__(self, build, labels, names, jobs, deadline, budget):
        self.build, self.jobs, self.deadline, self.budget = build, jobs, deadline, budget
        listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1", "-L", labels, *(["-R", names] if names else [])],
                              capture_output=True, text=True, check=True)
        self.tests = [part for entry in json.loads(listed.stdout)["tests"] for part in self.parts(entry)]

    def parts(self, entry):
        properties = {one["name"]: one["value"] for one in entry.get("properties", [])}
        environment = dict(one.split("=", 1) for one in properties.get("ENVIRONMENT", []))
        command = entry.get("command", [])
        # What names a program that is not built belongs to a target that was not asked for.
        programs = [word for word in [*command, *environment.values()] if word.startswith(f"{self.build}/")]
        if not command or any(not pathlib.Path(word).exists() for word in programs):
            return
        test = Test(entry["name"], command, properties.get("WORKING_DIRECTORY", str(self.build)), environment)
        if "unittest" not in command:
            yield test
            return
        # A file of commands takes minutes: each of its cases is a test of its own.
        *python, _, _, _, module = command
        named = subprocess.run([*python, "-c", NAMES_OF_CASES, module], cwd=test.folder, env=os.environ | environment, capture_output=True, text=True, check=True)
        for name in named.stdout.split():
            yield dataclasses.replace(test, name=f"{test.name} {name}", command=[*python, "-m", "unittest", name])

    def measure(self):
        """Runs each test without a mutant; gives what is wrong with those that are shown to none."""
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            wrong = list(pool.map(self.measure_one, self.tests))
        return {test.name: how for test, how in zip(self.tests, wrong) if how is not None}

    def measure_one(self, test):
        with tempfile.NamedTemporaryFile(prefix="ringside-reached-") as reached:
            begin = time.monotonic()
            wrong = outcome(test, self.budget, RINGSIDE_MUTANTS_REACHED=reached.name)
            test.passes = wrong is None
            test.seconds = time.monotonic() - begin
            test.reached = frozenset(map(int, pathlib.Path(reached.name).read_text(encoding="utf-8").split()))
        return wrong

    def who_sees(self, mutant):
        """(the test that fails with this mutant on and passes without or None, how many reach it), the fastest first within the budget."""
        tests = sorted((test for test in self.tests if test.passes and mutant.id in test.reached), key=lambda test: test.seconds)
        spent = 0
        for test in tests:
            if spent > self.budget:
                break
            spent += test.seconds
            wrong = outcome(test, max(self.deadline, 10 * test.seconds), RINGSIDE_MUTANT=str(mutant.id))
            # Beside other load a test may fail of itself.
            if wrong is not None and outcome(test, max(self.deadline, 10 * test.seconds)) is None:
                return test.name + (" (hangs)" if wrong == "hangs" else ""), len(tests)
        return None, len(tests)
