#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/plan/achieved_share.hpp"
#include "common/interval.hpp"
#include "scenario/plan/workload.hpp"

/// How fast one GPU trains, as other people published it, and what of a data sheet explains it.
namespace ringside {

inline constexpr std::array kModelFamilies = {ModelFamily::convolutional, ModelFamily::detection,
                                              ModelFamily::transformer};

/// A row of configs/scaling/speeds.csv.
struct PublishedSpeed {
  std::string workload;  ///< Name of a tensor list.
  ModelFamily family = ModelFamily::convolutional;
  std::string gpu;
  Precision precision = Precision::float32;
  int batch = 1;
  double work = 1;  ///< A sample's share of the list's: 384 tokens are 0.74 of 512.
  double samples_per_second = 0;
  std::string note;
  std::string source;
  double forward_flops = 0;  ///< For one sample.
  double activations = 0;    ///< Likewise.
  GpuSheet sheet = {};
};

/// `models`: as of load_workload(). Throws Error{bad_input} that names the file, line and column.
std::vector<PublishedSpeed> load_published_speeds(const std::filesystem::path& table,
                                                  const std::filesystem::path& models);

/// Whether the first line of a table is that of one of speeds.
bool is_table_of_speeds(const std::filesystem::path& table);

/// `owner/repository` of `owner/repository@commit file`: rows of one are not independent.
std::string repository_of(const std::string& source);

/// The two numbers that explain the rows of a family best; every source counts as the root of its rows.
/// Detection has those of convolutional networks, both slower by one factor. `held_out`: a repository whose
/// rows are left aside; empty = none. `time` is that of family_speed().
FamilySpeed fit_family(const std::vector<PublishedSpeed>& rows, ModelFamily family,
                       const std::string& held_out);

/// Time of one sample of a row.
Seconds time_of(const PublishedSpeed& row, const FamilySpeed& speed);

/// Fits without one repository each, made when asked for. The rows outlive this.
class HeldOutFits {
 public:
  explicit HeldOutFits(const std::vector<PublishedSpeed>& rows) : rows_(rows) {}

  const FamilySpeed& without(ModelFamily family, const std::string& repository);

 private:
  const std::vector<PublishedSpeed>& rows_;
  std::map<std::pair<ModelFamily, std::string>, FamilySpeed> fits_;
};

struct SpeedCheck {
  PublishedSpeed row;
  Interval<double> predicted;  ///< Samples per second, fitted to all other sources.

  double factor() const;  ///< factor_of() predicted over measured speed.
  bool inside() const;
};

std::vector<SpeedCheck> check_speeds(const std::vector<PublishedSpeed>& rows);

/// The larger of two over the smaller, of their ratio.
double factor_of(double ratio);

/// How far predictions are off, as factors.
struct FactorSummary {
  std::size_t rows = 0;
  double median = 1;
  double percentile_90 = 1;
  double within = 0;    ///< Share of rows that are off by at most 1.5.
  double coverage = 0;  ///< Share of rows inside their interval.
};

FactorSummary summary_of_factors(const std::vector<double>& factors, std::size_t inside = 0);

/// The value that this share of them does not exceed, and the mean of the two in the middle. There is one.
double at_share(std::vector<double> values, double share);
double median_of(std::vector<double> values);

}  // namespace ringside
