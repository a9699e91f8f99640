#include "real/execute/ready_call.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "real/backend/threads/transport.hpp"
#include "real/execute/executor.hpp"
#include "real/execute/rank_backend.hpp"
#include "schedule/registry.hpp"
#include "schedule/schedule.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

/// One rank that has nobody to send to; counts how often it is asked for memory.
class LonelyTransport final : public Transport {
 public:
  Rank rank() const override { return 0; }
  int num_ranks() const override { return 1; }
  std::unique_ptr<Transfer> make_send(Rank, std::span<const std::byte>) override { return nullptr; }
  std::unique_ptr<Transfer> make_receive(Rank, std::span<std::byte>) override { return nullptr; }
  OwnMemory allocate(std::int64_t bytes) override {
    asked_.push_back(bytes);
    return OwnMemory(bytes);
  }
  std::vector<std::int64_t> asked_ = {};
};

TEST(ReadyCall, OfAProgramRunsItWhereTheTransportHasMemory) {
  const Schedule schedule(known_algorithm(Collective::all_reduce, "ring"), {.num_ranks = 1});
  const Program program = compile(schedule, {.num_elements = 5}, 0);
  RankBackend backend;
  auto usual = std::make_unique<LonelyTransport>();
  auto library = std::make_unique<LonelyTransport>();
  const auto& asked_usual = usual->asked_;
  const auto& asked_library = library->asked_;
  backend.transport = std::move(usual);
  backend.library_transport = std::move(library);
  const std::unique_ptr<ReadyCall> ready = make_ready(program, backend);
  EXPECT_EQ(asked_usual, program.buffer_bytes);
  EXPECT_TRUE(asked_library.empty());
  const CollectiveValues values({.num_ranks = 1, .num_elements = 5}, 3);
  ready->warm_up();
  EXPECT_FALSE(ready->launch().has_value());
  ASSERT_NE(ready->executor(), nullptr);
  EXPECT_TRUE(ready->first_wrong(values)) << "nothing was written yet";
  ready->write_input(values);
  EXPECT_GE(ready->run(), 0);
  EXPECT_FALSE(ready->first_wrong(values).has_value());
  make_ready(program, backend, true);
  EXPECT_EQ(asked_library, program.buffer_bytes);
}

TEST(ReadyCall, OfALibraryRunsItsCallOnMemoryThatIsCheckedAfterwards) {
  const CollectiveCall call = {.num_ranks = 1, .dtype = DataType::float64, .num_elements = 5};
  RankBackend backend;
  auto transport = std::make_unique<LonelyTransport>();
  const auto& asked = transport->asked_;
  backend.transport = std::move(transport);
  double spoilt = 0;
  backend.make_native = [&](const CollectiveCall& made, std::span<std::byte> message) {
    EXPECT_EQ(made.num_elements, 5);
    EXPECT_EQ(message.size(), 40U);
    return [&spoilt, message] { std::memcpy(message.data() + 24, &spoilt, sizeof(spoilt)); };
  };
  const std::unique_ptr<ReadyCall> ready = make_ready(call, backend);
  EXPECT_EQ(asked, std::vector<std::int64_t>{40});
  EXPECT_EQ(ready->executor(), nullptr);
  EXPECT_FALSE(ready->launch().has_value());
  const CollectiveValues values(call, 3);
  spoilt = values.value_due(0, 3);
  ready->write_input(values);
  EXPECT_GE(ready->run(), 0);
  EXPECT_FALSE(ready->first_wrong(values).has_value());
  spoilt = -0.25;
  ready->run();
  const std::optional<WrongElement> wrong = ready->first_wrong(values);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->element, 3);
  EXPECT_EQ(wrong->found, -0.25);
}

}  // namespace
}  // namespace ringside
