// 400 lines: what a journal can be resumed from stands in one place.

#include "results/journal.hpp"

#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.hpp"
#include "results/codec/reader.hpp"
#include "tests/results/examples.hpp"

namespace ringside {
namespace {

using examples::full_point;
using examples::message_of;
using examples::ScratchFolder;
using examples::whole_file;
using examples::whole_file_keys;
using examples::write_file;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ResumeRequest request() {
  return {.header = examples::header(), .keys = whole_file_keys(), .backend = Backend::gloo};
}

std::string refusal(const std::filesystem::path& file, const ResumeRequest& asked) {
  return message_of(ErrorKind::bad_input, [&] { resume_journal(file, asked); });
}

TEST(Journal, EveryRecordIsInTheFileBeforeTheNextOneIsKnown) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "a/b/results.jsonl";
  std::string expected;
  Journal journal = Journal::create(file, examples::header());
  expected += to_line(examples::header()) + '\n';
  EXPECT_EQ(read_text(file), expected);
  for (const Record& record : {Record(full_point()), Record(Accuracy{.points = 1})}) {
    journal.append(record);
    expected += to_line(record) + '\n';
    EXPECT_EQ(read_text(file), expected);
  }
}

TEST(Journal, MeasurementsThatWouldBeLostAreMovedAside) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::vector<Point> same = {full_point()};
  EXPECT_EQ(keep_measurements(file, {}), std::nullopt);  // There is no file.
  {
    Journal journal = Journal::create(file, examples::header());
    EXPECT_EQ(message_of(ErrorKind::bad_input, [&] { keep_measurements(file, {}); }),
              "cannot write " + file.string() + ": another process is writing it");
    Point predicted = full_point();
    predicted.measured.reset();
    journal.append(predicted);
  }
  EXPECT_EQ(keep_measurements(file, {}), std::nullopt);  // Predictions can be made again.
  const auto write = [&] {
    Journal::create(file, examples::header()).append(same);
    const std::array<timeval, 2> written = {
        {{.tv_sec = 1'000'000'000, .tv_usec = 0}, {.tv_sec = 1'000'000'000, .tv_usec = 0}}};
    ASSERT_EQ(::utimes(file.c_str(), written.data()), 0);
  };
  write();
  EXPECT_EQ(keep_measurements(file, same), std::nullopt);
  Point predicted_anew = full_point();
  predicted_anew.predicted->seconds.value *= 2;
  EXPECT_EQ(keep_measurements(file, {&predicted_anew, 1}), std::nullopt) << "what was measured is the same";
  const std::string text = read_text(file);
  const auto first = keep_measurements(file, {});
  write();
  const auto second = keep_measurements(file, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->filename(), "results-2001-09-09T01-46-40Z.jsonl") << "when it was written";
  EXPECT_EQ(second->filename(), "results-2001-09-09T01-46-40Z-2.jsonl");
  EXPECT_EQ(read_text(*first), text);
  EXPECT_EQ(read_text(*second), text);
  EXPECT_EQ(first->parent_path(), file.parent_path());
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Journal, AFileThatIsNoJournalIsMovedAsideAndOneCutInItsFirstLineIsNot) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", "my notes");
  EXPECT_TRUE(keep_measurements(folder / "results.jsonl", {}).has_value());
  for (const char* unborn : {"", R"({"record":"run","sch)"}) {
    write_file(folder / "results.jsonl", unborn);
    EXPECT_EQ(keep_measurements(folder / "results.jsonl", {}), std::nullopt);
  }
}

TEST(Journal, PointsKnownAtOnceAreTheSameLinesAsOneByOne) {
  const ScratchFolder folder;
  Point other = full_point();
  other.key.ranks = 33;
  const std::vector<Point> points = {full_point(), other};
  Journal journal = Journal::create(folder / "results.jsonl", examples::header());
  journal.append(points);
  EXPECT_EQ(read_text(folder / "results.jsonl"),
            to_line(examples::header()) + '\n' + to_line(full_point()) + '\n' + to_line(other) + '\n');
  journal.append(std::vector<Point>{});
  EXPECT_THAT(read_results(folder / "results.jsonl").points, SizeIs(2));
}

TEST(Journal, ReplacesWhatWasThere) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", std::string(100'000, 'x'));
  { const Journal journal = Journal::create(folder / "results.jsonl", examples::header()); }
  EXPECT_EQ(read_text(folder / "results.jsonl"), to_line(examples::header()) + '\n');
}

TEST(Journal, SaysWhichPathCannotBeWrittenAndWhy) {
  const ScratchFolder folder;
  write_file(folder / "file", "x");
  const auto said = [](const std::filesystem::path& file) {
    return message_of(ErrorKind::bad_input, [&] { Journal::create(file, examples::header()); });
  };
  EXPECT_THAT(said(folder / "file/below/results.jsonl"),
              AllOf(HasSubstr("file/below"), HasSubstr("Not a directory")));
  EXPECT_THAT(said(folder / ""), HasSubstr("Is a directory"));
  EXPECT_THAT(said("/proc/ringside/results.jsonl"), HasSubstr("/proc/ringside"));
}

TEST(FolderLock, LetsOneRunAtATimeIntoAFolderAndLeavesNothing) {
  const ScratchFolder folder;
  {
    const FolderLock first(folder / "");
    EXPECT_THAT(message_of(ErrorKind::bad_input, [&] { const FolderLock second(folder / ""); }),
                HasSubstr("another ringside is writing its results"));
  }
  const FolderLock again(folder / "");
  EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
}

TEST(Journal, APipeIsRefusedAtOnceBecauseItKeepsNothing) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_THAT(message_of(ErrorKind::bad_input, [&] { Journal::create(file, examples::header()); }),
              HasSubstr("is a pipe"));
  EXPECT_THAT(refusal(file, request()), HasSubstr("is a pipe"));
}

TEST(Journal, IsWrittenByOneProcessAtATime) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  {
    const Journal first = Journal::create(file, examples::header());
    EXPECT_THAT(message_of(ErrorKind::bad_input, [&] { Journal::create(file, examples::header()); }),
                HasSubstr("another process is writing it"));
    EXPECT_THAT(refusal(file, request()), HasSubstr("another process is writing it"));
    EXPECT_EQ(read_results(file).header.scenario.name, "small") << "the first one's file was touched";
  }
  EXPECT_NO_THROW(Journal::create(file, examples::header()));
}

TEST(Journal, AFullDiskIsTheEnvironmentsFault) {
  if (::access("/dev/full", W_OK) != 0) {
    GTEST_SKIP() << "this system has no /dev/full";
  }
  EXPECT_EQ(message_of(ErrorKind::environment, [] { Journal::create("/dev/full", examples::header()); }),
            "cannot write /dev/full: No space left on device; everything before is kept");
}

TEST(Journal, ADiskThatFillsUpInTheMiddleOfALineLeavesWholeLines) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::string point_line = to_line(full_point()) + '\n';
  const auto room = static_cast<rlim_t>(to_line(examples::header()).size() + 1 + point_line.size() * 5 / 2);
  // A limit on file sizes breaks a write as a full disk does; it is set in a process of its own.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = room, .rlim_max = room};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Journal journal = Journal::create(file, examples::header());
    journal.append(full_point());
    journal.append(full_point());
    const std::string said = message_of(ErrorKind::environment, [&] { journal.append(full_point()); });
    ::_exit(said.find("File too large") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(read_text(file), to_line(examples::header()) + '\n' + point_line + point_line);
}

TEST(Journal, AKilledProcessLeavesAllThatItAppended) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const pid_t child = ::fork();
  if (child == 0) {
    Journal journal = Journal::create(file, examples::header());
    journal.append(full_point());
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(read_text(file), to_line(examples::header()) + '\n' + to_line(full_point()) + '\n');
  EXPECT_NO_THROW(resume_journal(file, {.header = examples::header(), .keys = {full_point().key}}));
}

TEST(ResumeJournal, GoesOnWithAFileCutAnywhere) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::string whole = whole_file();
  const std::string header_line = to_line(examples::header()) + '\n';
  Point last = full_point();
  last.key = whole_file_keys().back();
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write_file(file, whole.substr(0, length));
    {
      ResumedJournal resumed = resume_journal(file, request());
      resumed.journal.append(last);
    }
    const std::string text = read_text(file);
    const Results results = parse_results(text, "results.jsonl");
    ASSERT_THAT(results.notes, IsEmpty()) << length;
    ASSERT_TRUE(text.starts_with(header_line)) << length;
    // Lines that were whole before are still there as they were, and nothing but the new line follows.
    const std::string tail = to_line(last) + '\n';
    ASSERT_TRUE(text.ends_with(tail)) << length;
    const std::string kept = text.substr(0, text.size() - tail.size());
    ASSERT_TRUE(whole.starts_with(kept)) << length;
    const std::size_t whole_lines = whole.rfind('\n', length == 0 ? 0 : length - 1);
    ASSERT_GE(kept.size(), whole_lines == std::string::npos ? header_line.size() : whole_lines + 1) << length;
  }
}

TEST(ResumeJournal, GivesBackWhatIsKnownAndKeepsTheFirstLine) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", whole_file());
  ResumeRequest asked = request();
  asked.header.started = "2027-01-01T00:00:00Z";
  const ResumedJournal resumed = resume_journal(folder / "results.jsonl", asked);
  EXPECT_THAT(resumed.points, SizeIs(4));
  EXPECT_THAT(resumed.notes, IsEmpty());
  EXPECT_EQ(resumed.header.started, examples::header().started);
  EXPECT_EQ(read_text(folder / "results.jsonl"), whole_file());
}

TEST(ResumeJournal, WhatFailedIsToBeMeasuredAgainAndFinishedRepetitionsAreKept) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::vector<PointKey> keys = whole_file_keys();
  {
    Journal journal = Journal::create(file, examples::header());
    std::vector<Point> points;
    for (const PointKey& key : keys) {
      points.push_back(full_point());
      points.back().key = key;
    }
    points[1].measured->outcome = Outcome::failed;
    points[2].measured->repetitions = {0.1};
    points[3].measured->outcome = Outcome::unsupported;
    journal.append(points);
  }
  ResumeRequest asked = request();
  asked.keys = keys;
  asked.backend = Backend::gloo;
  const ResumedJournal resumed = resume_journal(file, asked);
  ASSERT_THAT(resumed.points, SizeIs(4));
  EXPECT_TRUE(resumed.points[0].measured.has_value());
  EXPECT_FALSE(resumed.points[1].measured.has_value());
  EXPECT_TRUE(resumed.points[1].predicted.has_value());
  ASSERT_TRUE(resumed.points[2].measured.has_value());
  EXPECT_EQ(resumed.points[2].measured->repetitions, std::vector<double>{0.1});
  EXPECT_TRUE(resumed.points[3].measured.has_value());
  EXPECT_THAT(resumed.notes,
              testing::Contains(testing::HasSubstr("1 point failed and will be measured again")));
}

TEST(ResumeJournal, BeginsAnewWhereNothingIsThere) {
  const ScratchFolder folder;
  for (const char* text : {"", "{\"record\":\"run\",\"sche"}) {
    const std::filesystem::path file = folder / "results.jsonl";
    write_file(file, text);
    const ResumedJournal resumed = resume_journal(file, request());
    EXPECT_THAT(resumed.points, IsEmpty());
    EXPECT_THAT(resumed.notes, SizeIs(*text == '\0' ? 0 : 1));
    EXPECT_EQ(read_text(file), to_line(examples::header()) + '\n');
  }
  EXPECT_THAT(resume_journal(folder / "new/results.jsonl", request()).points, IsEmpty());
}

TEST(ResumeJournal, AFirstLineThatLostOnlyItsLineBreakIsStillTheFirstLine) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  write_file(file, to_line(examples::header()));
  ResumeRequest asked = request();
  asked.header.started = "2027-01-01T00:00:00Z";
  EXPECT_NO_THROW(resume_journal(file, asked));
  EXPECT_EQ(read_text(file), to_line(examples::header()) + '\n');
}

TEST(ResumeJournal, SaysThatACutLineWasDropped) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", whole_file().substr(0, whole_file().size() - 9));
  EXPECT_THAT(resume_journal(folder / "results.jsonl", request()).notes,
              ElementsAre(HasSubstr("the last line is cut in the middle")));
}

TEST(ResumeJournal, LeavesAloneWhatIsNoJournal) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "letter.txt";
  for (const char* text : {"Dear reader,", "{\"a\":1", "{\"a\":1}\n", "hello\nworld\n"}) {
    write_file(file, text);
    EXPECT_THAT(refusal(file, request()), HasSubstr("letter.txt:1:"));
    EXPECT_EQ(read_text(file), text);
  }
}

TEST(ResumeJournal, RefusesTheResultsOfAnotherScenario) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  write_file(file, whole_file());
  ResumeRequest asked = request();
  asked.header.scenario.name = "other";
  EXPECT_THAT(refusal(file, asked), AllOf(HasSubstr("'small'"), HasSubstr("'other'")));
  EXPECT_EQ(read_text(file), whole_file());
}

TEST(ResumeJournal, RefusesTheResultsForAnotherMachine) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  RunHeader header = examples::header();
  header.machine = {.name = "4 x 3090", .yaml = "name: 4 x 3090\nnodes: 1\n"};
  { Journal::create(file, header).append(Point{.key = whole_file_keys()[0]}); }
  ResumeRequest asked = request();
  EXPECT_THAT(refusal(file, asked), AllOf(HasSubstr("'4 x 3090'"), HasSubstr("'this machine'")));
  asked.header.machine = {.name = "4 x 3090", .yaml = "name: 4 x 3090\nnodes: 2\n"};
  EXPECT_THAT(refusal(file, asked), HasSubstr("another version of machine '4 x 3090'"));
  asked.header.machine = header.machine;
  EXPECT_NO_THROW(resume_journal(file, asked));
  asked.header.machine.reset();  // `measure` knows no machine
  EXPECT_NO_THROW(resume_journal(file, asked));
}

TEST(ResumeJournal, ANewCalibrationOfThisMachineIsTheSameMachine) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", whole_file());
  ResumeRequest asked = request();
  asked.header.machine->yaml = "name: this machine\n# calibrated anew\n";
  EXPECT_NO_THROW(resume_journal(folder / "results.jsonl", asked));
}

TEST(ResumeJournal, RefusesMeasurementsWithAnotherBackend) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", whole_file());
  ResumeRequest asked = request();
  asked.backend = Backend::mpi;
  EXPECT_THAT(refusal(folder / "results.jsonl", asked), AllOf(HasSubstr("gloo"), HasSubstr("mpi")));
}

TEST(ResumeJournal, APointThatFailedWithAnotherBackendIsMeasuredWithThisOne) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  Point failed = full_point();
  failed.measured = Measurement{.outcome = Outcome::failed, .backend = Backend::mpi, .note = "lost"};
  { Journal::create(file, examples::header()).append(failed); }
  ResumeRequest asked = request();
  asked.keys = {failed.key};
  EXPECT_NO_THROW(resume_journal(file, asked));
}

TEST(ResumeJournal, AFactThatWasNotRecordedBeforeIsNoDifference) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", whole_file());
  ResumeRequest asked = request();
  asked.header.host["new fact"] = "7";
  EXPECT_THAT(resume_journal(folder / "results.jsonl", asked).notes, IsEmpty());
}

TEST(ResumeJournal, PointsThatNobodyAsksForStayButAreNotGivenBack) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  write_file(file, whole_file());
  ResumeRequest asked = request();
  asked.keys.resize(3);
  {
    const ResumedJournal resumed = resume_journal(file, asked);
    EXPECT_THAT(resumed.points, SizeIs(3));
    EXPECT_THAT(resumed.notes, ElementsAre(HasSubstr("1 point that")));
  }
  EXPECT_EQ(read_text(file), whole_file());
  asked.keys = {examples::key("ring", 3, 12)};
  EXPECT_THAT(refusal(file, asked), HasSubstr("none of its 4 points"));
}

TEST(ResumeJournal, SaysWhatElseIsDifferent) {
  const ScratchFolder folder;
  write_file(folder / "results.jsonl", whole_file());
  ResumeRequest asked = request();
  asked.header.version = "0.2.0";
  asked.header.scenario.text += "# edited\n";
  asked.header.host["cpu"] = "EPYC";
  EXPECT_THAT(
      resume_journal(folder / "results.jsonl", asked).notes,
      ElementsAre(AllOf(HasSubstr("0.1.0"), HasSubstr("0.2.0")), HasSubstr("the scenario has changed"),
                  AllOf(HasSubstr("Xeon"), HasSubstr("EPYC"))));
}

TEST(Journal, PredictionsForAnotherMachineAreMovedAside) {
  const ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  { Journal::create(file, examples::header()).append(full_point()); }
  EXPECT_EQ(keep_of_others(file, examples::header()), std::nullopt);
  RunHeader other = examples::header();
  other.machine->name = "another machine";
  EXPECT_TRUE(keep_of_others(file, other).has_value());
}

}  // namespace
}  // namespace ringside
