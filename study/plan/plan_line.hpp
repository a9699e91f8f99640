#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"

/// A plan that is asked in one line, without a file.
namespace ringside::study {

/// Values as they are typed; what is absent was not.
struct PlanLine {
  std::optional<std::string> model;      ///< A workload that ships, the beginning of its name, or a file.
  std::optional<std::string> gradients;  ///< Their size, instead of a model: `88 MB`.
  std::string gpus;  ///< `4x3090, 8x4090 @ 2.77 USD, p4d.24xlarge`; empty = the offers are of listings alone.
  bool listings = false;             ///< There are offers of listings beside it.
  std::optional<std::string> batch;  ///< Samples of one GPU and pass.
  std::optional<std::string>
      bandwidth;  ///< Bandwidth of the slot of every GPU that is no machine's: `20 GB/s`
  std::optional<std::string> sharding;  ///< `fsdp,qlora`
  bool search = false;                  ///< All ways to shard.
  std::optional<std::string> sequence;  ///< Tokens of a sample of a language model.
  std::optional<std::string> tokens;    ///< Tokens of the whole run of a language model: `300 B`.
  std::optional<std::string> epochs;    ///< Epochs of the whole run.
  std::optional<std::string> deadline;
  std::optional<std::string> budget;
  std::vector<std::string> exchange;  ///< `1 EUR = 1.08 USD`
  std::vector<std::string> known;     ///< `3090: 568 samples/s`, `4x3090: 88 MB in 15 ms`
};

struct WrittenPlan {
  std::string name;
  std::string yaml;  ///< A plan file.
  /// What was taken for granted, for each of its offers, whole sentences.
  std::vector<std::vector<std::string>> assumptions;
};

/// The same as a plan. Throws Error{bad_input} that names flag and part. `command`: its first line.
WrittenPlan write_plan(const PlanLine& line, const std::string& command, const KnownNames& known);

}  // namespace ringside::study
