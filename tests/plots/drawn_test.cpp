#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <random>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "plots/drawing/gnuplot.hpp"
#include "samples.hpp"
#include "tests/paths.hpp"

namespace ringside::plots {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

std::string contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct PngSize {
  std::uint32_t width, height;
};

/// From the IHDR chunk, which is the first one (PNG specification, 11.2.2).
PngSize png_size(const std::string& png) {
  if (png.size() < 24 || png.substr(0, 8) != "\x89PNG\r\n\x1a\n" || png.substr(12, 4) != "IHDR") {
    return {0, 0};
  }
  const auto word = [&](std::size_t offset) {
    std::uint32_t value = 0;
    for (std::size_t byte = 0; byte < 4; ++byte) {
      value = value << 8U | static_cast<unsigned char>(png[offset + byte]);
    }
    return value;
  };
  return {word(16), word(20)};
}

/// As a single-quoted string of gnuplot.
std::string quoted_path(const fs::path& path) {
  std::string result;
  for (const char character : path.string()) {
    result += character == '\'' ? "''" : std::string(1, character);
  }
  return "'" + result + "'";
}

/// How often each colour is among every third pixel of every third row; gnuplot reads the picture for us.
std::map<std::string, int> colors_of(const fs::path& png) {
  const fs::path table = png.string() + ".txt";
  const int file = ::open(table.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  run_gnuplot(fmt::format("set table\nplot {} binary filetype=png every 3:3 using 1:2:3 with rgbimage\n",
                          quoted_path(png)),
              file);
  ::close(file);
  std::map<std::string, int> colors;
  std::ifstream stream(table);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    double x = 0;
    double y = 0;
    int red = 0;
    int green = 0;
    int blue = 0;
    if (words >> x >> y >> red >> green >> blue) {
      ++colors[fmt::format("{:02X}{:02X}{:02X}", red, green, blue)];
    }
  }
  fs::remove(table);
  return colors;
}

/// Draws into <build>/charts, where the pictures stay for people to look at.
class Drawn : public testing::Test {
 protected:
  void SetUp() override {
    if (!gnuplot_available()) {
      GTEST_SKIP() << "gnuplot is not installed (Debian package gnuplot-nox)";
    }
  }

  /// Draws both formats and checks that each is a whole picture of the right size, drawn without a complaint.
  std::vector<fs::path> check(const std::string& folder, const std::vector<Figure>& figures) {
    context_.output_directory = fs::path(RINGSIDE_BINARY_DIR) / "charts" / folder;
    context_.formats = {ImageFormat::png, ImageFormat::svg};
    fs::remove_all(context_.output_directory);
    EXPECT_FALSE(figures.empty());
    for (const Figure& figure : figures) {
      const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
      EXPECT_THAT(run_gnuplot(gnuplot_script(figure, ImageFormat::svg), nowhere), IsEmpty()) << figure.name;
      ::close(nowhere);
    }
    const std::vector<fs::path> files = draw(figures, context_);
    EXPECT_EQ(files.size(), 2 * figures.size());
    for (std::size_t index = 0; index < files.size(); ++index) {
      const Figure& figure = figures[index / 2];
      const std::string image = contents(files[index]);
      if (index % 2 == 0) {
        const PngSize size = png_size(image);
        EXPECT_EQ(size.width, static_cast<std::uint32_t>(figure.width)) << files[index];
        EXPECT_EQ(size.height, static_cast<std::uint32_t>(figure.height)) << files[index];
        EXPECT_GE(colors_of(files[index]).size(), 8U) << files[index];
      } else {
        EXPECT_THAT(image, HasSubstr("</svg>")) << files[index];
        EXPECT_THAT(image, HasSubstr(fmt::format("viewBox=\"0 0 {} {}\"", figure.width, figure.height)));
      }
    }
    return files;
  }

  ChartContext context_{.title = "Ring or naive on eight 3090s",
                        .machine = "8 × RTX 3090, PCIe 4.0",
                        .source = "out/tutorial_ring/results.jsonl"};
};

struct NamedSweep {
  std::string name;
  samples::SweepOptions options;
};

void PrintTo(const NamedSweep& sweep, std::ostream* stream) { *stream << sweep.name; }

class DrawnPoints : public Drawn, public testing::WithParamInterface<NamedSweep> {};

TEST_P(DrawnPoints, OnEveryChart) {
  const samples::SweepOptions& sweep = GetParam().options;
  const std::vector<Point> points = samples::sweep(sweep);
  std::vector<Figure> figures = time_vs_size(points, context_, samples::crossovers(sweep));
  for (const Figure& figure : ratio(points, context_)) {
    figures.push_back(figure);
  }
  for (const Figure& figure :
       bus_bandwidth(points, context_, BandwidthLimit{.rate = {12.5e9}, .label = "PCIe 4.0 x8"})) {
    figures.push_back(figure);
  }
  check(GetParam().name, figures);
}

INSTANTIATE_TEST_SUITE_P(
    Sweeps, DrawnPoints,
    testing::Values(NamedSweep{"default", {}}, NamedSweep{"one_panel", {.ranks = {4}}},
                    NamedSweep{"many_algorithms",
                               {.algorithms = {"naive", "tutorial_ring", "ring", "binomial_tree",
                                               "double_binary_tree", "hierarchical", "native"},
                                .ranks = {2, 4, 8, 16}}},
                    NamedSweep{"seven_panels", {.ranks = {2, 3, 4, 6, 8, 16, 32}}},
                    NamedSweep{"predicted_only", {.ranks = {8}, .measured = false}},
                    NamedSweep{"measured_only", {.ranks = {8}, .predicted = false}},
                    NamedSweep{"one_size", {.ranks = {2, 4}, .from = 88'000'000, .to = 88'000'000}},
                    NamedSweep{"one_algorithm", {.algorithms = {"ring"}, .ranks = {4}}},
                    NamedSweep{"huge",
                               {.ranks = {2, 4096}, .from = 1, .to = std::int64_t{64} << 30, .factor = 8}}),
    [](const testing::TestParamInfo<NamedSweep>& sweep) { return sweep.param.name; });

/// A time of any magnitude that charts show, from 1e-30 s to 1e30 s, its ends among them.
Seconds any_time(std::mt19937_64& random) {
  switch (random() % 8) {
    case 0:
      return {1e-30};
    case 1:
      return {1e30};
    default:
      return {std::pow(10.0, static_cast<double>(random() % 60001) / 1000 - 30)};
  }
}

TEST_F(Drawn, TimesOfAnyMagnitude) {
  std::mt19937_64 random(20261123);  // The same times in every run.
  for (int drawing = 0; drawing < 4; ++drawing) {
    std::vector<Point> points = samples::sweep({.ranks = {4}, .factor = 64});
    for (Point& point : points) {
      std::array<Seconds, 3> times = {any_time(random), any_time(random), any_time(random)};
      std::ranges::sort(times, {}, &Seconds::value);
      point.predicted->low = times[0];
      point.predicted->seconds = times[1];
      point.predicted->high = times[2];
      times = {any_time(random), any_time(random), any_time(random)};
      std::ranges::sort(times, {}, &Seconds::value);
      point.measured->low = times[0];
      point.measured->seconds = times[1];
      point.measured->high = times[2];
    }
    std::vector<Figure> figures = time_vs_size(points, context_, {});
    for (const auto& more : {ratio(points, context_), bus_bandwidth(points, context_, std::nullopt)}) {
      figures.insert(figures.end(), more.begin(), more.end());
    }
    check(fmt::format("any_times_{}", drawing), figures);
  }
}

TEST_F(Drawn, SeriesHaveTheirColours) {
  const auto files = check("colours", time_vs_size(samples::sweep({.ranks = {4}}), context_));
  const std::map<std::string, int> colors = colors_of(files.at(0));
  for (const char* color : {"D55E00", "56B4E9", "0072B2"}) {
    ASSERT_EQ(colors.count(color), 1U) << color;
    EXPECT_GT(colors.at(color), 50) << color;
  }
  EXPECT_GT(colors.at("FFFFFF"), 60000);  // And most of the page is paper.
}

TEST_F(Drawn, Maps) {
  std::vector<Figure> figures = speedup_map(samples::speedup_grid(true), context_);
  for (const int ranks : {2, 8, 64}) {
    figures.push_back(heat_map(samples::bandwidth_matrix(ranks), context_).at(0));
  }
  check("maps", figures);
}

TEST_F(Drawn, Diagrams) {
  check("diagrams", {schedule_diagram(samples::ring_schedule(4), context_).at(0),
                     schedule_diagram(samples::ring_schedule(8), context_).at(0),
                     schedule_diagram(samples::direct_schedule(4), context_).at(0),
                     timelines({{"", samples::ring_timeline(4)}}, context_).at(0),
                     topology_graph(samples::two_nodes(), context_).at(0)});
  check("diagrams_of_a_small_box", {topology_graph(samples::pcie_host(), context_).at(0),
                                    timelines({{"", samples::ring_timeline(16)}}, context_).at(0)});
}

TEST_F(Drawn, OnlyInTheFormatThatIsAskedFor) {
  const std::vector<Figure> figures = time_vs_size(samples::sweep({.ranks = {2}}), context_);
  context_.output_directory = fs::path(RINGSIDE_BINARY_DIR) / "charts" / "one_format";
  for (const auto& [format, extension] :
       {std::pair{ImageFormat::png, ".png"}, std::pair{ImageFormat::svg, ".svg"},
        std::pair{ImageFormat::pdf, ".pdf"}}) {
    fs::remove_all(context_.output_directory);
    context_.formats = {format};
    draw(figures, context_);
    for (const auto& file : fs::directory_iterator(context_.output_directory)) {
      EXPECT_EQ(file.path().extension(), extension);
    }
  }
}

TEST_F(Drawn, ForAPaperIsAsWideAsItsColumn) {
  context_.formats = {ImageFormat::png, ImageFormat::pdf};
  for (const auto& [size, pixels] :
       {std::pair{ChartSize::page, 2008U}, std::pair{ChartSize::column, 1004U}}) {
    context_.size = size;
    context_.output_directory =
        fs::path(RINGSIDE_BINARY_DIR) / "charts" / (size == ChartSize::page ? "page" : "column");
    const auto files = draw(time_vs_size(samples::sweep({.ranks = {2, 4, 8}}), context_), context_);
    EXPECT_NEAR(png_size(contents(files.at(0))).width, pixels, 1);
    const std::string pdf = contents(files.at(1));
    const std::size_t box = pdf.find("/MediaBox [ 0 0 ");
    ASSERT_NE(box, std::string::npos);
    EXPECT_NEAR(std::stod(pdf.substr(box + 16)), pixels * 72 / 300.0, 1);  // Whole points.
  }
}

TEST_F(Drawn, HostileTextsAreJustText) {
  fs::remove("pwned");
  context_.title = "it's `touch pwned` \"$(touch pwned)\" @x _y ^{z} \\n'; system 'touch pwned";
  const auto files = check("hostile 'name' `x` $y", time_vs_size(samples::sweep({.ranks = {2}}), context_));
  EXPECT_FALSE(fs::exists("pwned"));
  EXPECT_THAT(contents(files.at(1)), HasSubstr("@x _y ^{z} \\n'; system 'touch pwned"));
  EXPECT_THAT(contents(files.at(1)), HasSubstr("tutorial_ring"));
}

TEST_F(Drawn, TheSameFigureGivesTheSameBytes) {
  const std::vector<Figure> figures = time_vs_size(samples::sweep({.ranks = {4}}), context_);
  const std::string once = contents(check("again", figures).at(0));
  EXPECT_EQ(once, contents(check("again", figures).at(0)));
}

}  // namespace
}  // namespace ringside::plots
