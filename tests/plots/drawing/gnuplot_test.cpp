#include "plots/drawing/gnuplot.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.hpp"
#include "plots/charts/charts.hpp"

namespace ringside::plots {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Figure figure_with(const Element& element) {
  Figure figure{.name = "test", .width = 400, .height = 300};
  figure.panels.push_back({.area = {50, 50, 300, 200}, .elements = {element}});
  return figure;
}

std::string script_with(const Element& element, ImageFormat format = ImageFormat::png) {
  return gnuplot_script(figure_with(element), format);
}

TEST(GnuplotScript, TextIsSingleQuotedWithoutMarkup) {
  const std::string script =
      script_with(Text{.text = R"(tutorial_ring^{2} @x `rm -rf` "quoted" it's $(date))"});
  EXPECT_THAT(script, HasSubstr(R"('tutorial_ring^{2} @x `rm -rf` "quoted" it''s $(date)')"));
  EXPECT_THAT(script, HasSubstr("noenhanced"));
}

TEST(GnuplotScript, NoTextCanEndItsLineOrItsString) {
  const std::string script = script_with(Text{.text = "one\n'; system 'touch /tmp/pwned'\r\x01"});
  EXPECT_THAT(script, HasSubstr("'one ''; system ''touch /tmp/pwned''  '"));
  EXPECT_THAT(script, Not(HasSubstr("\nsystem")));
  // Outside single quotes there is no double quote, back quote or macro at all.
  bool inside = false;
  for (const char character : script) {
    inside = character == '\'' ? !inside : inside;
    if (!inside) {
      EXPECT_EQ(std::string("\"`@").find(character), std::string::npos) << script;
    }
  }
  EXPECT_FALSE(inside);
}

TEST(GnuplotScript, AQuoteAtTheBeginningDoesNotEndTheString) {
  // gnuplot takes three quotes in a row for an empty string and a rest.
  EXPECT_THAT(script_with(Text{.text = "'quoted'"}), HasSubstr("'’quoted''' "));
}

TEST(GnuplotScript, TitlesAndTicsAreQuotedToo) {
  Figure figure = figure_with(Text{});
  figure.panels[0].title = "it's";
  figure.panels[0].x = {.label = "x's", .tics = {{0.5, "half's"}}};
  figure.panels[0].y = {.label = "y's"};
  const std::string script = gnuplot_script(figure, ImageFormat::png);
  EXPECT_THAT(script, HasSubstr("set title 'it''s'"));
  EXPECT_THAT(script, HasSubstr("set xlabel 'x''s'"));
  EXPECT_THAT(script, HasSubstr("('half''s' 0.5 0)"));
  EXPECT_THAT(script, HasSubstr("set label 'y''s'"));
}

TEST(GnuplotScript, DataAreInline) {
  const std::string script = script_with(
      Polyline{.points = {{1, 2}, {3, 4.5}}, .stroke = {.color = {.rgb = 0x0072B2}, .dash = Dash::dashed}});
  EXPECT_THAT(script, HasSubstr("<< END_OF_DATA\n1 2\n3 4.5\nEND_OF_DATA\n"));
  EXPECT_THAT(script, HasSubstr("with lines lc rgb '#0072b2' lw 2 dt (9,7)"));
}

TEST(GnuplotScript, FontsHaveTheSameSizeInAllFormats) {
  const Text text{.text = "x", .font = {.size = 20, .bold = true}};
  EXPECT_THAT(script_with(text, ImageFormat::png), HasSubstr("font 'DejaVu Sans Bold,15'"));
  EXPECT_THAT(script_with(text, ImageFormat::pdf), HasSubstr("font 'DejaVu Sans Bold,15'"));
  EXPECT_THAT(script_with(text, ImageFormat::svg), HasSubstr("font 'DejaVu Sans Bold,20'"));
}

TEST(GnuplotScript, LettersAndLinesShrinkWithThePaper) {
  Figure figure = figure_with(Text{});
  figure.width = 1200;
  figure.height = 600;
  figure.inches = 3;
  EXPECT_THAT(gnuplot_script(figure, ImageFormat::pdf),
              AllOf(HasSubstr("pdfcairo size 3.0000in,1.5000in"),
                    HasSubstr("fontscale 0.24 linewidth 0.24 pointscale 0.24")));
  EXPECT_THAT(
      gnuplot_script(figure, ImageFormat::png),
      AllOf(HasSubstr("pngcairo size 900,450"), HasSubstr("fontscale 0.75 linewidth 0.75 pointscale 0.75")));
  figure.inches = 0;
  EXPECT_THAT(gnuplot_script(figure, ImageFormat::pdf),
              AllOf(HasSubstr("pdfcairo size 12.5000in,6.2500in"),
                    HasSubstr("fontscale 1 linewidth 1 pointscale 1")));
}

TEST(GnuplotScript, OpacityBecomesTransparency) {
  const Band band{.points = {{0, 0, 1}, {1, 0, 1}}, .fill = {.rgb = 0x112233, .opacity = 0.2}};
  EXPECT_THAT(script_with(band), HasSubstr("fc rgb '#cc112233'"));
}

TEST(GnuplotScript, MarksHaveBarsOnlyWhereThereIsAnInterval) {
  EXPECT_THAT(script_with(Marks{.marks = {{.x = 1, .y = 2}}}), Not(HasSubstr("yerrorbars")));
  EXPECT_THAT(script_with(Marks{.marks = {{1, 2, 1.5, 2.5}}}), HasSubstr("yerrorbars"));
}

TEST(GnuplotScript, AnInfiniteNumberIsABug) {
  EXPECT_THROW(script_with(Polyline{.points = {{1, std::numeric_limits<double>::quiet_NaN()}}}), Bug);
}

/// A program that stands in for gnuplot, in a directory of its own.
class StandIn : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ringside-plots-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  Gnuplot program(const std::string& body) {
    const fs::path path = directory_ / "stand-in";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return {.program = path.string(), .deadline = std::chrono::seconds(10)};
  }

  std::string error_of(const Gnuplot& gnuplot, ImageFormat format = ImageFormat::png) {
    try {
      write_image(figure_with(Text{.text = "x"}), format, image(), gnuplot);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::environment);
      return error.what();
    }
    return "no error";
  }

  fs::path image() const { return directory_ / "chart.png"; }

  std::size_t num_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(StandIn, WhatItWritesBecomesTheFile) {
  write_image(figure_with(Text{.text = "hello"}), ImageFormat::png, image(),
              program("cat; printf 'IEND\\256B`\\202'"));
  std::ifstream stream(image());
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_THAT(text,
              testing::StartsWith(gnuplot_script(figure_with(Text{.text = "hello"}), ImageFormat::png)));
  EXPECT_EQ(num_files(), 2U);  // The program and the image.
  EXPECT_EQ(fs::status(image()).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read | fs::perms::others_read);
}

TEST_F(StandIn, AFailureIsReportedWithItsTextAndLeavesNothing) {
  EXPECT_THAT(
      error_of(program("echo 'line 3: undefined variable' >&2; echo half; exit 1")),
      testing::AllOf(HasSubstr("chart.png"), HasSubstr("status 1"), HasSubstr("line 3: undefined variable")));
  EXPECT_EQ(num_files(), 1U);
}

TEST_F(StandIn, AnOldChartSurvivesAFailure) {
  std::ofstream(image()) << "old";
  error_of(program("exit 1"));
  EXPECT_EQ(fs::file_size(image()), 3U);
}

TEST_F(StandIn, APictureThatIsCutOffIsAFailureAndLeavesNothing) {
  EXPECT_THAT(error_of(program("printf '\\211PNG half'")), HasSubstr("cut off"));
  EXPECT_FALSE(fs::exists(image()));
}

TEST_F(StandIn, NoOutputIsAFailure) { EXPECT_THAT(error_of(program("exit 0")), HasSubstr("drew nothing")); }

TEST_F(StandIn, ASignalIsNamed) { EXPECT_THAT(error_of(program("kill -TERM $$")), HasSubstr("signal 15")); }

TEST_F(StandIn, EveryFailureIsToldInFull) {
  const std::string start = "cannot draw '" + image().string() + "': ";
  const std::string zeros(400, '0');
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"exit 0", "gnuplot drew nothing"},
      {"echo ' a\n\t^ warning' >&2", "gnuplot drew nothing: a warning"},
      {"echo half", "the picture is cut off"},
      {"printf 'line 1:\n\n  ^\n\tundefined  variable\n' >&2; exit 3",
       "gnuplot exited with status 3: line 1: undefined variable"},
      {"printf '%0400d' 0 >&2; exit 1", "gnuplot exited with status 1: " + zeros},
      {"printf '%0401d' 0 >&2; exit 1", "gnuplot exited with status 1: " + zeros + " …"},
      {"echo why >&2; kill -TERM $$", "gnuplot was ended by signal 15: why"},
      {"echo 'unknown or ambiguous terminal' >&2; exit 1",
       "gnuplot exited with status 1: unknown or ambiguous terminal"}};
  for (const auto& [body, said] : cases) {
    EXPECT_EQ(error_of(program(body)), start + said) << body;
  }
  EXPECT_EQ(error_of(program(cases.back().first), ImageFormat::pdf),
            start + "this gnuplot has no terminal pdfcairo; SVG needs none");
  Gnuplot plain = program("exit 0");
  fs::permissions(plain.program, fs::perms(0644));
  EXPECT_FALSE(gnuplot_available(plain));
  EXPECT_EQ(error_of(plain), start + "cannot start '" + plain.program + "': Permission denied");
}

TEST_F(StandIn, APictureIsWholeWhereItEndsAsItsFormatDoes) {
  const std::vector<std::tuple<ImageFormat, std::string, bool>> cases = {
      {ImageFormat::svg, "</svg>", true},
      {ImageFormat::svg, "<svg></svg>0123456789", true},
      {ImageFormat::svg, "</svg>01234567890", false},
      {ImageFormat::svg, "%%%%EOF", false},
      {ImageFormat::pdf, "%%%%EOF\n", true},
      {ImageFormat::pdf, "</svg>", false},
      {ImageFormat::png, "IEND\\256B`\\202", true},
      {ImageFormat::png, "IEND", false}};
  for (const auto& [format, end, whole] : cases) {
    EXPECT_EQ(error_of(program("printf '" + end + "'"), format) == "no error", whole) << end;
  }
}

TEST_F(StandIn, IsAskedForItsDefaultsAndForUtf8) {
  ::setenv("LC_ALL", "POSIX", 1);
  const std::string said =
      error_of(program("[ $# = 1 ] && [ \"$1\" = -d ] && [ \"$LC_ALL\" = C.UTF-8 ] && [ -n \"$PATH\" ] && "
                       "printf 'IEND\\256B`\\202'"));
  ::unsetenv("LC_ALL");
  EXPECT_EQ(said, "no error");
}

/// Charts go through whatever gnuplot the path leads to.
TEST_F(StandIn, ChartsAreDrawnInTheirFormatsAsWideAsThePaper) {
  program(
      "cat > \"$0.script\"; cat \"$0.script\"; case $(cat \"$0.script\") in *pngcairo*) printf "
      "'IEND\\256B`\\202';; "
      "*pdfcairo*) printf '%%%%EOF';; *) printf '</svg>';; esac");
  const std::string before = std::getenv("PATH");
  fs::rename(directory_ / "stand-in", directory_ / "gnuplot");
  ::setenv("PATH", (directory_.string() + ":" + before).c_str(), 1);
  ChartContext context{.title = "t", .source = "s", .output_directory = directory_ / "a/b"};
  std::vector<Figure> figures;
  for (int i = 0; i < 3; ++i) {
    figures.push_back({.name = "chart" + std::to_string(i), .width = width_for(context.size, 1200)});
  }
  EXPECT_THAT(draw({}, context), testing::IsEmpty());
  EXPECT_FALSE(fs::exists(directory_ / "a"));
  const auto first_lines = [&](ChartSize size, ImageFormat format) {
    context.size = size;
    context.formats = {format};
    std::string lines;
    for (const fs::path& file : draw({figures[0]}, context)) {
      std::ifstream stream(file);
      std::string line;
      std::getline(stream, line);
      std::getline(stream, line);
      lines += file.filename().string() + " " + line.substr(0, line.find(" noenhanced"));
    }
    return lines;
  };
  EXPECT_EQ(first_lines(ChartSize::screen, ImageFormat::png),
            "chart0.png set terminal pngcairo size 1200,750");
  EXPECT_EQ(first_lines(ChartSize::page, ImageFormat::png),
            "chart0.png set terminal pngcairo size 2008,1255");
  EXPECT_EQ(first_lines(ChartSize::column, ImageFormat::png),
            "chart0.png set terminal pngcairo size 1004,627");
  EXPECT_EQ(first_lines(ChartSize::page, ImageFormat::svg), "chart0.svg set terminal svg size 1200,750");
  EXPECT_EQ(first_lines(ChartSize::column, ImageFormat::pdf),
            "chart0.pdf set terminal pdfcairo size 3.3465in,2.0915in");
  figures[1].name = "a/b";
  EXPECT_THROW(draw(figures, context), Bug);
  figures[1].name = "";
  EXPECT_THROW(draw(figures, context), Bug);
  std::ofstream(directory_ / "file") << "x";
  context.output_directory = directory_ / "file/below";
  EXPECT_THAT([&] { draw({figures[0]}, context); },
              testing::ThrowsMessage<Error>("cannot make the directory '" +
                                            context.output_directory.string() + "': Not a directory"));
  ::setenv("PATH", before.c_str(), 1);
}

TEST(ChartSizes, AreAtMostAsWideAsTheirPaper) {
  EXPECT_EQ(width_for(ChartSize::screen, 5000), 5000);
  EXPECT_EQ(width_for(ChartSize::page, 1041), 1040);
  EXPECT_EQ(width_for(ChartSize::page, 800), 800);
  EXPECT_EQ(width_for(ChartSize::column, 1200), 560);
}

TEST(PageTexts, JoinMachineAndSource) {
  const auto footer = [](const char* machine, const char* source) {
    return page_text({.title = "t", .machine = machine, .source = source}, "s").footer;
  };
  EXPECT_EQ(footer("8 × RTX 3090", "out/a.jsonl"), "machine: 8 × RTX 3090   ·   source: out/a.jsonl");
  EXPECT_EQ(footer("", "out/a.jsonl"), "source: out/a.jsonl");
  EXPECT_EQ(footer("this machine", ""), "machine: this machine");
  EXPECT_EQ(page_text({.title = "t", .source = ""}, "s").subtitle, "s");
  EXPECT_EQ(page_text({.title = "t", .source = ""}, "s").title, "t");
}

TEST_F(StandIn, TheDeadlineEndsIt) {
  Gnuplot slow = program("exec sleep 60");
  slow.deadline = std::chrono::milliseconds(50);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(error_of(slow), HasSubstr("did not finish within 0.05 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(num_files(), 1U);
}

TEST_F(StandIn, AMissingProgramSaysWhatToInstall) {
  const Gnuplot missing{.program = "no-such-gnuplot"};
  EXPECT_FALSE(gnuplot_available(missing));
  EXPECT_THAT(error_of(missing), HasSubstr("is not installed (Debian package gnuplot-nox)"));
  EXPECT_EQ(num_files(), 0U);
}

TEST_F(StandIn, IsAvailableByPathOrName) {
  EXPECT_TRUE(gnuplot_available(program("exit 0")));
  EXPECT_TRUE(gnuplot_available({.program = "sh"}));
}

TEST_F(StandIn, ADirectoryThatIsMissingIsAnErrorOfTheEnvironment) {
  EXPECT_THROW(
      write_image(figure_with(Text{}), ImageFormat::png, directory_ / "missing" / "a.png", program("cat")),
      Error);
}

}  // namespace
}  // namespace ringside::plots
