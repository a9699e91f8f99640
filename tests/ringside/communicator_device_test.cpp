// What a Communicator does where ranks have devices: on a made-up one, whose memory is that of the host.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "real/backend/threads/transport.hpp"
#include "real/execute/executor.hpp"
#include "ringside/call_board.hpp"
#include "ringside/communicator.hpp"
#include "tests/ringside/error_of.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Log = std::vector<std::string>;

/// Writes down what it is asked for, and refuses memory that is not where it is said to be.
class MadeUpCalls final : public DeviceCalls {
 public:
  MadeUpCalls(Transport& transport, Log& log) : transport_(transport), log_(log) {}
  int device() const override { return 5; }
  std::shared_ptr<std::byte> allocate(Bytes size) override {
    log_.push_back(fmt::format("allocate {}", size.value));
    auto* const memory = new std::byte[static_cast<std::size_t>(size.value)]();
    ranges_[memory] = static_cast<std::size_t>(size.value);
    return {memory, [](std::byte* own) { delete[] own; }};
  }
  void copy(const MemoryPiece& source, const MemoryPiece& target) override {
    EXPECT_EQ(source.size, target.size);
    EXPECT_EQ(source.on_device, is_here(source.data));
    EXPECT_EQ(target.on_device, is_here(target.data));
    log_.push_back(fmt::format("copy {} {} to {}", source.size, source.on_device ? "device" : "host",
                               target.on_device ? "device" : "host"));
    std::memmove(target.data, source.data, source.size);
  }
  void wait_for(void* stream) override {
    log_.push_back(stream == nullptr ? "wait for the default stream" : "wait for a stream");
  }
  NativeCall make_call(const Program& program, std::byte* message) override {
    EXPECT_TRUE(is_here(message));
    const auto size = static_cast<std::size_t>(program.buffer_bytes.front());
    const auto executor = std::make_shared<Executor>(program, transport_, std::span(message, size));
    return [executor] { executor->run(); };
  }
  NativeCall make_call(const CollectiveCall&, std::byte*) override {
    return [] {};
  }
  Transport& messages() override { return transport_; }
  void start_messages() override { log_.push_back("start messages"); }

 private:
  bool is_here(const std::byte* place) const {
    auto behind = ranges_.upper_bound(place);
    if (behind == ranges_.begin()) {
      return false;
    }
    --behind;
    return place < behind->first + behind->second;
  }

  Transport& transport_;
  Log& log_;
  std::map<const std::byte*, std::size_t, std::less<>> ranges_;
};

class MadeUpDevice final : public RankDevice {
 public:
  MadeUpDevice(Transport& transport, Log& log) : transport_(transport), log_(log) {}
  bool shares_gpu() const override { return false; }
  std::unique_ptr<ReadyCall> make_ready(const Program&) override { return nullptr; }
  std::unique_ptr<ReadyCall> make_ready(const CollectiveCall&) override { return nullptr; }
  std::unique_ptr<DeviceCalls> make_calls() override {
    return std::make_unique<MadeUpCalls>(transport_, log_);
  }

 private:
  Transport& transport_;
  Log& log_;
};

void with_devices(int ranks, const std::function<void(Communicator&, Log&)>& body) {
  CallBoard board(ranks);
  run_as_threads(ranks, 20s, [&](std::unique_ptr<Transport> transport) {
    Log log;
    RankBackend backend = threads_rank(std::move(transport));
    backend.device = std::make_unique<MadeUpDevice>(*backend.transport, log);
    Communicator communicator(std::move(backend), board);
    body(communicator, log);
  });
}

Log taken(Log& log) { return std::exchange(log, {}); }

/// So many floats of this rank on its device.
struct OnDevice {
  OnDevice(Communicator& communicator, const std::vector<float>& values)
      : memory(communicator.allocate_on_gpu({static_cast<std::int64_t>(values.size() * sizeof(float))})),
        count(values.size()) {
    std::memcpy(memory.get(), values.data(), values.size() * sizeof(float));
  }
  Elements elements() const {
    return Elements::on_gpu(reinterpret_cast<float*>(memory.get()), static_cast<std::int64_t>(count));
  }
  std::vector<float> values() const {
    const auto* const first = reinterpret_cast<const float*>(memory.get());
    return {first, first + count};
  }
  std::shared_ptr<std::byte> memory;
  std::size_t count;
};

TEST(CommunicatorOfDevices, MessagesOfTheHostTravelByTheDevice) {
  with_devices(2, [](Communicator& communicator, Log& log) {
    std::array<float, 3> message = {1, 2, 3};
    if (communicator.rank() == 0) {
      communicator.send(message, 1);
      EXPECT_EQ(taken(log), (Log{"allocate 12", "copy 12 host to device"}));
      EXPECT_EQ(communicator.bytes_sent(), 12);
    } else {
      message = {};
      Request request = communicator.irecv(message, 0);
      EXPECT_EQ(taken(log), Log{"allocate 12"});
      communicator.wait(request);
      communicator.wait(request);
      EXPECT_EQ(taken(log), Log{"copy 12 device to host"});
      EXPECT_THAT(message, ElementsAre(1, 2, 3));
    }
  });
}

TEST(CommunicatorOfDevices, MessagesOfTheDeviceAreNotCopied) {
  with_devices(2, [](Communicator& communicator, Log& log) {
    const OnDevice message(communicator,
                           communicator.rank() == 0 ? std::vector<float>{4, 5} : std::vector<float>{0, 0});
    taken(log);
    communicator.rank() == 0 ? communicator.send(message.elements(), 1)
                             : communicator.recv(message.elements(), 0);
    EXPECT_THAT(message.values(), ElementsAre(4, 5));
    communicator.all_reduce(message.elements());
    EXPECT_THAT(message.values(), ElementsAre(8, 10));
    communicator.broadcast(message.elements(), 1);
    EXPECT_THAT(log, IsEmpty());
  });
}

TEST(CommunicatorOfDevices, CollectivesOfTheHostAreCopiedThereAndBack) {
  with_devices(3, [](Communicator& communicator, Log& log) {
    const auto rank = static_cast<float>(communicator.rank());
    for (int time = 0; time < 2; ++time) {
      std::vector<float> message = {rank, 1, rank, 1};
      communicator.all_reduce(message);
      EXPECT_THAT(message, ElementsAre(3, 3, 3, 3));
      Log due = {"allocate 16", "copy 16 host to device", "copy 16 device to host"};
      due.erase(due.begin(), due.begin() + time);  // Its memory is kept.
      EXPECT_EQ(taken(log), due);
    }
    communicator.barrier();
    EXPECT_EQ(taken(log), Log{"start messages"});
  });
}

TEST(CommunicatorOfDevices, PartsOfEitherMemoryAreAtTheirPlaces) {
  const std::vector<float> gathered = {0, 0.5, 1, 1.5, 2, 2.5};
  for (const bool on_device : {false, true}) {
    with_devices(3, [&](Communicator& communicator, Log& log) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      const std::vector<float> own_values = {gathered[2 * rank], gathered[2 * rank + 1]};
      const OnDevice own(communicator, own_values);
      std::vector<float> own_host = own_values;
      const OnDevice all(communicator, std::vector<float>(6, -1));
      std::vector<float> all_host(6, -1);
      taken(log);
      const Elements mine = on_device ? own.elements() : Elements(own_host);
      const Elements everything = on_device ? all.elements() : Elements(all_host);
      const auto result = [&] { return on_device ? all.values() : all_host; };

      communicator.all_gather(mine, everything);
      EXPECT_EQ(result(), gathered);
      if (on_device) {
        EXPECT_EQ(taken(log), Log{"copy 8 device to device"}) << "its own part";
      }
      std::ranges::fill(all_host, -1.0F);
      std::memset(all.memory.get(), 0, 24);
      communicator.gather(mine, everything, 1);
      if (rank == 1) {
        EXPECT_EQ(result(), gathered);
      } else {
        EXPECT_THAT(result(), Each(on_device ? 0 : -1)) << "it is unused";
      }
      std::ranges::copy(gathered, all_host.begin());
      std::memcpy(all.memory.get(), gathered.data(), 24);
      communicator.reduce_scatter(everything, mine);
      const std::vector<float> due = {3 * gathered[2 * rank], 3 * gathered[2 * rank + 1]};
      EXPECT_EQ(on_device ? own.values() : own_host, due);
      EXPECT_EQ(result(), gathered) << "it is only read";
    });
  }
}

TEST(CommunicatorOfDevices, CopiesBetweenMemoriesOfEqualSizeAndType) {
  with_devices(1, [](Communicator& communicator, Log& log) {
    EXPECT_EQ(communicator.gpu(), 5);
    const OnDevice device(communicator, {1, 2});
    std::vector<float> host(2);
    taken(log);
    communicator.copy(device.elements(), host);
    EXPECT_THAT(host, ElementsAre(1, 2));
    host = {3, 4};
    communicator.copy(host, device.elements());
    EXPECT_THAT(device.values(), ElementsAre(3, 4));
    EXPECT_EQ(taken(log), (Log{"copy 8 device to host", "copy 8 host to device"}));
    std::vector<float> other(2);
    communicator.copy(host, other);
    EXPECT_THAT(other, ElementsAre(3, 4));
    communicator.copy(device.elements(), device.elements());
    communicator.copy(ConstElements(), Elements());
    EXPECT_THAT(log, IsEmpty()) << "the device is not needed";
    std::vector<double> doubles(2);
    std::vector<float> three(3);
    EXPECT_EQ(error_of([&] { communicator.copy(host, doubles); }),
              "2: 2 float32 elements cannot be copied to 2 float64 elements");
    EXPECT_EQ(error_of([&] { communicator.copy(three, device.elements()); }),
              "2: 3 float32 elements cannot be copied to 2 float32 elements");
    int stream = 0;
    communicator.wait_for_stream(nullptr);
    communicator.wait_for_stream(&stream);
    EXPECT_EQ(taken(log), (Log{"wait for the default stream", "wait for a stream"}));
  });
}

TEST(CommunicatorOfCpus, RefusesWhatNeedsADevice) {
  CallBoard board(1);
  run_as_threads(1, 20s, [&](std::unique_ptr<Transport> transport) {
    Communicator communicator(threads_rank(std::move(transport)), board);
    EXPECT_EQ(communicator.gpu(), std::nullopt);
    std::array<float, 2> values = {1, 2};
    const Elements on_gpu = Elements::on_gpu(values.data(), 2);
    const std::string text =
        "2: elements in the memory of a GPU need ranks on GPUs, and these are on the CPU (threads)";
    EXPECT_EQ(error_of([&] { communicator.all_reduce(on_gpu); }), text);
    EXPECT_EQ(error_of([&] { communicator.copy(on_gpu, values); }), text);
    EXPECT_EQ(error_of([&] { communicator.copy(values, on_gpu); }), text);
    EXPECT_EQ(error_of([&] { communicator.all_gather(on_gpu, values); }), text);
    EXPECT_EQ(error_of([&] { communicator.all_gather(values, on_gpu); }), text);
    EXPECT_EQ(error_of([&] { communicator.wait_for_stream(nullptr); }),
              "2: wait_for_stream() needs ranks on GPUs, and these are on the CPU (threads)");
    EXPECT_EQ(error_of([&] { communicator.allocate_on_gpu({8}); }),
              "2: allocate_on_gpu() needs ranks on GPUs, and these are on the CPU (threads)");
  });
}

}  // namespace
}  // namespace ringside
