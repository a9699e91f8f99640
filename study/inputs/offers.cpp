#include "study/inputs/offers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/text.hpp"
#include "import/offer_listing.hpp"
#include "results/codec/reader.hpp"
#include "study/inputs/shipped_files.hpp"

namespace ringside::study {
namespace {

/// A machine of configs/machines, by the name of the file.
std::optional<Machine> shipped_machine(const std::string& name) {
  const auto configs = configs_directory();
  std::error_code ignored;
  const auto file = configs ? *configs / "machines" / (name + ".yaml") : std::filesystem::path();
  if (name.empty() || name.find('/') != std::string::npos ||
      !std::filesystem::is_regular_file(file, ignored)) {
    return std::nullopt;
  }
  return load_machine(file);
}

}  // namespace

std::vector<Offer> read_offers(const std::filesystem::path& file, const KnownNames& known,
                               const Observer& observer) {
  const std::string text = valid_utf8(read_text(file));
  OfferListing listing;
  switch (listing_format(text, file.string())) {
    case ListingFormat::yaml:
      return load_offers(file, known);
    case ListingFormat::json:
      listing = read_vast_offers(text, file.string());
      break;
    case ListingFormat::csv:
      listing = read_skypilot_offers(text, file.string(), shipped_machine);
      break;
  }
  for (const std::string& note : listing.notes) {
    observer.note(note);
  }
  return std::move(listing.offers);
}

}  // namespace ringside::study
