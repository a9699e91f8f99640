// Sources: Open MPI, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, whose text is the same in v4.1.4, v4.1.6, v5.0.7
// and v5.0.9, with segments of 0 bytes, by which its segmented ring is the plain one, and the fallbacks in
// coll_base_allreduce.c and coll_base_allgather.c; coll_han_component.c for its priority. MPICH,
// maint/tuning/coll/mpir/generic.json and ch4/generic.json, whose entries are the same in v4.0.2, v4.3.1 and v5.0.1.
#include "sim/engine/mpi_rules.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kKi = 1 << 10;
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

constexpr MpiChoice kLinear = {"linear", "naive"};
/// Each by its own decision, which for as many ranks are trees.
constexpr MpiChoice kReduceBroadcast = {"reduce then broadcast", "binomial_tree"};
constexpr MpiChoice kDoubling = {"recursive doubling", "recursive_doubling"};
constexpr MpiChoice kRing = {"ring", "ring"};
constexpr MpiChoice kRabenseifner = {"Rabenseifner", "halving_doubling"};
constexpr MpiChoice kTwoProcesses = {"two processes", "recursive_doubling"};
constexpr MpiChoice kBruck = {"Bruck", ""};
constexpr MpiChoice kNeighbours = {"neighbour exchange", ""};
constexpr MpiChoice kBinomial = {"binomial tree", "binomial_tree"};
constexpr MpiChoice kOtherTree = {"chain, pipeline or another tree", ""};
constexpr MpiChoice kKnomial = {"4-nomial tree", ""};
constexpr MpiChoice kScatterGather = {"scatter then all_gather", ""};
constexpr MpiChoice kHan = {"HAN: inside the nodes, then between them", ""};
constexpr MpiChoice kReleaseGather = {"release_gather in shared memory", ""};
constexpr MpiChoice kByNode = {"inside the nodes, then between them", ""};

/// A choice for sizes below a limit.
struct Below {
  std::int64_t bytes;
  MpiChoice choice;
};

/// From so many ranks on, up to the next row.
struct RanksFrom {
  int ranks;
  std::vector<Below> choices;
};
using Rules = std::vector<RanksFrom>;

const Rules& open_mpi_all_reduce() {
  static const Rules kRules = {
      {2,
       {{8, kRing},
        {4 * kKi, kDoubling},
        {8 * kKi, kRing},
        {16 * kKi, kDoubling},
        {256 * kKi, kRing},
        {kAll, kRabenseifner}}},
      {4, {{16, kRing}, {8 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {8, {{8 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {16, {{64, kRing}, {4 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {32, {{128, kRing}, {kAll, kRabenseifner}}},
      {64, {{256 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {128, {{128 * kKi, kReduceBroadcast}, {256 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {256, {{4 * kKi, kReduceBroadcast}, {kAll, kRabenseifner}}},
      {512, {{2 * kKi, kReduceBroadcast}, {16 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {2048, {{2 * kKi, kReduceBroadcast}, {4 * kKi, kRing}, {16 * kKi, kDoubling}, {kAll, kRabenseifner}}},
      {4096, {{2 * kKi, kReduceBroadcast}, {16 * kKi, kRing}, {32 * kKi, kDoubling}, {kAll, kRabenseifner}}}};
  return kRules;
}

/// By the bytes of one rank.
const Rules& open_mpi_all_gather() {
  static const Rules kRules = {
      {2, {{kAll, kTwoProcesses}}},
      {3, {{kAll, kDoubling}}},
      {32, {{kKi, kDoubling}, {64 * kKi, kNeighbours}, {kAll, kRing}}},
      {64, {{512, kDoubling}, {64 * kKi, kNeighbours}, {kAll, kRing}}},
      {128,
       {{512, kDoubling},
        {128 * kKi, kNeighbours},
        {512 * kKi, kRing},
        {kKi * kKi, kNeighbours},
        {kAll, kRing}}},
      {256,
       {{32, kDoubling},
        {128, kBruck},
        {kKi, kDoubling},
        {128 * kKi, kNeighbours},
        {512 * kKi, kRing},
        {kKi * kKi, kNeighbours},
        {kAll, kRing}}},
      {512, {{64, kDoubling}, {256, kBruck}, {2 * kKi, kDoubling}, {kAll, kNeighbours}}},
      {1024,
       {{4, kDoubling},
        {8, kBruck},
        {16, kDoubling},
        {32, kBruck},
        {256, kDoubling},
        {512, kBruck},
        {4 * kKi, kDoubling},
        {kAll, kNeighbours}}},
      {2048, {{32, kBruck}, {128, kDoubling}, {512, kBruck}, {4 * kKi, kDoubling}, {kAll, kNeighbours}}},
      {4096,
       {{2, kDoubling},
        {8, kBruck},
        {16, kDoubling},
        {512, kBruck},
        {4 * kKi, kDoubling},
        {kAll, kNeighbours}}}};
  return kRules;
}

const Rules& open_mpi_broadcast() {
  static const Rules kRules = {
      {2,
       {{512, kOtherTree},
        {kKi, kKnomial},
        {32 * kKi, kLinear},
        {256 * kKi, kOtherTree},
        {512 * kKi, kLinear},
        {kKi * kKi, kBinomial},
        {kAll, kOtherTree}}},
      {4,
       {{64, kOtherTree},
        {128, kBinomial},
        {2 * kKi, kOtherTree},
        {8 * kKi, kBinomial},
        {kKi * kKi, kLinear},
        {kAll, kOtherTree}}},
      {8,
       {{8, kKnomial},
        {64, kOtherTree},
        {4 * kKi, kKnomial},
        {16 * kKi, kOtherTree},
        {32 * kKi, kBinomial},
        {kAll, kLinear}}},
      {16, {{4 * kKi, kKnomial}, {kKi * kKi, kBinomial}, {kAll, kScatterGather}}},
      {32, {{2 * kKi, kBinomial}, {kAll, kKnomial}}},
      {64, {{kAll, kKnomial}}},
      {128,
       {{2, kBinomial},
        {16 * kKi, kOtherTree},
        {32 * kKi, kLinear},
        {64 * kKi, kOtherTree},
        {kAll, kKnomial}}},
      {256, {{16 * kKi, kKnomial}, {32 * kKi, kOtherTree}, {kAll, kKnomial}}},
      {1024, {{512 * kKi, kKnomial}, {kAll, kScatterGather}}},
      {2048, {{256 * kKi, kKnomial}, {kAll, kScatterGather}}},
      {4096, {{8 * kKi, kKnomial}, {16 * kKi, kOtherTree}, {256 * kKi, kKnomial}, {kAll, kScatterGather}}}};
  return kRules;
}

MpiChoice chosen(const Rules& rules, int ranks, std::int64_t bytes) {
  const auto row =
      std::find_if(rules.rbegin(), rules.rend(), [&](const RanksFrom& from) { return from.ranks <= ranks; });
  const std::vector<Below>& choices = row == rules.rend() ? rules.front().choices : row->choices;
  return std::find_if(choices.begin(), choices.end(), [&](const Below& below) { return bytes < below.bytes; })
      ->choice;
}

bool power_of_two(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }
std::int64_t largest_power(int ranks) { return std::int64_t{std::bit_floor(static_cast<unsigned>(ranks))}; }
std::int64_t elements_of(const MpiCall& call) {
  return call.bytes.value / static_cast<std::int64_t>(size_of(call.dtype));
}
bool several_nodes(const MpiCall& call) { return call.ranks_per_node < call.ranks; }

MpiChoice open_mpi_choice(const MpiCall& call) {
  if (call.collective == Collective::all_reduce) {
    const MpiChoice choice = chosen(open_mpi_all_reduce(), call.ranks, call.bytes.value);
    if (choice.ours == kRing.ours && elements_of(call) < call.ranks) {
      return kDoubling;
    }
    return choice.ours == kRabenseifner.ours && elements_of(call) < largest_power(call.ranks) ? kLinear
                                                                                              : choice;
  }
  if (call.collective == Collective::all_gather) {
    const MpiChoice choice = chosen(open_mpi_all_gather(), call.ranks, call.bytes.value / call.ranks);
    if (choice.algorithm == kNeighbours.algorithm && call.ranks % 2 != 0) {
      return kRing;
    }
    return choice.algorithm == kDoubling.algorithm && !power_of_two(call.ranks) ? kBruck : choice;
  }
  return chosen(open_mpi_broadcast(), call.ranks, call.bytes.value);
}

MpiChoice mpich_choice(const MpiCall& call) {
  const bool binary = power_of_two(call.ranks);
  if (call.collective == Collective::all_gather) {
    if (binary) {
      return call.bytes.value < 512 * kKi ? kDoubling : kRing;
    }
    return call.bytes.value < 80 * kKi ? kBruck : kRing;
  }
  // Other reductions and broadcasts ask first where the ranks are.
  if (!several_nodes(call)) {
    return kReleaseGather;
  }
  if (call.ranks_per_node > 1) {
    return kByNode;
  }
  if (call.collective == Collective::all_reduce) {
    return call.bytes.value <= 8 || elements_of(call) < largest_power(call.ranks) ? kDoubling : kRabenseifner;
  }
  return call.ranks < 8 || call.bytes.value < 12 * kKi ? kBinomial : kScatterGather;
}

/// Of versions [`oldest`, `newest`], as 100 major + minor.
struct Library {
  std::string_view name;
  int oldest;
  int newest;
  int by_node_from;  ///< From here on, its HAN answers on several nodes.
  MpiChoice (*choice)(const MpiCall& call);
};
constexpr std::array kLibraries = {
    Library{.name = "Open MPI", .oldest = 401, .newest = 500, .by_node_from = 500, .choice = open_mpi_choice},
    Library{.name = "MPICH", .oldest = 400, .newest = 500, .by_node_from = 9999, .choice = mpich_choice}};

/// 401 of "Open MPI v4.1.4"; none where there is no such number.
std::optional<int> version_in(std::string_view text) {
  const std::size_t begin = text.find_first_of("0123456789");
  const std::size_t dot = text.find('.', begin);
  if (begin == std::string_view::npos || dot == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t end = text.find_first_not_of("0123456789", dot + 1);
  const auto major = parse_number<int>(std::string(text.substr(begin, dot - begin)));
  const auto minor =
      parse_number<int>(std::string(text.substr(dot + 1, end == text.npos ? end : end - dot - 1)));
  return major && minor ? std::optional(100 * *major + *minor) : std::nullopt;
}

}  // namespace

std::variant<MpiChoice, std::string> mpi_choice(const std::string& library, const MpiCall& call) {
  const auto* known = std::find_if(kLibraries.begin(), kLibraries.end(),
                                   [&](const Library& one) { return library.starts_with(one.name); });
  const std::optional<int> version = version_in(library);
  if (known == kLibraries.end() || !version || *version < known->oldest || *version > known->newest) {
    return fmt::format("the rules of '{}' are not known; known are Open MPI 4.1 to 5.0 and MPICH 4.0 to 5.0",
                       library);
  }
  if (call.collective != Collective::all_reduce && call.collective != Collective::all_gather &&
      call.collective != Collective::broadcast) {
    return fmt::format("{}'s rules for {} are not modelled", known->name, name(call.collective));
  }
  if (*version >= known->by_node_from && several_nodes(call)) {
    return kHan;
  }
  return known->choice(call);
}

std::variant<std::vector<MpiSwitch>, std::string> mpi_switches(const std::string& library, MpiCall call) {
  std::vector<MpiSwitch> switches;
  for (std::int64_t power = 4; power <= kKi * kKi * kKi; power *= 2) {
    // All limits are such numbers, by which the sizes of one rank are multiplied.
    for (const std::int64_t part : {4, 5, 6}) {
      call.bytes = {power * part / 4 / 4 * 4};
      const std::variant<MpiChoice, std::string> outcome = mpi_choice(library, call);
      if (const auto* reason = std::get_if<std::string>(&outcome)) {
        return *reason;
      }
      const auto& choice = std::get<MpiChoice>(outcome);
      if (switches.empty() || switches.back().choice.algorithm != choice.algorithm) {
        switches.push_back({.from = call.bytes, .choice = choice});
      }
    }
  }
  return switches;
}

}  // namespace ringside
