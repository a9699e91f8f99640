#include "results/codec/reader.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::full_point;
using examples::message_of;
using examples::ScratchFolder;
using examples::whole_file;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string header_line() { return to_line(examples::header()) + '\n'; }

std::string rejection_of(const std::string& text) {
  return message_of(ErrorKind::bad_input, [&] { parse_results(text, "run.jsonl"); });
}

TEST(Reader, GivesHeaderAndPointsInTheOrderOfTheFile) {
  const Results results = parse_results(whole_file(), "run.jsonl");
  EXPECT_EQ(results.header.scenario.name, "small");
  EXPECT_THAT(results.points, SizeIs(4));
  EXPECT_EQ(results.points.front().key, examples::key("naive", 2, 4096));
  EXPECT_EQ(results.points.back().key, examples::key("ring", 4, 4096));
  EXPECT_THAT(results.notes, IsEmpty());
  EXPECT_EQ(results.complete_bytes, whole_file().size());
}

TEST(Reader, JoinsPredictionAndMeasurementOfAPointAndTheLastLineWins) {
  Point predicted = full_point();
  predicted.measured.reset();
  Point measured = full_point();
  measured.predicted.reset();
  Point again = measured;
  again.measured->seconds = {0.5};
  const Results results = parse_results(
      header_line() + to_line(predicted) + '\n' + to_line(measured) + '\n' + to_line(again) + '\n', "x");
  ASSERT_THAT(results.points, SizeIs(1));
  EXPECT_EQ(results.points[0].predicted->seconds, predicted.predicted->seconds);
  EXPECT_EQ(results.points[0].measured->seconds, Seconds{0.5});
  const Results turned =
      parse_results(header_line() + to_line(measured) + '\n' + to_line(predicted) + '\n', "x");
  ASSERT_THAT(turned.points, SizeIs(1));
  EXPECT_EQ(turned.points[0].predicted->seconds, predicted.predicted->seconds);
  EXPECT_EQ(turned.points[0].measured->seconds, measured.measured->seconds);
}

TEST(Reader, RepetitionsAreAddedToWhatIsKnownOfTheirPoint) {
  const auto measurement = [](std::vector<double> samples) {
    const double middle = samples[samples.size() / 2];
    return Measurement{.seconds = {middle},
                       .low = {samples.front()},
                       .high = {samples.back()},
                       .iterations = static_cast<int>(samples.size()),
                       .samples = std::move(samples)};
  };
  const PointKey key = examples::key("ring", 2, 4096);
  const Measurement first = measurement({1, 2, 3});
  const Measurement second = measurement({4, 5, 6});
  const std::string text = header_line() + to_line(Point{.key = key, .predicted = {}, .measured = first}) +
                           '\n' + to_line(RepetitionRecord{.key = key, .measured = second}) + '\n';
  const Results results = parse_results(text, "x");
  ASSERT_THAT(results.points, SizeIs(1));
  EXPECT_THAT(results.points[0].measured->samples, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(results.points[0].measured->repetitions, ElementsAre(2, 5));
  // The whole point, written when it has all its repetitions, says the same and adds nothing.
  const Results whole = parse_results(
      text + to_line(Point{.key = key, .predicted = {}, .measured = with_repetition(first, second)}) + '\n',
      "x");
  EXPECT_THAT(whole.points[0].measured->samples, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(whole.points[0].measured->repetitions, ElementsAre(2, 5));
}

TEST(Reader, GivesTheCompleteLinesOfAFileCutAnywhere) {
  const std::string whole = whole_file();
  const std::size_t first_line = header_line().size();
  for (std::size_t length = first_line; length <= whole.size(); ++length) {
    const std::string text = whole.substr(0, length);
    const Results results = parse_results(text, "run.jsonl");
    // A line that lost only its line break is complete too.
    const bool cut_at_line_end = text.back() == '\n' || whole[length] == '\n';
    const auto breaks =
        std::count(text.begin(), text.end(), '\n') + (text.back() != '\n' && cut_at_line_end ? 1 : 0);
    ASSERT_EQ(results.points.size(), std::min<std::size_t>(static_cast<std::size_t>(breaks) - 1, 4))
        << length;
    ASSERT_EQ(results.notes.size(), cut_at_line_end ? 0U : 1U) << length;
    ASSERT_EQ(results.complete_bytes, cut_at_line_end ? length : text.rfind('\n') + 1) << length;
  }
}

TEST(Reader, AFileCutInItsFirstLineHasNoResults) {
  for (std::size_t length = 1; length + 1 < header_line().size(); ++length) {
    ASSERT_THAT(rejection_of(header_line().substr(0, length)), HasSubstr("run.jsonl:1: is not JSON"));
  }
  EXPECT_THAT(rejection_of(""), HasSubstr("run.jsonl: is empty"));
  EXPECT_THAT(rejection_of("\n \n"), HasSubstr("run.jsonl: is empty"));
}

TEST(Reader, ALineThatCannotBeReadIsNamedByItsNumber) {
  const std::string point = to_line(full_point()) + '\n';
  EXPECT_THAT(rejection_of(header_line() + point + point.substr(0, 40) + '\n' + point),
              HasSubstr("run.jsonl:3: is not JSON"));
  EXPECT_THAT(rejection_of(header_line() + point + std::string(16, '\0') + '\n'),
              HasSubstr("run.jsonl:3: is not JSON"));
  EXPECT_THAT(rejection_of(header_line() + "{\"record\":\"point\"}\n"),
              HasSubstr("run.jsonl:2: collective is missing"));
}

TEST(Reader, AMistakeInALastLineIsNotTakenForACut) {
  EXPECT_THAT(rejection_of(header_line() + "{\"record\":\"point\"}"),
              HasSubstr("run.jsonl:2: collective is missing"));
}

TEST(Reader, TheFirstLineMustBeTheOnlyRunRecord) {
  const std::string point = to_line(full_point()) + '\n';
  EXPECT_THAT(rejection_of(point), HasSubstr("run.jsonl:1: is not the run record"));
  EXPECT_THAT(rejection_of("{\"record\":\"later\"}\n" + header_line()),
              HasSubstr("run.jsonl:1: is not the run record"));
  EXPECT_THAT(rejection_of(header_line() + point + header_line()),
              HasSubstr("run.jsonl:3: a second run record"));
  EXPECT_THAT(rejection_of("{\"record\":\"run\",\"schema\":\"ringside/9\"}\n"),
              HasSubstr("run.jsonl:1: schema is 'ringside/9'"));
}

TEST(Reader, UnknownRecordsEmptyLinesAndCarriageReturnsAreNoProblem) {
  const std::string point = to_line(full_point());
  const Results results =
      parse_results(header_line() + "\n{\"record\":\"later\",\"x\":1}\r\n" + point + "\r\n", "run.jsonl");
  EXPECT_THAT(results.points, SizeIs(1));
}

TEST(Reader, AFileThatCannotBeReadIsNamedWithTheReason) {
  const ScratchFolder folder;
  const auto said = [&](const std::filesystem::path& file) {
    return message_of(ErrorKind::bad_input, [&] { read_results(file); });
  };
  EXPECT_THAT(said(folder / "none.jsonl"),
              testing::AllOf(HasSubstr("none.jsonl"), HasSubstr("No such file")));
  EXPECT_THAT(said(folder / ""), HasSubstr("Is a directory"));
}

TEST(Reader, ReadsFromAFile) {
  const ScratchFolder folder;
  examples::write_file(folder / "run.jsonl", whole_file());
  EXPECT_THAT(read_results(folder / "run.jsonl").points, SizeIs(4));
}

}  // namespace
}  // namespace ringside
