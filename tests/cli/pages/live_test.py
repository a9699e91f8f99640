"""`--live`: who may look, who may stop the run, and what is left when it is over."""

import json
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from measure_test import descendants
from pages.page_case import AXE, PageCase
from ringside_case import PROGRAM

SCENARIO = """name: live
algorithms: [naive, ring]
ranks: 2
message_sizes: [4 KiB, 64 KiB, 256 KiB, 1 MiB]
backend: gloo
machine: this
"""


def listening(port):
    """The addresses on which somebody listens at this port, as the kernel writes them."""
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            address, at = fields[1].split(":")
            if fields[3] == "0A" and int(at, 16) == port:
                found.append(address)
    return found


class Live(PageCase):
    def begin(self, time_per_point, *flags, command="measure"):
        scenario = self.write("live.yaml", SCENARIO)
        process = subprocess.Popen(
            [PROGRAM, command, scenario, "--live", "--output", self.folder / "out", "--time-per-point", time_per_point, *flags],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        for line in process.stderr:
            if found := re.search(r"(http://127\.0\.0\.1:(\d+)/(\w+)/)", line):
                return process, found.group(1), int(found.group(2)), found.group(3)
            if "libcpp-httplib-dev" in line or "libjs-chart.js" in line:
                self.skipTest(line.strip())
        return self.fail("no address was printed")

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    @staticmethod
    def get(address, data=None):
        with urllib.request.urlopen(urllib.request.Request(address, data=data), timeout=20) as answer:
            return answer.read().decode(), dict(answer.headers)

    def wait_for_points(self, address, count=1):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            page, _ = self.get(address)
            if page.count('"measured":{') >= count:
                return page
            time.sleep(0.2)
        return self.fail("the page shows no measurement")

    @staticmethod
    def runs(pid):
        """An orphan that has ended stays a zombie where nobody is there to wait for it, as in many containers."""
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    def assert_gone(self, processes):
        deadline = time.monotonic() + 20
        alive = processes
        while alive and time.monotonic() < deadline:
            alive = [pid for pid in processes if self.runs(pid)]
            time.sleep(0.1)
        self.assertEqual(alive, [])

    def test_only_who_has_the_token_on_this_machine_sees_and_stops_it(self):
        process, address, port, token = self.begin("5 s")
        self.assertEqual(listening(port), ["0100007F"])
        self.assertGreaterEqual(len(token), 32)
        page, headers = self.get(address)
        self.assertIn("connect-src 'self'", page)
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        for path in ("", "state", "stop", "0" * len(token) + "/", token[:-1] + "/", token, f"x/{token}/"):
            for data in (None, b""):
                with self.assertRaises(urllib.error.HTTPError, msg=path) as refused:
                    self.get(f"http://127.0.0.1:{port}/{path}", data)
                self.assertEqual(refused.exception.code, 404, path)
        with self.assertRaises(urllib.error.HTTPError):
            self.get(address + "stop")  # A link stops nothing.
        self.wait_for_points(address)
        # Who forks ranks has no thread beside it.
        self.assertEqual(len(list(pathlib.Path(f"/proc/{process.pid}/task").iterdir())), 1)
        self.assertIsNone(process.poll())
        below = descendants(process.pid)
        self.assertGreaterEqual(len(below), 3)  # The server and two ranks.
        self.get(address + "stop", b"")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted; finished points are kept", errors)
        self.assert_gone(below)
        kept = self.records((self.folder / "out/results.jsonl").read_text())
        self.assertTrue([record for record in kept if record.get("measured")])
        self.assertEqual(listening(port), [])

    def test_a_killed_run_leaves_no_server(self):
        process, address, port, _ = self.begin("5 s")
        self.wait_for_points(address)
        below = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        self.assert_gone(below)
        self.assertEqual(listening(port), [])

    def begin_server(self):
        """The server of a run that this test plays: its process, the socket of the run and the page's address."""
        server = pathlib.Path(PROGRAM).parent / "ringside-live"
        if not server.exists():
            self.skipTest("it is built where cpp-httplib is")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(ours.close)
        with theirs:
            process = subprocess.Popen([server, "a run"], cwd=self.folder, stdin=theirs, stderr=subprocess.PIPE, text=True)
            self.addCleanup(self.end, process)
        address = ours.recv(100).decode()
        self.assertIn("http://127.0.0.1:", address)
        return process, ours, address

    def test_its_server_ends_well_when_the_run_is_over(self):
        process, run, _ = self.begin_server()
        run.close()
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))

    def test_its_server_stays_until_a_page_that_looked_shows_the_end(self):
        process, run, address = self.begin_server()
        self.assertFalse(json.loads(self.get(address + "state")[0])["ended"])
        run.close()
        deadline = time.monotonic() + 15
        while not json.loads(self.get(address + "state")[0])["ended"]:
            self.assertLess(time.monotonic(), deadline)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(timeout=2)
        self.assertIn("a run", self.get(address)[0])  # A page that loads the last results late still gets them.
        self.get(address + "end", b"")
        _, errors = process.communicate(timeout=15)
        self.assertEqual((process.returncode, errors), (0, ""))

    def test_its_server_waits_for_no_page_that_was_left(self):
        browser = self.browser()
        process, run, address = self.begin_server()
        browser.open(address)
        run.send(b'{"stage": "measuring"}')
        deadline = time.monotonic() + 60
        while browser.run("document.getElementById('stage').textContent") != "measuring":
            self.assertLess(time.monotonic(), deadline)
        browser.call("Page.navigate", url="about:blank")
        run.close()
        _, errors = process.communicate(timeout=40)  # For a page that is there it waits 60 s.
        self.assertEqual((process.returncode, errors), (0, ""))

    def test_a_browser_follows_the_run_to_its_end(self):
        browser = self.browser()
        process, address, _, _ = self.begin("1 s", command="compare")
        browser.open(address)
        seen = set()
        deadline = time.monotonic() + 240
        while "has ended" not in (text := browser.run("document.getElementById('stage').textContent")):
            self.assertLess(time.monotonic(), deadline, text)
            seen.add(text)
            time.sleep(0.1)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        # Beside other load a look may take longer than all of the measuring.
        self.assertTrue(any("calibrating" in text or "measuring" in text for text in seen), seen)
        self.assertEqual(browser.run("document.querySelectorAll('#t1 ~ .scroll tbody tr').length"), 8)
        self.assertIn(browser.run("document.querySelector('.verdict').textContent"), output)
        self.assertTrue(browser.run("document.getElementById('stop').disabled"))
        self.assertEqual(browser.run("document.documentElement.dataset.ready"), "1")
        self.assertEqual(browser.messages, [])
        if AXE.exists():
            self.assert_clean(browser, "live")

    def test_the_button_stops_the_run(self):
        browser = self.browser()
        process, address, _, _ = self.begin("5 s")
        browser.open(address)
        browser.run("document.getElementById('stop').click()")
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)

    def test_without_its_module_it_says_what_to_install(self):
        alone = self.folder / "ringside"
        shutil.copy(PROGRAM, alone)
        result = self.run_ringside("measure", self.write("live.yaml", SCENARIO), "--live", program=alone)
        if "libjs-chart.js" in result.stderr:
            self.skipTest(result.stderr.strip())
        self.assert_rejected(result, 3, "libcpp-httplib-dev")

    def test_ranks_that_others_started_have_no_page(self):
        result = self.run_ringside("measure", self.write("live.yaml", SCENARIO), "--live",
                                   environment={"RANK": "0", "WORLD_SIZE": "2", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1",
                                                "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "1"})
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--live has no effect", result.stderr)


if __name__ == "__main__":
    unittest.main()
