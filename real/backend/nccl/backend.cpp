#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gpus.hpp"
#include "real/backend/nccl/communicator.hpp"
#include "real/backend/nccl/device/cuda.hpp"
#include "real/backend/nccl/gpu_call.hpp"
#include "real/backend/nccl/library.hpp"
#include "real/backend/nccl/settings.hpp"
#include "real/execute/coordination.hpp"

namespace ringside {
namespace {

/// Members in this order, so that calls end before the streams and these before the communicator.
class NcclDevice final : public RankDevice {
 public:
  NcclDevice(std::shared_ptr<const NcclLibrary> library, const ncclUniqueId& id, const GpuRank& place,
             bool shares_gpu, std::string no_graph_because)
      : communicator_(std::move(library), id, place),
        streams_(communicator_, std::move(no_graph_because)),
        shares_gpu_(shares_gpu) {}

  /// False where NCCL refused to be captured in a CUDA graph.
  bool usable() const { return communicator_.usable(); }
  const std::string& no_graph_because() const { return streams_.no_graph_because(); }

  bool shares_gpu() const override { return shares_gpu_; }
  std::unique_ptr<ReadyCall> make_ready(const Program& program) override {
    return std::make_unique<GpuCall>(streams_, make_program_work(streams_, program));
  }
  std::unique_ptr<ReadyCall> make_ready(const CollectiveCall& call) override {
    return std::make_unique<GpuCall>(streams_, make_native_work(streams_, call));
  }
  std::unique_ptr<DeviceCalls> make_calls() override { return make_borrowed_calls(streams_); }

 private:
  NcclCommunicator communicator_;
  GpuStreams streams_;
  bool shares_gpu_;
};

/// NCCL reads its environment when the first communicator is made.
template <typename Settings>
void set_environment(const Settings& settings, bool replace) {
  for (const auto& [name, value] : settings) {
    ::setenv(name.c_str(), value.c_str(), replace ? 1 : 0);
  }
}

int take_gpu(const RankPlace& place) {
  int num_gpus = 0;
  const int gpu = gpu_of(place.local_rank, place.gpu.ranks_per_gpu);
  check_cuda(cudaGetDeviceCount(&num_gpus), gpu, "looking for GPUs");
  if (const auto too_few = too_few_gpus(num_gpus, place.local_rank + 1, place.gpu.ranks_per_gpu)) {
    throw Error(ErrorKind::environment, *too_few);
  }
  check_cuda(cudaSetDevice(gpu), gpu, "being taken");
  check_cuda(cudaFree(nullptr), gpu, "being taken");  // The first call that needs the device itself.
  return gpu;
}

/// Rank 0's id, at every rank.
ncclUniqueId share_id(const NcclLibrary& library, Coordination& coordination) {
  ncclUniqueId id{};
  const std::span<std::byte> bytes = std::as_writable_bytes(std::span(id.internal));
  if (coordination.rank() == 0) {
    const ncclResult_t result = library.get_unique_id(&id);
    if (result != ncclSuccess) {
      const char* words = library.get_last_error(nullptr);
      throw nccl_error(result, 0, "opening a meeting point", words == nullptr ? "" : words);
    }
  }
  // Those of the others are zeros: the largest are rank 0's.
  std::vector<double> numbers(bytes.size());
  std::ranges::transform(bytes, numbers.begin(), [](std::byte byte) { return static_cast<double>(byte); });
  numbers = coordination.maximum(numbers);
  std::ranges::transform(numbers, bytes.begin(),
                         [](double number) { return static_cast<std::byte>(number); });
  return id;
}

/// RINGSIDE_CUDA_GRAPH=0 puts calls on streams one by one, to compare and where graphs fail.
std::string no_graph_wanted() {
  const char* value = std::getenv("RINGSIDE_CUDA_GRAPH");
  return value != nullptr && std::string_view(value) == "0" ? "RINGSIDE_CUDA_GRAPH=0" : "";
}

}  // namespace

RankBackend join_nccl(const RankPlace& place) {
  const std::shared_ptr<const NcclLibrary> library = NcclLibrary::load();
  set_environment(place.gpu.settings, true);
  const bool shares_gpu = std::min(place.gpu.ranks_per_gpu, place.num_ranks) > 1;
  if (shares_gpu) {
    set_environment(settings_of_shared_gpu(library->version(), place.rank), false);
  }
  const int gpu = take_gpu(place);
  RankBackend backend = registered(Backend::gloo).join(place);
  backend.backend = Backend::nccl;
  backend.make_native = nullptr;
  Coordination coordination(*backend.transport);
  const auto connect = [&](const std::string& no_graph_because) {
    return std::make_unique<NcclDevice>(
        library, share_id(*library, coordination),
        GpuRank{.rank = place.rank,
                .num_ranks = place.num_ranks,
                .gpu = gpu,
                .timeout = place.timeout,
                .meeting_timeout = place.meeting_timeout.value_or(place.timeout)},
        shares_gpu, no_graph_because);
  };
  std::unique_ptr<NcclDevice> device = connect(no_graph_wanted());
  if (coordination.anywhere(!device->usable())) {
    // A communicator that refused capture is lost at all ranks; the next one is not asked.
    const std::string refused = device->no_graph_because();
    device.reset();
    device = connect(refused.empty() ? "NCCL refused it at another rank" : refused);
  }
  backend.device = std::move(device);
  return backend;
}

}  // namespace ringside
