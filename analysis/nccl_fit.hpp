#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/nccl_parameters.hpp"
#include "sim/nccl_system.hpp"

/// Measured all_reduces → the parameters of NCCL's time model (sim/nccl_model.hpp), and how far machines scatter round it.
namespace ringside {

/// One system of the data: a machine, and what NCCL took on it.
struct NcclTable {
  struct Row {
    NcclSystem system;  ///< With the row's number of ranks.
    double bytes = 0;
    double seconds = 0;
  };
  std::string name = {};
  std::string group = {};  ///< Source and GPU family; left out together.
  std::vector<Row> rows = {};

  MachineClass machine_class() const { return rows.front().system.machine_class(); }
};

/// 16 hexadecimal digits: FNV-1a, 64 bits, of every table's name, group, ranks, bytes and seconds.
std::string hash_of(std::span<const NcclTable> tables);

struct NcclFitOptions {
  std::uint64_t seed = 1;  ///< Of the starting points.
  int starts = 4;  ///< The guesses, and as many more points around them as make this many; the best end wins.
};

/// Least squares over the rows, each system with the same weight however many rows it has. With r = predicted / measured a row's
/// residual is 2(√r − 1), half way between the relative error (which rewards predicting too fast) and the logarithm (which
/// lets a few wrong machines draw everything); beyond 0.2 it counts linearly. A parameter's logarithm is held near its guess
/// by its spread: 0.3 (logarithm / spread), which decides where data are silent.
NcclParameters fit_nccl_parameters(std::span<const NcclTable> tables, const NcclFitOptions& options);

/// The whole procedure: parameters of all tables; parameters without each group in turn; and the scatter of every group round
/// what the others predict, which makes the intervals.
struct NcclStudy {
  NcclFit all;
  struct Fold {
    std::string group;
    NcclFit fit;  ///< Parameters, scatter and quantiles of the other groups.
  };
  std::vector<Fold> left_out;  ///< By group, in alphabetic order.
};

/// `progress` is told what is being done. Ceres solves; the same tables and seed give the same bits on one machine.
NcclStudy study_nccl(std::span<const NcclTable> tables, const NcclFitOptions& options,
                     const std::function<void(const std::string&)>& progress);

/// The files of configs/nccl/: parameters.yaml and left_out.yaml.
std::string parameters_file(const NcclStudy& study);
std::string left_out_file(const NcclStudy& study);

/// Throws Error{bad_input} that names `origin`.
std::vector<NcclStudy::Fold> parse_left_out(const std::string& yaml, const std::string& origin);

/// The folds that the program was built with.
const std::vector<NcclStudy::Fold>& nccl_left_out();

}  // namespace ringside
