#include "real/backend/nccl/group_plan.hpp"

#include <algorithm>
#include <cstddef>

namespace ringside {
namespace {

class Planner {
 public:
  explicit Planner(int max_sources) : max_sources_(static_cast<std::size_t>(max_sources)) {}

  void add(const Step& step) {
    switch (step.kind) {
      case StepKind::receive:
        add_transfer({.peer = step.peer, .sends = false, .region = step.target});
        return;
      case StepKind::send:
        add_transfer({.peer = step.peer, .sends = true, .region = step.source});
        return;
      case StepKind::wait:
        await_arrivals();
        return;
      case StepKind::copy:
        add_arithmetic({.kind = StreamOpKind::copy, .target = step.target, .sources = {step.source}});
        return;
      case StepKind::reduce:
        add_reduction(step);
        return;
      case StepKind::divide:
        add_arithmetic({.kind = StreamOpKind::divide, .target = step.target});
        return;
    }
  }

  std::vector<StreamOp> take() { return std::move(ops_); }

 private:
  void add_transfer(const GroupTransfer& transfer) {
    if (ops_.empty() || ops_.back().kind != StreamOpKind::group) {
      // A program starts a round when all steps before it are done: waits for transfers, arithmetic.
      if (arithmetic_is_open_) {
        ops_.push_back({.kind = StreamOpKind::await_arithmetic});
        arithmetic_is_open_ = false;
      }
      ops_.push_back({.kind = StreamOpKind::group});
      group_is_open_ = true;
    }
    ops_.back().transfers.push_back(transfer);
  }

  /// A group is complete only as a whole, so the first wait for one of its transfers waits for all of them.
  void await_arrivals() {
    if (group_is_open_) {
      ops_.push_back({.kind = StreamOpKind::await_arrivals});
      group_is_open_ = false;
    }
  }

  void add_arithmetic(StreamOp op) {
    ops_.push_back(std::move(op));
    arithmetic_is_open_ = true;
  }

  void add_reduction(const Step& step) {
    if (!ops_.empty() && ops_.back().kind == StreamOpKind::reduce && ops_.back().target == step.target) {
      std::vector<Region>& sources = ops_.back().sources;
      // The same source twice is asked for by those who want to see it read twice (a probe).
      const bool is_new = std::ranges::find(sources, step.source) == sources.end();
      if (is_new && sources.size() < max_sources_) {
        sources.push_back(step.source);
        return;
      }
    }
    add_arithmetic({.kind = StreamOpKind::reduce, .target = step.target, .sources = {step.source}});
  }

  std::size_t max_sources_;
  std::vector<StreamOp> ops_;
  bool group_is_open_ = false;       ///< A group that the arithmetic stream has not waited for.
  bool arithmetic_is_open_ = false;  ///< Arithmetic that the communication stream has not waited for.
};

}  // namespace

std::vector<StreamOp> plan_group_calls(const Program& program, int max_sources) {
  Planner planner(max_sources);
  for (const Step& step : program.steps) {
    planner.add(step);
  }
  return planner.take();
}

}  // namespace ringside
