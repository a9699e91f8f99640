#pragma once

#include <memory>
#include <string>

#include "real/launch/external/external_rank.hpp"
#include "real/launch/launch_options.hpp"
#include "real/launch/ranks.hpp"

namespace ringside {

/// This process as one of `external`'s ranks; `purpose` keeps several groups of one launch apart. Every rank gets the
/// answer.
std::unique_ptr<Ranks> join_external(const ExternalRank& external, const LaunchOptions& options,
                                     const std::string& purpose);

}  // namespace ringside
