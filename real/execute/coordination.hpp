#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "real/execute/transport.hpp"

namespace ringside {

/// What ranks agree on around the timed calls, over the transport that is measured. Every rank calls the same
/// functions in the same order.
class Coordination {
 public:
  explicit Coordination(Transport& transport);
  Coordination(const Coordination&) = delete;  // The barrier's transfers point into it.
  Coordination& operator=(const Coordination&) = delete;

  Rank rank() const { return transport_.rank(); }

  /// Leaves no rank before all have come.
  void barrier();

  /// Element-wise maximum over all ranks, at every rank. All pass equally many values.
  std::vector<double> maximum(std::span<const double> own);

  /// Whether `own` holds at any rank; the same at every rank.
  bool anywhere(bool own);

  /// Every rank's value, by rank; the same at every rank.
  std::vector<double> all_values(double own);

  /// What each rank says, by rank, as far as its first 96 letters go; the same at every rank.
  std::vector<std::string> texts(const std::string& own);

  /// Every rank's values, by rank, at rank 0; nothing elsewhere. Ranks may pass different numbers of values.
  std::vector<std::vector<double>> gathered(std::span<const double> own);

 private:
  struct BarrierStep {
    std::unique_ptr<Transfer> receive;
    std::unique_ptr<Transfer> send;
  };

  Transport& transport_;
  std::byte token_{};
  std::byte received_{};
  std::vector<BarrierStep> barrier_;
};

}  // namespace ringside
