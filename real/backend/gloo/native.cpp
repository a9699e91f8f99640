#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/broadcast.h>
#include <gloo/common/error.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>

#include "common/error.hpp"
#include "common/mapped.hpp"
#include "real/backend/backends.hpp"
#include "real/backend/gloo/parts.hpp"
#include "real/execute/reduce.hpp"

namespace ringside {
namespace {

using GlooReduction = void (*)(void*, const void*, const void*, std::size_t);

/// Gloo's own arithmetic, as PyTorch uses it.
template <typename T>
GlooReduction reduction(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return &::gloo::sum<T>;
    case ReduceOp::prod:
      return &::gloo::product<T>;
    case ReduceOp::min:
      return &::gloo::min<T>;
    case ReduceOp::max:
      return &::gloo::max<T>;
  }
  throw_bug("a declared value", __FILE__, __LINE__, "Gloo has no such reduction");
}

template <typename T>
class GlooNative {
 public:
  GlooNative(std::shared_ptr<::gloo::Context> context, Rank rank, const CollectiveCall& call,
             std::span<std::byte> message)
      : context_(std::move(context)),
        rank_(rank),
        call_(call),
        elements_(reinterpret_cast<T*>(message.data())),
        count_(static_cast<std::size_t>(call.num_elements)) {}

  // Options own buffers and cannot be copied; calls must be.
  NativeCall all_reduce() const {
    auto options = std::make_shared<::gloo::AllreduceOptions>(context_);
    options->setAlgorithm(::gloo::AllreduceOptions::Algorithm::RING);
    options->setOutputs(std::vector<T*>{elements_}, count_);
    options->setReduceFunction(reduction<T>(call_.op));
    return with_average([options] { ::gloo::allreduce(*options); }, true);
  }

  NativeCall reduce() const {
    auto options = std::make_shared<::gloo::ReduceOptions>(context_);
    options->setOutput(elements_, count_);
    options->setRoot(call_.root);
    options->setReduceFunction(reduction<T>(call_.op));
    return with_average([options] { ::gloo::reduce(*options); }, rank_ == call_.root);
  }

  NativeCall broadcast() const {
    auto options = std::make_shared<::gloo::BroadcastOptions>(context_);
    options->setOutput(elements_, count_);
    options->setRoot(call_.root);
    return [options] { ::gloo::broadcast(*options); };
  }

  NativeCall all_gather() const {
    const ElementRange own = call_.parts[static_cast<std::size_t>(rank_)];
    if (equal_parts()) {
      auto options = std::make_shared<::gloo::AllgatherOptions>(context_);
      options->setInput(elements_ + own.first, static_cast<std::size_t>(own.count));
      options->setOutput(elements_, count_);
      return [options] { ::gloo::allgather(*options); };
    }
    const std::vector<std::size_t> counts =
        mapped(call_.parts, [](const ElementRange& part) { return static_cast<std::size_t>(part.count); });
    auto options = std::make_shared<::gloo::AllgathervOptions>(context_);
    options->setInput(elements_ + own.first, static_cast<std::size_t>(own.count));
    options->setOutput(elements_, counts);
    return [options] { ::gloo::allgatherv(*options); };
  }

  NativeCall gather() const {
    const ElementRange own = call_.parts[static_cast<std::size_t>(rank_)];
    auto options = std::make_shared<::gloo::GatherOptions>(context_);
    options->setInput(elements_ + own.first, static_cast<std::size_t>(own.count));
    if (rank_ == call_.root) {
      options->setOutput(elements_, count_);
    }
    options->setRoot(call_.root);
    return [options] { ::gloo::gather(*options); };
  }

 private:
  bool equal_parts() const { return call_.num_elements % call_.num_ranks == 0; }

  /// Gloo has no average: sum, then divide, as PyTorch does.
  NativeCall with_average(NativeCall sum, bool holds_result) const {
    if (call_.op != ReduceOp::avg || !holds_result) {
      return sum;
    }
    return [sum = std::move(sum), elements = elements_, call = call_] {
      sum();
      divide(elements, call.num_elements, call.dtype, call.num_ranks);
    };
  }

  std::shared_ptr<::gloo::Context> context_;
  Rank rank_;
  const CollectiveCall& call_;
  T* elements_;
  std::size_t count_;
};

/// What Gloo has of its own, and is measured here.
template <typename T>
struct GlooRow {
  Collective collective;
  NativeCall (GlooNative<T>::*make)() const;
  bool equal_parts = false;
};
template <typename T>
constexpr auto kGlooRows = std::to_array<GlooRow<T>>({{Collective::all_reduce, &GlooNative<T>::all_reduce},
                                                      {Collective::broadcast, &GlooNative<T>::broadcast},
                                                      {Collective::reduce, &GlooNative<T>::reduce},
                                                      {Collective::all_gather, &GlooNative<T>::all_gather},
                                                      {Collective::gather, &GlooNative<T>::gather, true}});

/// Null where there is none.
template <typename T>
const GlooRow<T>* gloo_row(Collective collective) {
  const auto found = std::find_if(kGlooRows<T>.begin(), kGlooRows<T>.end(),
                                  [&](const GlooRow<T>& row) { return row.collective == collective; });
  return found == kGlooRows<T>.end() ? nullptr : &*found;
}

template <typename T>
NativeCall native_of(const std::shared_ptr<::gloo::Context>& context, Rank rank, const CollectiveCall& call,
                     std::span<std::byte> message) {
  const GlooRow<T>* row = gloo_row<T>(call.collective);
  RINGSIDE_CHECK(row != nullptr, "points are checked before they are measured");
  return (GlooNative<T>(context, rank, call, message).*row->make)();
}

NativeCall make_typed(const std::shared_ptr<::gloo::Context>& context, Rank rank, const CollectiveCall& call,
                      std::span<std::byte> message) {
  switch (call.dtype) {
    case DataType::float32:
      return native_of<float>(context, rank, call, message);
    case DataType::float64:
      return native_of<double>(context, rank, call, message);
    case DataType::int32:
      return native_of<std::int32_t>(context, rank, call, message);
    case DataType::int64:
      return native_of<std::int64_t>(context, rank, call, message);
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  throw_bug("a supported data type", __FILE__, __LINE__, "points are checked before they are measured");
}

}  // namespace

std::optional<std::string> gloo_native_unsupported(const PointKey& key) {
  const GlooRow<float>* row = gloo_row<float>(key.collective);
  if (key.collective == Collective::reduce_scatter) {
    return "Gloo has no reduce_scatter of the kind that takes options; use an algorithm of ringside";
  }
  if (row == nullptr) {
    return fmt::format("Gloo's own {} is not measured here; use an algorithm of ringside",
                       name(key.collective));
  }
  return row->equal_parts ? unequal_parts("Gloo", key) : std::nullopt;
}

NativeCall make_gloo_native(const std::shared_ptr<::gloo::Context>& context, Rank rank,
                            const CollectiveCall& call, std::span<std::byte> message) {
  if (call.num_elements == 0) {
    return [] {};
  }
  return [native = make_typed(context, rank, call, message), rank, collective = call.collective] {
    try {
      native();
    } catch (const ::gloo::IoException& exception) {
      // Gloo does not say which peer it was.
      throw Error(ErrorKind::peer_lost, fmt::format("rank {} lost a peer in Gloo's own {}: {}", rank,
                                                    name(collective), exception.what()));
    } catch (const ::gloo::Exception& exception) {
      throw Error(ErrorKind::failed,
                  fmt::format("rank {}: Gloo's own {} failed: {}", rank, name(collective), exception.what()));
    }
  };
}

}  // namespace ringside
