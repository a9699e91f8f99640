#pragma once

#include <filesystem>
#include <vector>

#include "scenario/plan/plan.hpp"
#include "study/ranks/observer.hpp"

namespace ringside::study {

/// The offers of a file, whatever its format; what a person should know of it is noted. Throws
/// Error{bad_input} when the file cannot be read as a listing, or when no offer in it can be.
std::vector<Offer> read_offers(const std::filesystem::path& file, const KnownNames& known,
                               const Observer& observer);

}  // namespace ringside::study
