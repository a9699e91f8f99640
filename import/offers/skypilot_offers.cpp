#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "import/offer_listing.hpp"
#include "import/offer_machine.hpp"
#include "scenario/yaml/csv.hpp"
#include "sim/topology/gpu_models.hpp"

/// catalogs/<version>/<cloud>/vms.csv of skypilot-org/skypilot-catalog. Columns differ by cloud in order and
/// presence, and none says how GPUs are connected.
namespace ringside {
namespace {

/// One row with its cells by name; absent columns are empty.
struct VmRow {
  std::string instance;
  std::string accelerator;
  std::string count;
  std::string place;     ///< Zone, else region.
  std::string gpu_info;  ///< A Python literal.
  std::string upstream;  ///< What the cloud behind a broker calls it.
  std::optional<double> price;
  std::optional<double> spot;
  int line = 0;
};

std::optional<double> amount_of(const std::string& cell) {
  const auto amount = parse_number<double>(cell);
  return amount && *amount > 0 && can_be_paid(*amount) ? amount : std::nullopt;
}

/// Every cloud has the first columns.
std::vector<VmRow> rows_of(const CsvTable& table, const std::string& origin) {
  for (const char* name : {"InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region"}) {
    if (!table.column(name)) {
      throw bad_input("{}:1: has no column {}, which vms.csv of every cloud has", origin, name);
    }
  }
  std::map<std::string_view, std::size_t> columns;
  for (std::size_t index = 0; index < table.header.size(); ++index) {
    columns.emplace(table.header[index], index);
  }
  std::vector<VmRow> rows;
  for (const CsvRow& row : table.rows) {
    const auto cell = [&](std::string_view name) {
      const auto column = columns.find(name);
      return column == columns.end() ? std::string() : row.cells[column->second];
    };
    const std::string zone = cell("AvailabilityZone");
    rows.push_back({.instance = cell("InstanceType"),
                    .accelerator = cell("AcceleratorName"),
                    .count = cell("AcceleratorCount"),
                    .place = zone.empty() ? cell("Region") : zone,
                    .gpu_info = cell("GpuInfo"),
                    .upstream = cell("UpstreamCloudId"),
                    .price = amount_of(cell("Price")),
                    .spot = amount_of(cell("SpotPrice")),
                    .line = row.line});
  }
  return rows;
}

std::optional<int> count_in(const std::string& cell) {
  constexpr double kMostGpus = 1024;
  const auto count = parse_number<double>(cell);
  return count && *count >= 1 && *count == std::round(*count) && *count <= kMostGpus
             ? std::optional(static_cast<int>(*count))
             : std::nullopt;
}

// --- Which GPU ---------------------------------------------------------------------------------------------

/// The number behind `'key':` of a Python literal.
std::optional<double> number_behind(const std::string& literal, const std::string& key) {
  const std::size_t found = literal.find("'" + key + "'");
  if (found == std::string::npos) {
    return std::nullopt;
  }
  std::size_t at = literal.find(':', found);
  at = at == std::string::npos ? at : literal.find_first_not_of(": ", at);
  if (at == std::string::npos) {
    return std::nullopt;
  }
  return parse_number<double>(literal.substr(at, literal.find_first_not_of("0123456789.", at) - at));
}

/// Memory of one GPU in MiB. Some clouds write that of all, or GB.
std::optional<double> memory_of_one(const std::string& gpu_info, int count) {
  auto size = number_behind(gpu_info, "SizeInMiB");
  const auto total = number_behind(gpu_info, "TotalGpuMemoryInMiB");
  size = size ? size : total;
  if (!size || *size <= 0) {
    return std::nullopt;
  }
  constexpr double kMostGigabytes = 1000;
  const double mib = *size < kMostGigabytes ? 1024 * *size : *size;
  return count > 1 && total && *total == *size && contains(gpu_info, "'SizeInMiB'") ? mib / count : mib;
}

/// `SXM`, `PCIE` or `NVL` where some cell of the row says it; else empty.
std::string form_in(const VmRow& row) {
  const std::string text =
      upper(fmt::format("{} {} {} {}", row.accelerator, row.instance, row.upstream, row.gpu_info));
  const auto mentions = [&](std::string_view word) { return contains(text, word); };
  if (mentions("SXM") || mentions("NVLINK")) {
    return "SXM";
  }
  if (mentions("NVL")) {
    return "NVL";
  }
  if (mentions("PCI")) {
    return "PCIE";
  }
  // Azure's NC machines have cards, its ND machines boards.
  const char* card = row.accelerator == "H100" ? "NVL" : "PCIE";
  return row.instance.starts_with("Standard_NC") ? card : "";
}

/// A name that the catalogue may know, with the form that the row says or the listing implies.
std::string name_of(const VmRow& row, const std::set<std::string>& accelerators, Offer& offer) {
  std::string name = catalogue_gpu_name(row.accelerator);
  std::string form = form_in(row);
  if (form.empty() && accelerators.contains(row.accelerator + "-SXM")) {
    form = "PCIE";
    offer.assumptions.push_back(fmt::format(
        "The listing has {0}-SXM besides, so that {0} is taken for the PCIe card.", row.accelerator));
  }
  // Cards of other makers' form have only one data sheet, so that a form that fits none is passed over.
  for (const std::string& tried : {form, std::string(form == "PCIE" ? "NVL" : ""), std::string("SXM")}) {
    if (!tried.empty() && !contains(upper(name), tried) &&
        find_gpu_sheet(fmt::format("{} {}", name, tried))) {
      return fmt::format("{} {}", name, tried);
    }
  }
  return name;
}

// --- Google's GPUs, which are listed without the machine that they are in ----------------------------------

/// The machine that Google puts so many GPUs into (cloud.google.com/compute/docs/gpus): fixed for newer ones,
/// and of the older ones, which can be added to any N1, that with eight cores for each.
std::string host_of(const std::string& accelerator, int count) {
  static const std::map<std::string, std::string> kFixed = {
      {"A100", "a2-highgpu"},      {"A100-80GB", "a2-ultragpu"}, {"H100", "a3-highgpu"},
      {"H100-MEGA", "a3-megagpu"}, {"H200", "a3-ultragpu"},      {"B200", "a4-highgpu"},
      {"GB200", "a4x-highgpu"}};
  if (accelerator == "A100" && count == 16) {
    return "a2-megagpu-16g";
  }
  if (const auto fixed = kFixed.find(accelerator); fixed != kFixed.end()) {
    return fmt::format("{}-{}g", fixed->second, count);
  }
  if (accelerator == "L4") {
    return count == 1 ? "g2-standard-4" : fmt::format("g2-standard-{}", 12 * count);
  }
  constexpr int kCoresOfOne = 8;
  constexpr int kMostCores = 64;
  return fmt::format("n1-highmem-{}", std::min(kCoresOfOne * count, kMostCores));
}

using Places = std::map<std::pair<std::string, std::string>, VmRow>;

/// Adds the machine's price to those of GPUs that are listed alone. Without one the price is unknown.
void join_host(VmRow& row, const Places& hosts, int count, Offer& offer) {
  const std::string name = host_of(row.accelerator, count);
  row.instance = fmt::format("{} + {} × {}", name, count, row.accelerator);
  const auto host = hosts.find({row.place, name});
  if (host == hosts.end()) {
    offer.warnings.push_back(
        fmt::format("{} lists these GPUs without a machine, and no {} to put them into: only that of the "
                    "GPUs is known of its price.",
                    row.place, name));
    row.price.reset();
    row.spot.reset();
    return;
  }
  const auto sum = [](std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  };
  row.price = sum(row.price, host->second.price);
  row.spot = sum(row.spot, host->second.spot);
  offer.assumptions.push_back(
      fmt::format("Its price is that of the GPUs and of {}, which are listed apart.", name));
}

// --- Offers ------------------------------------------------------------------------------------------------

/// All rows of one kind of machine with the same GPUs.
struct VmGroup {
  VmRow row;  ///< The cheapest.
  std::optional<VmRow> spot;
  Offer common;  ///< What was assumed of its price.
  int rows = 0;
};

void add_row(VmRow row, Offer common, VmGroup& group) {
  const auto cheaper = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && (!b || *a < *b);
  };
  if (cheaper(row.spot, group.spot ? group.spot->spot : std::nullopt)) {
    group.spot = row;
  }
  if (group.rows == 0 || cheaper(row.price, group.row.price)) {
    group.row = std::move(row);
    group.common = std::move(common);
  }
  ++group.rows;
}

/// The machine and its GPUs, without a price.
Offer describe_offer(const VmGroup& group, int count, const std::set<std::string>& accelerators,
                     MachineByName machine_by_name) {
  const VmRow& row = group.row;
  Offer offer = group.common;
  offer.name = row.instance;
  offer.gpus = count;
  if (auto machine = machine_by_name(row.instance.substr(0, row.instance.find(" + ")))) {
    offer.assumptions.push_back(fmt::format(
        "The listing does not say how GPUs are connected; {} is in the catalogue.", machine->name));
    offer.machine = std::move(*machine);
    return offer;
  }
  const std::string name = name_of(row, accelerators, offer);
  describe_machine(
      {.name = name, .memory_mib = memory_of_one(row.gpu_info, count), .rented = count, .in_machine = count},
      offer);
  if (offer.problem.empty() && count > 1) {
    offer.assumptions.push_back(fmt::format(
        "The listing does not say how GPUs are connected, and the catalogue has no {}: {} is assumed.",
        row.instance,
        offer.machine.intra->kind == IntraKind::pcie ? "PCIe" : "the board that this GPU is made for"));
  }
  return offer;
}

void add_price(const VmRow& row, double amount, int rows, const std::string& origin, Offer& offer) {
  offer.source = fmt::format("{}:{}", origin, row.line);
  offer.per_hour = Money{.amount = amount, .currency = "USD"};
  if (rows > 1) {
    offer.assumptions.push_back(
        fmt::format("Its price is that of the cheapest of {} regions and zones.", rows));
  }
}

/// On demand and, where it is listed, what can be taken away again: each has its price.
void add_offers(const VmGroup& group, const std::string& origin, const std::set<std::string>& accelerators,
                MachineByName machine_by_name, std::vector<Offer>& offers) {
  const auto count = count_in(group.row.count);
  const std::string source = fmt::format("{}:{}", origin, group.row.line);
  if (!count) {
    offers.push_back(
        {.name = group.row.instance.empty() ? group.row.accelerator : group.row.instance,
         .source = source,
         .problem = fmt::format("AcceleratorCount is '{}', which is no number of GPUs", group.row.count)});
    return;
  }
  Offer offer = describe_offer(group, *count, accelerators, machine_by_name);
  offer.source = source;
  if (!group.row.price && !group.spot && offer.warnings.empty() && offer.problem.empty()) {
    offer.problem = "neither Price nor SpotPrice is an amount";
  }
  if (group.spot) {
    Offer spot = offer;
    spot.name += " (spot)";
    spot.interruptible = true;
    add_price(*group.spot, *group.spot->spot, group.rows, origin, spot);
    offers.push_back(std::move(spot));
  }
  if (group.row.price) {
    add_price(group.row, *group.row.price, group.rows, origin, offer);
  }
  if (group.row.price || !group.spot) {
    offers.push_back(std::move(offer));
  }
}

std::string summary_of(const std::string& origin, const ListingRows& rows, std::size_t offers) {
  std::string text = fmt::format("{}: {}: {} in {}", origin, count_of(rows.total, "row"),
                                 count_of(offers, "offer"), count_of(rows.offered, "row"));
  if (rows.without_gpus > 0) {
    text += fmt::format(", {} without GPUs", count_of(rows.without_gpus, "row"));
  }
  if (rows.not_understood > 0) {
    text += fmt::format(", {} not understood", count_of(rows.not_understood, "row"));
  }
  return text + ".";
}

}  // namespace

OfferListing read_skypilot_offers(std::string_view text, const std::string& origin,
                                  MachineByName machine_by_name) {
  const CsvTable table = parse_csv(text, origin, RaggedRows::kept_apart);
  OfferListing listing;
  listing.rows.total = table.rows.size() + table.ragged.size();
  listing.rows.not_understood = table.ragged.size();
  Places hosts;
  std::vector<VmRow> with_gpus;
  std::set<std::string> accelerators;
  for (VmRow& row : rows_of(table, origin)) {
    if (row.accelerator.empty()) {
      ++listing.rows.without_gpus;
      hosts.emplace(std::pair(row.place, row.instance), row);
    } else {
      accelerators.insert(row.accelerator);
      with_gpus.push_back(std::move(row));
    }
  }
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> places;
  std::vector<VmGroup> groups;
  for (VmRow& row : with_gpus) {
    Offer common;
    const auto count = count_in(row.count);
    if (row.instance.empty() && count) {
      join_host(row, hosts, *count, common);
    }
    const auto [place, is_new] =
        places.emplace(std::tuple(row.instance, row.accelerator, row.count), groups.size());
    if (is_new) {
      groups.emplace_back();
    }
    add_row(std::move(row), std::move(common), groups[place->second]);
  }
  for (const VmGroup& group : groups) {
    const std::size_t before = listing.offers.size();
    add_offers(group, origin, accelerators, machine_by_name, listing.offers);
    const auto rows = static_cast<std::size_t>(group.rows);
    (listing.offers[before].problem.empty() ? listing.rows.offered : listing.rows.not_understood) += rows;
  }
  for (const CsvRow& row : table.ragged) {
    listing.offers.push_back({.name = row.cells.front(),
                              .source = fmt::format("{}:{}", origin, row.line),
                              .problem = why_ragged(table, row)});
  }
  if (listing.offers.empty()) {
    throw bad_input("{}: lists no instance with GPUs", origin);
  }
  const auto understood =
      std::ranges::count_if(listing.offers, [](const Offer& offer) { return offer.problem.empty(); });
  listing.notes.push_back(summary_of(origin, listing.rows, static_cast<std::size_t>(understood)));
  return listing;
}

}  // namespace ringside
