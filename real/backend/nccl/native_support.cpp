#include "real/backend/nccl/native_support.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ringside {
namespace {

/// What NCCL has of its own, in native.cpp.
struct NcclRow {
  Collective collective;
  bool equal_parts = false;
};
constexpr auto kNcclRows = std::to_array<NcclRow>({{Collective::all_reduce},
                                                   {Collective::broadcast},
                                                   {Collective::reduce},
                                                   {Collective::all_gather, true},
                                                   {Collective::reduce_scatter, true},
                                                   {Collective::all_to_all, true},
                                                   {Collective::send_recv}});

}  // namespace

std::optional<std::string> nccl_native_unsupported(const PointKey& key) {
  const auto* const row = std::find_if(kNcclRows.begin(), kNcclRows.end(), [&](const NcclRow& known) {
    return known.collective == key.collective;
  });
  if (row == kNcclRows.end()) {
    return fmt::format("NCCL has a {} of its own only from version 2.28 on; use an algorithm of ringside",
                       name(key.collective));
  }
  const std::int64_t num_elements = key.bytes.value / static_cast<std::int64_t>(size_of(key.dtype));
  if (row->equal_parts && num_elements % key.ranks != 0) {
    return fmt::format("NCCL's {} needs parts of equal size, and {} ranks do not divide {} elements",
                       name(key.collective), key.ranks, num_elements);
  }
  return std::nullopt;
}

}  // namespace ringside
