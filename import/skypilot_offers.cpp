#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/numbers.hpp"
#include "import/offer_listing.hpp"
#include "import/offer_machine.hpp"
#include "scenario/yaml/csv.hpp"

/// catalogs/<version>/<cloud>/vms.csv of skypilot-org/skypilot-catalog. Columns differ by cloud in order and presence, and
/// none says how GPUs are connected.
namespace ringside {
namespace {

/// The columns that are read; every cloud has them.
struct Columns {
  std::size_t instance;
  std::size_t accelerator;
  std::size_t count;
  std::size_t price;
  std::size_t region;
};

Columns columns_of(const CsvTable& table, const std::string& origin) {
  const auto column = [&](std::string_view name) {
    const auto index = table.column(name);
    if (!index) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}:1: has no column {}, which vms.csv of every cloud has", origin, name));
    }
    return *index;
  };
  return {.instance = column("InstanceType"),
          .accelerator = column("AcceleratorName"),
          .count = column("AcceleratorCount"),
          .price = column("Price"),
          .region = column("Region")};
}

/// SkyPilot's names of accelerators that the catalogue spells otherwise.
std::string gpu_name(const std::string& accelerator, const std::string& instance) {
  const auto mentions = [&](std::string_view word) { return instance.find(word) != std::string::npos; };
  static const std::map<std::string, std::string> kListedNames = {{"A100", "A100-SXM4-40GB"},
                                                                  {"A100-80GB", "A100-SXM4-80GB"},
                                                                  {"A100-80GB-SXM", "A100-SXM4-80GB"},
                                                                  {"V100", "V100-SXM2-16GB"},
                                                                  {"V100-32GB", "V100-SXM2-32GB"},
                                                                  {"H100", "H100-SXM"},
                                                                  {"H100-SXM", "H100-SXM"},
                                                                  {"H200", "H200-SXM"},
                                                                  {"H200-SXM", "H200-SXM"},
                                                                  {"A6000", "RTX A6000"},
                                                                  {"RTXA6000", "RTX A6000"},
                                                                  {"RTX6000-Ada", "RTX 6000 Ada"},
                                                                  {"RTX3090", "RTX 3090"},
                                                                  {"RTX4090", "RTX 4090"},
                                                                  {"RTX5090", "RTX 5090"}};
  // Both are called H100; only the instance type tells.
  if (accelerator == "H100" && (mentions("NVL") || mentions("PCIE") || mentions("PCIe"))) {
    return mentions("NVL") ? "H100-NVL" : "H100-PCIe";
  }
  if (accelerator.starts_with("A100") && (mentions("PCIE") || mentions("PCIe"))) {
    return accelerator == "A100" ? "A100-PCIE-40GB" : "A100-PCIE-80GB";
  }
  const auto known = kListedNames.find(accelerator);
  return known == kListedNames.end() ? accelerator : known->second;
}

Offer read_row(const CsvRow& row, const Columns& columns, const std::string& origin,
               MachineByName machine_by_name) {
  const std::string& instance = row.cells[columns.instance];
  const std::string& accelerator = row.cells[columns.accelerator];
  Offer offer;
  offer.name = instance;
  offer.source = fmt::format("{}:{}", origin, row.line);
  const auto count = parse_number<double>(row.cells[columns.count]);
  const auto price = parse_number<double>(row.cells[columns.price]);
  if (!count || *count < 1 || *count != std::round(*count) || *count > 1024) {
    offer.problem =
        fmt::format("AcceleratorCount is '{}', which is no number of GPUs", row.cells[columns.count]);
    return offer;
  }
  if (!price || *price <= 0) {
    offer.problem = fmt::format("Price is '{}', which is no amount", row.cells[columns.price]);
    return offer;
  }
  offer.per_hour = Money{.amount = *price, .currency = "USD"};
  if (const auto machine = machine_by_name(instance)) {
    offer.machine = *machine;
    offer.gpus = static_cast<int>(*count);
    offer.assumptions.push_back(
        fmt::format("The listing does not say how GPUs are connected; {} is in the catalogue.", instance));
    return offer;
  }
  const int gpus = static_cast<int>(*count);
  describe_machine({.name = gpu_name(accelerator, instance), .rented = gpus, .in_machine = gpus}, offer);
  if (offer.problem.empty() && gpus > 1) {
    offer.assumptions.push_back(fmt::format(
        "The listing does not say how GPUs are connected, and the catalogue has no {}: {} is assumed.",
        instance,
        offer.machine.intra->kind == IntraKind::pcie ? "PCIe" : "the board that this GPU is made for"));
  }
  return offer;
}

}  // namespace

OfferListing read_skypilot_offers(std::string_view text, const std::string& origin,
                                  MachineByName machine_by_name) {
  const CsvTable table = parse_csv(text, origin);
  const Columns columns = columns_of(table, origin);
  OfferListing listing;
  std::map<std::string, std::size_t> by_instance;
  std::map<std::string, int> regions;
  int without_gpus = 0;
  for (const CsvRow& row : table.rows) {
    if (row.cells[columns.accelerator].empty()) {
      ++without_gpus;
      continue;
    }
    const std::string key = row.cells[columns.instance] + "/" + row.cells[columns.accelerator];
    Offer offer = read_row(row, columns, origin, machine_by_name);
    ++regions[key];
    const auto [place, is_new] = by_instance.emplace(key, listing.offers.size());
    if (is_new) {
      listing.offers.push_back(std::move(offer));
      continue;
    }
    Offer& known = listing.offers[place->second];
    if (offer.per_hour && (!known.per_hour || offer.per_hour->amount < known.per_hour->amount)) {
      known = std::move(offer);
    }
  }
  for (const auto& [key, index] : by_instance) {
    if (regions[key] > 1) {
      listing.offers[index].assumptions.push_back(
          fmt::format("Its price is that of the cheapest of {} regions and zones.", regions[key]));
    }
  }
  if (listing.offers.empty()) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: lists no instance with GPUs", origin));
  }
  if (without_gpus > 0) {
    listing.notes.push_back(fmt::format("{}: {} rows without GPUs are skipped.", origin, without_gpus));
  }
  return listing;
}

}  // namespace ringside
