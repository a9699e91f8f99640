// kernels.cu on the rehearsal device: the bodies of its kernels, by a few threads one after another.
#include "real/backend/nccl/device/kernels.hpp"

#include "tests/gpu/rehearsal/cuda/device.hpp"
#include "tests/gpu/rehearsal/elements.hpp"

namespace ringside {
namespace {

/// Enough that threads share vectors and single elements between them.
constexpr std::int64_t kThreadsRehearsed = 5;

template <typename Body>
void every_thread(const Body& body) {
  for (std::int64_t thread = 0; thread < kThreadsRehearsed; ++thread) {
    body(Walk{.first = thread, .stride = kThreadsRehearsed});
  }
}

constexpr const char* kLaunch = "cudaLaunchKernel";

cudaError_t launch(cudaStream_t stream, rehearsal::Work work) {
  return rehearsal::runtime_call(kLaunch, [&] { return rehearsal::put(kLaunch, stream, std::move(work)); });
}

bool accessible(const void* memory, std::int64_t count, DataType dtype) {
  return rehearsal::accessible(kLaunch, memory, static_cast<std::size_t>(count) * size_of(dtype));
}

bool accessible(const KernelPattern& pattern) {
  const ElementRange& elements = pattern.elements;
  return accessible(pattern.message, elements.first + elements.count, pattern.dtype) &&
         accessible(pattern.pattern, pattern.period, pattern.dtype);
}

void reduce(const KernelReduction& reduction) {
  bool ready = accessible(reduction.target, reduction.count, reduction.dtype);
  for (int i = 0; i < reduction.num_sources; ++i) {
    ready = ready &&
            accessible(reduction.sources.at(static_cast<std::size_t>(i)), reduction.count, reduction.dtype);
  }
  if (!ready) {
    return;
  }
  with_element(reduction.dtype, [&](auto type) {
    using T = decltype(type);
    with_op(reduction.op, [&](auto op) {
      every_thread([&](const Walk& walk) {
        reduce_body<T, decltype(op)::value>(static_cast<T*>(reduction.target), sources_of(reduction),
                                            extent_of<T>(reduction), walk);
      });
    });
  });
}

}  // namespace

cudaError_t launch_reduce(const KernelReduction& reduction, int /*multiprocessors*/, cudaStream_t stream) {
  return launch(stream, [=] { reduce(reduction); });
}

cudaError_t launch_divide(const KernelDivision& division, int /*multiprocessors*/, cudaStream_t stream) {
  return launch(stream, [=] {
    if (accessible(division.target, division.count, division.dtype)) {
      with_element(division.dtype, [&](auto type) {
        every_thread([&](const Walk& walk) {
          divide_body(static_cast<decltype(type)*>(division.target), division.count, division.divisor, walk);
        });
      });
    }
  });
}

cudaError_t launch_write_pattern(const KernelPattern& pattern, int /*multiprocessors*/, cudaStream_t stream) {
  return launch(stream, [=] {
    if (accessible(pattern)) {
      with_element(pattern.dtype, [&](auto type) {
        using T = decltype(type);
        every_thread([&](const Walk& walk) {
          write_pattern_body(static_cast<T*>(pattern.message), pattern.elements,
                             static_cast<const T*>(pattern.pattern), pattern.period, walk);
        });
      });
    }
  });
}

cudaError_t launch_find_wrong(const KernelPattern& pattern, double tolerance, unsigned long long* first_wrong,
                              int /*multiprocessors*/, cudaStream_t stream) {
  return launch(stream, [=] {
    if (accessible(pattern) && rehearsal::accessible(kLaunch, first_wrong, sizeof(*first_wrong))) {
      with_element(pattern.dtype, [&](auto type) {
        using T = decltype(type);
        every_thread([&](const Walk& walk) {
          const std::int64_t wrong =
              find_wrong_body(static_cast<const T*>(pattern.message), pattern.elements,
                              static_cast<const T*>(pattern.pattern), pattern.period, tolerance, walk);
          if (wrong >= 0) {
            *first_wrong = std::min(*first_wrong, static_cast<unsigned long long>(wrong));
          }
        });
      });
    }
  });
}

}  // namespace ringside
