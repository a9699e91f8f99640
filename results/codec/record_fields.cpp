// The fields of every record but `point`.
#include "results/codec/field_table.hpp"
#include "results/codec/record.hpp"

namespace ringside {

FieldTable<ScenarioRecord> table_of(const ScenarioRecord* /*any*/) {
  return {.fields =
              fields<ScenarioRecord>(required("name", &ScenarioRecord::name, "",
                                              "its name; a run resumes only results of the same name"),
                                     always("file", &ScenarioRecord::file, "", "its file, as typed"),
                                     always("text", &ScenarioRecord::text, "", "the YAML that was read"))};
}

FieldTable<MachineRecord> table_of(const MachineRecord* /*any*/) {
  return {
      .fields = fields<MachineRecord>(
          required("name", &MachineRecord::name, "", "its name"),
          optional("this_machine", &MachineRecord::this_machine, "",
                   "`true` when the scenario says `machine: this`, omitted otherwise"),
          required("yaml", &MachineRecord::yaml, "", "a machine file, complete: enough to predict again"))};
}

FieldTable<RunHeader> table_of(const RunHeader* /*any*/) {
  return {
      .record = "run",
      .fields = fields<RunHeader>(
          required("schema", &RunHeader::schema, "", "`ringside/1`; a reader refuses any other"),
          required("version", &RunHeader::version, "", "of the program that wrote the file"),
          required("command", &RunHeader::command, "", "as typed"),
          required("scenario", &RunHeader::scenario, "", "what was asked"),
          optional("machine", &RunHeader::machine, "",
                   "what the predictions are for; omitted when nothing was predicted"),
          always("host", &RunHeader::host, "",
                 "facts about the computer that it ran on, each a text by name; with GPU ranks also every "
                 "`NCCL_…` setting that they saw"),
          required("started", &RunHeader::started, "", "ISO 8601, UTC"),
          always("seed", &RunHeader::seed, "", "of the input values and of everything else that is random"))};
}

FieldTable<RepetitionRecord> table_of(const RepetitionRecord* /*any*/) {
  return {
      .record = "repetition",
      .fields = fields<RepetitionRecord>(inlined(&RepetitionRecord::key),
                                         required("measured", &RepetitionRecord::measured, "",
                                                  "what this repetition measured; the samples of all of them "
                                                  "together are what the point's are"))};
}

FieldTable<Verdict> table_of(const Verdict* /*any*/) {
  return {
      .record = "verdict",
      .fields = fields<Verdict>(
          required("ranks", &Verdict::ranks, "", "N").from(1), required("bytes", &Verdict::bytes, "B", "S"),
          required("baseline", &Verdict::baseline, "", "algorithm"),
          required("candidate", &Verdict::candidate, "", "algorithm"),
          optional(
              "predicted_speedup", &Verdict::predicted_speedup, "ratio",
              "predicted seconds of the baseline / those of the candidate; above 1 the candidate is faster"),
          optional("measured_speedup", &Verdict::measured_speedup, "ratio",
                   "the same of the measured seconds"),
          optional(
              "predicted_winner", &Verdict::predicted_winner, "",
              "the algorithm with the shortest predicted time, of all but `native`; omitted where the second "
              "cannot be told apart from it"),
          optional("measured_winner", &Verdict::measured_winner, "", "the same of the measured times"))};
}

FieldTable<Crossover> table_of(const Crossover* /*any*/) {
  return {
      .record = "crossover",
      .fields = fields<Crossover>(
          required("ranks", &Crossover::ranks, "", "N").from(1),
          required("baseline", &Crossover::baseline, "", "algorithm"),
          required("candidate", &Crossover::candidate, "", "algorithm"),
          optional("predicted_bytes", &Crossover::predicted_bytes, "B",
                   "size at which the predicted curves cross; the largest one if there are several, omitted "
                   "if there is none"),
          optional("measured_bytes", &Crossover::measured_bytes, "B", "the same of the measured curves"),
          optional(
              "predicted_crossings", &Crossover::predicted_crossings, "",
              "how often the predicted curves cross; omitted when there are not two sizes to look between"),
          optional("measured_crossings", &Crossover::measured_crossings, "",
                   "the same of the measured curves"),
          optional(
              "predicted_winner", &Crossover::predicted_winner, "",
              "the faster of the two above the crossover, or at every size when there is none; omitted where "
              "they cannot be told apart"),
          optional("measured_winner", &Crossover::measured_winner, "", "the same of the measured curves"))};
}

FieldTable<Accuracy> table_of(const Accuracy* /*any*/) {
  return {
      .record = "accuracy",
      .fields = fields<Accuracy>(
          optional("algorithm", &Accuracy::algorithm, "",
                   "whose points; omitted in the line that is about all of them"),
          optional("system", &Accuracy::system, "",
                   "`evaluate`: which system; omitted in lines about all systems of a class"),
          optional("statistic", &Accuracy::statistic, "",
                   "over systems: `median` or `mean` of what each system has; coverage and width as well"),
          optional("systems", &Accuracy::systems, "", "over how many systems"),
          optional("class", &Accuracy::machine_class, "",
                   "`node_nvlink`, `node_pcie`, `multi_node`; over systems also its parts `multi_node_rdma` "
                   "(InfiniBand or RoCE, two or more GPUs per node) and `multi_node_other`"),
          optional("band", &Accuracy::band, "",
                   "`all`, `small` (up to 64 KiB), `middle` (up to 16 MiB), `large`"),
          optional("model", &Accuracy::model, "",
                   "`ringside`, `ringside+known` (conditioned on the time of the system's largest message, "
                   "which is "
                   "not scored), `nccl_tuner`, `alpha_beta`"),
          optional("fold", &Accuracy::fold, "",
                   "`held_out`: the system's source had no part in the fit; `new_generation`: no GPU of its "
                   "generation had; `in_sample`: it had"),
          required("points", &Accuracy::points, "", "how many"),
          required("mape", &Accuracy::mape, "fraction", "mean of |ratio − 1|; 0.12 is 12 %"),
          optional("factor", &Accuracy::factor, "",
                   "exp(mean |log ratio|): 1.2 = typically 1.2 times too long or too short, which does not "
                   "reward predicting too fast"),
          required("median_abs_error", &Accuracy::median_abs_error, "fraction", "median of |ratio − 1|"),
          required(
              "bias", &Accuracy::bias, "fraction",
              "geometric mean of the ratios, minus 1; 0.1 = predictions are 10 % too long, −0.1 = too short"),
          optional("coverage", &Accuracy::coverage, "fraction",
                   "measured times inside [low, high] of their prediction, of those that have an interval"),
          optional("width", &Accuracy::width, "", "`evaluate`: median of high / low"),
          optional("winner_agreement", &Accuracy::winner_agreement, "fraction",
                   "of the sizes at which this algorithm was predicted to win (in the line about all: of all "
                   "sizes), those at which nothing measured is clearly faster; within 10 % or overlapping "
                   "intervals is not clear"))};
}

FieldTable<Interval<double>> table_of(const Interval<double>* /*any*/) {
  return {.fields =
              fields<Interval<double>>(required("typical", &Interval<double>::typical, "", "the prediction"),
                                       required("low", &Interval<double>::low, "", "lower end"),
                                       required("high", &Interval<double>::high, "", "upper end"))};
}

FieldTable<OfferRecord> table_of(const OfferRecord* /*any*/) {
  return {
      .record = "offer",
      .fields = fields<OfferRecord>(
          required("name", &OfferRecord::name, "", "of the offer"),
          required("source", &OfferRecord::source, "", "the file, and what it is called there"),
          required("gpus", &OfferRecord::gpus, "", "rented"),
          optional("per_hour", &OfferRecord::per_hour, "`currency`", "price of the whole offer for an hour"),
          optional("currency", &OfferRecord::currency, "", "of `per_hour` and `cost`"),
          optional("problem", &OfferRecord::problem, "",
                   "why it cannot be used; then what could not be computed is omitted"),
          optional("algorithm", &OfferRecord::algorithm, "",
                   "what was predicted: the plan's, or what stands in for it"),
          optional("nics", &OfferRecord::nics, "",
                   "of its largest all_reduce, as `predicted.nics` of a point"),
          optional("batch", &OfferRecord::batch, "samples", "of one step, all GPUs together"),
          optional("step", &OfferRecord::step, "s", "one step of training"),
          optional("compute", &OfferRecord::compute, "s", "its forward and backward passes"),
          optional("communication", &OfferRecord::communication, "s", "all its all_reduces together"),
          optional("ring", &OfferRecord::ring, "s",
                   "all gradients in one message, by the ring that is written here; of the best offers only"),
          optional("naive", &OfferRecord::naive, "s", "the same by naive"),
          optional("exposed", &OfferRecord::exposed, "s", "of those, what the backward pass does not hide"),
          optional("waiting", &OfferRecord::waiting, "s", "for the slowest GPU"),
          optional("efficiency", &OfferRecord::efficiency, "fraction",
                   "speed over N times the speed of one GPU"),
          optional("samples_per_second", &OfferRecord::samples_per_second, "1/s", "all GPUs together"),
          optional("run", &OfferRecord::run, "s",
                   "all epochs; omitted when the workload does not say how many samples"),
          optional("cost", &OfferRecord::cost, "`currency`",
                   "of the run, or of a million samples where there is no `run`"),
          optional("memory", &OfferRecord::memory, "bytes", "that one GPU must hold"),
          optional("gpu_memory", &OfferRecord::gpu_memory, "bytes", "that it has"),
          optional("sharding", &OfferRecord::sharding, "",
                   "how a language model is spread over its GPUs; then there is a record for each way"),
          optional("micro_batch", &OfferRecord::micro_batch, "samples", "of one pass of one replica").from(1),
          optional("largest_batch", &OfferRecord::largest_batch, "samples", "micro-batch that would fit")
              .from(1),
          optional("tokens_per_second", &OfferRecord::tokens_per_second, "1/s", "all GPUs together"),
          always("pareto", &OfferRecord::pareto, "", "no other offer is both cheaper and faster"),
          always("recommended", &OfferRecord::recommended, "", "the plan recommends it"),
          optional("bandwidth_factor_for_5_percent", &OfferRecord::bandwidth_factor_for_5_percent, "",
                   "links this many times as fast leave 5 % of the step exposed; of the best offers only, "
                   "omitted when none is enough"),
          optional("bandwidth_factor_for_10_percent", &OfferRecord::bandwidth_factor_for_10_percent, "",
                   "the same for 10 %"),
          optional("gpus_stop_paying", &OfferRecord::gpus_stop_paying, "",
                   "one GPU more adds less than half of a GPU's speed; omitted when each adds more")
              .from(1),
          optional("ring_from_bytes", &OfferRecord::ring_from_bytes, "bytes",
                   "message size from which ring beats naive on these GPUs"),
          optional("ring_from_gpus", &OfferRecord::ring_from_gpus, "",
                   "number of GPUs from which ring beats naive for this workload's gradients")
              .from(1),
          optional("best_way", &OfferRecord::best_way, "",
                   "the fastest algorithm, bucket size or style that was tried"),
          optional("assumptions", &OfferRecord::assumptions, "", "what was taken for granted, sentences"),
          optional("warnings", &OfferRecord::warnings, "", "what to know before renting, sentences"))};
}

}  // namespace ringside
