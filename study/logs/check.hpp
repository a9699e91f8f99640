#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/check/check.hpp"
#include "analysis/check/expected_times.hpp"
#include "analysis/check/pair_outliers.hpp"
#include "import/import.hpp"
#include "import/machine/run_facts.hpp"
#include "scenario/machine/named_machine.hpp"
#include "study/logs/topology.hpp"

/// `ringside check`: a log of nccl-tests and what stands in it about the machine → as fast as it should be?
namespace ringside::study {

struct CheckRequest {
  std::optional<std::string> machine = {};             ///< A name of `list machines` or a file.
  std::optional<std::filesystem::path> topology = {};  ///< nvidia-smi topo -m, or NCCL's XML.
  /// Where neither says which GPUs these are; `8 x B200` also says how many a node has.
  std::optional<std::string> gpu = {};
  std::optional<std::string> network = {};  ///< `4 x 200 Gb/s infiniband`, where the log says the rest.
  /// This machine's type as built or rented, for what runs on it now; a log with other GPUs is another's.
  std::optional<Instance> instance = {};
  ImportDefaults defaults = {};
  /// Runs of this machine, or of its like in the same fleet, that were as they should be.
  std::optional<std::filesystem::path> baseline = {};
};

struct LogCheck {
  std::string log = {};
  std::set<std::string> hosts = {};  ///< That the log lists.
  Machine machine = {};
  bool recognised = false;                    ///< The machine was read off the log.
  std::vector<std::string> assumptions = {};  ///< What was taken for granted of it, whole sentences.
  std::size_t line = 1;                       ///< Where the table begins.
  MachineCheck check = {};
  /// The same against the prediction that the baseline's times sharpened; nothing without a baseline.
  std::optional<MachineCheck> beside_baseline = {};
  std::vector<CauseEvidence> evidence = {};  ///< What the log says of causes, whatever the verdict.
  int wrong_results = 0;
  std::vector<std::string> failures = {};  ///< Lines of the log that say that its results do not count.
  bool incomplete = false;                 ///< It lacks the last lines of nccl-tests.
  std::vector<std::string> notes = {};     ///< What importing said.

  /// Why the results do not count, one sentence; empty where they do.
  std::string failure() const;
};

struct RecognisedMachine {
  Machine machine = {};
  std::vector<std::string> assumptions = {};
};

/// Checks any number of logs: machine files, baselines and predictions are worked out once for all.
class LogChecker {
 public:
  /// Reads the request's files. Throws Error{bad_input}.
  explicit LogChecker(CheckRequest request);

  /// One result per collective and number of ranks. Throws Error{bad_input} where neither log nor
  /// request says what the machine is, or it holds no all_reduce of NCCL's own or its siblings.
  std::vector<LogCheck> check_log(const std::filesystem::path& log);
  /// The same for text in memory; `name` is what messages call it.
  std::vector<LogCheck> check_text(std::string_view text, const std::string& name);
  /// The same for points from elsewhere, with what is known of the machine. Of each point the first counts.
  std::vector<LogCheck> check_series(const std::vector<Series>& series, const RunFacts& facts,
                                     const std::string& name);
  /// A node's own log rules out causes inside it for a run of several nodes, if both are in `checks`.
  void judge_together(std::vector<LogCheck>& checks);
  /// Throws KeyError where the request says a network and no log needed it.
  void refuse_idle_network() const;

 private:
  RecognisedMachine described_machine(const RunFacts& facts, int ranks, const std::string& name);
  /// Fleets are of few kinds of machines, so that going through them is quick.
  ExpectedTimes& expected(const Machine& described);

  CheckRequest request_;
  std::optional<Machine> machine_;
  std::optional<Machine> instance_;
  std::optional<Counted> gpu_;  ///< The model that the request says, and how many a node has.
  std::optional<InterLink> network_;
  bool network_used_ = false;
  std::string topology_;         ///< Text of the request's file.
  std::vector<Known> baseline_;  ///< Empty without one.
  std::vector<std::unique_ptr<ExpectedTimes>> expected_;
};

/// What somebody says beside a log.
struct SaidOfMachine {
  std::optional<int> gpus_per_node = {};
  std::optional<InterLink> network = {};
};

/// Throws KeyError for a GPU that somebody named and the catalogue does not know, with the nearest name.
void require_gpu_sheet(const std::string& gpu);

/// The machine of `ranks` ranks, from the log and `said`. Throws Error{bad_input} if one is missing.
RecognisedMachine recognise_machine(const RunFacts& facts, int ranks, const std::string& name,
                                    const SaidOfMachine& said = {});

/// Puts ranks on nodes as the log's list has them, and says where the two differ; as many nodes as they
/// need where there is no list. Throws KeyError where hosts have unlike numbers of ranks.
void place_ranks(const RunFacts& facts, int ranks, const std::string& name, RecognisedMachine& described);

/// `4 x 200 Gb/s infiniband`: NICs of a node, the rate of each, and the kind of network. Throws KeyError.
InterLink parse_network(const std::string& text);

/// What a log says for or against causes.
std::vector<CauseEvidence> evidence_of(const RunFacts& facts, const Machine& machine);

/// Each pair of hosts, measured over predicted, in the largest band of sizes; of several logs the median.
std::vector<PairRun> pair_runs(std::span<const LogCheck> checks);

}  // namespace ringside::study
