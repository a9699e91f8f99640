#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ringside {

/// What `question` answers in a copy (fork) of this process, which ends then: CUDA cannot be used in copies
/// of a process that has used it. This process must have no other threads. Throws Error{environment} when
/// there can be no copy, and Error{failed} when it ends without an answer.
std::optional<std::string> asked_in_a_copy(const std::function<std::optional<std::string>()>& question);

}  // namespace ringside
