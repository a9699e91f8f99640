#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/check/check.hpp"
#include "analysis/check/false_alarms.hpp"
#include "import/import.hpp"
#include "import/machine/run_facts.hpp"
#include "study/inputs/invocation.hpp"
#include "study/ranks/observer.hpp"

/// `ringside check`: a log of nccl-tests and what stands in it about the machine → is it as fast as it should be?
namespace ringside::study {

struct CheckRequest {
  std::optional<std::string> machine = {};             ///< A name of `list machines` or a file.
  std::optional<std::filesystem::path> topology = {};  ///< nvidia-smi topo -m, or NCCL's XML.
  std::optional<std::string> gpu = {};                 ///< Where neither says which GPUs these are.
  ImportDefaults defaults = {};
  /// Runs of this machine, or of its like in the same fleet, that were as they should be.
  std::optional<std::filesystem::path> baseline = {};
};

struct LogCheck {
  std::string log = {};
  Machine machine = {};
  bool recognised = false;                    ///< The machine was read off the log.
  std::vector<std::string> assumptions = {};  ///< What was taken for granted of it, whole sentences.
  std::size_t line = 1;                       ///< Where the table begins.
  MachineCheck check = {};
  /// The same against the prediction that the baseline's times sharpened; nothing without a baseline.
  std::optional<MachineCheck> beside_baseline = {};
  std::vector<CauseEvidence> evidence = {};  ///< What the log says of causes, whatever the verdict.
  int wrong_results = 0;
  std::vector<std::string> notes = {};  ///< What importing said.
};

/// One result per table of the log, tables of other numbers of ranks apart. Throws Error{bad_input} with what is missing where neither the log nor the
/// request says what the machine is, or it holds no all_reduce of NCCL's own or its siblings.
std::vector<LogCheck> check_log(const std::filesystem::path& log, const CheckRequest& request);
/// The same for text in memory; `name` is what messages call it.
std::vector<LogCheck> check_text(std::string_view text, const std::string& name, const CheckRequest& request);

struct RecognisedMachine {
  Machine machine = {};
  std::vector<std::string> assumptions = {};
};

/// The machine that a log of `ranks` ranks was made on, as far as the log says. Throws Error{bad_input} with what it does not say.
RecognisedMachine recognise_machine(const RunFacts& facts, int ranks, const std::string& name);

/// What a log says for or against causes.
std::vector<CauseEvidence> evidence_of(const RunFacts& facts, const Machine& machine);

/// The published systems below a directory, checked against fits that never saw their source.
FalseAlarms false_alarm_study(const std::filesystem::path& directory, const Observer& observer);

}  // namespace ringside::study
