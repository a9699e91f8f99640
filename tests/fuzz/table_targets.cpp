// Listings of offers and tables.

#include <array>

#include <fmt/format.h>

#include "import/offer_listing.hpp"
#include "scenario/plan/workload.hpp"
#include "scenario/yaml/csv.hpp"
#include "target.hpp"

namespace ringside::fuzz {
namespace {

void read_a_table(std::string_view text) {
  const CsvTable table = parse_csv(text, "x.csv");
  for (const CsvRow& row : table.rows) {
    require(row.cells.size() == table.header.size(), "a row is not as long as the header");
    require(row.line >= 1, "a row stands in no line");
  }
}

void use(const OfferListing& listing) {
  for (const Offer& offer : listing.offers) {
    require(!offer.problem.empty() || offer.gpus >= 1, "an offer of nothing");
  }
}

void read_vast(std::string_view text) { use(read_vast_offers(text, "x.json")); }
void read_skypilot(std::string_view text) {
  use(read_skypilot_offers(text, "x.csv", [](const std::string&) { return std::optional<Machine>(); }));
}
void tell_formats(std::string_view text) { listing_format(text, "x"); }

void read_tensors(std::string_view text) {
  for (const Tensor& tensor : load_tensors(as_file(text))) {
    require(tensor.elements > 0 && tensor.forward_flops >= 0, "a tensor of nothing");
  }
}

constexpr std::array kTargets = {
    Target{"csv", read_a_table},
    Target{"vast_offers", read_vast},
    Target{"skypilot_offers", read_skypilot},
    Target{"listing_format", tell_formats},
    Target{"tensors", read_tensors},
};

}  // namespace

std::span<const Target> table_targets() { return kTargets; }

}  // namespace ringside::fuzz
