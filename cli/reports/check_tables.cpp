#include "cli/reports/check_tables.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "analysis/comparison/comparison.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"

namespace ringside::cli {
namespace {

using Lines = std::vector<std::string>;

std::string_view sizes_of(SizeBand band) {
  constexpr std::array<std::string_view, kNumSizeBands> kSizes = {"up to 64 KiB", "up to 16 MiB", "above"};
  return kSizes.at(static_cast<std::size_t>(band));
}

std::string verdict_of(const BandVerdict& band, std::string_view others) {
  switch (band.standing) {
    case Standing::slower:
      // Nobody knows a thousand such machines.
      return fmt::format("slower than {} of {}", percent(std::min(1 - band.share_as_slow, 0.999), 1), others);
    case Standing::faster:
      return "faster than expected: is the description right?";
    case Standing::held_back:
      return "slow for a known reason";
    case Standing::incomplete:
      return "as expected, but incomplete";
    case Standing::failed:
      return "as expected, but its results do not count";
    case Standing::healthy:
      break;
  }
  return "healthy";
}

void add_cause(const std::string& before, const SuspectedCause& suspected, Lines& to) {
  const std::string ratio = suspected.cause == Cause::something_else
                                ? ""
                                : fmt::format("; predicted: {} the bandwidth", factor_text(suspected.ratio));
  to.push_back(
      fmt::format("{}{} ({}{})", before, sentence(suspected.cause), percent(suspected.probability), ratio));
  for (const std::string& evidence : suspected.evidence) {
    to.push_back("   " + evidence);
  }
  if (const std::string_view command = telling_command(suspected.cause); !command.empty()) {
    to.push_back(fmt::format("   to tell: {}", command));
  }
}

void add_causes(const MachineCheck& check, Lines& to) {
  const std::vector<SuspectedCause> causes = likely_causes(check);
  if (!check.alarmed() && causes.empty()) {
    return;
  }
  to.push_back(
      !check.alarmed()
          ? "\nMany such machines are as slow. If this one was faster before, these causes fit its times:"
      : causes.empty() ? "\nNo cause that ringside knows is likelier than a slow but healthy machine."
                       : "\nLikely causes, most likely first:");
  int number = 0;
  for (const SuspectedCause& suspected : causes) {
    add_cause(fmt::format("{}. ", ++number), suspected, to);
  }
}

}  // namespace

TextTable bands_table(const MachineCheck& check, std::string_view others) {
  Rows rows;
  for (const BandVerdict& band : check.bands) {
    rows.push_back({std::string(sizes_of(band.band)), std::to_string(band.points), format(band.bytes),
                    rate_text(band.measured),
                    fmt::format("{} ({} to {})", rate_text(band.expected.typical),
                                rate_text(band.expected.low), rate_text(band.expected.high)),
                    factor_text(band.ratio), percent(band.share_as_slow, band.share_as_slow < 0.1 ? 1 : 0),
                    verdict_of(band, others)});
  }
  return {.header = {"sizes", ">rows", ">at", ">GB/s", fmt::format("{} reach (90 %)", others), ">ratio",
                     ">slower", "verdict"},
          .rows = std::move(rows)};
}

std::vector<std::string> check_start(const study::LogCheck& check) {
  Lines lines;
  if (check.check.points.empty()) {
    lines.push_back(fmt::format("{}: no time that counts, on {}", check.log, check.machine.name));
  } else {
    const PointKey& key = check.check.points.front().key;
    lines.push_back(fmt::format("{}: {} of {} on {} ranks{} {}{}", check.log,
                                count_of(check.check.points.size(), "size"), name(key.collective), key.ranks,
                                check.check.nics && !check.recognised
                                    ? fmt::format(" on {} nodes, described as", check.check.nics->nodes)
                                    : " of",
                                check.machine.name, check.recognised ? ", as the log says" : ""));
  }
  lines.insert(lines.end(), check.assumptions.begin(), check.assumptions.end());
  lines.insert(lines.end(), check.notes.begin(), check.notes.end());
  if (check.wrong_results > 0) {
    lines.push_back(fmt::format("{} rows had wrong results, whatever their speed", check.wrong_results));
  }
  for (const std::string& failure : check.failures) {
    lines.push_back("The run failed: " + failure);
  }
  if (check.incomplete) {
    lines.push_back(
        "Incomplete: the last lines of a run (`Out of bounds values`, `Avg bus bandwidth`) are missing.");
  }
  return lines;
}

std::vector<std::string> check_next(const study::LogCheck& check) {
  const auto tell = [](Cause cause) {
    return Lines{fmt::format("See whether it is so: {}.", sentence(cause)),
                 fmt::format("  {}", telling_command(cause))};
  };
  if (!check.failure().empty() || check.incomplete) {
    return {"Its numbers do not count: run the test again to its end, and check the new log."};
  }
  if (const auto& cause = check.check.held_back) {
    return tell(cause->cause);
  }
  for (const SuspectedCause& suspected : likely_causes(check.check)) {
    if (!telling_command(suspected.cause).empty()) {
      return tell(suspected.cause);
    }
  }
  if (!check.check.hints.empty()) {
    return tell(check.check.hints.front().cause);
  }
  return check.check.alarmed()
             ? Lines{"Beside a log of the same machine when it was faster, its own loss can be told:",
                     fmt::format("  ringside check {} --baseline EARLIER.log", check.log)}
             : Lines{"Keep this log. Beside it, the next run of this machine shows a loss that others hide:",
                     fmt::format("  ringside check NEXT.log --baseline {}", check.log)};
}

std::vector<std::string> check_end(const study::LogCheck& check) {
  Lines lines;
  if (!check.check.bands.empty()) {
    lines.push_back(
        "GB/s: bus bandwidth. ratio: measured / predicted bandwidth, above 1 is faster. slower: share of "
        "such "
        "machines.");
  }
  if (check.check.nics) {
    lines.push_back(sentence(*check.check.nics));
  }
  if (check.check.alarmed()) {
    add_causes(check.check, lines);
    return lines;
  }
  if (const auto& cause = check.check.held_back) {
    add_cause("Known reason: ", *cause, lines);
  }
  for (const CauseEvidence& evidence : check.check.hints) {
    lines.push_back(fmt::format("Not slow, but {}: {}. To tell: {}", evidence.sentence,
                                sentence(evidence.cause), telling_command(evidence.cause)));
  }
  add_causes(check.check, lines);
  return lines;
}

std::string verdict_line(const study::LogCheck& check) {
  std::string line = check.failure();
  for (const BandVerdict& band : check.check.bands) {
    line += fmt::format("{}{}: {}", line.empty() ? "" : "; ",
                        band.band == SizeBand::large ? "above 16 MiB" : sizes_of(band.band),
                        verdict_of(band, "such machines"));
  }
  return line;
}

}  // namespace ringside::cli
