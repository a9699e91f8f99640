#include "lab/planning/published_speeds.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/names.hpp"
#include "lab/planning/table_cells.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

PublishedSpeed speed_of(const Cells& cells, const std::string& where) {
  PublishedSpeed speed{.workload = cells.text("workload"),
                       .family = cells.named<ModelFamily>("family"),
                       .gpu = cells.text("gpu"),
                       .precision = cells.named<Precision>("precision"),
                       .batch = cells.whole("batch"),
                       .work = cells.number("work"),
                       .samples_per_second = cells.number("samples_per_second"),
                       .note = cells.text("note"),
                       .source = cells.text("source")};
  const auto sheet = find_gpu_sheet(speed.gpu);
  if (!sheet) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {}", where, unknown_name("GPU model", speed.gpu, gpu_model_names())));
  }
  speed.sheet = *sheet;
  return speed;
}

/// Predicted over measured time, as a logarithm.
double error_of(const PublishedSpeed& row, const FamilySpeed& speed) {
  return std::log(time_of(row, speed).value * row.samples_per_second);
}

using BySource = std::map<std::string, std::vector<const PublishedSpeed*>>;

double loss_of(const BySource& sources, const FamilySpeed& speed) {
  double loss = 0;
  for (const auto& [source, rows] : sources) {
    double sum = 0;
    for (const PublishedSpeed* row : rows) {
      sum += std::abs(error_of(*row, speed));
    }
    loss += sum / std::sqrt(static_cast<double>(rows.size()));
  }
  return loss;
}

BySource rows_of(const std::vector<PublishedSpeed>& rows, ModelFamily family, const std::string& held_out) {
  BySource sources;
  for (const PublishedSpeed& row : rows) {
    if (row.family == family && repository_of(row.source) != held_out) {
      sources[repository_of(row.source)].push_back(&row);
    }
  }
  return sources;
}

}  // namespace

std::string repository_of(const std::string& source) { return source.substr(0, source.find('@')); }

bool is_table_of_speeds(const std::filesystem::path& table) {
  return has_header(table, "workload,family,gpu,");
}

std::vector<PublishedSpeed> load_published_speeds(const std::filesystem::path& table,
                                                  const std::filesystem::path& models) {
  const std::string file = table.string();
  const CsvTable cells = read_table(table);
  std::map<std::string, std::pair<double, double>> sums;
  std::vector<PublishedSpeed> speeds;
  for (const CsvRow& row : cells.rows) {
    PublishedSpeed speed = speed_of(Cells(cells, row, file), fmt::format("{}:{}", file, row.line));
    auto found = sums.find(speed.workload);
    if (found == sums.end()) {
      std::pair<double, double> sum;
      for (const Tensor& tensor : load_tensors(models / (speed.workload + ".csv"))) {
        sum.first += tensor.forward_flops;
        sum.second += static_cast<double>(tensor.activations);
      }
      found = sums.emplace(speed.workload, sum).first;
    }
    speed.forward_flops = speed.work * found->second.first;
    speed.activations = speed.work * found->second.second;
    speeds.push_back(std::move(speed));
  }
  return speeds;
}

Seconds time_of(const PublishedSpeed& row, const FamilySpeed& speed) {
  constexpr double kPasses = 3;  // A backward pass is two forward passes.
  return time_of_sample(kPasses * row.forward_flops, row.activations, row.precision, row.sheet, speed);
}

FamilySpeed fit_family(const std::vector<PublishedSpeed>& rows, ModelFamily family,
                       const std::string& held_out) {
  // Steps of 6 %, finer than any of these errors.
  constexpr double kStep = 0.06;
  const Interval<double> time = family_speed(family).time;
  std::vector<FamilySpeed> candidates;
  if (family == ModelFamily::detection) {
    // Two GPUs of one source and eleven of the other cannot tell two numbers: one factor from as fast as a
    // convolutional network to five times slower.
    const FamilySpeed convolutional = fit_family(rows, ModelFamily::convolutional, held_out);
    constexpr int kFactors = 28;
    for (int i = 0; i < kFactors; ++i) {
      const double slower = std::exp(kStep * i);
      candidates.push_back({.arithmetic = convolutional.arithmetic / slower,
                            .traversals = convolutional.traversals * slower,
                            .time = time});
    }
  } else {
    // 0.3 to 1.1 of the rate, 5 to 100 traversals.
    constexpr int kShares = 22;
    constexpr int kTraversals = 50;
    for (int share = 0; share < kShares; ++share) {
      for (int traversal = 0; traversal < kTraversals; ++traversal) {
        candidates.push_back({.arithmetic = 0.3 * std::exp(kStep * share),
                              .traversals = 5 * std::exp(kStep * traversal),
                              .time = time});
      }
    }
  }
  const BySource sources = rows_of(rows, family, held_out);
  return *std::ranges::min_element(candidates, {},
                                   [&](const FamilySpeed& one) { return loss_of(sources, one); });
}

const FamilySpeed& HeldOutFits::without(ModelFamily family, const std::string& repository) {
  const std::pair key(family, repository);
  const auto found = fits_.find(key);
  return found != fits_.end() ? found->second
                              : fits_.emplace(key, fit_family(rows_, family, repository)).first->second;
}

double SpeedCheck::factor() const { return factor_of(predicted.typical / row.samples_per_second); }

bool SpeedCheck::inside() const {
  return row.samples_per_second >= predicted.low && row.samples_per_second <= predicted.high;
}

std::vector<SpeedCheck> check_speeds(const std::vector<PublishedSpeed>& rows) {
  HeldOutFits fits(rows);
  std::vector<SpeedCheck> checks;
  for (const PublishedSpeed& row : rows) {
    const FamilySpeed& speed = fits.without(row.family, repository_of(row.source));
    const double typical = 1 / time_of(row, speed).value;
    checks.push_back({.row = row,
                      .predicted = {.low = typical / speed.time.high,
                                    .typical = typical / speed.time.typical,
                                    .high = typical / speed.time.low}});
  }
  return checks;
}

double factor_of(double ratio) { return std::max(ratio, 1 / ratio); }

double at_share(std::vector<double> values, double share) {
  RINGSIDE_CHECK(!values.empty(), "there is nothing to sum up");
  std::sort(values.begin(), values.end());
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(place, 1) - 1];
}

double median_of(std::vector<double> values) {
  RINGSIDE_CHECK(!values.empty(), "there is nothing to sum up");
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

FactorSummary summary_of_factors(const std::vector<double>& factors, std::size_t inside) {
  constexpr double kClose = 1.5;
  const auto close = std::ranges::count_if(factors, [](double one) { return one <= kClose; });
  return {.rows = factors.size(),
          .median = at_share(factors, 0.5),
          .percentile_90 = at_share(factors, 0.9),
          .within = static_cast<double>(close) / static_cast<double>(factors.size()),
          .coverage = static_cast<double>(inside) / static_cast<double>(factors.size())};
}

}  // namespace ringside
