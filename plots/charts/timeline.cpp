#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/palette.hpp"
#include "plots/drawing/text.hpp"
#include "plots/drawing/tics.hpp"

namespace ringside::plots {
namespace {

constexpr std::size_t kMaxTracks = 64;
constexpr double kMaxTrackLabel = 200;

struct Track {
  std::string label;
  std::vector<const TimelineBar*> bars = {};
  std::vector<std::size_t> lane_of_bar = {};
  std::size_t num_lanes = 1;
};

/// Bars that overlap in time get lanes of their own: each takes the first lane that is free when it starts.
void assign_lanes(Track& track) {
  std::ranges::stable_sort(track.bars,
                           [](const TimelineBar* a, const TimelineBar* b) { return a->start < b->start; });
  std::vector<double> free_from;  ///< Each lane.
  for (const TimelineBar* bar : track.bars) {
    // Ends and starts that are the same moment may differ in the last digits.
    const double slack = 1e-9 * std::abs(bar->end.value);
    const auto free =
        std::ranges::find_if(free_from, [&](double from) { return from <= bar->start.value + slack; });
    track.lane_of_bar.push_back(static_cast<std::size_t>(free - free_from.begin()));
    if (free == free_from.end()) {
      free_from.push_back(bar->end.value);
    } else {
      *free = bar->end.value;
    }
  }
  track.num_lanes = std::max<std::size_t>(1, free_from.size());
}

std::vector<Track> tracks_of(const std::vector<TimelineBar>& bars) {
  std::vector<Track> tracks;
  std::map<std::string, std::size_t> index_of;
  for (const TimelineBar& bar : bars) {
    RINGSIDE_CHECK(bar.start <= bar.end, "a bar of a timeline ends before it starts");
    const auto [place, is_new] = index_of.emplace(bar.track, tracks.size());
    if (is_new) {
      tracks.push_back({.label = bar.track});
    }
    tracks[place->second].bars.push_back(&bar);
  }
  std::for_each(tracks.begin(), tracks.end(), assign_lanes);
  return tracks;
}

/// What a panel shows.
struct Rows {
  std::string title;
  std::vector<Track> tracks;
  std::size_t num_tracks_in_all = 0;
};

/// Parts without bars are skipped, as are tracks that do not fit.
std::vector<Rows> rows_of(const std::vector<TimelinePart>& parts) {
  std::vector<Rows> all;
  for (const TimelinePart& part : parts) {
    Rows rows{.title = part.title, .tracks = tracks_of(part.bars)};
    rows.num_tracks_in_all = rows.tracks.size();
    rows.tracks.resize(std::min(rows.tracks.size(), kMaxTracks));
    if (!rows.tracks.empty()) {
      all.push_back(std::move(rows));
    }
  }
  return all;
}

std::string not_shown(const std::vector<Rows>& all) {
  for (const Rows& rows : all) {
    if (rows.num_tracks_in_all > rows.tracks.size()) {
      return fmt::format(" (first {} of {} rows)", rows.tracks.size(), rows.num_tracks_in_all);
    }
  }
  return "";
}

template <typename Visit>
void for_each_bar(const std::vector<Rows>& all, const Visit& visit) {
  for (const Rows& rows : all) {
    for (const Track& track : rows.tracks) {
      std::for_each(track.bars.begin(), track.bars.end(), [&](const TimelineBar* bar) { visit(*bar); });
    }
  }
}

double last_end(const std::vector<Rows>& all) {
  double end = 0;
  for_each_bar(all, [&](const TimelineBar& bar) { end = std::max(end, bar.end.value); });
  return end;
}

/// Copying and reducing look as in schedule diagrams; other kinds follow in order of first appearance.
std::map<std::string, Color> colors_of(const std::vector<Rows>& all, std::vector<LegendEntry>& legend) {
  std::map<std::string, Color> colors = {};
  const std::map<std::string, Color> fixed = {{"copy", kBlue}, {"transfer", kBlue}, {"reduce", kVermillion}};
  const std::vector<Color> left = {kGreen, kPurple, kOrange, kSkyBlue, kGrey, kBlack};
  std::size_t next = 0;
  for_each_bar(all, [&](const TimelineBar& bar) {
    if (colors.count(bar.kind) == 0) {
      const auto known = fixed.find(bar.kind);
      colors[bar.kind] = known != fixed.end() ? known->second : left[next++ % left.size()];
      legend.push_back({.label = bar.kind, .band = colors[bar.kind]});
    }
  });
  return colors;
}

double widest_label(const std::vector<Rows>& all) {
  double widest = 0;
  for (const Rows& rows : all) {
    for (const Track& track : rows.tracks) {
      widest = std::max(widest, std::min(kMaxTrackLabel, text_width(track.label, {})));
    }
  }
  return widest;
}

/// Adds a row's boxes, and the labels of those that have room for one.
void add_track(const Track& track, double top, const std::map<std::string, Color>& colors, Panel& panel,
               Boxes& boxes) {
  const double row_pixels = panel.area.height / panel.y.min;
  const double pixels_per_second = panel.area.width / panel.x.max;
  const double lane_height = 0.84 / static_cast<double>(track.num_lanes);
  for (std::size_t number = 0; number < track.bars.size(); ++number) {
    const TimelineBar& bar = *track.bars[number];
    const double low = top + 0.08 + lane_height * static_cast<double>(track.lane_of_bar[number]);
    const Color fill = colors.at(bar.kind);
    boxes.boxes.push_back({bar.start.value, bar.end.value, low, low + lane_height, fill});
    const Font font{.size = std::min(14.0, lane_height * row_pixels - 1)};
    const double room = (bar.end - bar.start).value * pixels_per_second - 8;
    const std::string label =
        first_that_fits({bar.label, bar.label.substr(0, bar.label.find(" · "))}, font, room);
    if (font.size >= 10 && !label.empty()) {
      const XY middle{(bar.start + bar.end).value / 2, low + lane_height / 2};
      panel.elements.emplace_back(centred(middle, label, font, readable_on(fill)));
    }
  }
}

/// `end` is where the time axis ends; it is labelled in the lowest panel.
Panel draw_rows(const Rows& rows, const Rect& area, double end, bool lowest,
                const std::map<std::string, Color>& colors) {
  const NamedUnit unit = time_unit({end});
  Panel panel{.area = area, .title = rows.title};
  panel.x = {.label = lowest ? fmt::format("time ({})", unit.name) : "", .min = 0, .max = end * 1.005};
  panel.x.tics = linear_tics({0, end}, unit.value, panel.area.width);
  panel.x.show_tic_labels = lowest;
  panel.y = {.label = "", .min = static_cast<double>(rows.tracks.size()), .max = 0};
  Boxes boxes{.border = Stroke{.color = kWhite, .width = 0.8}};
  for (std::size_t index = 0; index < rows.tracks.size(); ++index) {
    const Track& track = rows.tracks[index];
    const auto top = static_cast<double>(index);
    panel.y.tics.push_back({top + 0.5, shortened(track.label, {}, kMaxTrackLabel)});
    add_track(track, top, colors, panel, boxes);
  }
  panel.elements.insert(panel.elements.begin(), std::move(boxes));
  return panel;
}

}  // namespace

std::vector<Figure> timelines(const std::vector<TimelinePart>& parts, const ChartContext& context) {
  const std::vector<Rows> all = rows_of(parts);
  const double end = last_end(all);
  if (end <= 0) {
    return {};
  }
  std::vector<LegendEntry> legend;
  const std::map<std::string, Color> colors = colors_of(all, legend);

  std::size_t most_tracks = 0;
  for (const Rows& rows : all) {
    most_tracks = std::max(most_tracks, rows.tracks.size());
  }
  // Panels are equally high.
  const double num_rows = static_cast<double>(most_tracks * all.size());
  const double row = std::clamp(560 / num_rows, 22.0, 46.0);
  const bool titled = std::ranges::any_of(all, [](const Rows& rows) { return !rows.title.empty(); });
  const double titles = titled ? 52.0 * static_cast<double>(all.size()) : 0;
  Figure figure{.name = "timeline",
                .width = width_for(context.size, 1200),
                .height = static_cast<int>(std::max(420.0, row * num_rows + 230 + titles))};
  const Rect area =
      lay_out_page(figure, page_text(context, "who moves and reduces when" + not_shown(all)), legend);
  const PanelGrid place = lay_out_panels(
      area, all.size(), 1,
      {.left = widest_label(all) + 40, .right = 34, .top = titled ? 34.0 : 14.0, .bottom = 62});
  for (std::size_t i = 0; i < all.size(); ++i) {
    figure.panels.push_back(draw_rows(all[i], place.areas[i], end, place.labels_x(i), colors));
  }
  return {figure};
}

}  // namespace ringside::plots
