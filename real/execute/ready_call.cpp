#include "real/execute/ready_call.hpp"

#include <utility>

#include "real/execute/executor.hpp"
#include "real/execute/rank_backend.hpp"

namespace ringside {
namespace {

/// On memory of the CPU, timed by the steady clock.
class CpuCall final : public ReadyCall {
 public:
  CpuCall(const Program& program, Transport& transport)
      : rank_(transport.rank()),
        executor_(std::in_place, program, transport),
        message_(executor_->message()) {
    run_ = [this] { executor_->run(); };
  }
  CpuCall(const CollectiveCall& call, const RankBackend& backend)
      : rank_(backend.transport->rank()),
        memory_(
            backend.transport->allocate(call.num_elements * static_cast<std::int64_t>(size_of(call.dtype)))),
        message_(memory_.bytes()),
        run_(backend.make_native(call, message_)) {}

  void warm_up() override {}
  void write_input(const CollectiveValues& values) override { values.write_input(rank_, message_); }

  double run() override {
    const Seconds begin = steady_now();
    run_();
    return (steady_now() - begin).value;
  }

  std::optional<WrongElement> first_wrong(const CollectiveValues& values) override {
    const std::optional<std::int64_t> element = values.first_wrong(rank_, message_);
    return element ? std::optional<WrongElement>({*element, values.value_at(message_, *element)})
                   : std::nullopt;
  }

  std::optional<CallLaunch> launch() const override { return std::nullopt; }
  Executor* executor() override { return executor_ ? &*executor_ : nullptr; }

 private:
  Rank rank_;
  // A program's executor, or the memory of a library's own collective.
  std::optional<Executor> executor_;
  OwnMemory memory_;
  std::span<std::byte> message_;
  NativeCall run_;
};

}  // namespace

std::unique_ptr<ReadyCall> make_ready(const Program& program, const RankBackend& backend, bool as_library) {
  return backend.device ? backend.device->make_ready(program)
                        : std::make_unique<CpuCall>(
                              program, as_library ? *backend.library_transport : *backend.transport);
}

std::unique_ptr<ReadyCall> make_ready(const CollectiveCall& call, const RankBackend& backend) {
  return backend.device ? backend.device->make_ready(call) : std::make_unique<CpuCall>(call, backend);
}

}  // namespace ringside
