"""Bad input gets its exit status and one clear message, never a stack trace or a hang."""

import os
import resource
import shutil
import subprocess
import unittest

from ringside_case import CUSTOM, PROGRAM, SOURCE, RingsideCase


class BadInput(RingsideCase):
    def predict(self, text, **options):
        return self.run_ringside("predict", self.write("scenario.yaml", text), **options)

    def test_missing_file(self):
        self.assert_rejected(self.run_ringside("predict", "nowhere.yaml"), 2, "nowhere.yaml")

    def test_a_directory_is_no_scenario(self):
        self.assert_rejected(self.run_ringside("predict", self.folder), 2, str(self.folder))

    def test_empty_file(self):
        self.assert_rejected(self.predict(""), 2, "scenario.yaml")

    def test_binary_file(self):
        self.assert_rejected(self.predict(bytes(range(256)) * 8), 2, "scenario.yaml")

    def test_tab_in_yaml(self):
        self.assert_rejected(self.predict("name: x\n\tranks: 4\n"), 2, "scenario.yaml:2:")

    def test_unknown_key_is_answered_with_the_nearest(self):
        self.assert_rejected(self.predict(CUSTOM + "rnaks: 4\n"), 2, "rnaks", "ranks")

    def test_misspelt_algorithm_is_answered_with_the_nearest(self):
        self.assert_rejected(self.predict(CUSTOM.replace("ring]", "rinng]")), 2, "scenario.yaml:2:", "rinng", "'ring'")

    def test_size_without_unit(self):
        self.assert_rejected(self.predict(CUSTOM.replace("80 MB", "80000000")), 2, "unit", "scenario.yaml:4:")

    def test_ranks_zero_and_negative(self):
        for ranks in ("0", "-3", "[2, 0]", "two"):
            self.assert_rejected(self.predict(CUSTOM.replace("ranks: 8", f"ranks: {ranks}")), 2, "scenario.yaml:3:")

    def test_negative_bandwidth(self):
        self.assert_rejected(self.predict(CUSTOM.replace("10 GB/s", "-10 GB/s")), 2, "bandwidth", "scenario.yaml:6:")

    def test_range_from_larger_than_to(self):
        text = CUSTOM.replace("[80 MB]", "{from: 4 MiB, to: 4 KiB}")
        self.assert_rejected(self.predict(text), 2, "scenario.yaml:4:", "from")

    def test_every_problem_is_reported_at_once(self):
        result = self.predict(CUSTOM.replace("ranks: 8", "ranks: 0").replace("80 MB", "80").replace("10 us", "10"))
        self.assert_rejected(result, 2, ":3:", ":4:", ":6:")

    def test_unknown_command_and_flag(self):
        self.assert_rejected(self.run_ringside("comprae", "x.yaml"), 2, "did you mean 'compare'?")
        self.assert_rejected(self.run_ringside("predict", "--forze", "x.yaml"), 2, "--forze")
        self.assert_rejected(self.run_ringside(), 2)

    def test_a_misspelt_flag_is_answered_with_the_nearest_and_the_help_of_its_command(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        self.assert_rejected(self.run_ringside("predict", scenario, "--ouput", "x"), 2, "--ouput", "'--output'")
        self.assert_rejected(self.run_ringside("predict", scenario, "--fidelty=flow"), 2, "'--fidelity'")
        self.assert_rejected(self.run_ringside("predict", scenario, "--format", "xml"), 2, "ringside predict --help")

    def test_a_bad_value_names_its_flag(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        for command, flag, value, word in (
            ("measure", "--timeout", "5", "has no unit"),
            ("measure", "--time-per-point", "-5 s", "not negative"),
            ("predict", "--calibrate-time", "5 days", "ns us ms s min h"),
            ("predict", "--seed", "-1", "whole number"),
            ("trace", "--bytes", "10", "has no unit"),
            ("trace", "--ranks", "0", "1 to 256"),
        ):
            self.assert_rejected(self.run_ringside(command, scenario, flag, value), 2, flag, word)
        self.assert_rejected(self.run_ringside("calibrate", "--max-bytes", "10"), 2, "--max-bytes", "has no unit")
        self.assert_rejected(self.run_ringside("calibrate", "--ranks", "1"), 2, "--ranks", "probes need at least 2 ranks")
        self.assert_rejected(self.run_ringside("measure", scenario, "--backend", "glo"), 2, "unknown --backend 'glo'", "'gloo'")

    def test_output_that_cannot_be_written_is_an_error_not_a_loss(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        for command in (["list", "machines"], ["predict", scenario], ["predict", scenario, "--format", "json"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([PROGRAM, *map(str, command)], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=240, check=False)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("cannot write to standard output: No space left on device", result.stderr)

    def test_a_standard_error_that_nobody_can_read_changes_no_exit_status(self):
        missing = [PROGRAM, "predict", "missing.yaml"]
        with open("/dev/full", "w") as full:
            result = subprocess.run(missing, cwd=self.folder, stderr=full, timeout=240, check=False)
        self.assertEqual(result.returncode, 2)
        result = subprocess.run(missing, cwd=self.folder, preexec_fn=lambda: os.close(2), timeout=240, check=False)
        self.assertEqual(result.returncode, 2)

    def test_a_calibration_measures_no_point(self):
        self.assert_rejected(self.run_ringside("calibrate", "--time-per-point", "1 s"), 2, "unknown flag '--time-per-point'")

    def test_a_flag_without_a_command_and_a_word_for_a_number(self):
        self.assert_rejected(self.run_ringside("--hlp"), 2, "unknown flag '--hlp'", "'--help'")
        self.assert_rejected(self.run_ringside("calibrate", "--ranks", "2,x"), 2, "--ranks", "is not a whole number")
        self.assert_rejected(self.run_ringside("predict", self.write("scenario.yaml", CUSTOM), "--output", ""), 2, "--output: is empty")
        result = self.run_ringside("show", "machine", "p4d")
        self.assert_rejected(result, 2, "show machine: 'p4d'")

    def test_names_in_other_alphabets_have_folders_of_their_own(self):
        for name in ("größer", "大きい"):
            result = self.predict(CUSTOM.replace("name: custom", f"name: {name}"))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue((self.folder / "out" / name / "predictions.jsonl").is_file())

    def test_a_flag_takes_no_more_than_its_value(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        self.assertEqual(self.run_ringside("predict", "--sweep", "bandwidth=5GB/s,6GB/s", scenario).returncode, 0)
        result = self.run_ringside("trace", "--algorithm", "naive,ring", scenario, "--bytes", "1 MiB")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_bad_value_of_a_sweep_names_the_flag_and_the_value(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        for sweep, words in (
            ("bandwidth=5,10", ("--sweep bandwidth=5: ", "has no unit")),
            ("latency=5GB/s", ("--sweep latency=5GB/s: ", "ns us ms s")),
            ("nodes=a", ("--sweep nodes=a: ", "whole number")),
            ("latency=}", ("--sweep latency=}: ",)),
            ("bytes=5", ("--sweep bytes=5: ", "has no unit")),
            ("ranks=0", ("--sweep ranks=0: ", "whole number")),
            ("bandwith=5GB/s", ("--sweep bandwith: ", "'bandwidth'")),
        ):
            result = self.run_ringside("predict", "--sweep", sweep, scenario)
            self.assert_rejected(result, 2, *words)
            self.assertNotRegex(result.stderr, r":\d+:\d+:", "no place in a file that the user has not written")

    def test_a_straggler_that_is_no_rank_is_refused_where_it_stands(self):
        stragglers = "  stragglers: [{rank: 99, slowdown: 2}]\n"
        self.assert_rejected(self.predict(CUSTOM + stragglers), 2, "scenario.yaml:7:", "rank 99", "8 ranks, 0 to 7")
        machine = "intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}\n" + stragglers.lstrip()
        self.write("machine.yaml", machine)
        named = CUSTOM[: CUSTOM.index("machine:")] + "machine: machine.yaml\n"
        self.assert_rejected(self.predict(named), 2, "scenario.yaml:5:", "rank 99")
        self.write("machine.yaml", machine + "gpus_per_node: 100\n")  # One of its GPUs is slow; it is not used here.
        self.assertEqual(self.predict(named).returncode, 0)

    def test_known_that_bears_on_nothing_is_refused(self):
        known = "{p2p: {bandwidth: 12 GB/s}}"
        scenario = self.write("scenario.yaml", CUSTOM)
        self.assert_rejected(self.run_ringside("predict", scenario, "--known", known), 2, f"--known {known}: ", "affects none", "names no `gpu`")
        swept = self.run_ringside("predict", scenario, "--known", known, "--sweep", "bandwidth=1GB/s,2GB/s")
        self.assert_rejected(swept, 2, f"--known {known}: ")
        gloo = self.write("gloo.yaml", CUSTOM.replace("ring]", "ring, native]") + "backend: gloo\n")
        self.assert_rejected(self.run_ringside("predict", gloo, "--known", known), 2, f"--known {known}: ")
        gpus = self.write("gpus.yaml", "algorithms: native\nranks: 8\nmessage_sizes: [88 MB]\nbackend: nccl\nmachine: {gpus_per_node: 8, "
                          "gpu: {model: RTX 4090}, intra: {kind: pcie, generation: 4, lanes: 16}}\n")
        self.assert_rejected(
            self.run_ringside("predict", gpus, "--known", known, "--model", "alpha_beta"), 2, "--known", "the model alpha_beta")
        result = self.run_ringside("predict", gpus, "--known", "{p2p: {bandwidth: 12}}")
        self.assert_rejected(result, 2, "--known {p2p: {bandwidth: 12}}: ", "has no unit")
        self.assertNotRegex(result.stderr, r":\d+:\d+:")

    def test_a_timeline_that_nobody_can_read_is_refused(self):
        scenario = self.write("scenario.yaml", CUSTOM.replace("ranks: 8", "ranks: 65536"))
        self.assert_rejected(self.run_ringside("trace", scenario), 2, "65536 ranks", "--ranks")

    def test_a_quantity_that_cannot_be_is_refused_where_it_stands(self):
        self.assert_rejected(self.predict(CUSTOM.replace("10 us", "1e300 s")), 2, "scenario.yaml:6:", "latency")

    def test_unwritable_output_directory(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        blocker = self.write("file", "not a folder")
        for command in ("predict", "compare", "measure"):
            result = self.run_ringside(command, scenario, "--output", blocker / "below")
            self.assert_rejected(result, 2, "file/below")
        for more in ([], ["--format", "json"], ["--sweep", "ranks=2:8:2x"]):
            result = self.run_ringside("predict", scenario, "--output", "/proc/ringside", *more)
            self.assert_rejected(result, 2, "/proc/ringside")
            self.assertIn("ring", result.stdout)  # The answer needs no folder.
        result = self.run_ringside("plan", "--gradients", "88 MB", "--gpus", "4x3090", "--output", "/proc/ringside",
                                   environment={"TMPDIR": str(self.folder)})
        self.assert_rejected(result, 2, "/proc/ringside")
        self.assertIn("4 × RTX 3090", result.stdout)

    def test_a_disk_that_is_full_costs_the_files_and_not_the_answer(self):
        def full_after_a_page():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        scenario = self.write("scenario.yaml", CUSTOM)
        sizes = "message_sizes: {from: 4 KiB, to: 64 MiB, factor: 2}"
        long = self.write("long.yaml", CUSTOM.replace("message_sizes: [80 MB]", sizes))
        for command in (("predict", long), ("predict", long, "--charts"), ("predict", scenario, "--sweep", "bandwidth=1GB/s:64GB/s:2x")):
            # restore_signals: Python ignores SIGXFSZ, and so must the program, or the limit would kill it.
            result = subprocess.run([PROGRAM, *map(str, command), "--output", "full"], cwd=self.folder, capture_output=True, text=True,
                                    timeout=60, check=False, preexec_fn=full_after_a_page, restore_signals=False)
            self.assert_rejected(result, 3, "full/", "File too large")
            self.assertIn("ring", result.stdout)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_a_chart_that_was_cut_is_told(self):
        def small():
            resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

        result = subprocess.run([PROGRAM, "predict", self.write("scenario.yaml", CUSTOM), "--charts", "--output", "cut"],
                                cwd=self.folder, capture_output=True, text=True, timeout=60, check=False, preexec_fn=small,
                                restore_signals=False)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn(".png", result.stderr)

    def test_predictions_of_another_scenario_are_kept(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        other = self.write("other.yaml", CUSTOM.replace("name: custom", "name: other"))
        for file, notes in ((scenario, 0), (scenario, 0), (other, 1), (scenario, 1)):
            result = self.run_ringside("predict", file, "--output", "same")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("are kept in"), notes, result.stderr)
        self.assertEqual(len(list((self.folder / "same").glob("predictions*.jsonl"))), 3)

    def test_a_sweep_keeps_its_data(self):
        scenario = self.write("scenario.yaml", CUSTOM)
        result = self.run_ringside("predict", scenario, "--sweep", "bandwidth=5GB/s,10GB/s", "--output", "swept")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("results: swept/sweep_bandwidth.jsonl", result.stdout)
        run, *points = self.records((self.folder / "swept/sweep_bandwidth.jsonl").read_text())
        self.assertEqual((run["record"], run["scenario"]["name"]), ("run", "custom"))
        printed = self.run_ringside("predict", scenario, "--sweep", "bandwidth=5GB/s,10GB/s", "--format", "json").stdout
        self.assertEqual(points, self.records(printed))
        self.assertEqual({point["sweep"]["bandwidth"] for point in points}, {"5GB/s", "10GB/s"})

    def test_a_million_ranks_cannot_be_measured_here(self):
        scenario = self.write("scenario.yaml", CUSTOM.replace("ranks: 8", "ranks: 1000000"))
        for command in ("measure", "compare"):
            self.assert_rejected(self.run_ringside(command, scenario), 3, "1000000")

    def test_a_message_larger_than_memory_is_refused_with_the_numbers(self):
        scenario = self.write("scenario.yaml", CUSTOM.replace("80 MB", "100 GB").replace("ranks: 8", "ranks: 2"))
        for command in ("measure", "compare"):
            self.assert_rejected(self.run_ringside(command, scenario), 3, "memory")

    def test_unknown_algorithm_of_show(self):
        self.assert_rejected(self.run_ringside("show", "rng", "--ranks", "4"), 2, "'ring'")
        self.assert_rejected(self.run_ringside("show", "ring", "--ranks", "0"), 2, "ranks")
        self.assert_rejected(self.run_ringside("show", "native", "--ranks", "4"), 2, "no schedule")

    def test_unknown_machine_of_show(self):
        self.assert_rejected(self.run_ringside("show", "machine", "p4d.24xlrge"), 2, "'p4d.24xlarge'")
        self.assert_rejected(self.run_ringside("show", "machine", "this"), 2, "calibrate")

    def test_what_bears_on_nothing_is_refused(self):
        log = SOURCE / "README.md"
        for arguments, words in ((("show", "ring", "extra", "--ranks", "4"), ("was not expected: extra",)),
                                 (("show", "machine", "dgx-a100", "--size", "4MiB"), ("--size has no effect here", "`ringside show`")),
                                 (("check", log, "--max-bytes", "3"), ("--max-bytes has no effect", "`ringside check live`")),
                                 (("check", log, "--gate", ""), ("--gate ''", "busbw@1GiB >= p05")),
                                 (("check", "live", "--ranks", "2"), ("--ranks has no effect", "`ringside check`")),
                                 (("check", "--live", "--ranks", "2"), ("--ranks has no effect",)),
                                 (("import", log, "--anonymise", "--ranks", "2"), ("--ranks has no effect",)),
                                 (("import", "topo", log, "--ranks", "2"), ("--ranks has no effect",))):
            self.assert_rejected(self.run_ringside(*arguments), 2, *words)

    def test_flags_that_a_scenario_leaves_nothing_to_do_are_refused(self):
        given = self.write("given.yaml", CUSTOM)
        self.write("m.jsonl", "")
        measured = self.write("measured.yaml", CUSTOM + "measured: m.jsonl\n")
        probed = self.write("probed.yaml", "ranks: 2\nmessage_sizes: [1 MiB]\nmachine: this\nmeasured: m.jsonl\n")
        here = self.write("here.yaml", "ranks: 2\nmessage_sizes: [1 MiB]\nmachine: this\n")
        for command, scenario, flag, word in (("predict", given, "--calibrate-time=2s", "probed"),
                                              ("predict", here, "--known={p2p: {latency: 15 us}}", "this machine is probed"),
                                              ("compare", given, "--calibrate-time=2s", "probed"),
                                              ("compare", measured, "--wrap=env", "`measured:`"),
                                              ("compare", measured, "--timeout=2s", "`measured:`"),
                                              ("compare", measured, "--resume", "`measured:`"),
                                              ("compare", probed, "--repetitions=2", "`measured:`"),
                                              ("trace", given, "--wrap=env", "--measure"),
                                              ("trace", given, "--time-per-point=2s", "--measure")):
            self.assert_rejected(self.run_ringside(command, scenario, flag), 2,
                                 f"{flag.split('=')[0]} has no effect here", word)

    def test_unknown_list(self):
        self.assert_rejected(self.run_ringside("list", "algorithm"), 2, "algorithms")

    def test_nccl_is_not_silently_replaced(self):
        scenario = self.write("scenario.yaml", CUSTOM + "backend: nccl\n")
        self.assert_rejected(self.run_ringside("measure", scenario), 3, "nccl")


if __name__ == "__main__":
    unittest.main()
