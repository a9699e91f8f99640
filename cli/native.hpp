#pragma once

#include <string>
#include <vector>

#include "results/point.hpp"
#include "scenario/scenario.hpp"
#include "sim/predict.hpp"

/// What commands say and take about NCCL's own all_reduce.
namespace CLI {
class App;
}

namespace ringside::cli {

struct NativeFlags {
  std::string model = "ringside";
  std::vector<std::string> known;
};

/// `--model` and `--known`.
void add_native_flags(CLI::App& command, NativeFlags& flags);

/// Throws Error{bad_input} for a model that is not known.
NativeModel native_model(const NativeFlags& flags);

/// The machine with what `--known` adds: entries as under a machine's key `known`, such as
/// `{native: {ranks: 4, bytes: 1 GiB, seconds: 95 ms}}`, or a file of native all_reduces, ours or another tool's
/// (results/import.hpp). Throws Error{bad_input} when it bears on nothing that the scenario asks for.
Machine with_known(Machine machine, const Scenario& scenario, const NativeFlags& flags);

/// Throws Error{bad_input} when `--known` is given and none of the points was predicted with it.
void require_native(const std::vector<Point>& points, const NativeFlags& flags);

/// Interval, source and reason of every prediction of NCCL's own all_reduce, and which single measurement would
/// narrow them most. Prints nothing when there are none.
void print_native(const std::vector<Point>& points, const Machine& machine);

}  // namespace ringside::cli
