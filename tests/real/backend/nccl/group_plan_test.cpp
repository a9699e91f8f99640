#include "real/backend/nccl/group_plan.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/execute/collective_values.hpp"
#include "real/execute/reduce.hpp"
#include "schedule/registry.hpp"
#include "tests/schedule/requests.hpp"

namespace ringside {
namespace {

using ::testing::ElementsAre;

constexpr int kMaxSources = 8;

std::vector<StreamOp> plan_of(std::string_view algorithm, const ScheduleRequest& request,
                              std::int64_t num_elements, Rank rank) {
  const Schedule schedule(*find_algorithm(request.collective, algorithm), request);
  return plan_group_calls(compile(schedule, {.num_elements = num_elements}, rank), kMaxSources);
}

std::string text(const Region& region) {
  return std::to_string(region.buffer) + "[" + std::to_string(region.offset) + "+" +
         std::to_string(region.bytes) + "]";
}

std::vector<std::string> texts(const std::vector<StreamOp>& plan) {
  std::vector<std::string> result;
  for (const StreamOp& op : plan) {
    std::string line;
    switch (op.kind) {
      case StreamOpKind::group:
        line = "group";
        for (const GroupTransfer& transfer : op.transfers) {
          line += std::string(transfer.sends ? " send " : " receive ") + text(transfer.region) +
                  (transfer.sends ? " to " : " from ") + std::to_string(transfer.peer);
        }
        break;
      case StreamOpKind::await_arrivals:
        line = "await arrivals";
        break;
      case StreamOpKind::await_arithmetic:
        line = "await arithmetic";
        break;
      case StreamOpKind::copy:
        line = "copy";
        break;
      case StreamOpKind::reduce:
        line = "reduce";
        break;
      case StreamOpKind::divide:
        line = "divide " + text(op.target);
        break;
    }
    if (op.kind == StreamOpKind::copy || op.kind == StreamOpKind::reduce) {
      for (const Region& source : op.sources) {
        line += " " + text(source);
      }
      line += " into " + text(op.target);
    }
    result.push_back(line);
  }
  return result;
}

TEST(GroupPlan, OneGroupForEachRoundOfARing) {
  // Buffer 0 is the message, buffer 1 takes what arrives.
  EXPECT_THAT(texts(plan_of("ring", {.num_ranks = 2}, 4, 0)),
              ElementsAre("group receive 1[0+8] from 1 send 0[8+8] to 1", "await arrivals",
                          "reduce 1[0+8] into 0[0+8]", "await arithmetic",
                          "group receive 0[8+8] from 1 send 0[0+8] to 1", "await arrivals"));
}

TEST(GroupPlan, ReducesBesideTheNextGroupWhereTheProgramAllowsIt) {
  const std::vector<std::string> plan =
      texts(plan_of("pipelined_ring", {.num_ranks = 2, .segments = 2}, 8, 0));
  // The first segment is reduced after the second group has started and before anybody waits for it.
  ASSERT_GE(plan.size(), 5U);
  EXPECT_THAT(plan[0], ::testing::StartsWith("group"));
  EXPECT_EQ(plan[1], "await arrivals");
  EXPECT_THAT(plan[2], ::testing::StartsWith("group"));
  EXPECT_THAT(plan[3], ::testing::StartsWith("reduce"));
  EXPECT_EQ(plan[4], "await arrivals");
}

TEST(GroupPlan, ReducesManyArrivalsInOnePass) {
  const std::vector<StreamOp> plan = plan_of("direct", {.num_ranks = 12}, 12, 3);
  std::vector<std::size_t> sources;
  for (const StreamOp& op : plan) {
    if (op.kind == StreamOpKind::reduce) {
      sources.push_back(op.sources.size());
    }
  }
  EXPECT_THAT(sources, ElementsAre(8, 3));
}

TEST(GroupPlan, KeepsReductionsApartThatReadTheSameTwice) {
  Program program = {.buffer_bytes = {8, 8, 0}};
  const Step reduction = {.kind = StepKind::reduce,
                          .source = {.buffer = 1, .offset = 0, .bytes = 8},
                          .target = {.buffer = 0, .offset = 0, .bytes = 8}};
  program.steps = {reduction, reduction};
  EXPECT_EQ(plan_group_calls(program, kMaxSources).size(), 2U);
}

/// Which of the two streams of a GPU is served first: what is left open must not change results.
enum class Favour { communication, arithmetic };

/// All ranks' plans on two streams each, over memory of the CPU. Transfers match as NCCL's do: between two
/// ranks in the order in which their groups name them, and a group is over when all its transfers are.
class Gpus {
 public:
  Gpus(const Schedule& schedule, const Vector& vector, Favour favour)
      : vector_(vector),
        favour_(favour),
        element_size_(static_cast<std::int64_t>(size_of(vector.dtype))),
        num_ranks_(schedule.num_ranks()) {
    for (Rank rank = 0; rank < num_ranks_; ++rank) {
      const Program program = compile(schedule, vector, rank);
      Gpu& gpu = gpus_.emplace_back();
      gpu.plan = plan_group_calls(program, kMaxSources);
      for (const StreamOp& op : gpu.plan) {
        gpu.state.push_back(is_work(op) ? State::waiting : State::over);
      }
      for (const std::int64_t bytes : program.buffer_bytes) {
        gpu.memory.emplace_back(static_cast<std::size_t>(bytes));
      }
    }
  }

  std::span<std::byte> message(Rank rank) { return gpus_[static_cast<std::size_t>(rank)].memory.front(); }

  /// False when nothing can go on although work is left.
  bool run() {
    while (!finished()) {
      bool moved = false;
      for (Gpu& gpu : gpus_) {
        moved = step(gpu) || moved;
      }
      moved = transfer() || moved;
      if (!moved) {
        return false;
      }
    }
    return true;
  }

 private:
  enum class State { waiting, active, over };
  struct Gpu {
    std::vector<StreamOp> plan;
    std::vector<State> state;
    std::vector<std::vector<std::byte>> memory;
    std::deque<GroupTransfer> open;  ///< Transfers of the active group.
  };

  static bool on_arithmetic(const StreamOp& op) {
    return op.kind == StreamOpKind::copy || op.kind == StreamOpKind::reduce ||
           op.kind == StreamOpKind::divide;
  }

  /// Anything but an entry that ties the streams together.
  static bool is_work(const StreamOp& op) { return op.kind == StreamOpKind::group || on_arithmetic(op); }

  bool finished() const {
    return std::all_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) {
      return std::all_of(gpu.state.begin(), gpu.state.end(),
                         [](State state) { return state == State::over; });
    });
  }

  /// An entry starts when those before it on its stream are over, and those that an entry between waits for.
  bool may_start(const Gpu& gpu, std::size_t index) const {
    const bool arithmetic = on_arithmetic(gpu.plan[index]);
    bool needs_other_stream = false;
    for (std::size_t i = index; i-- > 0;) {
      const StreamOp& op = gpu.plan[i];
      needs_other_stream = needs_other_stream || op.kind == (arithmetic ? StreamOpKind::await_arrivals
                                                                        : StreamOpKind::await_arithmetic);
      const bool same_stream = on_arithmetic(op) == arithmetic;
      if (is_work(op) && (same_stream || needs_other_stream) && gpu.state[i] != State::over) {
        return false;
      }
    }
    return true;
  }

  bool step(Gpu& gpu) {
    for (const bool arithmetic : {favour_ == Favour::arithmetic, favour_ != Favour::arithmetic}) {
      for (std::size_t i = 0; i < gpu.plan.size(); ++i) {
        const StreamOp& op = gpu.plan[i];
        if (gpu.state[i] == State::waiting && on_arithmetic(op) == arithmetic && may_start(gpu, i)) {
          start(gpu, i);
          return true;
        }
      }
      // A favoured stream is served first; transfers of an active group come before other arithmetic.
      if (favour_ == Favour::communication && !gpu.open.empty() && transfer()) {
        return true;
      }
    }
    return false;
  }

  void start(Gpu& gpu, std::size_t index) {
    const StreamOp& op = gpu.plan[index];
    gpu.state[index] = State::over;
    switch (op.kind) {
      case StreamOpKind::group:
        gpu.state[index] = State::active;
        gpu.open.assign(op.transfers.begin(), op.transfers.end());
        return;
      case StreamOpKind::copy:
        std::memmove(at(gpu, op.target), at(gpu, op.sources.front()),
                     static_cast<std::size_t>(op.target.bytes));
        return;
      case StreamOpKind::reduce:
        for (const Region& source : op.sources) {
          reduce_into(at(gpu, op.target), at(gpu, source), op.target.bytes / element_size_, vector_.dtype,
                      vector_.op);
        }
        return;
      case StreamOpKind::divide:
        divide(at(gpu, op.target), op.target.bytes / element_size_, vector_.dtype, num_ranks_);
        return;
      default:
        return;
    }
  }

  /// Carries out one transfer between active groups, if there is one.
  bool transfer() {
    for (Rank source = 0; source < num_ranks_; ++source) {
      for (Rank target = 0; target < num_ranks_; ++target) {
        Gpu& from = gpus_[static_cast<std::size_t>(source)];
        Gpu& to = gpus_[static_cast<std::size_t>(target)];
        const auto send = std::find_if(
            from.open.begin(), from.open.end(),
            [&](const GroupTransfer& transfer) { return transfer.sends && transfer.peer == target; });
        const auto receive = std::find_if(to.open.begin(), to.open.end(), [&](const GroupTransfer& transfer) {
          return !transfer.sends && transfer.peer == source;
        });
        if (send == from.open.end() || receive == to.open.end()) {
          continue;
        }
        EXPECT_EQ(send->region.bytes, receive->region.bytes);
        std::memcpy(at(to, receive->region), at(from, send->region),
                    static_cast<std::size_t>(send->region.bytes));
        from.open.erase(send);
        to.open.erase(receive);
        for (Gpu* gpu : {&from, &to}) {
          if (gpu->open.empty()) {
            std::replace(gpu->state.begin(), gpu->state.end(), State::active, State::over);
          }
        }
        return true;
      }
    }
    return false;
  }

  static std::byte* at(Gpu& gpu, const Region& region) {
    return gpu.memory[static_cast<std::size_t>(region.buffer)].data() + region.offset;
  }

  Vector vector_;
  Favour favour_;
  std::int64_t element_size_;
  int num_ranks_;
  std::vector<Gpu> gpus_;
};

void check_result(const Schedule& schedule, const Vector& vector, Favour favour) {
  Gpus gpus(schedule, vector, favour);
  const CollectiveValues values({.collective = schedule.algorithm().collective,
                                 .num_ranks = schedule.num_ranks(),
                                 .root = schedule.request().root,
                                 .dtype = vector.dtype,
                                 .op = vector.op,
                                 .num_elements = vector.num_elements,
                                 .parts = parts_of(schedule, vector.num_elements)},
                                5);
  for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
    values.write_input(rank, gpus.message(rank));
  }
  ASSERT_TRUE(gpus.run()) << label(schedule) << " deadlocks";
  for (Rank rank = 0; rank < schedule.num_ranks(); ++rank) {
    ASSERT_EQ(values.first_wrong(rank, gpus.message(rank)), std::nullopt)
        << label(schedule) << ", rank " << rank << ", " << vector.num_elements << " elements";
  }
}

TEST(GroupPlan, GivesTheExactResultWhicheverStreamIsAhead) {
  for_each_schedule(requests_of_few_ranks(), [](const Schedule& schedule) {
    for (const std::int64_t num_elements : {1, 7, 40}) {
      for (const Favour favour : {Favour::communication, Favour::arithmetic}) {
        check_result(schedule, {.num_elements = num_elements}, favour);
      }
    }
  });
}

TEST(GroupPlan, AveragesWhereTheResultIsPromised) {
  for_each_schedule({{.num_ranks = 5}}, [](const Schedule& schedule) {
    check_result(schedule, {.num_elements = 23, .dtype = DataType::int64, .op = ReduceOp::avg},
                 Favour::communication);
  });
}

}  // namespace
}  // namespace ringside
