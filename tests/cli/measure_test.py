"""Real ranks on this machine: outcomes, a lost rank, resuming."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase

SCENARIO = """name: small
algorithms: [naive, tutorial_ring, ring, native]
ranks: [2, 3]
message_sizes: [4 KiB, 256 KiB]
backend: gloo
machine: this
"""


def descendants(pid):
    """Living processes below pid."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            child = int(stat.parent.name)
            found += [child, *descendants(child)]
    return found


class Measure(RingsideCase):
    def points_in(self, path):
        """The last record of each measured point: it holds what all repetitions have found."""
        points = {}
        for record in self.records(path.read_text()):
            if record["record"] == "point" and record.get("measured"):
                points[record["algorithm"], record["ranks"], record["bytes"]] = record
        return list(points.values())

    def test_every_point_is_measured_and_right(self):
        scenario = self.write("small.yaml", SCENARIO)
        result = self.run_ringside("measure", scenario, "--output", self.folder / "out", "--time-per-point", "0.1 s")
        self.assertEqual(result.returncode, 0, result.stderr)
        points = self.points_in(self.folder / "out" / "results.jsonl")
        self.assertEqual(len(points), 2 * 2 * 4)
        for point in points:
            self.assertEqual(point["measured"]["outcome"], "ok", point)
            self.assertGreater(point["measured"]["seconds"], 0)
            self.assertEqual(len(point["measured"]["samples"]), point["measured"]["iterations"])

    def test_probes_and_repetitions_alternate(self):
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2"))
        folder = self.folder / "out"
        result = self.run_ringside("compare", scenario, "--output", folder, "--time-per-point", "0.03 s",
                                   "--calibrate-time", "1 s", "--no-charts")
        self.assertEqual(result.returncode, 0, result.stderr)
        stages = re.findall(r"^(calibrating this|measuring 8 points, repetition \d of 3)", result.stderr, re.MULTILINE)
        self.assertEqual(stages, [text for i in (1, 2, 3)
                                  for text in ("calibrating this", f"measuring 8 points, repetition {i} of 3")])
        points = self.points_in(folder / "results.jsonl")
        self.assertEqual({len(point["measured"]["repetitions"]) for point in points}, {3})
        # What is published was predicted from all probes, and the machine file says the same.
        again = self.write("again.yaml", SCENARIO.replace("[2, 3]", "2").replace("this", str(folder / "machine.yaml")))
        predicted = self.run_ringside("predict", again, "--format", "json")
        self.assertEqual(predicted.returncode, 0, predicted.stderr)
        seconds = {(r["algorithm"], r["bytes"]): r["predicted"]["seconds"]
                   for r in self.records(predicted.stdout) if r["record"] == "point" and r.get("predicted")}
        for point in points:
            self.assertAlmostEqual(point["predicted"]["seconds"] / seconds[point["algorithm"], point["bytes"]], 1, places=6)

    def test_every_collective_runs_and_is_right(self):
        for collective in ("broadcast", "reduce", "gather", "all_gather", "reduce_scatter"):
            text = SCENARIO.replace("machine: this", f"machine: this\ncollective: {collective}")
            text = text.replace("naive, tutorial_ring, ring, native", "naive, ring").replace("[2, 3]", "3")
            folder = self.folder / collective
            result = self.run_ringside(
                "measure", self.write("one.yaml", text), "--output", folder, "--time-per-point", "0.02 s")
            self.assertEqual(result.returncode, 0, result.stderr)
            points = self.points_in(folder / "results.jsonl")
            self.assertEqual([(p["collective"], p["measured"]["outcome"]) for p in points],
                             4 * [(collective, "ok")])

    def start_measuring(self, *arguments, ranks=3, cores=None, environment=None):
        """A long measurement, by the time that it has finished its first point."""
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", str(ranks)))
        results = self.folder / "out" / "results.jsonl"
        if results.exists():
            results.unlink()
        process = subprocess.Popen(
            [PROGRAM, "measure", str(scenario), "--output", str(results.parent), "--time-per-point", "2 s", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})},
            preexec_fn=cores and (lambda: os.sched_setaffinity(0, cores)))
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        while not (results.exists() and self.count_points(results) >= 1):
            self.assertLess(time.monotonic(), deadline, "no point was finished")
            self.assertIsNone(process.poll(), "ended before its first point")
            time.sleep(0.05)
        return process, results

    def start_and_lose_a_rank(self, how, timeout):
        """Starts a long measurement, does `how` to one rank after the first points, returns the finished process."""
        temporary = self.folder / "tmp"
        temporary.mkdir()
        process, results = self.start_measuring("--timeout", f"{timeout} s", environment={"TMPDIR": str(temporary)})
        ranks = descendants(process.pid)
        os.kill(ranks[-1], how)
        started = time.monotonic()
        _, text = process.communicate(timeout=timeout + 20)
        took = time.monotonic() - started
        self.assertEqual(process.returncode, 1, text)
        self.assertRegex(text, r"rank \d")
        self.assertLess(took, timeout + 15)
        self.assertGreaterEqual(self.count_points(results), 1)
        for pid in ranks:
            self.assertFalse(pathlib.Path(f"/proc/{pid}").exists(), "a rank was left behind")
        self.assertEqual(list(temporary.iterdir()), [])
        return text

    @staticmethod
    def count_points(path):
        count = 0
        for line in path.read_text().splitlines():
            try:
                count += json.loads(line).get("record") in ("point", "repetition")
            except json.JSONDecodeError:
                pass
        return count

    def test_a_killed_rank_is_named_and_nothing_is_left_behind(self):
        text = self.start_and_lose_a_rank(signal.SIGKILL, timeout=20)
        self.assertIn("signal 9", text)

    def test_ctrl_c_says_how_to_go_on(self):
        process, results = self.start_measuring()
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, text)
        self.assertIn("interrupted; finished points are kept, --resume goes on", text)
        self.assertGreaterEqual(self.count_points(results), 1)

    def test_a_rank_that_hangs_ends_the_run_at_the_deadline(self):
        self.start_and_lose_a_rank(signal.SIGSTOP, timeout=3)

    def threads_of_ranks(self, *arguments, ranks):
        """Of each rank, with all on the same two cores: (policy, nice) of its main thread, and those of its others."""
        two_cores = sorted(os.sched_getaffinity(0))[:2]
        if len(two_cores) < 2:
            self.skipTest("this machine lets us use one core only")
        process, _ = self.start_measuring(*arguments, ranks=ranks, cores=two_cores)
        rank_processes = descendants(process.pid)
        self.assertEqual(len(rank_processes), ranks)
        threads = []
        for pid in rank_processes:
            ids = [int(thread.name) for thread in pathlib.Path(f"/proc/{pid}/task").iterdir()]
            own = {thread: (os.sched_getscheduler(thread), os.getpriority(os.PRIO_PROCESS, thread)) for thread in ids}
            threads.append((own.pop(pid), set(own.values())))
        process.kill()
        process.communicate()
        return threads

    def test_ranks_that_share_cores_are_under_batch_scheduling(self):
        for wrap in ([], ["--wrap", "env"]):
            for main, others in self.threads_of_ranks(*wrap, ranks=3):
                self.assertEqual({policy for policy, _ in {main} | others}, {os.SCHED_BATCH}, wrap)

    def test_through_memory_a_woken_rank_runs_before_other_programs(self):
        usual = (os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, 0))
        for main, _ in self.threads_of_ranks("--backend", "shm", ranks=3):
            self.assertEqual(main, usual)

    def test_with_cores_of_their_own_main_threads_go_first(self):
        here = os.getpriority(os.PRIO_PROCESS, 0)
        for main, others in self.threads_of_ranks(ranks=2):
            self.assertEqual(main, (os.SCHED_OTHER, here))
            self.assertLessEqual({(os.SCHED_OTHER, min(here + 5, 19))}, others)
            self.assertLessEqual({policy for policy, _ in others}, {os.SCHED_OTHER, os.SCHED_IDLE})

    def test_the_machine_is_left_as_it_is_when_that_is_asked(self):
        usual = (os.SCHED_OTHER, os.getpriority(os.PRIO_PROCESS, 0))
        for ranks in (2, 3):
            for main, others in self.threads_of_ranks("--no-machine-tuning", ranks=ranks):
                self.assertEqual({main} | others, {usual})
            measured = self.points_in(self.folder / "out" / "results.jsonl")[0]["measured"]
            self.assertEqual(set(measured["machine_tuning"].values()), {False})

    def test_resume_goes_on_after_a_line_cut_in_the_middle(self):
        scenario = self.write("small.yaml", SCENARIO)
        flags = ["--output", self.folder / "out", "--time-per-point", "0.05 s"]
        self.assertEqual(self.run_ringside("measure", scenario, *flags).returncode, 0)
        results = self.folder / "out" / "results.jsonl"
        whole = results.read_bytes()
        results.write_bytes(whole[: len(whole) * 2 // 3 - 7])
        kept = self.count_points(results)
        result = self.run_ringside("measure", scenario, *flags, "--resume")
        self.assertEqual(result.returncode, 0, result.stderr)
        points = self.points_in(results)
        self.assertEqual(len(points), 16)
        self.assertEqual(results.read_bytes()[:100], whole[:100])
        self.assertGreater(kept, 0)

    def last_measured(self, path):
        return {(p["algorithm"], p["ranks"], p["bytes"]): p["measured"] for p in self.points_in(path)}

    def test_a_point_that_failed_is_measured_again(self):
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2"))
        flags = ["--output", self.folder / "out", "--time-per-point", "0.02 s"]
        self.assertEqual(self.run_ringside("measure", scenario, *flags).returncode, 0)
        results = self.folder / "out" / "results.jsonl"
        before = self.last_measured(results)
        records = self.records(results.read_text())
        failed = [r for r in records if r["record"] == "point" and r["algorithm"] == "ring"][-1]
        failed["measured"] = {"backend": "gloo", "outcome": "failed", "note": "out of memory"}
        results.write_text("".join(json.dumps(r) + "\n" for r in records))
        again = self.run_ringside("measure", scenario, *flags, "--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        after = self.last_measured(results)
        changed = [key for key in after if after[key] != before[key]]
        self.assertEqual(changed, [("ring", 2, failed["bytes"])])
        self.assertEqual(after[changed[0]]["outcome"], "ok")

    def test_a_run_killed_in_its_second_repetition_resumes_with_those_that_are_missing(self):
        process, results = self.start_measuring("--repetitions", 4, ranks=2)
        deadline = time.monotonic() + 60
        while self.count_points(results) < 11:  # Eight points: the third of the second repetition.
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        process.kill()
        process.communicate()
        before = self.last_measured(results)
        self.assertGreaterEqual(sum(r["record"] == "repetition" for r in self.records(results.read_text())), 3)
        resumed = self.run_ringside("measure", self.folder / "small.yaml", "--output", results.parent,
                                    "--time-per-point", "0.1 s", "--repetitions", 4, "--resume")
        self.assertEqual(resumed.returncode, 0, resumed.stderr)
        after = self.last_measured(results)
        self.assertEqual(len(after), 8)
        for key, measured in after.items():
            self.assertEqual(len(measured["repetitions"]), 4, key)
            finished = before[key]
            self.assertEqual(measured["samples"][:len(finished["samples"])], finished["samples"])
            self.assertEqual(measured["iterations"], len(measured["samples"]))

    def test_times_of_this_machine_never_stand_under_the_name_of_another(self):
        gpus = "{name: four 3090s, gpus_per_node: 4, gpu: {model: RTX 3090}, intra: {kind: pcie, generation: 4, lanes: 16}}"
        nodes = "{name: two hosts, nodes: 2, intra: {kind: custom, latency: 1 us, bandwidth: 10 GB/s}, " \
                "inter: {kind: custom, latency: 1 us, bandwidth: 1 GB/s}}"
        for machine, words in ((gpus, ("'four 3090s'", "has GPUs", "gloo")), (nodes, ("'two hosts'", "2 nodes"))):
            text = SCENARIO.replace("machine: this", f"machine: {machine}").replace("[2, 3]", "2")
            scenario = self.write("other.yaml", text.replace(", native]", "]"))
            for command in (["compare", "--no-charts"], ["measure"], ["trace", "--measure"]):
                result = self.run_ringside(*command, scenario, "--output", self.folder / "out")
                self.assert_rejected(result, 3, *words, "machine: this", "ringside predict")
                self.assertFalse((self.folder / "out" / "results.jsonl").exists())
        self.write("machine.yaml", "name: four 3090s\ngpus_per_node: 4\nintra: {kind: pcie, generation: 4, lanes: 16}\n")
        self.assert_rejected(self.run_ringside("calibrate", "machine.yaml"), 3, "'four 3090s'")

    def test_ranks_behind_a_wrap_may_be_those_of_a_described_lab(self):
        machine = "{name: lab, gpus_per_node: 2, intra: {kind: custom, latency: 10 us, bandwidth: 1 GB/s}}"
        text = SCENARIO.replace("machine: this", f"machine: {machine}").replace("[2, 3]", "2")
        result = self.run_ringside("compare", self.write("lab.yaml", text), "--no-charts", "--wrap", "env",
                                   "--time-per-point", "0.02 s", "--output", self.folder / "out")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_another_number_of_ranks_than_the_launcher_started_is_refused(self):
        scenario = self.write("small.yaml", SCENARIO)
        result = self.run_ringside("measure", scenario, "--rendezvous", f"file://{self.folder}/meet",
                                   environment={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "5"})
        self.assert_rejected(result, 2, "Open MPI started 5 ranks", "for 2, 3")

    def test_all_ranks_of_a_launcher_probe_what_the_scenario_sends(self):
        # Messages far below the usual largest probe: the ranks must agree on which probes there are.
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2"))
        commands = [[PROGRAM, "compare", scenario, "--no-charts", "--calibrate-time", "0.2 s", "--time-per-point", "0.02 s",
                     "--rendezvous", f"file://{self.folder}/meet", "--output", self.folder / f"out{rank}"] for rank in (0, 1)]
        ranks = [subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env=os.environ | {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2"})
                 for rank, command in enumerate(commands)]
        for process in ranks:
            _, error = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, error)

    def test_earlier_measurements_are_kept_aside_and_never_lost(self):
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2").replace("naive, tutorial_ring, ring, native", "ring"))
        folder = self.folder / "out"
        flags = ["--output", folder, "--time-per-point", "0.02 s"]
        self.assertNotIn("kept", self.run_ringside("measure", scenario, *flags).stderr)
        first = (folder / "results.jsonl").read_bytes()
        again = self.run_ringside("measure", scenario, *flags)
        self.assertEqual(again.returncode, 0, again.stderr)
        kept = list(folder.glob("results-*.jsonl"))
        self.assertEqual([path.read_bytes() for path in kept], [first])
        self.assertIn(f"Earlier results are kept in {kept[0]}", again.stderr)
        self.assertEqual(len(self.points_in(folder / "results.jsonl")), 2)
        self.assertEqual(self.run_ringside("measure", scenario, *flags, "--resume").returncode, 0)
        self.assertEqual(list(folder.glob("results-*.jsonl")), kept)

    def test_measurements_of_others_are_read_again_not_kept(self):
        log = {"record": "point", "collective": "all_reduce", "algorithm": "ring", "ranks": 8, "bytes": 80000000, "dtype": "float32",
               "op": "sum", "measured": {"seconds": 0.4, "backend": "gloo", "outcome": "ok"}}
        run = {"record": "run", "schema": "ringside/1", "version": "0", "command": "", "started": "", "host": {},
               "scenario": {"name": "", "file": "", "text": ""}}
        self.write("log.jsonl", json.dumps(run) + "\n" + json.dumps(log) + "\n")
        scenario = self.write("custom.yaml", CUSTOM + "measured: log.jsonl\n")
        for _ in range(2):
            result = self.run_ringside("compare", scenario, "--no-charts", "--output", self.folder / "out")
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([path.name for path in (self.folder / "out").iterdir()], ["results.jsonl"])

    def test_resume_refuses_the_results_of_another_scenario(self):
        flags = ["--output", self.folder / "out", "--time-per-point", "0.05 s"]
        first = self.write("first.yaml", SCENARIO.replace("small", "first").replace("[2, 3]", "2"))
        other = self.write("other.yaml", SCENARIO.replace("small", "other").replace("[2, 3]", "2"))
        self.assertEqual(self.run_ringside("measure", first, *flags).returncode, 0)
        self.assert_rejected(self.run_ringside("measure", other, *flags, "--resume"), 2, "first")

    def test_calibrate_prints_json_whatever_its_folder_is_called(self):
        folder = self.folder / 'a "quoted" \\ folder'
        result = self.run_ringside(
            "calibrate", "--ranks", 2, "--max-bytes", "4 MiB", "--calibrate-time", "0.5 s", "--format", "json", "--output", folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        (record,) = self.records(result.stdout)
        self.assertEqual(record["record"], "calibration")
        self.assertGreater(record["bandwidth"], 0)
        self.assertTrue((self.folder / record["file"]).is_file())

    def test_compare_takes_every_algorithm_on_the_quickstart_scenario(self):
        listed = self.records(self.run_ringside("list", "algorithms", "--format", "json").stdout)
        names = [a["algorithm"] for a in listed if a["collective"] in ("all_reduce", "any")]
        self.assertGreaterEqual(len(names), 12)
        text = (SOURCE / "configs" / "scenarios" / "quickstart.yaml").read_text()
        text = re.sub(r"algorithms:\n(  - .*\n)+", f"algorithms: [{', '.join(names)}]\n", text)
        text = re.sub(r"message_sizes: .*", "message_sizes: [64 KiB]", text).replace("ranks: [2, 4]", "ranks: 4")
        result = self.run_ringside(
            "compare", self.write("quickstart.yaml", text), "--output", self.folder / "out", "--no-charts",
            "--time-per-point", "0.02 s", "--calibrate-time", "1 s")
        self.assertEqual(result.returncode, 0, result.stderr)
        points = self.points_in(self.folder / "out" / "results.jsonl")
        self.assertEqual(len(points), len(names))
        for point in points:
            self.assertEqual(point["measured"]["outcome"], "ok", point)
            self.assertGreater(point["predicted"]["seconds"], 0)

    def test_no_time_for_a_point_is_five_calls_of_it(self):
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2"))
        result = self.run_ringside("measure", scenario, "--output", "out", "--time-per-point", "1 us", "--repetitions", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        for point in self.points_in(self.folder / "out" / "results.jsonl"):
            self.assertEqual(point["measured"]["iterations"], 5, point)

    def test_what_is_said_to_a_closed_stream_gets_into_no_file(self):
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2"))
        for closed in ("2>&-", "<&- 2>&-"):
            done = subprocess.run(["sh", "-c", f'exec "$@" {closed}', "sh", PROGRAM, "measure", scenario, "--output", self.folder / "out",
                                   "--time-per-point", "0.02 s"], cwd=self.folder, stdout=subprocess.DEVNULL, timeout=240, check=False)
            self.assertEqual(done.returncode, 0)
            for file in (self.folder / "out").iterdir():
                self.assertNotIn("measuring", file.read_text() if file.suffix != ".jsonl" else "", file)
            self.assertEqual(len(self.points_in(self.folder / "out" / "results.jsonl")), 8)

    def test_compare_says_who_wins_and_how_good_the_prediction_was(self):
        scenario = self.write("small.yaml", SCENARIO.replace("256 KiB", "4 MiB"))
        result = self.run_ringside(
            "compare", scenario, "--output", self.folder / "out", "--time-per-point", "0.2 s", "--calibrate-time", "3 s")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("at 4 MiB on 3 ranks", result.stdout)  # A busy machine may tell no winner.
        records = self.records((self.folder / "out" / "results.jsonl").read_text())
        kinds = {r["record"] for r in records}
        self.assertLessEqual({"run", "point", "verdict", "accuracy"}, kinds)
        # Probes come before each of three repetitions, and what they predict is kept.
        predicted = [r for r in records if r["record"] == "point" and r.get("predicted") and not r.get("measured")]
        points = [r for r in records if r["record"] == "point" and r.get("measured")]
        self.assertGreater(len(predicted), len({(r["algorithm"], r["ranks"], r["bytes"]) for r in points}))
        self.assertGreaterEqual(len(list((self.folder / "out").glob("*.png"))), 4)

    def test_compare_says_that_other_processes_use_the_cores(self):
        for _ in os.sched_getaffinity(0):
            loop = subprocess.Popen(["sh", "-c", "while :; do :; done"])
            self.addCleanup(loop.wait)
            self.addCleanup(loop.kill)
        scenario = self.write("small.yaml", SCENARIO.replace("[2, 3]", "2").replace("gloo", "shm"))
        result = self.run_ringside("compare", scenario, "--output", self.folder / "out", "--time-per-point", "0.05 s",
                                   "--calibrate-time", "2 s", "--no-charts")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"while other processes used \d+\.\d of \d+ cores")
        self.assertRegex((self.folder / "out" / "machine.yaml").read_text(), r"disturbance: .*other_load: ")


if __name__ == "__main__":
    unittest.main()
