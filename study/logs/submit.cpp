#include "study/logs/submit.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/error.hpp"

namespace ringside::study {
namespace {

/// Letters, digits and dashes.
std::string file_name(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (kept || lower != c) {
      result += lower;
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  return result;
}

std::string indented(const std::string& yaml) {
  std::string result;
  for (std::size_t start = 0; start < yaml.size();) {
    const std::size_t end = std::min(yaml.find('\n', start), yaml.size());
    result += fmt::format("      {}\n", yaml.substr(start, end - start));
    start = end + 1;
  }
  return result;
}

std::vector<std::string> missing_from(const LogCheck& check, const SubmitRequest& request) {
  std::vector<std::string> missing;
  const Machine& machine = check.machine;
  if (!request.source) {
    missing.emplace_back("`source`: where it is published, a URL");
  }
  if (check.incomplete) {
    missing.emplace_back("the end of the run: the log lacks `Out of bounds values` and `Avg bus bandwidth`");
  }
  if (!machine.software.nccl && !machine.software.rccl) {
    missing.emplace_back("the version of NCCL: `software: {nccl: …}`");
  }
  if (!machine.cpu && machine.intra && machine.intra->kind == IntraKind::pcie) {
    missing.emplace_back("who makes the CPUs: `cpu: {vendor: …}`");
  }
  if (machine.intra && machine.intra->kind == IntraKind::pcie && !machine.intra->peer_to_peer) {
    missing.emplace_back(
        "whether GPUs reach each other's memory: `intra.peer_to_peer` (NCCL_DEBUG=INFO: via P2P or via SHM)");
  }
  if (machine.nodes > 1 && machine.inter && !machine.inter->gpudirect) {
    missing.emplace_back("whether NICs reach the GPUs' memory: `inter.gpudirect` (NCCL_DEBUG=INFO: GDRDMA)");
  }
  for (const std::string& assumption : check.assumptions) {
    missing.push_back(fmt::format("whether this is right: {}", assumption));
  }
  return missing;
}

}  // namespace

Submission submit(const SubmitRequest& request, const Invocation& invocation) {
  const std::vector<LogCheck> checks = LogChecker(request.machine).check_log(request.log);
  if (checks.size() > 1) {
    throw Error(
        ErrorKind::bad_input,
        fmt::format("{}: holds runs of several collectives or numbers of ranks; submit each of its own",
                    request.log.string()));
  }
  const LogCheck& check = checks.front();
  if (const std::string failure = check.failure(); !failure.empty()) {
    throw Error(ErrorKind::failed,
                fmt::format("{}: its results do not count: {}", request.log.string(), failure));
  }
  const PointKey& key = check.check.points.front().key;
  const std::string name = file_name(fmt::format(
      "{}-{}x-{}node{}", check.machine.gpu->model, key.ranks, check.machine.nodes,
      key.collective == Collective::all_reduce ? std::string()
                                               : fmt::format("-{}", ringside::name(key.collective))));
  const std::string group = file_name(request.source.value_or(name));
  const std::filesystem::path directory = output_directory(invocation, "submit");
  Submission submission{.source = directory / (group + ".yaml"), .table = directory / (group + ".csv")};
  submission.missing = missing_from(check, request);
  std::string table = "system,bytes,time_us\n";
  std::vector<std::string> sizes;
  for (const Point& point : check.check.points) {
    table += fmt::format("{},{},{}\n", name, point.key.bytes.value, point.measured->seconds.value * 1e6);
    sizes.push_back(fmt::format("{} B", point.key.bytes.value));
  }
  Machine machine = check.machine;
  machine.known.clear();
  machine.price.reset();
  std::string source = fmt::format(
      "# yaml-language-server: $schema=../source.schema.json\nalgorithms: native\nbackend: nccl\nmeasured: "
      "{0}.csv\nevaluation:\n  source: \"{1}\"\n  group: \"{0}\"\nsystems:\n",
      group, request.source.value_or("not said"));
  for (const std::string& missing : submission.missing) {
    source += fmt::format("  # Missing: {}\n", missing);
  }
  source +=
      fmt::format("  - name: {}\n{}    ranks: {}\n{}    message_sizes: [{}]\n    machine:\n{}", name,
                  key.collective == Collective::all_reduce
                      ? std::string()
                      : fmt::format("    collective: {}\n", ringside::name(key.collective)),
                  key.ranks,
                  machine.ranks_per_node ? fmt::format("    ranks_per_node: {}\n", *machine.ranks_per_node)
                                         : std::string(),
                  fmt::join(sizes, ", "), indented(to_yaml(machine)));
  write_file(submission.table, table);
  write_file(submission.source, source);
  return submission;
}

}  // namespace ringside::study
