#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/nccl/parameters.hpp"
#include "sim/nccl/system.hpp"

/// Measured all_reduces → the parameters of NCCL's time model (sim/nccl/model.hpp), and how machines scatter.
namespace ringside {

/// One system of the data: a machine, and what NCCL took on it.
struct NcclTable {
  struct Row {
    NcclSystem system;  ///< With the row's number of ranks.
    double bytes = 0;
    double seconds = 0;
  };
  std::string name = {};
  std::string group = {};  ///< Its source; held out together.
  std::vector<Row> rows = {};

  MachineClass machine_class() const { return rows.front().system.machine_class(); }
};

/// 16 hexadecimal digits: FNV-1a, 64 bits, of every table's name, group, ranks, bytes and seconds.
std::string hash_of(std::span<const NcclTable> tables);

struct NcclFitOptions {
  std::uint64_t seed = 1;  ///< Seed of the starting points.
  int starts = 4;  ///< The guesses, and as many more points around them as make this many; the best end wins.
};

/// Least squares over the rows. A system weighs the same however many rows it has, and those of one source
/// and class the square root of their number. With r = predicted / measured a row's residual is 2(√r − 1),
/// half way between the relative error (rewards too fast) and the logarithm (few machines draw everything);
/// beyond 0.2 it counts linearly. A parameter's logarithm is held near its guess
/// by its spread: 0.3 (logarithm / spread), which decides where data are silent.
NcclParameters fit_nccl_parameters(std::span<const NcclTable> tables, const NcclFitOptions& options);

/// The whole procedure: parameters of all tables; parameters without each source in turn, and without each
/// generation of GPUs, each from the guesses (a cold start); and how far every source's systems are from what
/// the others predict, which makes the intervals.
struct NcclStudy {
  NcclFit all;
  struct Fold {
    std::string group;  ///< A source, or `generation hopper`.
    NcclFit fit;        ///< Parameters, spreads and quantiles of the others.
  };
  std::vector<Fold> held_out;  ///< By source, in alphabetic order, then by generation.
};

/// The name of the fold without a generation of GPUs.
std::string generation_group(const NcclSystem& system);

/// `progress` hears of stages. Ceres solves; the same tables and seed give the same bits on one machine.
NcclStudy study_nccl(std::span<const NcclTable> tables, const NcclFitOptions& options,
                     const std::function<void(const std::string&)>& progress);

/// The files of configs/nccl/: parameters.yaml and held_out.yaml.
std::string parameters_file(const NcclStudy& study);
std::string held_out_file(const NcclStudy& study);

/// Throws Error{bad_input} that names `origin`.
std::vector<NcclStudy::Fold> parse_held_out(const std::string& yaml, const std::string& origin);

/// The folds that the program was built with.
const std::vector<NcclStudy::Fold>& nccl_held_out();

}  // namespace ringside
