#include "lab/planning/scaling_check.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "analysis/plan/achieved_share.hpp"
#include "analysis/plan/compute_time.hpp"
#include "common/error.hpp"
#include "lab/planning/table_cells.hpp"
#include "sim/topology/gpu_models.hpp"

namespace ringside {
namespace {

PublishedScaling row_of(const Cells& cells, int line) {
  const auto gradients = parse_name<DataType>(cells.text("gradients"));
  return {.model = cells.text("model"),
          .precision = cells.text("precision"),
          .system = cells.text("system"),
          .workload = cells.text("workload"),
          .machine = cells.text("machine"),
          .gpus = cells.whole("gpus"),
          .batch_per_gpu = cells.whole("batch_per_gpu"),
          .accumulate = cells.whole("accumulate"),
          .gradients = gradients.value_or(DataType::float32),
          .samples_per_second_of_one = cells.number("samples_per_second_of_one"),
          .arithmetic = parse_name<Precision>(cells.text("arithmetic")).value_or(Precision::float32),
          .work = cells.number("work"),
          .baseline_gpus = cells.whole("baseline_gpus"),
          .efficiency = cells.number("efficiency"),
          .gave_spread = cells.text("role") == "spread",
          .note = cells.text("note"),
          .source = cells.text("source"),
          .line = line};
}

Plan plan_of(const PublishedScaling& row, const std::vector<Tensor>& tensors) {
  Plan plan;
  plan.name = row.model;
  plan.synchronisation.accumulate = row.accumulate;
  Workload& workload = plan.workload;
  workload.name = row.workload;
  workload.tensors = tensors;
  for (const Tensor& tensor : tensors) {
    workload.parameters += tensor.elements;
  }
  workload.gradients = row.gradients;
  workload.batch_per_gpu = row.batch_per_gpu;
  workload.compute.measured = {
      {.gpu = std::string(kAnyGpu), .samples_per_second = row.samples_per_second_of_one}};
  // Whether it fits is not asked: it ran.
  workload.memory = {.optimizer = Optimizer::sgd, .activations = Bytes{0}};
  return plan;
}

/// The efficiency of so many GPUs against one.
PlannedStep estimate_of(const Plan& plan, const Machine& machine, int gpus, const PublishedScaling& row) {
  Planner planner(plan);
  const PlannedStep step = planner.estimate({.name = row.system, .machine = machine, .gpus = gpus});
  if (!step.usable()) {
    throw Error(ErrorKind::bad_input, fmt::format("line {}: {}: {}", row.line, row.system, step.problem));
  }
  return step;
}

/// The same plan where nobody measured one GPU.
Interval<double> throughput_of(Plan plan, const Machine& machine, const PublishedScaling& row,
                               const std::vector<PublishedSpeed>& speeds, HeldOutFits& fits) {
  const auto alike = std::find_if(speeds.begin(), speeds.end(), [&](const PublishedSpeed& speed) {
    return speed.workload == row.workload;
  });
  if (alike == speeds.end() || !machine.gpu) {
    throw Error(ErrorKind::bad_input,
                fmt::format("line {}: {}: nothing says how fast a GPU trains it", row.line, row.workload));
  }
  PublishedSpeed one = *alike;
  one.forward_flops *= row.work / alike->work;
  one.activations *= row.work / alike->work;
  one.precision = row.arithmetic;
  one.sheet = *find_gpu_sheet(machine.gpu->model);
  const FamilySpeed& speed = fits.without(one.family, repository_of(row.source));
  const auto at = [&](double factor) {
    plan.workload.compute.measured = {
        {.gpu = std::string(kAnyGpu), .samples_per_second = 1 / (factor * time_of(one, speed).value)}};
    return estimate_of(plan, machine, row.gpus, row).speed;
  };
  const Interval<double> scaling = at(speed.time.typical);
  // As in the planner: errors of computing and of communicating add up as squares of logarithms.
  const auto both = [&](double a, double b) { return std::exp(std::hypot(std::log(a), std::log(b))); };
  const double typical = scaling.typical;
  return {.low = typical / both(typical / at(speed.time.high).typical, typical / scaling.low),
          .typical = typical,
          .high = typical * both(at(speed.time.low).typical / typical, scaling.high / typical)};
}

std::string class_of(const Machine& machine, int gpus) {
  if (gpus > machine.gpus_per_node) {
    return "several nodes";
  }
  if (machine.intra && machine.intra->kind == IntraKind::nvlink) {
    return "NVLink";
  }
  const auto sheet = find_gpu_sheet(machine);
  return sheet && gpu_class(*sheet) == "geforce" ? "GeForce" : "PCIe";
}

std::string kind_of(const Machine& machine, const GpuSheet& sheet) {
  return fmt::format("{} {}", chip_of(sheet), machine.intra ? name(machine.intra->kind) : "");
}

template <typename Predict>
ScalingErrors errors_of(const std::vector<ScalingCheck>& checks, Predict predict) {
  RINGSIDE_CHECK(!checks.empty(), "there is nothing to sum up");
  std::vector<double> errors;
  std::transform(checks.begin(), checks.end(), std::back_inserter(errors),
                 [&](const ScalingCheck& check) { return std::abs(predict(check) - check.row.efficiency); });
  return {.median = median_of(errors),
          .mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()),
          .percentile_90 = at_share(errors, 0.9)};
}

}  // namespace

std::vector<PublishedScaling> load_published_scaling(const std::filesystem::path& file) {
  const std::string shown = file.string();
  const CsvTable table = read_table(file);
  std::vector<PublishedScaling> rows;
  for (const CsvRow& row : table.rows) {
    rows.push_back(row_of(Cells(table, row, shown), row.line));
  }
  return rows;
}

std::vector<ScalingCheck> check_scaling(const std::vector<PublishedScaling>& rows,
                                        const ScalingPlaces& places) {
  const std::vector<PublishedSpeed> speeds = load_published_speeds(places.speeds, places.models);
  HeldOutFits fits(speeds);
  std::map<std::string, Machine> machines;
  std::map<std::string, std::vector<Tensor>> tensors;
  std::vector<ScalingCheck> checks;
  for (const PublishedScaling& row : rows) {
    auto machine = machines.find(row.machine);
    if (machine == machines.end()) {
      machine = machines.emplace(row.machine, machine_named(row.machine, places.table, places.known)).first;
    }
    auto list = tensors.find(row.workload);
    if (list == tensors.end()) {
      list = tensors.emplace(row.workload, load_tensors(places.models / (row.workload + ".csv"))).first;
    }
    const Plan plan = plan_of(row, list->second);
    Plan ring = plan;
    ring.algorithm = "ring";
    ring.synchronisation.style = Synchronisation::ddp_without_overlap;
    const auto typical = [&](const Plan& of, int gpus) {
      return estimate_of(of, machine->second, gpus, row).efficiency.typical;
    };
    const PlannedStep all = estimate_of(plan, machine->second, row.gpus, row);
    const GpuSheet sheet = *find_gpu_sheet(machine->second.gpu->model);
    ScalingCheck check{.row = row,
                       .predicted = all.efficiency,
                       .by_ring = typical(ring, row.gpus),
                       .throughput = throughput_of(plan, machine->second, row, speeds, fits),
                       .algorithm = all.algorithm,
                       .gpu = machine->second.gpu->model,
                       .rate = flop_rate(sheet, row.arithmetic),
                       .system_class = class_of(machine->second, row.gpus),
                       .kind = kind_of(machine->second, sheet)};
    if (row.baseline_gpus > 1) {
      // The baseline's own efficiency is predicted too; both ends of the interval against its typical value.
      const double base = typical(plan, row.baseline_gpus);
      check.by_ring = std::min(1.0, check.by_ring / typical(ring, row.baseline_gpus));
      check.predicted = {.low = std::min(1.0, all.efficiency.low / base),
                         .typical = std::min(1.0, all.efficiency.typical / base),
                         .high = std::min(1.0, all.efficiency.high / base)};
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

FactorSummary throughput_summary_of(const std::vector<ScalingCheck>& checks) {
  std::vector<double> factors;
  std::transform(checks.begin(), checks.end(), std::back_inserter(factors), [](const ScalingCheck& check) {
    return factor_of(check.throughput.typical / check.measured_throughput());
  });
  const auto inside = std::count_if(checks.begin(), checks.end(),
                                    [](const ScalingCheck& check) { return check.throughput_inside(); });
  return summary_of_factors(factors, static_cast<std::size_t>(inside));
}

std::vector<Candidate> candidates_of(const std::vector<ScalingCheck>& checks) {
  std::vector<Candidate> candidates;
  for (const ScalingCheck& check : checks) {
    candidates.push_back({.work = fmt::format("{} {} {}", repository_of(check.row.source), check.row.model,
                                              check.row.precision),
                          .machine = check.gpu,
                          .planned = check.row.gpus / check.throughput.typical,
                          .published = check.row.gpus / check.measured_throughput(),
                          .by_sheet = 1 / check.rate});
  }
  return candidates;
}

std::vector<ScalingCheck> held_out(const std::vector<ScalingCheck>& checks) {
  std::vector<ScalingCheck> rest = checks;
  std::erase_if(rest, [](const ScalingCheck& check) { return check.row.gave_spread; });
  return rest;
}

std::vector<ScalingCheck> of_class(const std::vector<ScalingCheck>& checks, const std::string& system_class) {
  std::vector<ScalingCheck> rest = checks;
  std::erase_if(rest, [&](const ScalingCheck& check) { return check.system_class != system_class; });
  return rest;
}

std::vector<std::string> system_classes(const std::vector<ScalingCheck>& checks) {
  std::vector<std::string> classes;
  for (const ScalingCheck& check : checks) {
    if (std::find(classes.begin(), classes.end(), check.system_class) == classes.end()) {
      classes.push_back(check.system_class);
    }
  }
  return classes;
}

ScalingSummary summary_of(const std::vector<ScalingCheck>& checks) {
  const ScalingErrors errors =
      errors_of(checks, [](const ScalingCheck& check) { return check.predicted.typical; });
  std::vector<double> widths;
  std::transform(checks.begin(), checks.end(), std::back_inserter(widths),
                 [](const ScalingCheck& check) { return check.predicted.high - check.predicted.low; });
  const auto inside =
      std::count_if(checks.begin(), checks.end(), [](const ScalingCheck& check) { return check.inside(); });
  return {.rows = checks.size(),
          .errors = errors,
          .coverage = static_cast<double>(inside) / static_cast<double>(checks.size()),
          .width = median_of(std::move(widths))};
}

ScalingErrors errors_of_perfect_scaling(const std::vector<ScalingCheck>& checks) {
  return errors_of(checks, [](const ScalingCheck&) { return 1.0; });
}

ScalingErrors errors_by_ring(const std::vector<ScalingCheck>& checks) {
  return errors_of(checks, [](const ScalingCheck& check) { return check.by_ring; });
}

ScalingErrors errors_of_median_elsewhere(const std::vector<ScalingCheck>& checks,
                                         const std::vector<ScalingCheck>& all) {
  return errors_of(checks, [&](const ScalingCheck& check) {
    std::vector<double> elsewhere;
    for (const ScalingCheck& other : all) {
      if (repository_of(other.row.source) != repository_of(check.row.source)) {
        elsewhere.push_back(other.row.efficiency);
      }
    }
    return elsewhere.empty() ? 1.0 : median_of(std::move(elsewhere));
  });
}

ScalingErrors errors_by_best_factors(const std::vector<ScalingCheck>& checks,
                                     const std::vector<ScalingCheck>& all) {
  const auto losing = [](double factor) {
    return [=](const ScalingCheck& check) { return 1 / (1 + factor * (1 / check.predicted.typical - 1)); };
  };
  std::map<std::string, std::vector<ScalingCheck>> kinds;
  for (const ScalingCheck& check : all) {
    kinds[check.kind].push_back(check);
  }
  std::map<std::string, double> best;
  for (const auto& [kind, alike] : kinds) {
    double least = std::numeric_limits<double>::infinity();
    for (double factor = 0.01; factor < 100; factor *= 1.02) {
      if (const double mean = errors_of(alike, losing(factor)).mean; mean < least) {
        least = mean;
        best[kind] = factor;
      }
    }
  }
  return errors_of(checks, [&](const ScalingCheck& check) { return losing(best.at(check.kind))(check); });
}

}  // namespace ringside
