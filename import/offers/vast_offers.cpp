#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "import/offer_listing.hpp"
#include "import/offer_machine.hpp"

/// `vastai search offers --raw` (vast-ai/vast-cli: vastai/cli/commands/offers.py, vastai/data/offer.py;
/// vast-ai/docs: api-reference/openapi/yaml/search_offers.yaml).
namespace ringside {
namespace {

using nlohmann::json;

constexpr std::string_view kNotRentable = "it cannot be rented at the moment, as its listing says";

/// One offer of the listing. Numbers may be null, absent, or whole numbers written as fractions.
class ListedOffer {
 public:
  explicit ListedOffer(const json& object) : object_(object) {}

  std::optional<double> number(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) {
      return std::nullopt;
    }
    if (!found->is_number()) {
      throw bad_input("{} is {} instead of a number", key, found->dump().substr(0, 40));
    }
    const auto value = found->get<double>();
    constexpr double kMost = 1e15;
    if (value < 0 || value > kMost) {
      throw bad_input("{} is {}: {:g}", key, value < 0 ? "negative" : "larger than any there is", value);
    }
    return value;
  }

  double required(const char* key) const {
    const auto value = number(key);
    if (!value) {
      throw bad_input("{} is missing", key);
    }
    return *value;
  }

  std::string text(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_string() ? found->get<std::string>() : std::string{};
  }

  /// True, false, or absent.
  std::optional<bool> flag(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) {
      return std::nullopt;
    }
    if (!found->is_boolean()) {
      throw bad_input("{} is {} instead of true or false", key, found->dump().substr(0, 40));
    }
    return found->get<bool>();
  }

  /// Numbers that name something.
  std::string id(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && found->is_number() ? fmt::format("{:.0f}", found->get<double>())
                                                        : std::string{};
  }

 private:
  const json& object_;
};

int whole(double value, const char* key) {
  constexpr double kMostGpus = 1024;
  if (value != std::round(value) || value < 1 || value > kMostGpus) {
    throw bad_input("{} is {:g}, which is no number of GPUs", key, value);
  }
  return static_cast<int>(value);
}

std::optional<int> generation_of(std::optional<double> pci_gen) {
  constexpr double kFarOff = 99;
  return pci_gen && *pci_gen >= 1 && *pci_gen <= kFarOff ? std::optional(static_cast<int>(*pci_gen))
                                                         : std::nullopt;
}

/// Lanes of slots there are; anything else is as if it were not listed.
std::optional<int> lanes_of(std::optional<double> lanes) {
  for (const int known : {1, 2, 4, 8, 16}) {
    if (lanes == known) {
      return known;
    }
  }
  return std::nullopt;
}

ListedGpus listed_gpus(const ListedOffer& listed) {
  ListedGpus gpus;
  gpus.name = listed.text("gpu_name");
  if (gpus.name.empty()) {
    throw bad_input("gpu_name is missing");
  }
  gpus.rented = whole(listed.required("num_gpus"), "num_gpus");
  const double share = listed.number("gpu_frac").value_or(1);
  constexpr double kMostInMachine = 1024;
  if (!(share * kMostInMachine >= gpus.rented) || share > 1) {
    throw bad_input("gpu_frac is {:g}, which is no share of a machine", share);
  }
  gpus.in_machine = std::max(gpus.rented, static_cast<int>(std::lround(gpus.rented / share)));
  gpus.memory_mib = listed.number("gpu_ram");
  gpus.pcie_generation = generation_of(listed.number("pci_gen"));
  gpus.pcie_lanes = lanes_of(listed.number("gpu_lanes"));
  const auto scaled = [](std::optional<double> value) {
    return value ? std::optional(*value * kGiga) : std::nullopt;
  };
  gpus.pcie_rate = scaled(listed.number("pcie_bw"));
  gpus.nvlink_rate = scaled(listed.number("bw_nvlink"));
  return gpus;
}

void add_warnings(const ListedOffer& listed, Offer& offer) {
  if (listed.flag("vms_enabled").value_or(false)) {
    offer.warnings.emplace_back(
        "The host runs virtual machines: its IOMMU can slow peer-to-peer traffic, and NVLink is not "
        "ensured.");
  }
  if (listed.flag("rented").value_or(false)) {
    offer.warnings.emplace_back("It is rented out at the moment.");
  }
  if (listed.flag("is_bid").value_or(false)) {
    offer.interruptible = true;
    offer.warnings.emplace_back("It is interruptible: a higher bid ends it.");
  }
  if (const std::string verified = listed.text("verification"); !verified.empty() && verified != "verified") {
    offer.warnings.push_back(fmt::format("Its host is {}.", verified));
  }
  constexpr double kReliable = 0.95;
  const auto reliability =
      listed.number("reliability") ? listed.number("reliability") : listed.number("reliability2");
  if (reliability && *reliability < kReliable) {
    offer.warnings.push_back(fmt::format("Its reliability is {}.", percent(*reliability, 1)));
  }
}

Offer read_offer(const json& object, std::size_t index, const std::string& origin) {
  Offer offer;
  offer.name = fmt::format("offer {}", index + 1);
  offer.source = fmt::format("{}: offer {}", origin, index + 1);
  if (!object.is_object()) {
    offer.problem = "it is no map of fields";
    return offer;
  }
  const ListedOffer listed(object);
  if (const std::string id = listed.id("id"); !id.empty()) {
    offer.name = id;
    offer.source = fmt::format("{}: offer {}", origin, id);
  }
  try {
    const ListedGpus gpus = listed_gpus(listed);
    offer.name = fmt::format("{} × {} ({})", gpus.rented, gpus.name, offer.name);
    if (const double price = listed.required("dph_total"); price > 0) {
      if (!can_be_paid(price)) {
        throw bad_input("dph_total is {:g}, which nobody pays", price);
      }
      offer.per_hour = Money{.amount = price, .currency = "USD"};
    }
    if (const auto seconds = listed.number("duration"); seconds && *seconds > 0) {
      offer.available = Seconds{*seconds};
    }
    describe_machine(gpus, offer);
    add_warnings(listed, offer);
    if (!listed.flag("rentable").value_or(true)) {
      offer.problem = kNotRentable;
    }
  } catch (const Error& error) {
    offer.problem = error.what();
  }
  return offer;
}

const json& list_of(const json& root, const std::string& origin) {
  if (root.is_array()) {
    return root;
  }
  if (root.is_object() && root.contains("offers") && root["offers"].is_array()) {
    return root["offers"];
  }
  throw bad_input(
      "{}: is JSON, but neither a list of offers nor {{\"offers\": […]}}, which `vastai search offers --raw` "
      "and the API write",
      origin);
}

/// Offers of one machine share its host bridges and its NIC.
void note_shared_machines(const json& list, std::vector<Offer>& offers) {
  std::map<std::string, std::vector<std::size_t>> by_machine;
  for (std::size_t index = 0; index < offers.size(); ++index) {
    if (list[index].is_object()) {
      if (const std::string machine = ListedOffer(list[index]).id("machine_id"); !machine.empty()) {
        by_machine[machine].push_back(index);
      }
    }
  }
  for (const auto& [machine, indices] : by_machine) {
    for (const std::size_t index : indices) {
      if (indices.size() > 1) {
        offers[index].warnings.push_back(fmt::format(
            "{} offers of this listing are of machine {} and share its links.", indices.size(), machine));
      }
    }
  }
}

}  // namespace

OfferListing read_vast_offers(std::string_view text, const std::string& origin) {
  json root;
  try {
    root = json::parse(text);
  } catch (const json::parse_error& error) {
    if (error.byte > text.size()) {
      throw bad_input("{}: is cut off: the JSON ends after {} bytes in the middle of something", origin,
                      text.size());
    }
    throw bad_input("{}: is not JSON (at byte {})", origin, error.byte);
  } catch (const json::exception&) {
    throw bad_input("{}: holds a number that no double can hold", origin);
  }
  const json& list = list_of(root, origin);
  if (list.empty()) {
    throw bad_input("{}: is an empty list: no offer matched the search", origin);
  }
  OfferListing listing;
  for (const json& object : list) {
    listing.offers.push_back(read_offer(object, listing.offers.size(), origin));
  }
  note_shared_machines(list, listing.offers);
  listing.rows.total = listing.offers.size();
  for (const Offer& offer : listing.offers) {
    const bool understood = offer.problem.empty() || offer.problem == kNotRentable;
    ++(understood ? listing.rows.offered : listing.rows.not_understood);
  }
  if (listing.rows.not_understood > 0) {
    listing.notes.push_back(fmt::format("{}: {} of {} offers are not understood.", origin,
                                        listing.rows.not_understood, listing.rows.total));
  }
  return listing;
}

ListingFormat listing_format(std::string_view text, const std::string& origin) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos) {
    throw bad_input("{}: is empty; a listing of offers is JSON, CSV or YAML", origin);
  }
  const std::string_view body = text.substr(first);
  if (body.front() == '<') {
    throw bad_input(
        "{}: is an HTML page, not a listing; a login or an error page was saved instead of the answer",
        origin);
  }
  if (body.front() == '[' || body.front() == '{') {
    return ListingFormat::json;
  }
  const std::string_view line = body.substr(0, body.find('\n'));
  return line.find("InstanceType") != std::string_view::npos ? ListingFormat::csv : ListingFormat::yaml;
}

}  // namespace ringside
