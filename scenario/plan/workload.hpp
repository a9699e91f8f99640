#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/names.hpp"
#include "common/units.hpp"
#include "scenario/machine/machine.hpp"
#include "scenario/plan/transformer.hpp"

/// What is trained: which gradients are synchronised and how much is computed in between (docs/planning.md).
/// Loaded from configs/workloads/*.yaml, checked completely.
namespace ringside {

/// One parameter tensor, and so one gradient.
struct Tensor {
  std::string name = {};
  std::int64_t elements = 0;
  double forward_flops = 0;      ///< Operations of the forward pass for one sample.
  std::int64_t activations = 0;  ///< Elements of one sample that are kept for the backward pass.

  bool operator==(const Tensor&) const = default;
};

/// The arithmetic that does most of the work; says which rate of a data sheet counts.
/// `float8`: matrices of layers in 8 bits, all else as with bfloat16.
enum class Precision { float32, tf32, float16, bfloat16, float8 };
enum class Optimizer { sgd, momentum, adam };
/// What kind of network it is: says which published speeds hold (configs/scaling/speeds.csv). Transformers
/// here attend without fused kernels, language models (`Transformer`) with them.
enum class ModelFamily { convolutional, detection, transformer };

/// Families of GPUs that reach like shares of their data-sheet rate; all GeForce are one.
std::span<const std::string> gpu_classes();

/// Stands for every GPU, and for ranks without one.
inline constexpr std::string_view kAnyGpu = "any";

/// A speed that somebody measured on one GPU of this model, training this workload at its batch per GPU.
struct MeasuredSpeed {
  std::string gpu = {};
  double samples_per_second = 0;  ///< Also where the file says the time of a step, of `batch` samples:
  std::optional<Seconds> step_time = {};
  std::optional<int> batch = {};

  bool operator==(const MeasuredSpeed&) const = default;
};

struct ComputeSpeed {
  Precision precision = Precision::float32;
  /// Where nothing else says how fast a GPU is: what published runs of its kind reached.
  std::optional<ModelFamily> family = {};
  /// Share of the data sheet's dense rate; by GPU class, and `default` for all others.
  std::map<std::string, Interval<double>> efficiency = {};
  std::vector<MeasuredSpeed> measured = {};

  bool operator==(const ComputeSpeed&) const = default;
};

struct MemoryUse {
  Optimizer optimizer = Optimizer::momentum;
  /// Memory of one sample; none = estimated from the tensors.
  std::optional<Bytes> activations = {};

  bool operator==(const MemoryUse&) const = default;
};

struct Workload {
  std::string name = {};
  std::int64_t parameters = 0;
  /// In order of parameters(): gradients arrive last to first. Empty when only a total is known.
  std::vector<Tensor> tensors = {};
  /// A language model by its numbers; none = it is none, or only its tensors are known.
  std::optional<Transformer> transformer = {};
  DataType gradients = DataType::float32;
  double forward_flops = 0;  ///< Operations of the forward pass for one sample; 0 = not known.
  double backward_over_forward = 2;
  /// Exactly one of the two, where computing is known.
  std::optional<int> batch_per_gpu = {};  ///< Samples of one GPU in one pass.
  std::optional<int> global_batch = {};   ///< Samples of a step, all GPUs and passes together.
  double samples = 0;                     ///< Samples of one epoch; 0 = the length of the run is not known.
  double epochs = 1;
  std::optional<std::int64_t> tokens =
      {};  ///< Those of an epoch where they are what was said; `samples` follow.
  /// Samples per second that the input pipeline of one node can deliver; none = no limit is known.
  std::optional<double> input_per_node = {};
  ComputeSpeed compute;
  MemoryUse memory;
  std::filesystem::path file = {};
};

/// Whether the speed of computing follows (stated, by kind of network, or a language model); otherwise only
/// synchronisation can be asked.
bool computes(const Workload& workload);

/// Bytes of all gradients, S of one synchronisation.
Bytes gradient_bytes(const Workload& workload);

/// Throws Error{bad_input}, every problem as `file:line:column: key: what`. `models`: the folder whose
/// <name>.csv are the tensor lists that `model` names.
Workload load_workload(const std::filesystem::path& file, const std::filesystem::path& models);

/// The tensors of a CSV file with the columns name and elements, and optionally forward_flops and
/// activations. Throws Error{bad_input} that names the file, line and column.
std::vector<Tensor> load_tensors(const std::filesystem::path& file);

}  // namespace ringside
