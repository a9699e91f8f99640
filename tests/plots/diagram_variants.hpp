#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts/plan_charts.hpp"
#include "schedule/program/run_rounds.hpp"
#include "schedule/registry.hpp"
#include "tests/plots/samples.hpp"
#include "tests/plots/variants.hpp"

/// Diagrams and charts of plans over everything that changes how they are laid out.
namespace ringside::plots::variants {

inline void add_schedules(Variants& all) {
  all.begin("schedules");
  for (const ChartSize size : kSizes) {
    for (const int ranks : {1, 2, 3, 4, 5, 8, 9, 12, 16}) {
      all.push_back({fmt::format("ring {}, {}", ranks, size_name(size)),
                     schedule_diagram(samples::ring_schedule(ranks), sized(size))});
    }
    for (const int ranks : {2, 3, 5, 8, 9}) {
      all.push_back({fmt::format("direct {}, {}", ranks, size_name(size)),
                     schedule_diagram(samples::direct_schedule(ranks), sized(size))});
    }
  }
  const auto add = [&](const std::string& algorithm, const ScheduleRequest& request) {
    all.push_back(
        {algorithm, schedule_diagram({known_algorithm(request.collective, algorithm), request}, kContext)});
  };
  add("naive", {.num_ranks = 5});
  add("binomial_tree", {.collective = Collective::broadcast, .num_ranks = 8, .root = 3});
  add("halving_doubling", {.num_ranks = 8});
  add("hierarchical", {.num_ranks = 8, .ranks_per_node = 4});
  for (const int segments : {1, 2, 3, 40, 500}) {
    add("pipelined_ring", {.num_ranks = 3, .segments = segments});
  }
  add("pipelined_ring", {.num_ranks = 16, .segments = 40});
  all.begin("programs");
  for (const int ranks : {2, 3, 4, 8}) {
    for (const ExecutionPolicy& policy :
         {ExecutionPolicy{}, ExecutionPolicy{.receives_ahead = true},
          ExecutionPolicy{.segments = 2, .stride = 2},
          ExecutionPolicy{.receives_ahead = true, .segments = 11, .stride = 4, .in_flight = 3}}) {
      const RunRounds run(samples::ring_schedule(ranks), {.num_elements = 1 << 20}, policy);
      for (const ChartSize size : kSizes) {
        all.push_back({fmt::format("program {} of {} segments, {}", ranks, policy.segments, size_name(size)),
                       program_diagram(run, sized(size))});
      }
    }
  }
  all.push_back({"a program of one chunk",
                 program_diagram({{known_algorithm(Collective::all_reduce, "naive"), {.num_ranks = 3}},
                                  {.num_elements = 1 << 20},
                                  {.receives_ahead = true}},
                                 kContext)});
}

inline void add_timelines(Variants& all) {
  all.begin("timelines");
  for (const int ranks : {1, 2, 5, 12, 32}) {
    for (const ChartSize size : kSizes) {
      const std::vector<TimelineBar> bars = samples::ring_timeline(ranks);
      all.push_back(
          {fmt::format("{} ranks, {}", ranks, size_name(size)), timelines({{"", bars}}, sized(size))});
      all.push_back({fmt::format("{} ranks twice, {}", ranks, size_name(size)),
                     timelines({{"", samples::ring_timeline(2)}, {"measured", bars}}, sized(size))});
    }
  }
  for (const int tracks : {1, 12, 13, 24, 25, 26, 63, 64, 65, 70}) {
    std::vector<TimelineBar> bars;
    for (int track = 0; track < tracks; ++track) {
      bars.push_back({fmt::format("rank {}", track),
                      {0},
                      {1.0 + track},
                      fmt::format("sends · {}", track),
                      fmt::format("kind {}", track % 11)});
    }
    bars.push_back({std::string(50, 'w'), {1}, {1}, "", "copy"});
    all.push_back({fmt::format("{} tracks", tracks), timelines({{"", bars}}, kContext)});
    all.push_back(
        {fmt::format("{} tracks and nothing", tracks), timelines({{"", bars}, {"nothing", {}}}, kContext)});
  }
  for (const double end : {0.0, 5e-10, 9.99e-7, 1e-6, 9.99e-4, 1e-3, 0.999, 1.0, 100.0}) {
    for (const double apart : {0.0, 0.9e-9, 1.1e-9, -0.9e-9, -1.1e-9}) {
      all.push_back({fmt::format("until {}, {} apart", end, apart),
                     timelines({{"",
                                 {{"rank 0", {0}, {end / 2}, "first", "reduce"},
                                  {"rank 0", {end / 2 * (1 - apart)}, {end}, "second", "wait"}}}},
                               kContext)});
    }
  }
  for (int letters = 1; letters < 140; letters += 3) {
    const auto length = static_cast<std::size_t>(letters);
    all.push_back({fmt::format("labels of {} letters", letters),
                   timelines({{"",
                               {{"rank 0", {0}, {1}, std::string(length, 'x') + " · more", "wait"},
                                {"rank 1", {0.5}, {0.75}, std::string(length, 'i'), "copy"}}}},
                             kContext)});
  }
}

inline TopologyGraph parts(int count, int gpus, const std::string& label) {
  TopologyGraph graph;
  graph.nodes.push_back({"fabric", "fabric", 0});
  for (int part = 0; part < count; ++part) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::string id = fmt::format("gpu{}_{}", part, gpu);
      graph.nodes.push_back({id, fmt::format("GPU {}", gpu), 1, "", part});
      graph.nodes.push_back({"socket" + id, fmt::format("socket {}", gpu), 2, "", part});
      graph.edges.push_back({"fabric", id, label, {23e9}});
      graph.edges.push_back({id, "socket" + id, "", {}});
    }
  }
  return graph;
}

inline void add_topologies(Variants& all) {
  all.begin("topologies");
  const auto add = [&](const std::string& name, const TopologyGraph& graph) {
    for (const ChartSize size : kSizes) {
      all.push_back({fmt::format("{}, {}", name, size_name(size)), topology_graph(graph, sized(size))});
    }
  };
  add("two nodes", samples::two_nodes());
  add("a host", samples::pcie_host());
  for (const int count : {1, 2, 3}) {
    for (const int gpus : {1, 2, 6, 7, 8, 40}) {
      add(fmt::format("{} parts of {}", count, gpus), parts(count, gpus, "NIC 23 GB/s"));
      add(fmt::format("{} parts of {}, no link", count, gpus), parts(count, gpus, ""));
    }
  }
  TopologyGraph row{.nodes = {}, .edges = {}, .limit = "limits the ring"};
  for (int node = 0; node < 6; ++node) {
    row.nodes.push_back(
        {fmt::format("n{}", node), std::string(static_cast<std::size_t>(1 + 3 * node), 'n'), 0});
    for (int before = 0; before < node; ++before) {
      row.edges.push_back({fmt::format("n{}", node),
                           fmt::format("n{}", before),
                           fmt::format("kind {}", before),
                           {1e9 * (1 << (3 * before))}});
      add(fmt::format("a row of {} with {} edges", node, row.edges.size()), row);
    }
  }
  row.nodes[2].limits = true;
  row.nodes[3].detail = "memory 164 GB/s";
  row.edges[3].limits = true;
  row.edges[4].capacity = {0};
  row.edges[5].times = 3;
  add("a row with limits", row);
  std::swap(row.edges[1].from, row.edges[1].to);
  add("a row turned round", row);
  for (const double capacity : {0.5, 1.0, 1e9, 2e9, 4e9, 4.1e9, 1e12}) {
    add(fmt::format("links of {}", capacity),
        {.nodes = {{"a", "a", 0}, {"b", "b", 1}, {"c", "c", 1}},
         .edges = {{"a", "b", "one", {1e9}}, {"a", "c", "other", {capacity}}, {"b", "c", "one", {1e9}}}});
  }
  // Nodes of a full level that differ in one thing each.
  for (const int odd : {-1, 0, 7, 39}) {
    for (const char* how : {"label", "detail", "limits", "link", "gap"}) {
      TopologyGraph graph{.nodes = {{"s", "switch", 0}}, .edges = {}, .limit = "limits"};
      for (int gpu = 0; gpu < 40; ++gpu) {
        const std::string id = fmt::format("g{}", gpu);
        const std::string what = gpu == odd ? how : "";
        graph.nodes.push_back({id,
                               what == "label" ? "another" : fmt::format("GPU {}", what == "gap" ? 99 : gpu),
                               1,
                               what == "detail" ? "" : "two ports",
                               {},
                               what == "limits"});
        graph.edges.push_back({"s", id, what == "link" ? "PCIe" : "NVLink", {1e9}, gpu == 3});
      }
      add(fmt::format("{} {} differs", how, odd), graph);
    }
  }
}

inline CostPoint offer(const std::string& label, double seconds, double cost) {
  return {.label = label,
          .seconds = {0.5 * seconds, seconds, 3 * seconds},
          .cost = {0.25 * cost, cost, 2 * cost}};
}

inline void add_costs(Variants& all) {
  all.begin("costs of plans");
  for (const double seconds : {1.0, 60.0, 119.0, 121.0, 7199.0, 7201.0, 172'799.0, 172'801.0, 1e8}) {
    for (const int kind : {0, 1, 2, 3, 4}) {
      CostChart chart{.points = {}, .currency = "EUR", .of = "a run", .deadline = {}, .budget = {}};
      chart.points = {offer("one", seconds, 1), offer("another", 1.1 * seconds, 0.5),
                      offer("third", 5 * seconds, 7)};
      // The middle of the axis is the unit's.
      chart.points[0].seconds = chart.points[1].seconds = {seconds, seconds, seconds};
      chart.points[2].seconds = {seconds, seconds, kind == 4 ? 100 * seconds : seconds};
      chart.points[0].pareto = kind > 0;
      chart.points[1].pareto = kind > 1;
      chart.points[1].recommended = kind == 2;
      chart.points[0].tied = chart.points[2].tied = kind == 3;
      for (const ChartSize size : kSizes) {
        all.push_back({fmt::format("{} s, kind {}, {}", seconds, kind, size_name(size)),
                       cost_against_time(chart, sized(size))});
      }
    }
  }
  for (const double condition : {1e-9, 400.0, 500.0, 2e3, 1e4, 1e9}) {
    for (const int which : {0, 1, 2}) {
      CostChart chart{.points = {offer("one", 1000, 10), offer("another", 3000, 40)},
                      .currency = "USD",
                      .of = "the run",
                      .deadline = {},
                      .budget = {}};
      if (which != 1) {
        chart.deadline = condition;
      }
      if (which != 0) {
        chart.budget = condition / 100;
      }
      all.push_back(
          {fmt::format("condition {} of {}", condition, which), cost_against_time(chart, kContext)});
    }
  }
  for (const int count : {1, 2, 6, 30}) {
    for (const bool front : {false, true}) {
      CostChart chart{.points = {}, .currency = "USD", .of = "the run", .deadline = {}, .budget = {}};
      for (int i = 0; i < count; ++i) {
        chart.points.push_back(
            offer(fmt::format("offer {} {}", i, std::string(static_cast<std::size_t>(i), 'm')),
                  1000 + 40 * (i % 7), 50 - i));
        chart.points.back().pareto = front && i % 2 == 0;
        chart.points.back().recommended = front && i == 4;
      }
      for (const ChartSize size : kSizes) {
        all.push_back({fmt::format("{} offers, front {}, {}", count, front, size_name(size)),
                       cost_against_time(chart, sized(size))});
      }
    }
  }
}

inline void add_steps(Variants& all) {
  all.begin("steps of plans");
  for (const int count : {1, 5, 6, 30}) {
    for (const double high : {0.0, 0.05, 0.1, 0.3, 0.39, 0.4, 0.41, 2.0}) {
      std::vector<StepBar> bars;
      for (int i = 0; i < count; ++i) {
        bars.push_back({.label = std::string(static_cast<std::size_t>(1 + 2 * i), 'm'),
                        .compute = 0.05,
                        .hidden = i == 1 ? 0.01 : 0,
                        .exposed = 0.05 / (1 + i),
                        .waiting = i == 2 ? 0.01 : 0});
      }
      if (high > 0) {
        bars[0].whole = Interval<double>{.low = 0.5 * high, .typical = 0.1, .high = high};
      }
      for (const ChartSize size : kSizes) {
        all.push_back({fmt::format("{} bars up to {}, {}", count, high, size_name(size)),
                       step_bars(bars, sized(size))});
      }
    }
  }
  for (const double unit : {9.9e-7, 1e-6, 9.9e-4, 1e-3, 0.99, 1.0}) {
    all.push_back(
        {fmt::format("a step of {}", unit), step_bars({{.label = "a", .exposed = unit / 1.005}}, kContext)});
  }
}

inline void add_curves(Variants& all) {
  all.begin("curves of plans");
  for (const double most : {1.0, 1.9, 2.0, 2.5, 7.0, 16.0, 16.5, 17.0, 64.0, 1000.0}) {
    for (const ChartSize size : kSizes) {
      const std::vector<Curve> curves(7, {.label = std::string(30, 'm'), .points = {{1, 1}, {most, 0.5}}});
      all.push_back(
          {fmt::format("{} GPUs, {}", most, size_name(size)), scaling_efficiency(curves, sized(size))});
      std::vector<Curve> marked = curves;
      for (std::size_t i = 0; i < marked.size(); ++i) {
        marked[i].points = {{1e9, 0.9}, {1e9 * (1 + most), 0.1 * static_cast<double>(i)}};
        if (i != 3) {
          marked[i].mark = XY{2e9 * (i < 3 ? 1.0 : 1 + 0.004 * static_cast<double>(i)), 0.4};
        }
        if (i == 4) {
          marked[i].mark_interval = Interval<double>{.low = 0.2, .typical = 0.4, .high = 0.7};
        }
      }
      for (std::size_t count = 1; count <= marked.size(); ++count) {
        all.push_back(
            {fmt::format("{} marked up to {}, {}", count, most, size_name(size)),
             exposed_against_bandwidth({marked.begin(), marked.begin() + static_cast<std::ptrdiff_t>(count)},
                                       sized(size))});
      }
    }
  }
  all.push_back({"no bandwidth", exposed_against_bandwidth({{.label = "a", .points = {{0, 1}}}}, kContext)});
}

/// What the drawing of `draw` is refused with; empty where it is not.
template <typename Draw>
std::string refusal_of(const Draw& draw) {
  try {
    draw();
  } catch (const Error& error) {
    return fmt::format("{} {}", exit_status(error.kind()), error.what());
  }
  return "";
}

inline void add_refusals(Variants& all) {
  all.begin("refusals");
  for (const double seconds : {9e-31, 1e-30, 1.0, 1e30, 1.1e30, 0.0, -1.0}) {
    for (int which = 0; which < 6; ++which) {
      Point one = point("ring", 4, 4096, 1, 1);
      one.predicted->low = one.predicted->high = one.predicted->seconds;
      (which == 0   ? one.predicted->seconds
       : which == 1 ? *one.predicted->low
       : which == 2 ? *one.predicted->high
       : which == 3 ? one.measured->seconds
       : which == 4 ? one.measured->low
                    : one.measured->high) = {seconds};
      all.push_back(fmt::format("{} as time {}", seconds, which),
                    refusal_of([&] { time_vs_size({one}, kContext); }) + refusal_of([&] {
                      ratio({one}, kContext);
                    }) + refusal_of([&] { bus_bandwidth({one}, kContext); }));
    }
  }
  for (const int ranks : {16, 17}) {
    all.push_back(fmt::format("a schedule of {} ranks", ranks),
                  refusal_of([&] { schedule_diagram(samples::ring_schedule(ranks), kContext); }));
    all.push_back(fmt::format("a program of {} ranks", ranks), refusal_of([&] {
                    program_diagram({samples::ring_schedule(ranks), {.num_elements = 1 << 20}, {}}, kContext);
                  }));
  }
}

}  // namespace ringside::plots::variants
