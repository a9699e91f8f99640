#include "real/backend/nccl/native_support.hpp"

#include <fmt/format.h>

namespace ringside {

std::optional<std::string> nccl_native_unsupported(const PointKey& key) {
  const std::int64_t num_elements = key.bytes.value / static_cast<std::int64_t>(size_of(key.dtype));
  switch (key.collective) {
    case Collective::gather:
      return "NCCL has a gather of its own only from version 2.28 on; use an algorithm of ringside";
    case Collective::all_to_all:
    case Collective::all_gather:
    case Collective::reduce_scatter:
      if (num_elements % key.ranks != 0) {
        return fmt::format("NCCL's {} needs parts of equal size, and {} ranks do not divide {} elements",
                           name(key.collective), key.ranks, num_elements);
      }
      return std::nullopt;
    case Collective::all_reduce:
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace ringside
