#pragma once

#include <cstddef>
#include <functional>

namespace ringside {

/// Calls `work` with 0 … count − 1, on as many threads as there are processors. Calls must not touch the same
/// memory. After an exception no further call is begun; of several the one of the lowest number is thrown.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace ringside
