#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts.hpp"
#include "plots/page.hpp"
#include "plots/palette.hpp"
#include "plots/text.hpp"
#include "plots/tics.hpp"

namespace ringside::plots {
namespace {

constexpr std::size_t kMaxTracks = 64;
constexpr double kMaxTrackLabel = 200;

struct Lane {
  double free_from;
};

struct Track {
  std::string label;
  std::vector<const TimelineBar*> bars = {};
  std::vector<std::size_t> lane_of_bar = {};
  std::size_t num_lanes = 1;
};

/// Bars that overlap in time get lanes of their own: each takes the first lane that is free when it starts.
void assign_lanes(Track& track) {
  std::stable_sort(track.bars.begin(), track.bars.end(),
                   [](const TimelineBar* a, const TimelineBar* b) { return a->start < b->start; });
  std::vector<Lane> lanes;
  for (const TimelineBar* bar : track.bars) {
    // Ends and starts that are the same moment may differ in the last digits.
    const double slack = 1e-9 * std::abs(bar->end.value);
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& lane) {
      return lane.free_from <= bar->start.value + slack;
    });
    track.lane_of_bar.push_back(static_cast<std::size_t>(free - lanes.begin()));
    if (free == lanes.end()) {
      lanes.push_back({bar->end.value});
    } else {
      free->free_from = bar->end.value;
    }
  }
  track.num_lanes = std::max<std::size_t>(1, lanes.size());
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

/// Copying and reducing look as in schedule diagrams; other kinds follow in order of first appearance.
std::map<std::string, Color> colors_of(const std::vector<TimelineBar>& bars,
                                       std::vector<std::string>& order) {
  std::map<std::string, Color> colors = {};
  const std::map<std::string, Color> fixed = {{"copy", kBlue}, {"transfer", kBlue}, {"reduce", kVermillion}};
  std::vector<Color> left = {kGreen, kPurple, kOrange, kSkyBlue, kGrey, kBlack};
  std::size_t next = 0;
  for (const TimelineBar& bar : bars) {
    if (colors.count(bar.kind) == 0) {
      const auto known = fixed.find(bar.kind);
      colors[bar.kind] = known != fixed.end() ? known->second : left[next++ % left.size()];
      order.push_back(bar.kind);
    }
  }
  return colors;
}

}  // namespace

std::vector<Figure> timeline(const std::vector<TimelineBar>& bars, const ChartContext& context) {
  std::vector<Track> tracks = tracks_of(bars);
  if (tracks.empty()) {
    return {};
  }
  std::string note;
  if (tracks.size() > kMaxTracks) {
    note = fmt::format(" (first {} of {} rows)", kMaxTracks, tracks.size());
    tracks.resize(kMaxTracks);
  }
  double end = 0;
  double widest = 0;
  for (const Track& track : tracks) {
    widest = std::max(widest, std::min(kMaxTrackLabel, text_width(track.label, {})));
    for (const TimelineBar* bar : track.bars) {
      end = std::max(end, bar->end.value);
    }
  }
  if (end <= 0) {
    return {};
  }

  std::vector<std::string> kinds;
  const std::map<std::string, Color> colors = colors_of(bars, kinds);
  std::vector<LegendEntry> legend;
  for (const std::string& kind : kinds) {
    legend.push_back({.label = kind, .band = colors.at(kind)});
  }

  const auto num_tracks = static_cast<double>(tracks.size());
  const double row = std::clamp(560 / num_tracks, 22.0, 46.0);
  Figure figure{
      .name = "timeline", .width = 1200, .height = static_cast<int>(std::max(420.0, row * num_tracks + 230))};
  const Rect area = lay_out_page(figure, page_text(context, "who moves and reduces when" + note), legend);
  const PanelGrid place =
      lay_out_panels(area, 1, 1, {.left = widest + 40, .right = 34, .top = 14, .bottom = 62});

  const NamedUnit unit = time_unit({end});
  Panel panel{.area = place.areas[0]};
  panel.x = {.label = fmt::format("time ({})", unit.name), .min = 0, .max = end * 1.005};
  panel.x.tics = linear_tics({0, end}, unit.value, panel.area.width);
  panel.y = {.label = "", .min = num_tracks, .max = 0};
  const double row_pixels = panel.area.height / num_tracks;
  const double pixels_per_second = panel.area.width / panel.x.max;

  Boxes boxes{.border = Stroke{.color = kWhite, .width = 0.8}};
  std::vector<Text> texts;
  for (std::size_t index = 0; index < tracks.size(); ++index) {
    const Track& track = tracks[index];
    const auto top = static_cast<double>(index);
    panel.y.tics.push_back({top + 0.5, shortened(track.label, {}, kMaxTrackLabel)});
    const double lane_height = 0.84 / static_cast<double>(track.num_lanes);
    for (std::size_t number = 0; number < track.bars.size(); ++number) {
      const TimelineBar& bar = *track.bars[number];
      const double low = top + 0.08 + lane_height * static_cast<double>(track.lane_of_bar[number]);
      const Color fill = colors.at(bar.kind);
      boxes.boxes.push_back({bar.start.value, bar.end.value, low, low + lane_height, fill});
      const Font font{.size = std::min(14.0, lane_height * row_pixels - 1)};
      const double room = (bar.end - bar.start).value * pixels_per_second - 8;
      if (font.size >= 10 && !bar.label.empty() && text_width(bar.label, font) <= room) {
        texts.push_back({.at = {(bar.start + bar.end).value / 2, low + lane_height / 2},
                         .text = bar.label,
                         .align = Align::center,
                         .font = font,
                         .color = readable_on(fill)});
      }
    }
  }
  panel.elements.emplace_back(std::move(boxes));
  panel.elements.insert(panel.elements.end(), texts.begin(), texts.end());
  figure.panels.push_back(std::move(panel));
  return {figure};
}

}  // namespace ringside::plots
