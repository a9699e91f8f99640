#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/plan/plan.hpp"

/// Reads what is on offer in other people's formats (docs/planning.md). What a listing does not say is filled
/// in, and every such assumption stands in the offer.
namespace ringside {

/// What became of the rows of a listing; the last three together are the first.
struct ListingRows {
  std::size_t total = 0;
  /// Behind offers, also unavailable ones; many regions of one machine are one offer.
  std::size_t offered = 0;
  std::size_t without_gpus = 0;
  std::size_t not_understood = 0;  ///< Stand behind offers that cannot be used for what they say.
};

struct OfferListing {
  std::vector<Offer> offers;
  /// What a person should know of the listing as a whole, whole sentences.
  std::vector<std::string> notes;
  ListingRows rows = {};
};

/// Finds the catalogue's machine of a cloud name such as `p4d.24xlarge`.
using MachineByName = std::optional<Machine> (*)(const std::string& name);

/// `vastai search offers --raw`: an array of offers, or `{"offers": […]}` as the API answers. Unusable offers
/// keep their problem. Throws Error{bad_input} that names `origin`: no JSON, cut off, no list, empty.
OfferListing read_vast_offers(std::string_view text, const std::string& origin);

/// vms.csv of SkyPilot's catalogue, of any cloud. An instance type stands once, at its cheapest region, and
/// again as spot. GPUs without an instance type, as Google's, get the machine they are rented with.
OfferListing read_skypilot_offers(std::string_view text, const std::string& origin,
                                  MachineByName machine_by_name);

enum class ListingFormat { json, csv, yaml };

/// By the first characters. Throws Error{bad_input} that names `origin` for no text and for HTML.
ListingFormat listing_format(std::string_view text, const std::string& origin);

}  // namespace ringside
