// What the system interrupts or refuses: this program's own write() counts before the C library's.

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "results/codec/reader.hpp"
#include "results/journal.hpp"
#include "tests/results/examples.hpp"

namespace {
int interruptions = 0;  ///< So many writes from now on are interrupted.
}  // namespace

extern "C" ssize_t write(int file, const void* data, size_t size) {
  if (interruptions > 0) {
    --interruptions;
    errno = EINTR;
    return -1;
  }
  return ::syscall(SYS_write, file, data, size);
}

namespace ringside {
namespace {

TEST(Journal, AnInterruptedWriteIsMadeAgain) {
  const examples::ScratchFolder folder;
  Journal journal = Journal::create(folder / "results.jsonl", examples::header());
  interruptions = 3;
  journal.append(Accuracy{.points = 1});
  EXPECT_EQ(interruptions, 0) << "the journal was written by it";
  EXPECT_EQ(read_text(folder / "results.jsonl"),
            to_line(examples::header()) + '\n' + to_line(Accuracy{.points = 1}) + '\n');
}

/// What is moved aside is what a new run would lose: whose lines, and which ends of a killed run.
TEST(Journal, IsMovedAsideForWhatWouldBeLostAlone) {
  const examples::ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::string header = to_line(examples::header()) + '\n';
  Point predicted = examples::full_point();
  predicted.measured.reset();
  Point measured = examples::full_point();
  measured.predicted.reset();
  Point other = measured;
  other.key.ranks = 33;
  const RepetitionRecord repetition{.key = measured.key, .measured = *measured.measured};
  struct Case {
    const char* what;
    std::string text;
    bool kept;
  };
  const std::vector<Case> cases = {
      {"nothing", "", false},
      {"the header alone", header, false},
      {"blank lines", header + " \t\r\n\n", false},
      {"blank lines alone", "\n", true},
      {"predictions", header + to_line(predicted) + '\n', false},
      {"what is measured again", header + to_line(measured) + '\n', false},
      {"the same with its prediction", header + to_line(examples::full_point()) + '\n', false},
      {"what is not measured again", header + to_line(other) + '\n', true},
      {"the same behind what is", header + to_line(measured) + '\n' + to_line(other) + '\n', true},
      {"a repetition", header + to_line(repetition) + '\n', true},
      {"what follows from points", header + to_line(Accuracy{.points = 1}) + '\n', false},
      {"a record of later versions", header + "{\"record\":\"later\"}\n", false},
      {"a header of a later version", "{\"record\":\"run\",\"schema\":\"ringside/9\"}\n", true},
      {"two headers", header + header, true},
      {"no header", to_line(measured) + '\n', true},
      {"a line that is no record", header + "notes\n", true},
      {"a last line that is cut", header + "{\"record\":\"po", false},
      {"a last line that is no record", header + "{\"a\":1}", true},
      {"a first line that is cut", header.substr(0, 20), false},
      {"a first line of somebody else that is cut", "{\"recorder\"", true},
  };
  for (const Case& one : cases) {
    examples::write_file(file, one.text);
    EXPECT_EQ(keep_measurements(file, {&measured, 1}).has_value(), one.kept) << one.what;
  }
}

TEST(Journal, OfManyPointsThatAreMeasuredAgainLosesNothing) {
  const examples::ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  std::vector<Point> points(20, examples::full_point());
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i].key.bytes.value = static_cast<std::int64_t>(i);
  }
  Journal::create(file, examples::header()).append(points);
  EXPECT_FALSE(keep_measurements(file, points).has_value());
  EXPECT_TRUE(keep_measurements(file, std::span(points).first(19)).has_value());
}

TEST(Journal, IsForEverybodyWhomTheMaskLetsIn) {
  const examples::ScratchFolder folder;
  const mode_t before = ::umask(0);
  { const Journal journal = Journal::create(folder / "results.jsonl", examples::header()); }
  ::umask(before);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder / "results.jsonl").permissions(),
            perms::owner_read | perms::owner_write | perms::group_read | perms::group_write |
                perms::others_read | perms::others_write);
}

TEST(Journal, OfOthersIsMovedAsideWhereItsHeaderSaysSo) {
  const examples::ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const auto kept = [&](const RunHeader& there, const RunHeader& here) {
    examples::write_file(file, to_line(there) + '\n');
    return keep_of_others(file, here).has_value();
  };
  const RunHeader header = examples::header();
  RunHeader scenario = header;
  scenario.scenario.name = "other";
  RunHeader nameless = header;
  nameless.machine.reset();
  RunHeader text = header;
  text.scenario.text = "other";
  text.machine->yaml = "other";
  EXPECT_TRUE(kept(scenario, header));
  EXPECT_TRUE(kept(nameless, header));
  EXPECT_TRUE(kept(header, nameless));
  EXPECT_FALSE(kept(nameless, nameless));
  EXPECT_FALSE(kept(text, header)) << "another version of the same";
  examples::write_file(file, "notes\n");
  EXPECT_TRUE(keep_of_others(file, header).has_value());
  examples::write_file(file, to_line(header).substr(0, 12));
  EXPECT_FALSE(keep_of_others(file, header).has_value()) << "a killed run left it";
  std::filesystem::remove(file);
  EXPECT_FALSE(keep_of_others(file, header).has_value());
}

TEST(Journal, RefusalsSayWhatIsThereAndWhatToDo) {
  const examples::ScratchFolder folder;
  const std::filesystem::path file = folder / "results.jsonl";
  const std::string advice = "; it cannot be resumed, replace it or write to another folder";
  const auto said = [&](const ResumeRequest& request) {
    return examples::message_of(ErrorKind::bad_input, [&] { resume_journal(file, request); });
  };
  RunHeader there = examples::header();
  there.machine->this_machine = false;
  Journal::create(file, there).append(examples::full_point());
  ResumeRequest request{.header = examples::header(), .keys = {examples::full_point().key}};
  request.header.machine->yaml = "other";
  EXPECT_EQ(said(request),
            file.string() + ": holds results for another version of machine 'this machine'" + advice);
  request.header.machine->name = "other";
  EXPECT_EQ(said(request),
            file.string() + ": holds results for machine 'this machine', not for 'other'" + advice);
  request.header.scenario.name = "other";
  EXPECT_EQ(said(request),
            file.string() + ": holds the results of scenario 'small', not of 'other'" + advice);
  request.header = there;
  request.backend = Backend::mpi;
  EXPECT_EQ(said(request),
            file.string() + ": holds measurements with backend gloo, this run measures with mpi" + advice);
  request.backend.reset();
  request.keys = {examples::key("ring", 3, 12)};
  EXPECT_EQ(said(request),
            file.string() + ": none of its 1 points is one that scenario 'small' asks for" + advice);
  request.keys.push_back(examples::full_point().key);
  EXPECT_EQ(said(request), "");
  there.machine.reset();
  { const Journal journal = Journal::create(file, there); }
  EXPECT_EQ(said(request), "") << "`measure` knew no machine";
  request.header.version = "2";
  request.header.host["cpu"] = "EPYC";
  EXPECT_EQ(resume_journal(file, request).notes,
            (std::vector<std::string>{
                "the earlier results were written by version 0.1.0, this is version 2",
                "the earlier results come from a host whose cpu is 'Xeon', here it is 'EPYC'"}));
}

TEST(WriteFile, ReplacesAFileAtOnceAndWritesIntoWhatALinkLeadsTo) {
  namespace fs = std::filesystem;
  const examples::ScratchFolder folder;
  const fs::path file = folder / "a/b/text";
  ringside::write_file(file, "first");
  fs::create_hard_link(file, folder / "before");
  ringside::write_file(file, "second");
  EXPECT_EQ(read_text(file), "second");
  EXPECT_EQ(read_text(folder / "before"), "first") << "who reads it meanwhile has the whole of it";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "a/b"), fs::directory_iterator()), 1);
  fs::create_symlink(file, folder / "link");
  ringside::write_file(folder / "link", "third");
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(file), "third");
  const fs::path taken = folder / "taken";
  fs::create_directory(taken);
  EXPECT_EQ(examples::message_of(ErrorKind::environment, [&] { ringside::write_file(taken, "x"); }),
            "cannot write " + taken.string() + ": Is a directory");
  if (::access("/dev/full", W_OK) == 0) {
    EXPECT_EQ(examples::message_of(ErrorKind::environment, [] { ringside::write_file("/dev/full", "x"); }),
              "cannot write /dev/full: No space left on device");
  }
}

TEST(ReadText, StopsBehindWhatMayBeRead) {
  const examples::ScratchFolder folder;
  constexpr std::size_t kPiece = 65536;  // That is read at once.
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kPiece - 1, kPiece, kPiece + 1, 2 * kPiece + 1}) {
    const std::string text(size, 'x');
    examples::write_file(folder / "text", text);
    EXPECT_EQ(read_text(folder / "text", size), text);
    std::istringstream stream(text);
    EXPECT_EQ(read_beyond(stream, size), text);
    if (size > 0) {
      EXPECT_EQ(examples::message_of(ErrorKind::bad_input, [&] { read_text(folder / "text", size - 1); }),
                (folder / "text").string() + ": is longer than " +
                    format(Bytes{static_cast<std::int64_t>(size) - 1}) + ", and no more is read of it");
    }
  }
  EXPECT_EQ(examples::message_of(ErrorKind::bad_input, [] { read_text("/dev/zero", 10); }),
            "/dev/zero: is longer than 10 B, and no more is read of it")
      << "its size is not known";
  std::istringstream endless(std::string(10 * kPiece, 'x'));
  EXPECT_EQ(read_beyond(endless, 0).size(), kPiece);
  std::istringstream twice(std::string(10 * kPiece, 'x'));
  EXPECT_EQ(read_beyond(twice, kPiece).size(), 2 * kPiece);
  EXPECT_EQ(
      examples::message_of(ErrorKind::bad_input, [] { reject_long_text("log", kMostText); }),
      "log: is longer than 1 GiB, and no more is read of it; import and check read all of a log on request "
      "(see their help)");
}

/// A page is a page only as it was written.
TEST(PageRecords, AreThoseBetweenTheirTagsAndNothingElse) {
  const std::string records = "{\"a\":\"</script>\"}\n";
  const std::string element = records_element(records);
  EXPECT_EQ(json_for_page("<a<<"), "\\u003ca\\u003c\\u003c");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string page = std::string(kPageStart) + "<p>" + element + "</html>";
  EXPECT_EQ(records_in(page, "a.html"), json_for_page(records));
  EXPECT_EQ(records_in(std::string(kPageStart) + records_element(""), "a.html"), "");
  const std::size_t start = page.find("<script"), end = page.find("</script>") + 10;
  for (std::size_t at = start; at < end; ++at) {
    std::string changed = page;
    changed[at] = changed[at] == '#' ? '%' : '#';
    const std::string said =
        examples::message_of(ErrorKind::bad_input, [&] { records_in(changed, "a.html"); });
    EXPECT_TRUE(said == "a.html: is a report without its records: it was cut or edited" ||
                said == "a.html: is a report whose records were changed: their SHA-256 is another")
        << at << ": " << said;
  }
  for (const std::size_t length : {kPageStart.size(), start, start + 20, end - 10, end - 1}) {
    EXPECT_EQ(
        examples::message_of(ErrorKind::bad_input, [&] { records_in(page.substr(0, length), "a.html"); }),
        "a.html: is a report without its records: it was cut or edited")
        << length;
  }
}

TEST(Journal, MeasurementsThatCannotBeMovedAsideAreNotTakenForMoved) {
  namespace fs = std::filesystem;
  const examples::ScratchFolder folder;
  const fs::path below = folder / "below";
  const fs::path file = below / "results.jsonl";
  fs::create_directory(below);
  Journal::create(file, examples::header()).append(examples::full_point());
  fs::permissions(folder / "", fs::perms(0755));
  fs::permissions(file, fs::perms(0666));
  fs::permissions(below, fs::perms(0555));
  // To root nothing is refused: a process of its own gives that up.
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool given_up = (::geteuid() != 0 || ::setuid(kNobody) == 0) && ::access(file.c_str(), R_OK) == 0;
    const std::string said = examples::message_of(ErrorKind::bad_input, [&] { keep_measurements(file, {}); });
    const bool refused = said.starts_with("cannot write " + (below / "results-").string()) &&
                         said.ends_with(": Permission denied");
    ::_exit(!given_up ? 2 : refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  fs::permissions(below, fs::perms(0755));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    GTEST_SKIP() << "root cannot become nobody here, or nobody cannot read in the folder for temporary files";
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(fs::exists(file));
}

}  // namespace
}  // namespace ringside
