"""Labs come, go and survive crashes, and nothing else is touched."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import isolated
from isolated import LINK_LAB, PREFIX, LabTest, Traffic, address, link_lab, links_and_namespaces

NOBODY = 65534


def system(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class HeldCommands:
    """Starts link-lab with `ip` and `tc` that count themselves; one of them waits, so that what happens then happens at that moment."""

    def __init__(self, place):
        self.place = place
        for tool in ("ip", "tc"):
            script = place / tool
            script.write_text(f"""#!/bin/sh
echo {tool} >> {place}/made
if [ "$(wc -l < {place}/made)" -eq "$HELD_COMMAND" ]; then
  echo $$ > {place}/writing && mv {place}/writing {place}/held
  while [ ! -e {place}/go ]; do sleep 0.01; done
  {shutil.which(tool)} "$@"
  touch {place}/gone
  exit
fi
exec {shutil.which(tool)} "$@"
""", encoding="utf-8")
            script.chmod(0o755)

    def made(self):
        return len((self.place / "made").read_text(encoding="utf-8").splitlines())

    def start(self, *words, hold):
        """(the process, a function that returns when its command number `hold` waits); nothing waits at 0."""
        for name in ("made", "held", "go", "gone"):
            (self.place / name).unlink(missing_ok=True)
        (self.place / "made").touch()
        up = subprocess.Popen([sys.executable, LINK_LAB, *words, "--prefix", PREFIX], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True, env=os.environ | {"PATH": f"{self.place}:{os.environ['PATH']}", "HELD_COMMAND": str(hold)})

        def held():
            while not (self.place / "held").exists():
                assert up.poll() is None, "ended before"
                time.sleep(0.01)
        return up, held

    def go_on(self):
        """Lets what waited go on to its end, where it still lives."""
        (self.place / "go").touch()
        while self.lives() and not (self.place / "gone").exists():
            time.sleep(0.01)

    def lives(self):
        try:
            return Path(f"/proc/{int((self.place / 'held').read_text(encoding='ascii'))}/stat").read_text(encoding="ascii").split()[2] != "Z"
        except OSError:
            return False


class Lifecycle(LabTest):
    def test_up_twice_and_down_twice_are_harmless(self):
        self.expect(link_lab("up", "--hosts", 3), 0, "labtest is up: 3 hosts (200mbit each) on one switch")
        self.expect(link_lab("up", "--hosts", 3), 0, "up already")
        self.expect(link_lab("down"), 0, "labtest is down")
        self.expect(link_lab("down"), 0, "down already")
        self.assertEqual(links_and_namespaces(), self.before)

    def test_another_shape_is_rebuilt(self):
        self.expect(link_lab("up", "--hosts", 3), 0)
        shapes = [["--hosts", 2], ["--hosts", 2, "--rate", "100mbit"], ["--rates", "100mbit,0.2gbit"],
                  ["--islands", "2x1", "--uplink", "50mbit"], ["--islands", "2x1", "--uplink", "51mbit"]]
        for shape in shapes:
            self.expect(link_lab("up", *shape), 0, "rebuilt")
            self.expect(link_lab("up", *shape), 0, "up already")
        self.expect(link_lab("status"), 0, "2 hosts (200mbit each) on two islands of 1, 51mbit between them")

    def test_nothing_appears_outside_its_own_namespaces(self):
        self.expect(link_lab("up"), 0)
        links, namespaces = links_and_namespaces()
        self.assertEqual(links, self.before[0])
        added = {name.split()[0] for name in namespaces if name} - {name for name in self.before[1]}
        self.assertEqual(added, {f"{PREFIX}-{suffix}" for suffix in ("0", "1", "2", "3", "switch")})

    def test_what_only_looks_similar_is_left_alone(self):
        others = [f"{PREFIX}-other-0", f"{PREFIX}2-0", f"{PREFIX}-switchboard", f"a-{PREFIX}-0", f"{PREFIX}-0x"]
        for name in others:
            system("ip", "netns", "add", name)
        try:
            between = links_and_namespaces()
            self.expect(link_lab("up", "--hosts", 2), 0)
            self.expect(link_lab("down"), 0)
            self.assertEqual(links_and_namespaces(), between)
        finally:
            for name in others:
                system("ip", "netns", "delete", name)

    def test_two_labs_stand_side_by_side(self):
        self.expect(link_lab("up", "--hosts", 2), 0)
        self.expect(link_lab("up", "--hosts", 3, prefix="second"), 0)
        self.expect(link_lab("down", prefix="second"), 0)
        self.expect(link_lab("status"), 0, "2 hosts")

    def test_two_at_once_build_one_lab(self):
        command = [sys.executable, LINK_LAB, "up", "--prefix", PREFIX]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        said = sorted(one.communicate(timeout=60)[0].split("\n")[0] for one in both)
        self.assertEqual([one.returncode for one in both], [0, 0])
        self.assertIn("is up already", said[0] + said[1])
        self.assertIn("is up:", said[0] + said[1])

    def test_a_kill_at_any_moment_of_up_is_cleaned_up_after(self):
        with tempfile.TemporaryDirectory() as place:
            commands = HeldCommands(Path(place))
            up, _ = commands.start("up", "--hosts", "3", hold=0)
            self.assertEqual(up.wait(), 0)
            number = commands.made()
            self.assertGreater(number, 10)
            self.expect(link_lab("down"), 0)
            unfinished = 0
            for attempt, hold in enumerate(sorted(random.Random(20240607).sample(range(1, number + 1), 10))):
                up, held = commands.start("up", "--hosts", "3", hold=hold)
                held()
                # Either link-lab alone dies, while what it has started goes on for a moment, or all of it.
                (os.kill if attempt % 2 else os.killpg)(up.pid, signal.SIGKILL)
                up.wait()
                commands.go_on()
                unfinished += link_lab("status").returncode == 1
                if attempt % 4 < 2:
                    self.expect(link_lab("up", "--hosts", 3), 0)
                    self.expect(link_lab("status"), 0, "3 hosts (200mbit each) on one switch")
                self.expect(link_lab("down"), 0)
                self.assertEqual(links_and_namespaces(), self.before)
            self.assertGreater(unfinished, 4, "hardly a kill hit a lab that was being built: the test shows little")

    def test_being_asked_to_end_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            up = subprocess.Popen([sys.executable, LINK_LAB, "up", "--hosts", "40", "--prefix", PREFIX],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while links_and_namespaces() == self.before and up.poll() is None:
                time.sleep(0.01)
            up.send_signal(number)
            self.assertIn(up.wait(timeout=30), (-number, 128 + number))
            self.assertEqual(links_and_namespaces(), self.before)

    def test_damage_is_seen_and_repaired(self):
        damages = [["tc", "-n", f"{PREFIX}-0", "qdisc", "del", "dev", "lab0", "root"],
                   ["tc", "-n", f"{PREFIX}-switch", "qdisc", "del", "dev", "port1", "root"],
                   ["ip", "-n", f"{PREFIX}-switch", "link", "del", "port1"],
                   ["ip", "netns", "delete", f"{PREFIX}-0"],
                   ["ip", "netns", "delete", f"{PREFIX}-switch"],
                   ["umount", f"/run/netns/{PREFIX}-1"]]
        for damage in damages:
            self.expect(link_lab("up", "--hosts", 2), 0)
            system(*damage)
            self.expect(link_lab("status"), 1, "unfinished or damaged")
            self.expect(link_lab("up", "--hosts", 2), 0, "rebuilt")
            self.expect(link_lab("status"), 0)

    def test_who_is_still_inside_is_named_and_has_no_link_any_more(self):
        self.expect(link_lab("up", "--hosts", 2), 0)
        lingering = subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}-1", "sleep", "60"])
        try:
            while str(lingering.pid) not in system("ip", "netns", "pids", f"{PREFIX}-1").split():
                time.sleep(0.01)
            self.expect(link_lab("down"), 0, f"still running in what was {PREFIX}-1", str(lingering.pid))
            deadline = time.monotonic() + 10
            while "lab0" in Path(f"/proc/{lingering.pid}/net/dev").read_text(encoding="ascii"):
                self.assertLess(time.monotonic(), deadline, "the link is still there")
                time.sleep(0.05)
        finally:
            lingering.kill()
            lingering.wait()

    def test_a_subnet_in_use_is_avoided(self):
        self.expect(link_lab("up", "--hosts", 2), 0)
        self.assertIn("10.77.0.2", link_lab("status").stdout)
        self.expect(link_lab("down"), 0)
        system("ip", "link", "add", "name", "taken", "type", "veth", "peer", "name", "taken2")
        try:
            system("ip", "address", "add", "10.64.0.1/10", "dev", "taken")
            system("ip", "link", "set", "dev", "taken", "up")
            self.expect(link_lab("up", "--hosts", 2), 0)
            self.assertIn("172.31.77.2", link_lab("status").stdout)
            self.expect(link_lab("down"), 0)
        finally:
            system("ip", "link", "delete", "taken")


class Commands(LabTest):
    def test_run_and_with_tell_the_command_about_the_lab(self):
        shape = ["--rates", "100mbit,2.5gbit", "--islands", "2x1", "--uplink", "10mbit"]
        show = ["--", "sh", "-c", "env | grep ^RINGSIDE_LAB_ | grep -v TEST | sort; exit 7"]
        expected = ["RINGSIDE_LAB_HOSTS=2", "RINGSIDE_LAB_INTERFACE=lab0", f"RINGSIDE_LAB_PREFIX={PREFIX}",
                    "RINGSIDE_LAB_RATES=100mbit,2.5gbit", "RINGSIDE_LAB_UPLINK=10mbit",
                    f"RINGSIDE_LAB_WRAP=ip netns exec {PREFIX}-{{rank}}"]
        self.assertEqual(self.expect(link_lab("with", *shape, *show), 7).stdout.split("\n")[:-1], expected)
        self.assertEqual(links_and_namespaces(), self.before)
        self.expect(link_lab("up", *shape), 0)
        self.assertEqual(self.expect(link_lab("run", *show), 7).stdout.split("\n")[:-1], expected)

    def test_every_host_reaches_every_other_and_nothing_else(self):
        self.expect(link_lab("up", "--islands", "2x2", "--uplink", "200mbit"), 0)
        hosts = [address(rank) for rank in range(4)]
        for rank in range(4):
            self.assertEqual(Traffic(rank, "reach", *hosts).finish(), {"reached": hosts})
            self.assertEqual(system("ip", "-n", f"{PREFIX}-{rank}", "route", "show", "default"), "")

    def test_wrap_is_what_status_and_the_environment_say(self):
        self.expect(link_lab("wrap"), 0)
        self.assertEqual(link_lab("wrap").stdout, f"ip netns exec {PREFIX}-{{rank}}\n")

    def test_with_hides_other_labs_and_survives_a_kill(self):
        self.expect(link_lab("up", "--hosts", 2), 0)
        names = self.expect(link_lab("with", "--hosts", 3, "--", "ip", "netns", "list"), 0).stdout
        self.assertEqual(sorted(line.split()[0] for line in names.split("\n") if line),
                         [f"{PREFIX}-{suffix}" for suffix in ("0", "1", "2", "switch")])
        running = subprocess.Popen([sys.executable, LINK_LAB, "with", "--prefix", PREFIX, "--", "sh", "-c",
                                    "echo ready; exec sleep 60"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.assertEqual(running.stdout.readline(), b"ready\n")
        running.kill()  # `with` has become the command, so this is all there is to end
        running.wait()
        running.stdout.close()
        self.expect(link_lab("down"), 0)

    def test_with_needs_no_root(self):
        if Path("/proc/self/uid_map").read_text(encoding="ascii").split() != ["0", "0", "4294967295"]:
            self.skipTest("not root here, so that every test already runs in an unprivileged user namespace")
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": [], "cwd": "/"}
        trial = subprocess.run(["unshare", "--user", "--map-root-user", "--net", "--mount", "true"],
                               capture_output=True, text=True, check=False, **nobody)
        if trial.returncode != 0:
            self.skipTest(f"unprivileged user namespaces are not permitted here: {trial.stderr.strip()}")
        with tempfile.TemporaryDirectory() as place:
            os.chmod(place, 0o755)
            script = shutil.copy(LINK_LAB, place)

            def as_nobody(*arguments):
                return subprocess.run(["/usr/bin/env", "PATH=/usr/bin:/bin", "python3", script, *arguments],
                                      capture_output=True, text=True, check=False, **nobody)
            show = "ip netns exec ringside-lab-1 ip -o -4 address show lab0; exit 7"
            self.expect(as_nobody("with", "--hosts", "2", "--", "sh", "-c", show), 7,
                        "using an unprivileged user namespace", "2 hosts", "10.77.0.2/24")
            self.expect(as_nobody("up"), 3, "needs root", "link-lab with")

class Refusals(LabTest):
    def test_bad_usage_is_one_sentence_and_exit_status_2(self):
        wrong = [
            (["up", "--rate", "400mbps"], "'400mbps' is not a rate: write it as 400mbit"),
            (["up", "--rate", "400"], "is not a rate"),
            (["up", "--rate", "100kbit"], "outside 1mbit to 10gbit"),
            (["up", "--hosts", 1], "2 to 128 hosts"),
            (["up", "--hosts", "many"], "invalid int"),
            (["up", "--hosts", 3, "--rates", "1mbit,2mbit"], "--hosts says 3, --rates says 2"),
            (["up", "--rate", "1mbit", "--rates", "1mbit,2mbit"], "give one of the two"),
            (["up", "--islands", "2x2"], "--islands and --uplink go together"),
            (["up", "--uplink", "2mbit"], "--islands and --uplink go together"),
            (["up", "--islands", "3x2", "--uplink", "2mbit"], "two switches"),
            (["up", "--", "true"], "takes no command"),
            (["up", "--host", 3], "unrecognized arguments"),
            (["with"], "which command?"),
            (["with", "--rate", "fast", "--", "true"], "is not a rate"),
            (["sideways"], "invalid choice"),
        ]
        for arguments, words in wrong:
            with self.subTest(arguments=arguments):
                self.expect(link_lab(*arguments), 2, words)
        self.expect(link_lab("up", prefix="no/slash"), 2, "--prefix no/slash")

    def test_without_a_lab_there_is_nothing_to_show_or_use(self):
        for arguments in (["status"], ["selftest"], ["run", "--", "true"]):
            self.expect(link_lab(*arguments), 3, f"no lab {PREFIX} is up")

    def test_a_command_that_is_not_there(self):
        self.expect(link_lab("with", "--hosts", 2, "--", "/no/such"), 127, "cannot run /no/such: No such file")

    def test_a_missing_tool_is_named_with_its_package(self):
        for tool, package in (("tc", "iproute2"), ("ethtool", "ethtool")):
            there = os.path.realpath(shutil.which(tool))
            system("mount", "--bind", "/dev/null", there)
            try:
                self.expect(link_lab("up"), 3, f"{tool} not found: install the Debian package {package}")
            finally:
                system("umount", there)


if __name__ == "__main__":
    isolated.main()
