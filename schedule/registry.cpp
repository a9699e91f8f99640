#include "schedule/registry.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/algorithms/algorithms.hpp"

namespace ringside {

std::span<const Algorithm> all_algorithms() {
  static const std::vector<Algorithm> kTable = [] {
    std::vector<Algorithm> table = {naive_all_reduce(),
                                    circulating_ring_all_reduce(),
                                    tutorial_ring_all_reduce(),
                                    ring_all_reduce(),
                                    pipelined_ring_all_reduce(),
                                    binomial_tree_all_reduce(),
                                    double_binary_tree_all_reduce(),
                                    recursive_doubling_all_reduce(),
                                    halving_doubling_all_reduce(),
                                    direct_all_reduce(),
                                    direct_two_shot_all_reduce(),
                                    hierarchical_all_reduce()};
    const auto add = [&](Collective collective, const std::vector<Algorithm>& rows) {
      for (const Algorithm& row : rows) {
        table.push_back(row);
        table.back().collective = collective;
      }
    };
    add(Collective::reduce_scatter, reduce_scatters());
    add(Collective::all_gather, all_gathers());
    add(Collective::broadcast, broadcasts());
    add(Collective::reduce, reduces());
    add(Collective::gather, gathers());
    add(Collective::all_to_all, all_to_alls());
    add(Collective::send_recv, send_recvs());
    return table;
  }();
  return kTable;
}

std::vector<std::string> algorithm_names(Collective collective) {
  std::vector<std::string> names;
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == collective) {
      names.emplace_back(algorithm.name);
    }
  }
  return names;
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm& algorithm : all_algorithms()) {
    if (algorithm.collective == collective && algorithm.name == name) {
      return &algorithm;
    }
  }
  return nullptr;
}

const Algorithm& known_algorithm(Collective collective, std::string_view algorithm) {
  if (const Algorithm* found = find_algorithm(collective, algorithm)) {
    return *found;
  }
  std::vector<std::string> known = algorithm_names(collective);
  known.emplace_back(kNative);
  throw Error(ErrorKind::bad_input,
              unknown_name(fmt::format("{} algorithm", name(collective)), algorithm, known));
}

}  // namespace ringside
