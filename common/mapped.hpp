#pragma once

#include <functional>
#include <iterator>
#include <type_traits>
#include <vector>

namespace ringside {

/// What `of` says of each element, in their order; `Result`: nothing = as it says it.
template <typename Result = void, typename Range, typename Of>
auto mapped(const Range& range, Of of) {
  using Said = std::remove_cvref_t<decltype(std::invoke(of, *std::begin(range)))>;
  std::vector<std::conditional_t<std::is_void_v<Result>, Said, Result>> result;
  for (const auto& one : range) {
    result.emplace_back(std::invoke(of, one));
  }
  return result;
}

}  // namespace ringside
