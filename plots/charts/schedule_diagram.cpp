#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "common/text.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "schedule/program/policy.hpp"
#include "schedule/program/run_rounds.hpp"
#include "schedule/schedule.hpp"

namespace ringside::plots {
namespace {

constexpr double kLeft = 92;
constexpr double kRight = 30;
constexpr double kMaxHeight = 3000;
constexpr double kStripTop = 52;     // Above the first rank: the numbers of the rounds.
constexpr double kStripBottom = 30;  // Below the last rank.
constexpr double kDotGap = 9;        // From the centre of a dot to the arrow.
constexpr double kMinColumn = 90;
constexpr double kMaxColumn = 540;
constexpr std::int64_t kMaxRounds = 400;           // More never fit on a page, whatever their labels.
constexpr std::int64_t kMaxRoundsInSegments = 20;  // Further rounds are more of the same.

/// All that one rank sends to another in a round, in one way.
struct Transfer {
  Rank source;
  Rank target;
  MoveKind kind;
  bool ahead;  ///< Its receive is posted before the round.
  std::string label;
};

using Rounds = std::vector<std::vector<Transfer>>;

/// What is drawn: a schedule, or how it runs under a policy.
struct Diagram {
  const Schedule& schedule;
  std::int64_t num_rounds;
  const ExecutionPolicy* policy;  ///< Null: the schedule alone.
  Rounds rounds;                  ///< The first of them.

  bool in_segments() const { return policy != nullptr && policy->segments > 1; }
};

std::string chunk_text(const Move& move, std::int32_t num_chunks) {
  if (num_chunks == 1) {
    return "";  // The legend says it.
  }
  if (move.num_chunks == num_chunks) {
    return "all";
  }
  return consecutive("", move.first_chunk, move.first_chunk + move.num_chunks - 1);
}

/// `s1:2` reads chunk 2 of scratch buffer 1; `2→s1` writes it there.
std::string label_of(const std::vector<std::string>& chunks, int source_buffer, int target_buffer) {
  const std::string from = source_buffer == 0 ? "" : fmt::format("s{}:", source_buffer);
  const std::string to = target_buffer == 0 ? "" : fmt::format("→s{}", target_buffer);
  return shortened(fmt::format("{}{}{}", from, fmt::join(chunks, ","), to), kSmallFont, 96);
}

/// What the chunks are called that the moves of a round carry between the same ranks and buffers, in one way.
using ChunkTexts = std::map<std::tuple<Rank, Rank, MoveKind, bool, int, int>, std::vector<std::string>>;

std::vector<std::string>& texts_for(const Move& move, bool ahead, ChunkTexts& texts) {
  return texts[{move.source, move.target, move.kind, ahead, move.source_buffer, move.target_buffer}];
}

std::vector<Transfer> joined(const ChunkTexts& all) {
  std::vector<Transfer> transfers;
  for (const auto& [key, texts] : all) {
    const auto& [source, target, kind, ahead, source_buffer, target_buffer] = key;
    transfers.push_back({source, target, kind, ahead, label_of(texts, source_buffer, target_buffer)});
  }
  return transfers;
}

std::vector<Transfer> transfers_of(const Schedule& schedule, std::int64_t round) {
  std::vector<Move> moves;
  schedule.write_round(round, moves);
  ChunkTexts texts;
  for (const Move& move : moves) {
    texts_for(move, false, texts).push_back(chunk_text(move, schedule.num_chunks()));
  }
  return joined(texts);
}

std::vector<Transfer> transfers_of(const RunRounds& run, std::int64_t round) {
  const std::int32_t num_chunks = run.execution().schedule().num_chunks();
  const bool in_segments = run.execution().policy().segments > 1;
  ChunkTexts texts;
  for (const RunMove& one : run.round(round)) {
    texts_for(one.move, one.posted_in < round, texts)
        .push_back(in_segments ? fmt::format("{}.{}", one.move.first_chunk, one.segment)
                               : chunk_text(one.move, num_chunks));
  }
  return joined(texts);
}

constexpr std::size_t kManyArrows = 64;  // So many thick ones hide each other.

/// Rows of rounds, one below the other, all of the same number of columns.
struct Strips {
  std::int64_t num_rounds;  ///< That are drawn.
  int columns;
  int count;
  double column_width;
  double row_height;
};

double strip_height_of(const Strips& strips, int num_ranks) {
  return kStripTop + kStripBottom + strips.row_height * (num_ranks - 1);
}

Strips lay_out_strips(const Diagram& diagram, double page_width) {
  const Rounds& rounds = diagram.rounds;
  const int num_ranks = diagram.schedule.num_ranks();
  double widest = 0;
  for (const std::vector<Transfer>& transfers : rounds) {
    for (const Transfer& transfer : transfers) {
      widest = std::max(widest, text_width(transfer.label, kSmallFont));
    }
  }
  const double room = page_width - kLeft - kRight;
  const double least = std::max(kMinColumn, widest + (diagram.in_segments() ? 130 : 56));
  const auto num_rounds = static_cast<int>(rounds.size());
  const int most_columns = std::max(1, static_cast<int>(room / least));
  Strips strips{};
  strips.count = (num_rounds + most_columns - 1) / most_columns;
  strips.columns = (num_rounds + strips.count - 1) / strips.count;
  const bool crowded =
      std::ranges::any_of(rounds, [](const auto& transfers) { return transfers.size() > kManyArrows; });
  strips.column_width = std::min(crowded ? room : kMaxColumn, room / strips.columns);
  strips.row_height = std::clamp(420.0 / num_ranks, 46.0, 84.0);
  const double strip_height = strip_height_of(strips, num_ranks);
  strips.count = std::clamp(static_cast<int>(kMaxHeight / strip_height), 1, strips.count);
  strips.num_rounds = std::min(num_rounds, strips.count * strips.columns);
  return strips;
}

Stroke stroke_of(MoveKind kind) {
  return kind == MoveKind::reduce ? Stroke{.color = kVermillion, .width = 2}
                                  : Stroke{.color = kBlue, .width = 2, .dash = Dash::dashed};
}

MarkStyle ahead_style(Color color) { return {.color = color, .shape = Shape::diamond, .size = 1.5}; }

/// Places on an arrow for its label: first near the source, where arrows of one round lie apart.
std::vector<XY> label_places(const Arrows::Arrow& arrow) {
  constexpr std::array kShares = {0.32, 0.24, 0.4, 0.5, 0.6, 0.7, 0.78, 0.16};
  return mapped(kShares, [&](double share) { return between(arrow.from, arrow.to, share); });
}

/// Transfers between the same two ranks in one round lie side by side: pixels below its row.
std::vector<double> side_steps(const std::vector<Transfer>& transfers) {
  constexpr double kStep = 7;
  std::map<std::pair<Rank, Rank>, int> counts;
  std::vector<double> steps;
  for (const Transfer& transfer : transfers) {
    steps.push_back(kStep * counts[{transfer.source, transfer.target}]++);
  }
  return steps;
}

/// One column: the arrows of a round between two columns of dots.
void add_round(Panel& page, const std::vector<Transfer>& transfers, XY corner, const Strips& strips) {
  LabelPlacer placer;  // Labels stay in their column, so columns do not get in each other's way.
  const auto row = [&](Rank rank) { return corner.y + rank * strips.row_height; };
  const std::vector<double> steps = side_steps(transfers);
  std::vector<Arrows::Arrow> arrows;
  for (std::size_t index = 0; index < transfers.size(); ++index) {
    const Transfer& transfer = transfers[index];
    const double dx = strips.column_width;
    const double dy = row(transfer.target) - row(transfer.source);
    const double length = std::hypot(dx, dy);
    const XY gap{kDotGap * dx / length, kDotGap * dy / length};
    const Arrows::Arrow arrow{.from = {corner.x + gap.x, row(transfer.source) + steps[index] + gap.y},
                              .to = {corner.x + dx - gap.x, row(transfer.target) + steps[index] - gap.y}};
    arrows.push_back(arrow);
    placer.block_line(arrow.from, arrow.to);
    Stroke stroke = stroke_of(transfer.kind);
    if (transfers.size() > kManyArrows) {
      stroke.width = 0.6;
      stroke.color.opacity = 0.6;
    }
    page.elements.emplace_back(Arrows{.arrows = {arrow}, .stroke = stroke});
    if (transfer.ahead) {
      constexpr double kPlace = 0.9;  // Share of the arrow's length: near its target, who posts.
      const auto [x, y] = between(arrow.from, arrow.to, kPlace);
      page.elements.emplace_back(
          Marks{.marks = {{x, y, y, y}}, .style = ahead_style(stroke_of(transfer.kind).color)});
    }
  }
  for (std::size_t index = 0; index < transfers.size(); ++index) {
    const std::string& label = transfers[index].label;
    if (label.empty()) {
      continue;
    }
    const XY center = placer.place(label_places(arrows[index]), text_width(label, kSmallFont) + 8, 18);
    page.elements.emplace_back(boxed_label(center, label, stroke_of(transfers[index].kind).color));
  }
}

template <typename Source>
Rounds rounds_of(const Source& source, std::int64_t most) {
  Rounds rounds;
  for (std::int64_t round = 0; round < std::min(source.num_rounds(), most); ++round) {
    rounds.push_back(transfers_of(source, round));
  }
  return rounds;
}

std::string subtitle_of(const Diagram& diagram, const Strips& strips) {
  const Schedule& schedule = diagram.schedule;
  std::string text = fmt::format(
      "{} with {}: {}, {}", schedule.algorithm().name, count_of(schedule.num_ranks(), "rank"),
      count_of(diagram.num_rounds, "round"),
      diagram.policy != nullptr ? describe(*diagram.policy)
                                : fmt::format("message in {}", count_of(schedule.num_chunks(), "chunk")));
  if (strips.num_rounds < diagram.num_rounds) {
    text += diagram.policy != nullptr ? fmt::format("; the first {} are shown", strips.num_rounds)
                                      : fmt::format("; the first {} rounds are shown", strips.num_rounds);
  }
  return text;
}

std::string labels_text(const Diagram& diagram) {
  if (diagram.in_segments()) {
    return "2.5 on an arrow: chunk 2, segment 5";
  }
  return diagram.schedule.num_chunks() == 1 ? "every arrow carries the whole message"
                                            : "numbers on arrows are chunks";
}

std::vector<LegendEntry> legend_of(const Diagram& diagram) {
  std::set<MoveKind> kinds;
  bool ahead = false;
  for (const std::vector<Transfer>& transfers : diagram.rounds) {
    for (const Transfer& transfer : transfers) {
      kinds.insert(transfer.kind);
      ahead = ahead || transfer.ahead;
    }
  }
  std::vector<LegendEntry> legend = mapped(kinds, [](MoveKind kind) {
    return LegendEntry{.label = kind == MoveKind::copy ? "copy" : "reduce", .line = stroke_of(kind)};
  });
  if (ahead) {
    legend.push_back({.label = "receive posted in an earlier round", .mark = ahead_style(kGrey)});
  }
  legend.push_back({.label = labels_text(diagram)});
  if (diagram.schedule.num_buffers() > 1) {
    legend.push_back({.label = "s1: scratch buffer 1"});
  }
  return legend;
}

/// Names of ranks and a line and dots for each, under `columns` rounds.
void add_ranks(Panel& page, Marks& dots, double top, int num_ranks, int columns, const Strips& strips) {
  for (Rank rank = 0; rank < num_ranks; ++rank) {
    const double y = top + rank * strips.row_height;
    page.elements.emplace_back(Polyline{.points = {{kLeft, y}, {kLeft + columns * strips.column_width, y}},
                                        .stroke = {.color = kLightGrey, .width = 1}});
    page.elements.emplace_back(
        Text{.at = {kLeft - 18, y}, .text = fmt::format("rank {}", rank), .align = Align::right});
    for (int column = 0; column <= columns; ++column) {
      dots.marks.push_back({kLeft + column * strips.column_width, y, y, y});
    }
  }
}

void check_drawable(const Schedule& schedule) {
  const int num_ranks = schedule.num_ranks();
  if (num_ranks > kMaxDiagramRanks) {
    throw bad_input("a schedule of {} ranks is too large to draw; at most {} ranks can be shown", num_ranks,
                    kMaxDiagramRanks);
  }
}

/// A file for each thing that can be drawn.
std::string name_of(const Diagram& diagram) {
  const Schedule& schedule = diagram.schedule;
  const ScheduleRequest& request = schedule.request();
  std::string text = diagram.policy == nullptr ? "schedule" : "program";
  if (request.collective != Collective::all_reduce) {
    text += fmt::format("_{}", name(request.collective));
  }
  text += fmt::format("_{}_{}_ranks", schedule.algorithm().name, request.num_ranks);
  const auto add = [&](int value, std::string_view what) {
    text += value != 0 ? fmt::format("_{}_{}", what, value) : "";
  };
  add(request.root, "root");
  add(request.ranks_per_node, "per_node");
  add(request.segments, "segments");
  return text;
}

std::vector<Figure> draw_diagram(const Diagram& diagram, const ChartContext& context) {
  const int num_ranks = diagram.schedule.num_ranks();
  const Rounds& rounds = diagram.rounds;
  if (rounds.empty()) {
    return {};
  }
  Figure figure{.name = name_of(diagram), .width = width_for(context.size, 1200)};
  const Strips strips = lay_out_strips(diagram, figure.width);
  const double strip_height = strip_height_of(strips, num_ranks);
  constexpr double kAround = 146;  // Title, legend and footer.
  figure.height = static_cast<int>(kAround + strips.count * strip_height);
  const Rect area =
      lay_out_page(figure, page_text(context, subtitle_of(diagram, strips)), legend_of(diagram));

  Panel page = pixel_panel(figure);
  Marks dots{.style = {.color = {.rgb = 0x333333}, .shape = Shape::circle, .size = 1.3}};
  for (int strip = 0; strip < strips.count; ++strip) {
    const double top = area.top + strip * strip_height + kStripTop;
    const std::int64_t first = std::int64_t{strip} * strips.columns;
    const auto columns = static_cast<int>(std::min<std::int64_t>(strips.columns, strips.num_rounds - first));
    add_ranks(page, dots, top, num_ranks, columns, strips);
    for (int column = 0; column < columns; ++column) {
      const double left = kLeft + column * strips.column_width;
      page.elements.emplace_back(Text{.at = {left + strips.column_width / 2, top - 28},
                                      .text = fmt::format("round {}", first + column + 1),
                                      .align = Align::center,
                                      .font = {.bold = true}});
      add_round(page, rounds[static_cast<std::size_t>(first + column)], {left, top}, strips);
    }
  }
  page.elements.emplace_back(std::move(dots));
  figure.panels.push_back(std::move(page));
  return {figure};
}

}  // namespace

std::vector<Figure> schedule_diagram(const Schedule& schedule, const ChartContext& context) {
  check_drawable(schedule);
  return draw_diagram({.schedule = schedule,
                       .num_rounds = schedule.num_rounds(),
                       .policy = nullptr,
                       .rounds = rounds_of(schedule, kMaxRounds)},
                      context);
}

std::vector<Figure> program_diagram(const RunRounds& run, const ChartContext& context) {
  check_drawable(run.execution().schedule());
  const bool in_segments = run.execution().policy().segments > 1;
  return draw_diagram({.schedule = run.execution().schedule(),
                       .num_rounds = run.num_rounds(),
                       .policy = &run.execution().policy(),
                       .rounds = rounds_of(run, in_segments ? kMaxRoundsInSegments : kMaxRounds)},
                      context);
}

}  // namespace ringside::plots
