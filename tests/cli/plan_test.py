# 400 lines: each way to ask for a plan, and each way to be refused.
"""`ringside plan` as a user types it: answers, listings of others, and what is wrong with files."""

import json
import pathlib
import re
import unittest

from ringside_case import SOURCE, RingsideCase

LISTINGS = pathlib.Path(__file__).parent / "offers"

PLAN = """name: tiny
workload:
  parameters: 20000000
  batch_per_gpu: 100
  samples: 1000000
  compute: {measured: [{gpu: any, samples_per_second: 2500}]}
synchronisation: {style: one_bucket}
algorithm: ring
"""
OFFERS = """offers:
  - {name: eight, machine: {gpus_per_node: 8, intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}, price: {per_hour: 6 USD}}
  - {name: two, machine: {gpus_per_node: 2, intra: {kind: custom, latency: 10 us, bandwidth: 10 GB/s}}, price: {per_hour: 1 USD}}
"""


class Plan(RingsideCase):
    def plan(self, text=PLAN + OFFERS, *flags):
        return self.run_ringside("plan", self.write("plan.yaml", text), "--no-charts", *flags)

    def offers(self, *arguments):
        result = self.run_ringside("plan", *arguments, "--no-charts", "--format", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return [record for record in self.records(result.stdout) if record["record"] == "offer"]

    def test_numbers_are_those_of_the_closed_form(self):
        # 8 ranks: 14 messages of 10 us and 14 x 10 MB at 10 GB/s; 1,250 steps of 40 ms and that.
        offers = {offer["name"]: offer for offer in self.offers(self.write("plan.yaml", PLAN + OFFERS))}
        eight = offers["eight"]
        self.assertAlmostEqual(eight["exposed"]["typical"], 0.01414, delta=1e-9)
        # All wait for the slowest of eight GPUs, 1.4236 standard deviations of 2 %.
        seconds = 1250 * (0.05414 + 0.04 * 0.02 * 1.4236)
        self.assertAlmostEqual(eight["run"]["typical"], seconds, delta=1e-4 * seconds)
        self.assertAlmostEqual(eight["cost"]["typical"], 6 / 3600 * seconds, delta=1e-4)
        self.assertTrue(offers["two"]["recommended"])

    def test_json_is_json_also_of_a_sweep(self):
        swept = self.offers(self.write("plan.yaml", PLAN + OFFERS), "--sweep", "accumulate=1,4")
        self.assertEqual([offer["sweep"] for offer in swept], [{"accumulate": "1"}, {"accumulate": "4"}])
        self.assertLess(swept[1]["exposed"]["typical"] / swept[1]["step"]["typical"], swept[0]["exposed"]["typical"] / swept[0]["step"]["typical"])

    def test_deadline_and_budget_decide(self):
        self.assertIn("Rent eight: it is the only offer that is done within", self.plan(PLAN + OFFERS, "--deadline", "100 s").stdout)
        self.assertIn("Rent eight: it is the fastest of 2", self.plan(PLAN + OFFERS, "--budget", "1 USD").stdout)

    def test_prices_are_compared_in_one_currency_at_a_stated_rate_alone(self):
        mixed = PLAN + OFFERS.replace("6 USD", "4 EUR")
        costs = lambda *flags: {offer["name"]: offer for offer in self.offers(self.write("plan.yaml", mixed), *flags)}
        alone = costs("--budget", "9 USD")
        self.assertIn("its price is in EUR, and the budget is in USD; --exchange '1 EUR = … USD'", alone["eight"]["problem"])
        offers, plain = costs("--budget", "9 USD", "--exchange", "1 EUR = 1.5 USD"), self.offers(self.write("plain.yaml", PLAN + OFFERS))
        self.assertAlmostEqual(offers["eight"]["cost"]["typical"], plain[[offer["name"] for offer in plain].index("eight")]["cost"]["typical"])
        self.assertIn("Its price, 4 EUR an hour, is 6 USD at the stated exchange rate.", offers["eight"]["assumptions"])
        self.assertEqual(costs("--budget", "9 EUR", "--exchange", "3 USD = 2 EUR")["two"]["currency"], "EUR")
        for rate, words in (("EUR 1.5", "is not an exchange rate such as"), ("1 EUR = 2 GBP", "no price is in GBP"), ("a'\"]", "--exchange")):
            self.assert_rejected(self.plan(mixed, "--exchange", rate), 2, "--exchange", words)
        # Ways to spread a model are compared by cost, too.
        rent = "{machine: p5.48xlarge, price: {per_hour: %s}}"
        llama = f"workload: llama3-8b\nsharding: [fsdp]\noffers: [{rent % '1 EUR'}, {rent % '2 USD'}, {rent % '3 USD'}]\n"
        self.assertIn("its price is in EUR, and others are in USD", self.plan(llama).stdout)

    def line(self, *flags):
        return self.run_ringside("plan", *flags, "--no-charts", "--output", self.folder / "out")

    def written(self):
        return (self.folder / "out" / "plan.yaml").read_text()

    def test_one_line_without_a_file_answers_on_one_screen(self):
        asked = ("--model", "resnet34", "--gpus", "4x3090, 8x3090, 4 x RTX 4090,8x4090,8xA100,p4d.24xlarge", "--bandwidth", "20 GB/s")
        result = self.line(*asked)
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("A tie between ", "Measure this next", "PCIe 4.0 x16 at 20 GB/s typically slows training down and may be the bottleneck", "ring beats naive there",
                      "NVLink 3 at 275 GB/s is not the bottleneck", "step, 90 %", "lost, 90 %", "  run  ", "USD, 90 %"):
            self.assertIn(words, result.stdout)
        self.assertLessEqual(len(result.stdout.splitlines()), 40, result.stdout)
        # Where offers tie there is no arrow.
        self.assertNotIn("→", result.stdout)
        self.assertIn("\n≈ tie", result.stdout)
        # What is written says the same.
        written = self.folder / "out" / "plan.yaml"
        self.assertNotIn("offers:", result.stdout)
        strip = lambda offers: [{key: value for key, value in offer.items() if key not in ("source", "assumptions")} for offer in offers]
        one_line = self.run_ringside("plan", *asked, "--no-charts", "--format", "json", "--output", self.folder / "again")
        offers = [record for record in self.records(one_line.stdout) if record["record"] == "offer"]
        self.assertEqual(len(offers), 6)
        self.assertTrue(all(offer["ring"] < offer["naive"] for offer in offers), offers)
        self.assertEqual(strip(offers), strip(self.offers(written)))

    def test_one_offer_whose_all_reduce_is_uncertain_asks_for_it_until_it_is_known(self):
        asked = ("--model", "vgg16", "--gpus", "8x3090")
        ask = "Measure this next: one all_reduce of 553 MB on 8 × RTX 3090 (--known '8 × RTX 3090: 553 MB in T ms')"
        self.assertIn(ask, self.line(*asked).stdout)
        self.assertNotIn("Measure this", self.line(*asked, "--known", "8 × RTX 3090: 553 MB in 200 ms").stdout)
        self.assertNotIn("Measure this", self.line("--model", "resnet50", "--gpus", "p4d.24xlarge").stdout)

    def test_gradients_alone_say_what_synchronising_takes(self):
        flags = ("--gradients", "88 MB", "--gpus", "4x3090", "--bandwidth", "20 GB/s")
        result = self.line(*flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("of 88 MB of gradients in one message", result.stdout)
        self.assertIn("parameters: 22000000", self.written())
        offer = self.records(self.line(*flags, "--format", "json").stdout)[-1]
        for parameters in ("22 M", "22M parameters", "22000000 parameters"):
            same = self.records(self.line("--gradients", parameters, *flags[2:], "--format", "json").stdout)[-1]
            self.assertEqual(same["communication"], offer["communication"])
        # The same as the scenario of README's listed host predicts.
        scenario = self.run_ringside("predict", SOURCE / "configs/scenarios/listed-4x3090.yaml", "--sweep", "intra.bandwidth=20GB/s", "--format", "json")
        points = {record["algorithm"]: record["predicted"] for record in self.records(scenario.stdout) if record["record"] == "point"}
        self.assertAlmostEqual(offer["communication"]["typical"], points["native"]["seconds"], delta=1e-12)
        self.assertAlmostEqual(offer["ring"], points["ring"]["seconds"], delta=1e-12)
        self.assertAlmostEqual(offer["naive"], points["naive"]["seconds"], delta=1e-12)

    def test_offers_of_one_line_have_the_least_listed_price_of_a_gpu_and_what_is_known_of_them_alone(self):
        result = self.line("--model", "resnet34-cifar", "--gpus", "4x3090,8x3090,P4D.24XLARGE", "--known", "4x3090: 85159208 B in 90 ms")
        self.assertEqual(result.returncode, 0, result.stderr)
        each = []
        for file in (SOURCE / "configs/machines").glob("*.yaml"):
            text = file.read_text()
            price, gpus = re.search(r"per_hour: ([0-9.]+) USD", text), re.search(r"gpus_per_node: ([0-9]+)", text)
            if price and gpus and re.search(r"model: (GeForce )?RTX 3090\b(?! Ti)", text):
                each.append(float(price[1]) / int(gpus[1]))
        four, eight, _ = re.findall(r"  - \{name: .*", (self.folder / "out" / "plan.yaml").read_text())
        self.assertIn(f"per_hour: {4 * min(each):.2f} USD", four)
        self.assertIn(f"per_hour: {8 * min(each):.2f} USD", eight)
        self.assertIn("known: [{native: {ranks: 4, bytes: 85159208 B, seconds: 90 ms}}]", four)
        self.assertNotIn("known", eight)

    def test_a_config_json_is_read_as_its_kind_of_model_means_it(self):
        def numbers(**config):
            result = self.line("--model", self.write("config.json", json.dumps(config)), "--shard", "fsdp", "--gpus", "8xH100")
            self.assertEqual(result.returncode, 0, result.stderr)
            return re.search(r"transformer: (\{.*\})", self.written())[1]

        qwen = {"model_type": "qwen3_moe", "hidden_size": 2048, "head_dim": 128, "num_hidden_layers": 8, "num_attention_heads": 32, "num_key_value_heads": 4,
                "vocab_size": 151936, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8}
        text = numbers(**qwen)
        for words in ("intermediate: 768", "head_dim: 128", "experts: 128, active_experts: 8"):
            self.assertIn(words, text)
        self.assertNotIn("gated", text)
        small = {"hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 16, "vocab_size": 50257}
        self.assertIn("kv_heads: 1,", numbers(model_type="gpt_bigcode", multi_query=True, **small))
        self.assertIn("gated: false, biases: true", numbers(model_type="gpt_neox", **small))
        self.assertIn("tied: true", numbers(model_type="gemma2", **small))
        self.assertNotIn("tied", numbers(model_type="gemma2", tie_word_embeddings=False, **small))
        self.assertNotIn("head_dim", numbers(model_type="mistral", head_dim=64, **small))
        for config, words in (({"model_type": "gemma3", **small}, ("unknown model_type 'gemma3'", "did you mean 'gemma'", "`transformer`")),
                              ({**qwen, "mlp_only_layers": [0]}, ("layers without experts",)),
                              ({"model_type": "qwen2_moe", **small, "num_experts": 60}, ("unknown model_type 'qwen2_moe'",)),
                              ({"model_type": "opt", **small, "word_embed_proj_dim": 512}, ("word_embed_proj_dim", "not modelled")),
                              *(({"model_type": "llama", **small, key: value}, (f"{key} is {words}",)) for key, value, words in (
                                  ("tie_word_embeddings", "yes maybe", "neither true nor false"), ("attention_bias", "true", "neither true nor false"),
                                  ("num_hidden_layers", "12", "no number above 0"), ("model_type", ["gpt2"], "no name of a kind of model"))),
                              ({**qwen, "mlp_only_layers": "none"}, ("mlp_only_layers is no list",))):
            result = self.line("--model", self.write("config.json", json.dumps(config)), "--shard", "fsdp", "--gpus", "8xH100")
            self.assert_rejected(result, 2, "config.json", *words)

        self.assertIn("intermediate: 2048", numbers(model_type="mpt", expansion_ratio=2, **small))
        self.assert_rejected(self.line("--model", self.folder / "none.json", "--gpus", "8xH100"), 2, "none.json: there is no such file")
        (self.folder / "folder.json").mkdir()
        self.assert_rejected(self.line("--model", self.folder / "folder.json", "--gpus", "8xH100"), 2, "folder.json: there is no such file")
        learnt = self.write("config.json", json.dumps({"model_type": "gpt2", "n_positions": 1024, **small}))
        unsaid = self.write("unsaid.json", json.dumps({"model_type": "gpt2", **small}))
        for model, words in ((learnt, "config.json: has learnt 1024 positions"), (unsaid, "unsaid.json: has learnt 1024 positions"),
                             ("gpt2-small", "is 2048, and the model has learnt 1024 positions")):
            self.assert_rejected(self.line("--model", model, "--sequence", "2048", "--gpus", "8xH100"), 2, words)
        swept = self.line("--model", "gpt2-small", "--shard", "ddp", "--gpus", "8xH100", "--sweep", "sequence=1024,2048")
        self.assert_rejected(swept, 2, "--sweep sequence=2048: is 2048, and the model has learnt 1024 positions")
        self.assertEqual(len(swept.stderr.splitlines()), 1)

    def test_a_model_of_more_than_a_quadrillion_parameters_is_refused(self):
        for number in ("hidden: 9000000000000000", "hidden: 4096, head_dim: 9000000000000000"):
            plan = "workload: {transformer: {layers: 10000, heads: 32, vocabulary: 1000, sequence: 1024, %s}, batch_per_gpu: 1, compute: {precision: bfloat16}}\n"
            self.assert_rejected(self.plan(plan % number + "sharding: [fsdp]\noffers: [{machine: dgx-h100}]\n"), 2, "plan.yaml:1:", "10^15 parameters")

    def test_a_config_json_is_named_after_its_folder(self):
        (self.folder / "it's mine").mkdir()
        config = self.write("it's mine/config.json", json.dumps({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32,
                                                                 "num_key_value_heads": 4, "vocab_size": 32000, "intermediate_size": 5632}))
        result = self.line("--model", config, "--gpus", "4xH100", "--batch", "1", "--sequence", "2048")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("name: 'it''s mine'", (self.folder / "out" / "plan.yaml").read_text())

    def test_what_is_known_counts_in_one_line(self):
        result = self.line("--model", "resnet34", "--gpus", "4x3090 @ 0.5 USD", "--batch", "64", "--known", "3090: 568 samples/s",
                           "--known", "4x3090: 85159208 B in 90 ms")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("One RTX 3090 trains 568 samples/s alone", result.stdout)
        self.assertIn("batch_per_gpu: 64", self.written())
        offer = self.offers(self.folder / "out" / "plan.yaml")[0]
        self.assertEqual(offer["per_hour"], 0.5)
        self.assertAlmostEqual(offer["compute"]["typical"], 64 / 568, delta=1e-9)
        self.assertGreater(offer["communication"]["typical"], 0.05)  # 13 ms where nothing is known.

    def test_llama_by_fsdp_zero_and_qlora_on_three_machines_is_one_command(self):
        flags = ("--model", "llama3-8b", "--shard", "fsdp,zero3,qlora", "--gpus", "8x4090,8xA100-40GB,8xH100")
        result = self.line(*flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("not used: 8 × RTX 4090, fsdp · checkpointing: does not fit: ", result.stdout)
        self.assertIn("sharding: [fsdp,zero3,qlora]", self.written())
        # An extrapolated offer ties like any other.
        self.assertIn("A tie between 8 × H100-SXM, 8 × A100-SXM4-40GB, 8 × RTX 4090: ", result.stdout)
        offers = [record for record in self.records(self.line(*flags, "--format", "json").stdout) if record["record"] == "offer"]
        self.assertEqual(len(offers), 9)
        usable = [offer for offer in offers if "problem" not in offer]
        self.assertEqual(len(usable), 7)
        for offer in usable:
            self.assertLessEqual(offer["memory"], offer["gpu_memory"])
            self.assertGreaterEqual(offer["communication"]["typical"], 0)
            for key in ("step", "exposed", "cost", "tokens_per_second"):
                self.assertLessEqual(offer[key]["low"], offer[key]["typical"])
                self.assertLessEqual(offer[key]["typical"], offer[key]["high"])

    def test_a_config_json_is_planned_and_searched(self):
        config = self.write("config.json", json.dumps({"model_type": "llama", "hidden_size": 2048, "num_hidden_layers": 22, "num_attention_heads": 32,
                                                       "num_key_value_heads": 4, "vocab_size": 32000, "intermediate_size": 5632}))
        result = self.line("--model", config, "--search", "--gpus", "4xA100", "--batch", "2", "--sequence", "2048")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"Rent 4 × A100-SXM4-40GB with .*\nNext is 4 × A100-SXM4-40GB with ")
        self.assertIn("layers: 22, hidden: 2048", self.written())
        huge = self.write("huge.json", json.dumps({"model_type": "llama", "hidden_size": 16384, "num_hidden_layers": 126, "num_attention_heads": 128,
                                                   "num_key_value_heads": 8, "vocab_size": 128256, "intermediate_size": 53248}))
        self.assert_rejected(self.line("--model", huge, "--search", "--gpus", "4xA100"), 3, "No offer can run the model in any of these ways")
        for text, words in (('{"num_experts": 8}', "mixtures of experts"), ("[1]", "not the config.json"), ('{"hidden_size": 8}', "has no num_hidden_layers")):
            self.assert_rejected(self.line("--model", self.write("bad.json", text), "--shard", "fsdp", "--gpus", "4xA100"), 2, "bad.json", words)
        self.assert_rejected(self.line("--model", config, "--search", "--shard", "fsdp", "--gpus", "4xA100"), 2, "--shard excludes --search")
        self.assert_rejected(self.line("--model", config, "--shard", "search", "--gpus", "4xA100"), 2, "--search tries all ways")
        self.assert_rejected(self.line("--model", "llama3-8b", "--shard", "fspd", "--gpus", "4xA100"), 2, "--shard 'fspd': ", "did you mean 'fsdp'")
        for nothing in ("", "ddp,"):
            self.assert_rejected(self.line("--model", "llama3-8b", "--shard", nothing, "--gpus", "4xA100"), 2, f"--shard '{nothing}': unknown way to shard ''")
        self.assert_rejected(self.line("--model", "resnet34", "--shard", "fsdp", "--gpus", "4xA100"), 2, "transformer")

    def test_ways_to_shard_meet_a_deadline_and_a_budget_or_nothing_is_rented(self):
        asked = ("--model", "llama3-8b", "--shard", "fsdp,zero3", "--gpus", "8xH100 @ 20 USD,8xA100 @ 8 USD", "--tokens", "1 B")
        soon = self.line(*asked, "--deadline", "8 h")
        self.assertEqual(soon.returncode, 0, soon.stderr)
        self.assertRegex(soon.stdout, r"\n→ +8 × H100-SXM")
        self.assert_rejected(self.line(*asked, "--deadline", "1 min"), 3, "No way is done within 1 min: the fastest, 8 × H100-SXM with ")
        self.assert_rejected(self.line(*asked, "--budget", "1 USD"), 3, "No way costs at most 1.00 USD: the cheapest, ")
        unknown = ("--model", self.write("gpt.yaml", "transformer: {layers: 12, hidden: 768, heads: 12, vocabulary: 50257, intermediate: 3072, sequence: 1024}\n"
                                         "batch_per_gpu: 1\ncompute: {precision: bfloat16}\n"), "--shard", "ddp", "--gpus", "8xH100")
        self.assert_rejected(self.line(*unknown, "--deadline", "1 h"), 2, "--deadline 1 h: needs a workload whose length is known")

    def test_offers_without_a_price_come_after_those_with_one(self):
        result = self.line("--model", "llama3-8b", "--shard", "fsdp", "--gpus", "8xA100-80GB @ 12 USD,2 x dgx-h100", "--tokens", "1 B")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\n→ +8 × A100-SXM4-80GB .*\n +2 × DGX H100 ")
        self.assertRegex(result.stdout, r"Rent 8 × A100-SXM4-80GB with .*USD\.\n(.*\n)*The price of 2 × DGX H100 is unknown; it may be lower")

    def test_ways_to_shard_are_swept(self):
        asked = ("--model", "llama3-8b", "--shard", "fsdp,zero3", "--gpus", "8xH100 @ 20 USD")
        result = self.line(*asked, "--sweep", "batch_per_gpu=1,2", "--sweep", "gpus=4,8")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(re.findall(r"^ +[12] +[48]  (?:8 × H100-SXM  (?:fsdp|zero3)|none: does not fit)", result.stdout, re.MULTILINE)), 4, result.stdout)
        swept = self.run_ringside("plan", *asked, "--output", self.folder / "out", "--sweep", "gpus=4,8", "--format", "json")
        self.assertEqual([record["sweep"] for record in self.records(swept.stdout)], [{"gpus": "4"}, {"gpus": "8"}])
        self.assert_rejected(self.line("--gradients", "88 MB", "--gpus", "8x4090", "--sweep", "gpus=4"), 2, "--sweep", "has no `compute`")

    def test_what_bears_on_nothing_beside_sharding_is_refused(self):
        plan = "workload: llama3-8b\noffers: [{name: a, machine: dgx-h100}]\nsharding: [fsdp]\n"
        self.assertEqual(self.plan(plan + "synchronisation: {accumulate: 2}\n").returncode, 0)
        self.assert_rejected(self.plan(plan + "synchronisation: {style: one_bucket}\n"), 2, "plan.yaml:3:", "only `accumulate` counts")
        self.assert_rejected(self.plan(plan + "algorithm: ring\n"), 2, "plan.yaml:4:", "has no effect")
        self.assert_rejected(self.plan(plan, "--explain", "a"), 2, "--explain", "has `sharding`")
        broken = self.plan(plan.replace("llama3-8b", "llama3-9b"))
        self.assert_rejected(broken, 2, "did you mean 'llama3-8b'")
        self.assertNotIn("transformer", broken.stderr)

    def test_an_offer_is_explained_or_refused_by_its_name(self):
        asked = ("--model", "vgg16", "--gpus", "4x3090,8x4090")
        self.assertRegex(self.line(*asked, "--explain", "4090").stdout, r"\n8 × RTX 4090: PCIe .* is typically the bottleneck")
        self.assert_rejected(self.line(*asked, "--explain", "5090"), 2, "--explain '5090': no offer that is shown")

    def test_the_command_in_the_file_can_be_typed_again(self):
        self.line("--model", "vgg16", "--gpus", "4x3090, 8x4090 @ 3 USD")
        self.assertIn(" plan --model vgg16 --gpus '4x3090, 8x4090 @ 3 USD' ", (self.folder / "out/plan.yaml").read_text())

    def test_the_length_of_the_run_can_be_said(self):
        def cost(*arguments):
            result = self.line(*arguments)
            self.assertEqual(result.returncode, 0, result.stderr)
            return self.written(), float(re.search(r"for the run of [\d.]+ [MB] tokens, ([\d.]+) USD", result.stdout)[1])

        offers = ("--shard", "fsdp", "--gpus", "8xH100 @ 20 USD")
        text, short = cost("--model", "llama3-8b", "--tokens", "1 B", *offers)
        self.assertIn("tokens: 1000000000\n", text)
        self.assertIn("for the run of 1 T tokens, ", self.line("--model", "llama3-8b", "--tokens", "1 T", *offers).stdout)
        text, long = cost("--model", "llama3-8b", "--tokens", "15e9", *offers)
        self.assertAlmostEqual(long / short, 15, delta=0.2)
        text, _ = cost("--model", "llama3-8b", "--tokens", "1B", "--sequence", "4096", *offers)
        self.assertIn("tokens: 1000000000\n", text)
        text, _ = cost("--model", "llama3-8b", "--epochs", "2", *offers)
        self.assertIn("epochs: 2\n", text)
        counted = self.write("counted.yaml", "transformer: {layers: 2, hidden: 64, heads: 2, vocabulary: 100, sequence: 8}\nbatch_per_gpu: 1\nsamples: 3\n")
        for arguments, words in (
                (("--model", "llama3-8b", "--tokens", "many"), ("--tokens 'many': ", "300 B")),
                (("--model", "llama3-8b", "--epochs", "-1"), ("--epochs '-1': ", "90")),
                (("--model", "llama3-8b", "--epochs", "1", "--tokens", "1 B"), ("--tokens excludes --epochs",)),
                (("--model", counted, "--epochs", "1", "--sequence", "4"), ("say --tokens",)),
                (("--model", "resnet34", "--tokens", "1 B"), ("no language model; say --epochs",)),
                (("--gradients", "88 MB", "--tokens", "1 B"), ("--gradients excludes --tokens",))):
            self.assert_rejected(self.line(*arguments, "--gpus", "8xH100"), 2, *words)

    def test_one_line_that_cannot_be_is_refused_by_its_part(self):
        for flags, words in (
            (("--model", "resnet34"), "--model needs --gpus, such as 4x3090, or --offers"),
            (("--gpus", "4x3090"), "--gpus needs --model"),
            (("--gradients", "6 B", "--gpus", "4x3090"), "no whole number of float32 gradients"),
            (("--model", "resnet34", "--gpus", "4x3090", "--batch", "0"), "is not a number of samples of one GPU"),
            (("--model", "resnet34", "--gpus", "99999999x3090"), "unknown GPU or machine"),
            (("--model", "resnet34", "--gpus", "4x3091"), "--gpus '4x3091': "),
            (("--model", "resnet34", "--gpus", "p4d.24xlargee"), "did you mean 'p4d.24xlarge'"),
            (("--model", "resnet34", "--gpus", "4x3090,,8x3090"), "empty part"),
            (("--model", "resnet34", "--gpus", "4x3090 @ cheap"), "the price of an hour"),
            (("--model", "resnet", "--gpus", "4x3090"), "--model 'resnet': "),
            (("--model", "resnet34", "--gpus", "8xA100", "--bandwidth", "20 GB/s"), "--bandwidth '20 GB/s': "),
            (("--model", "resnet34", "--gpus", "4x3090", "--bandwidth", "fast"), "--bandwidth 'fast': "),
            (("--model", "resnet34", "--gpus", "4x3090", "--batch", "many"), "--batch 'many': "),
            (("--model", "resnet34", "--gpus", "4x3090", "--known", "4090: 10 samples/s"), "nothing of --gpus '4x3090' is 4090"),
            (("--model", "resnet34", "--gpus", "4x3090", "--known", "fast"), "--known 'fast': "),
            (("--gradients", "88 MB", "--gpus", "4x3090", "--batch", "3"), "--gradients excludes --batch"),
            (("--gradients", "lots", "--gpus", "4x3090"), "--gradients 'lots': "),
            (("--gradients", "88 MB", "--model", "resnet34", "--gpus", "4x3090"), "--model excludes --gradients"),
        ):
            self.assert_rejected(self.line(*flags), 2, words)
        self.assert_rejected(self.plan(PLAN + OFFERS, "--gpus", "4x3090"), 2, "PLAN excludes --gpus")

    def test_a_bad_value_of_a_flag_names_the_flag_and_the_value(self):
        for flag, value, words in (
            ("--deadline", "soon", "is not a time; write"),
            ("--deadline", "5", "has no unit"),
            ("--budget", "20", "such as `20 USD`"),
            ("--sweep", "accumulate=0", "whole number"),
            ("--sweep", "batch_per_gpu=x", "whole number"),
            ("--sweep", "deadline=1", "has no unit"),
            ("--sweep", "budget={a", "YAML"),
            ("--sweep", "gpus=0", "number of GPUs"),
        ):
            result = self.plan(PLAN + OFFERS, flag, value)
            self.assert_rejected(result, 2, f"{flag} {value}: ", words)
            self.assertNotIn("plan.yaml", result.stderr)
        self.assert_rejected(self.plan(PLAN + OFFERS, "--sweep", "accumulat=1"), 2, "--sweep accumulat: ", "'accumulate'")

    def test_nothing_fits_is_3_with_the_reason(self):
        self.assert_rejected(self.plan(PLAN + OFFERS, "--deadline", "1 s"), 3, "No offer is done within 1 s")
        llama = "workload: llama3-8b\noffers: [{machine: p5.48xlarge}]\n"
        # What a plan asks of plain data parallelism is not planned in another way.
        self.assert_rejected(self.plan(llama + "algorithm: ring\n"), 3, "does not fit", "FSDP")

    def test_a_model_too_large_for_plain_data_parallelism_is_planned_with_layouts_that_fit(self):
        result = self.line("--model", "llama3-8b", "--gpus", "8xH100,4x3090")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("The model does not fit every GPU as plain data parallelism", result.stdout)
        self.assertRegex(result.stdout, r"\nRent 8 × H100-SXM with (zero|fsdp)")
        self.assertLessEqual(len(result.stdout.splitlines()), 40, result.stdout)
        searched = self.line("--model", "llama3-8b", "--gpus", "8xH100,4x3090", "--search", "--format", "json")
        self.assertEqual(self.records(self.line("--model", "llama3-8b", "--gpus", "8xH100,4x3090", "--format", "json").stdout)[1:], self.records(searched.stdout)[1:])

    def test_where_no_layout_fits_the_nearest_way_out_is_named_and_is_one(self):
        refused = self.line("--model", "llama3-8b", "--gpus", "2x3090")
        self.assert_rejected(refused, 3, "To fit 2 × RTX 3090: ", "adapters: lora}`", "--shard qlora", "6 nodes of it with fsdp")
        self.assertNotIn("does not fit", self.line("--model", "llama3-8b", "--gpus", "2x3090", "--shard", "qlora").stdout)
        asked = self.line("--model", "llama3-8b", "--gpus", "8xH100", "--sequence", "1000000")
        self.assert_rejected(asked, 3, "To fit 8 × H100-SXM: ", "--sequence ")
        self.assert_rejected(self.line("--model", "llama3-8b", "--tokens", "1 B", "--gpus", "1x3060"), 3, "--shard qlora with --sequence ")
        sequence = re.search(r"--sequence (\d+) with fsdp", asked.stderr)
        self.assertEqual(self.line("--model", "llama3-8b", "--gpus", "8xH100", "--sequence", sequence[1], "--shard", "fsdp").returncode, 0)

    def test_a_network_of_several_data_sets_is_that_of_imagenet_unless_it_is_said(self):
        first = lambda *flags: self.line(*flags, "--gpus", "4x3090").stdout.splitlines()[0]
        self.assertEqual(first("--model", "resnet34"), "ResNet-34 on ImageNet: 90 epochs of 1281167 samples, batch 256 per GPU.")
        self.assertEqual(first("--model", "resnet34-imagenet", "--epochs", "1", "--batch", "8"), "ResNet-34 on ImageNet: 1 epoch of 1281167 samples, batch 8 per GPU.")
        self.assertEqual(first("--model", "resnet34-cifar"), "ResNet-34 on CIFAR-10: 30 epochs of 50000 samples, batch 128 per GPU.")
        self.assertEqual(first("--model", "gpt2-small", "--tokens", "50 M"), "GPT-2 small: 50 M tokens, sequences of 1024 in bfloat16, batch 12 per GPU.")
        self.assertNotIn("billion", self.written())

    def test_a_listing_and_a_model_are_enough(self):
        result = self.line("--model", "resnet50", "--offers", LISTINGS / "vast.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        offers = [one["name"] for one in self.records(self.line("--model", "resnet50", "--offers", LISTINGS / "vast.json", "--format", "json").stdout)[1:]]
        self.assertEqual(len(offers), 4)
        for name in offers:
            self.assertRegex(name, r"\(\d+\)$")  # Nothing but what is listed.
        known = self.line("--model", "resnet50", "--offers", LISTINGS / "vast.json", "--known", "4090: 500 samples/s")
        self.assertIn("One RTX 4090 trains 500 samples/s alone", known.stdout)
        self.assert_rejected(self.line("--offers", LISTINGS / "vast.json"), 2, "--offers needs --model")
        self.assert_rejected(self.line("--model", "resnet50", "--bandwidth", "20 GB/s", "--offers", LISTINGS / "vast.json"), 2, "--bandwidth '20 GB/s': ")

    def test_a_plan_fits_a_screen_and_is_explained_on_demand(self):
        plan = SOURCE / "configs/plans/resnet34-tutorial.yaml"
        short = self.run_ringside("plan", plan, "--no-charts").stdout
        self.assertLessEqual(len(short.splitlines()), 40, short)
        self.assertEqual(short.count("assumed: "), 4)  # Three, and how many more.
        self.assertIn("5 more are in ", short)
        real = json.loads((LISTINGS / "vast.json").read_text())
        many = self.write("many.json", json.dumps([dict(real[index % 4], id=index, dph_total=1 + index % 97, gpu_frac=1.0) for index in range(200)]))
        listed = self.line("--model", "bert-large", "--offers", many).stdout
        self.assertLessEqual(len(listed.splitlines()), 40, listed)
        self.assertIn("188 more are in ", listed)
        full = self.run_ringside("plan", plan, "--no-charts", "--top", "20", "--explain", "A100").stdout
        self.assertNotIn("more are in", full)
        for words in ("needed: bandwidth of a GPU's link", "8 × A100 (Lambda): NVLink", "assumed: One A10G computes at"):
            self.assertIn(words, full)

    def test_sweep_over_keys_of_plan_workload_and_machine(self):
        for sweep in ("accumulate=1,4", "batch_per_gpu=50:200:2x", "bandwidth=5GB/s:20GB/s:2x", "gpus=1,2"):
            result = self.plan(PLAN + OFFERS, "--sweep", sweep)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertGreaterEqual(len(result.stdout.splitlines()), 3)

    def test_offers_whose_prediction_rests_on_one_nic_of_several_are_named_once(self):
        offers = """offers:
  - {name: pair, machine: 2 x p4d.24xlarge, price: {per_hour: 60 USD}}
  - {name: another pair, machine: 2 x p4d.24xlarge, price: {per_hour: 70 USD}}
  - {name: lone, machine: p4d.24xlarge, price: {per_hour: 50 USD}}
"""
        words = "to know: pair and 1 more: ring uses 1 of the 4 NICs of a node."
        self.assertEqual(self.plan(PLAN + offers).stdout.splitlines().count(words), 1)
        nics = {offer["name"]: offer.get("nics") for offer in self.offers(self.write("plan.yaml", PLAN + offers))}
        self.assertEqual(nics, {"pair": {"used": 1, "of": 4}, "another pair": {"used": 1, "of": 4}, "lone": None})
        native = self.plan((PLAN + offers).replace("ring", "native")).stdout
        self.assertRegex(native, r"\nto know: pair and 1 more: ring uses 1 of the 4 NICs of a node, native all 4: NCCL .*\.\n")
        self.assertNotIn("NICs of a node", self.plan(PLAN + offers.split("  - ")[0] + "  - " + offers.split("  - ")[3]).stdout)

    def test_a_sweep_names_the_best_offers_that_leave_nics_idle_once_under_its_table(self):
        pair = "offers:\n  - {name: pair, machine: 2 x p4d.24xlarge, price: {per_hour: 60 USD}}\n"
        lines = self.plan(PLAN + pair, "--sweep", "nics=1,4,8", "--sweep", "accumulate=1,4").stdout.splitlines()
        self.assertEqual(lines[-4:], ["", "warnings", "  ring uses 1 of the 4 NICs of a node. [pair]", "  ring uses 1 of the 8 NICs of a node. [pair]"])
        swept = self.offers(self.write("plan.yaml", PLAN + pair), "--sweep", "nics=4,8")
        self.assertEqual([offer["nics"]["of"] for offer in swept], [4, 8])

    def test_a_sweep_says_which_of_its_best_are_too_late_or_too_dear(self):
        sharded = ("--model", "llama3-8b", "--gpus", "8xH100 @ 16 USD/h", "--shard", "fsdp", "--tokens", "100 M", "--batch", "2")
        for asked in (("--model", "resnet34", "--gpus", "4x3090 @ 1 USD/h"), sharded):
            result = self.line(*asked, "--sweep", "deadline=1s,100h", "--sweep", "budget=1000 USD")
            self.assertEqual(result.returncode, 0, result.stderr)
            late, in_time = result.stdout.splitlines()[1:3]
            self.assertRegex(late, r"1s +1000 USD +\(. × ")
            self.assertRegex(in_time, r"100h +1000 USD +[^ (]")
            self.assertRegex(result.stdout, r"\nin brackets: not recommended\n  No (offer|way) is done within 1 s: .* \[deadline=1s budget=1000 USD\]\n")
            self.assert_rejected(self.line(*asked, "--sweep", "deadline=1s,2s"), 3, "is done within 2 s")

    def test_a_sweep_of_nodes_rents_whole_machines_at_the_price_of_a_gpu(self):
        offer = """offers:
  - {name: nodes, machine: 2 x p4d.24xlarge, price: {per_hour: 60 USD}}
"""
        swept = self.offers(self.write("plan.yaml", PLAN + offer), "--sweep", "nodes=1,2,4")
        self.assertEqual([(one["gpus"], one["per_hour"]) for one in swept], [(8, 30), (16, 60), (32, 120)])
        self.assertIn("at the same price per GPU", self.plan(PLAN + offer, "--sweep", "nodes=1,2").stdout)

    def test_a_sweep_of_the_sequence_keeps_the_tokens_of_the_run(self):
        asked = ("--model", "llama3-8b", "--shard", "fsdp", "--gpus", "8xH100 @ 16 USD/h", "--tokens", "2 B")
        swept = [one["run"]["typical"] for one in self.records(self.line(*asked, "--sweep", "sequence=2048,8192", "--format", "json").stdout)]
        alone = [self.records(self.line(*asked, "--sequence", length, "--format", "json").stdout)[-1]["run"]["typical"] for length in ("2048", "8192")]
        self.assertEqual(swept, alone)
        both = "workload: {transformer: {layers: 2, hidden: 64, heads: 2, vocabulary: 100, sequence: 8}, batch_per_gpu: 1, tokens: 1 B, samples: 3}\n"
        self.assert_rejected(self.plan(both + OFFERS), 2, "workload.tokens: stands beside `samples`")
        self.assert_rejected(self.line("--model", "resnet34", "--gpus", "8xH100", "--sweep", "tokens=1 B,2 B"), 2, "--sweep tokens=1 B: is of a language model")

    def test_what_a_list_of_ways_holds_is_not_swept(self):
        for how in (("--search",), ("--shard", "fsdp")):
            asked = ("--model", "llama3-8b", *how, "--gpus", "8xH100", "--sweep", "tensor=1,2")
            self.assert_rejected(self.line(*asked), 2, "--sweep tensor=1: `sharding` is ", "has no one `tensor`")
        self.assert_rejected(self.line("--model", "llama3-8b", "--gpus", "8xH100", "--sweep", "accumulate=1,2", "--explain", "H100"), 2, "--sweep excludes --explain")

    def test_ways_that_tie_overlap_in_what_the_plan_compares(self):
        def said(*arguments):
            return self.line("--model", "llama3-8b", "--shard", "fsdp", *arguments).stdout

        self.assertIn("Rent 8 × H100-SXM with fsdp", said("--gpus", "8xH100 @ 100 USD, 4xA100-80GB @ 1 USD", "--budget", "5000 USD"))
        self.assertIn("A tie between 8 × H100-SXM, 8 × A100-SXM4-40GB, 8 × A100-SXM4-80GB:", said("--gpus", "8xH100 @ 16 USD,8xA100 @ 6.2 USD,8xA100-80GB @ 10 USD"))
        below = said("--gpus", "8xH100 @ 100 USD, 8xH20 @ 3 USD")
        for words in ("By published speeds rent 8 × H100-SXM with fsdp", "8 × H20 with fsdp may be better", "--known 'H20: N samples/s'"):
            self.assertIn(words, below)

    def test_a_speed_that_no_gpu_can_have_is_refused(self):
        for model, known in (("resnet34", "3090: 1000000 samples/s"), ("llama3-8b", "3090: 1000 samples/s")):
            self.assert_rejected(self.line("--model", model, "--gpus", "4x3090", "--known", known), 2, "compute.measured", "and one RTX 3090 has", "several GPUs")

    def test_sweeps_of_nonsense_are_refused(self):
        for sweep, words in (("gpus=many", "not a number of GPUs"), ("bandwith=5GB/s,8GB/s", "bandwidth"), ("batch_per_gpu=-1,2", "out of range"),
                             ("accumulate", "--sweep accumulate")):
            self.assert_rejected(self.plan(PLAN + OFFERS, "--sweep", sweep), 2, words)

    def test_the_plan_of_the_exercises_answers_in_words(self):
        result = self.run_ringside("plan", SOURCE / "configs/plans/resnet34-tutorial.yaml", "--no-charts", "--explain", "4 × RTX 3090 PCIe 4.0 x16")
        self.assertEqual(result.returncode, 0, result.stderr)
        for words in ("synchronising 85.2 MB", "from a link bandwidth of", "ring is", "A tie between ",
                      "The ring of exercises (tutorial_ring) takes 47.4 ms, 1.7 times as long as naive: each of its 6 rounds",
                      "PyTorch's tutorial ring (circulating_ring) takes ", "each of its 3 rounds"):
            self.assertIn(words, result.stdout)

    def test_listings_of_vast_and_skypilot(self):
        plan = SOURCE / "configs/plans/bert-vast.yaml"
        offers = self.offers(plan, "--offers", LISTINGS / "vast.json", "--deadline", "30 days")
        self.assertEqual(len(offers), 4)
        self.assertEqual(sum("problem" in offer for offer in offers), 0)
        offers = self.offers(plan, "--offers", LISTINGS / "aws.csv", "--offers", LISTINGS / "vast.csv", "--deadline", "30 days")
        # The instance of AWS, on demand and as spot, and the machine of vast.ai.
        self.assertEqual(len(offers), 3)

    def test_what_speaks_against_a_listed_offer_is_said_in_every_kind_of_answer(self):
        gpus = {"gpu_name": "A100 SXM4", "num_gpus": 8, "gpu_ram": 81920, "pci_gen": 4.0, "gpu_lanes": 16, "bw_nvlink": 300.0, "dph_total": 1.0}
        listing = self.write("vast.json", json.dumps([{"id": 1, "duration": 60, "rented": True, **gpus}, {"id": 2, "rentable": False, **gpus},
                                                      {"id": 3, **gpus, "dph_total": 0}]))
        for asked in (("--model", "resnet50"), ("--model", "llama3-8b", "--shard", "fsdp")):
            said = self.line(*asked, "--gpus", "8xV100", "--offers", listing).stdout
            self.assertIn("to know: 8 × A100 SXM4 (1): It can be rented for 1 min, less than the run takes.\n", said)
            self.assertIn("to know: 8 × A100 SXM4 (1): It is rented out at the moment.\n", said)
            self.assertRegex(said, r"not used: 8 × A100 SXM4 \(2\).*: it cannot be rented at the moment")
            self.assertIn("The price of 8 × A100 SXM4 (3)", said)
        said = self.line("--gradients", "88 MB", "--gpus", "8xV100", "--offers", listing).stdout
        self.assertIn("to know: 8 × A100 SXM4 (1): It is rented out at the moment.\n", said)
        self.assertIn("not used: 8 × A100 SXM4 (2): it cannot be rented at the moment", said)
        only = self.write("only.json", json.dumps([{"id": 1, "duration": 60, **gpus}, *({"id": i, "rentable": False, **gpus} for i in range(2, 9))]))
        self.assertRegex(self.plan("workload: resnet50\n", "--offers", only, "--sweep", "accumulate=1,2").stdout,
                         r"It can be rented for 1 min.* \[8 × A100 SXM4 \(1\)\]")
        said = self.line("--model", "resnet50", "--gpus", "8xV100", "--offers", only).stdout
        self.assertIn("not used: 8 × A100 SXM4 (2) and 6 more: it cannot be rented at the moment", said)
        self.assertEqual(said.count("not used: "), 1)
        self.assertIn("It can be rented for 1 min", self.plan("workload: resnet50\n" + OFFERS, "--offers", listing).stdout)
        self.assert_rejected(self.line("--model", "resnet50", "--gpus", "4x3090 @ 0 USD"), 2, "--gpus '4x3090 @ 0 USD'", "the price of an hour")

    def test_the_file_that_is_written_says_all_that_the_line_said(self):
        listing = self.write("a list.yaml", OFFERS)
        asked = ("--model", "resnet50", "--gpus", "4x3090 @ 1 EUR,8xA100 @ 8 USD", "--deadline", "20 h", "--budget", "50 USD", "--exchange", "1 EUR = 1.1 USD")
        line = self.records(self.line(*asked, "--offers", listing, "--format", "json").stdout)
        self.assertIn(f"--offers '{listing}'\n", self.line(*asked, "--offers", listing).stdout)
        file = self.offers(self.folder / "out/plan.yaml", "--offers", listing)
        kept = ("name", "recommended", "cost", "run", "problem")
        self.assertEqual([{key: one.get(key) for key in kept} for one in line[1:]], [{key: one.get(key) for key in kept} for one in file])

    def test_some_gpus_of_a_mesh_have_fewer_links_and_a_machine_that_cannot_be_spoils_no_other_offer(self):
        def native(gpus):
            return [one["communication"]["typical"] for one in self.records(self.line("--gradients", "1 GB", "--gpus", gpus, "--format", "json").stdout)[1:]]

        (two,), (eight,) = native("2xMI300X"), native("8xMI300X")
        self.assertGreater(two, 3 * eight)  # One link of seven, and half of the bytes.
        for asked, words in (("4xMI300X", "gpus_per_node: 8,"), ("6xV100", "gpus: 6,")):
            self.line("--model", "resnet50", "--gpus", asked)
            self.assertIn(words, self.written())
        offer = "  - {name: bad, machine: {gpus_per_node: 4, gpu: {model: MI300X}, intra: {kind: xgmi}}, price: {per_hour: 1 USD}}\n"
        for workload in ("resnet50", "{parameters: 22000000}"):
            result = self.plan(f"workload: {workload}\n" + OFFERS + offer)
            self.assertIn(result.returncode, (0, 3), result.stderr)
            self.assertRegex(result.stdout, r"bad: (the machine: )?intra.links_per_gpu: 7 links")

    def test_a_step_of_fewer_samples_than_gpus_cannot_be(self):
        few = PLAN.replace("batch_per_gpu: 100", "global_batch: 8")
        self.assertNotEqual(few, PLAN)
        self.assertEqual(self.plan(few + OFFERS).returncode, 0)
        accumulated = few.replace("{style: one_bucket}", "{style: one_bucket, accumulate: 2}")
        result = self.plan(accumulated + OFFERS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("eight: 8 GPUs × 2 passes are more than the 8 samples of a step", result.stdout)

    def test_gpus_that_no_node_has_are_asked_for_by_node(self):
        for gpus, words in (("16xH100", ("at most 8 H100-SXM", "'2 x p5.48xlarge'")), ("17xL40S", ("at most 10 L40S", "'3 x g6e.48xlarge'")),
                            ("64xMI300X", ("at most 8 MI300X", "8 x")), ("73xGB300", ("at most 72 GB300", "`inter`"))):
            self.assert_rejected(self.line("--gradients", "88 MB", "--gpus", gpus), 2, f"--gpus '{gpus}': one node has ", *words)
        for gpus in ("16xV100", "72xGB200", "10x3090"):
            self.assertEqual(self.line("--gradients", "88 MB", "--gpus", gpus).returncode, 0)
        mesh = "{gpus_per_node: 16, gpu: {model: V100-SXM2-16GB}, intra: {kind: nvlink, generation: 2, wiring: hybrid_cube_mesh}}"
        plan = self.plan("workload: {parameters: 22000000}\noffers: [{name: mesh, machine: %s}]\n" % mesh)
        self.assert_rejected(plan, 3, "16 GPUs; a hybrid_cube_mesh has 8 or 4")

    def test_rows_of_listings_are_counted(self):
        result = self.run_ringside("plan", SOURCE / "configs/plans/bert-vast.yaml", "--no-charts", "--deadline", "30 days",
                                   "--offers", LISTINGS / "gcp.csv", "--offers", LISTINGS / "do.csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        said = result.stdout + result.stderr
        # The row that is not understood is no offer.
        self.assertIn("gcp.csv: 8 rows: 7 offers in 4 rows, 3 rows without GPUs, 1 row not understood", said)
        self.assertIn("AcceleratorCount is 'one', which is no number of GPUs", said)
        self.assertIn("the catalogue does not know the GPU 'tpu v5litepod 8'", said)

    def test_a_plan_in_a_folder_that_cannot_be_written_is_answered_and_then_refused(self):
        plan = self.write("plan.yaml", PLAN + OFFERS)
        blocked = self.write("file", "not a folder")
        spare = self.folder / "spare"
        spare.mkdir()
        result = self.run_ringside("plan", plan, "--output", blocked / "out", environment={"TMPDIR": str(spare)})
        self.assertEqual(result.returncode, 2, result.stdout)
        self.assertIn("Rent two", result.stdout)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertRegex(result.stderr, f"cannot write results to .*; they are in {spare}/ringside-plan-")
        self.assertEqual(len(list(spare.glob("*/plan.jsonl"))), 1)
        self.assert_rejected(self.run_ringside("plan", plan, "--output", blocked / "out", environment={"TMPDIR": "/nowhere"}), 2, "cannot write results to")

    def test_a_gpu_that_nobody_measured_is_not_recommended(self):
        result = self.line("--model", "llama3-8b", "--shard", "qlora", "--gpus", "8x4090 @ 0.01 USD,8xA100")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"By published speeds rent 8 × A100-SXM4-40GB with qlora")
        result = self.line("--model", "resnet50", "--gpus", "4xL40S @ 0.01 USD,4x3090 @ 4 USD")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("4 × L40S may be better, but its speed is extrapolated", result.stdout)
        self.assert_rejected(self.line("--model", "resnet50", "--gpus", "4xL40S"), 3, "Nothing is recommended")
        adapters = ("--model", "llama3-8b", "--shard", "lora", "--gpus", "1x4090", "--sequence", "2048")
        self.assert_rejected(self.line(*adapters), 3, "Nothing is recommended", "--known 'RTX 4090: N samples/s'")
        known = self.line(*adapters, "--known", "4090: 0.8 samples/s")
        self.assertEqual(known.returncode, 0, known.stderr)
        self.assertIn("One RTX 4090 computes at 42 % of its", known.stdout)

    def test_one_bad_offer_among_many_is_reported_and_the_rest_ranked(self):
        listing = json.loads((LISTINGS / "vast.json").read_text())
        listing[1]["dph_total"] = "cheap"
        listing[2]["gpu_name"] = "RTX 9090"
        result = self.run_ringside("plan", SOURCE / "configs/plans/bert-vast.yaml", "--no-charts", "--deadline", "30 days",
                                   "--offers", self.write("offers.json", json.dumps(listing)))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("not used: "), 2)
        self.assertIn("dph_total is \"cheap\" instead of a number", result.stdout)
        self.assertIn("does not know the GPU 'RTX 9090'", result.stdout)

    def test_bad_files_get_one_message(self):
        plan = self.write("plan.yaml", PLAN)
        for name, text, words in (
            ("page.json", "<!DOCTYPE html>\n<html>", "is an HTML page"),
            ("cut.json", '[{"id":1,"gpu_name":"RTX 30', "is cut off"),
            ("empty.json", "[]", "is an empty list"),
            ("nothing.json", "", "is empty"),
            ("other.csv", "InstanceType,Price\nx,1\n", "has no column AcceleratorName"),
        ):
            result = self.run_ringside("plan", plan, "--no-charts", "--offers", self.write(name, text))
            self.assert_rejected(result, 2, name, words)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assert_rejected(self.run_ringside("plan", plan, "--offers", "nowhere.json"), 2, "nowhere.json")
        self.assert_rejected(self.run_ringside("plan", plan), 2, "has no offers")
        self.assert_rejected(self.run_ringside("plan"), 2, "PLAN")

    def test_bad_plans_get_one_message(self):
        for before, after, words in (
            ("batch_per_gpu: 100", "batch_per_gpu: -100", "batch_per_gpu: '-100' is out of range"),
            ("6 USD", "6", "an amount and its currency"),
            ("10 us", "10 GB/s", "latency"),
            ("parameters: 20000000", "parameters: 7\n  model: resnet50", "is 7, but the 161 tensors have 25557032"),
            ("style: one_bucket", "style: one-bucket", "did you mean 'one_bucket'"),
            ("algorithm: ring", "algorithm: rinng", "did you mean 'ring'"),
        ):
            result = self.plan((PLAN + OFFERS).replace(before, after, 1))
            self.assert_rejected(result, 2, "plan.yaml:", words)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)

    def test_five_thousand_offers(self):
        real = json.loads((LISTINGS / "vast.json").read_text())
        listing = []
        for index in range(5000):
            offer = dict(real[index % 4], id=index, dph_total=1 + index % 97)
            offer["num_gpus"] = 1 << index % 4
            offer["gpu_frac"] = 1.0
            offer["pcie_bw"] = 3 + index % 25
            listing.append(offer)
        offers = self.offers(SOURCE / "configs/plans/bert-vast.yaml", "--deadline", "90 days",
                             "--offers", self.write("offers.json", json.dumps(listing)))
        self.assertEqual(len(offers), 5000)

    def test_workloads_are_listed(self):
        result = self.run_ringside("list", "workloads", "--format", "json")
        names = [record["workload"] for record in self.records(result.stdout)]
        for name in ("resnet34-cifar10", "resnet50", "vgg16", "bert-base", "bert-large", "gpt2-xl", "vit-b16", "llama3-8b"):
            self.assertIn(name, names)


if __name__ == "__main__":
    unittest.main()
