// What commands print with: on a terminal of a known width, in a pipe, and kept for a page.

#include "cli/console.hpp"

#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/colour.hpp"
#include "common/error.hpp"
#include "tests/results/examples.hpp"

namespace ringside::cli {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

/// A terminal of so many columns in place of standard output or standard error.
class Terminal {
 public:
  Terminal(unsigned short columns, int descriptor) : descriptor_(descriptor) {
    std::fflush(stdout);
    if (ours_ < 0 || ::grantpt(ours_) != 0 || ::unlockpt(ours_) != 0) {
      return;
    }
    theirs_ = ::open(::ptsname(ours_), O_RDWR | O_NOCTTY);
    const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    termios settings{};
    ::ioctl(theirs_, TIOCSWINSZ, &size);
    ::tcgetattr(theirs_, &settings);
    ::cfmakeraw(&settings);  // Line breaks stay as they are.
    ::tcsetattr(theirs_, TCSANOW, &settings);
    before_ = ::dup(descriptor);
    ::dup2(theirs_, descriptor);
  }
  ~Terminal() {
    restore();
    ::close(theirs_);
    ::close(ours_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool exists() const { return theirs_ >= 0; }
  /// What was printed on it; it must have had room for all of it.
  std::string text() {
    restore();
    constexpr char kEnd = '\x1f';
    std::string text;
    char next = '\0';
    for ([[maybe_unused]] auto written = ::write(theirs_, &kEnd, 1);
         ::read(ours_, &next, 1) == 1 && next != kEnd;) {
      text += next;
    }
    return text;
  }

 private:
  void restore() {
    std::fflush(stdout);
    if (before_ >= 0) {
      ::dup2(before_, descriptor_);
      ::close(before_);
      before_ = -1;
    }
  }

  int descriptor_;
  int ours_ = ::posix_openpt(O_RDWR | O_NOCTTY);
  int theirs_ = -1;
  int before_ = -1;
};

std::string in_pipe(int descriptor, const std::function<void()>& say) {
  descriptor == STDOUT_FILENO ? testing::internal::CaptureStdout() : testing::internal::CaptureStderr();
  say();
  std::fflush(stdout);
  return descriptor == STDOUT_FILENO ? testing::internal::GetCapturedStdout()
                                     : testing::internal::GetCapturedStderr();
}

class Console : public testing::Test {
 protected:
  Console() { plain(); }
  ~Console() override { plain(); }
  static void plain() {
    ::setenv("NO_COLOR", "1", 1);
    ::unsetenv("CLICOLOR_FORCE");
  }
  static void coloured() {
    ::unsetenv("NO_COLOR");
    ::setenv("CLICOLOR_FORCE", "1", 1);
  }
  /// What `say` prints on a terminal; skips the test where there is none.
  static std::string on_terminal(unsigned short columns, const std::function<void()>& say,
                                 int descriptor = STDOUT_FILENO) {
    Terminal terminal(columns, descriptor);
    if (!terminal.exists()) {
      return "no pseudo-terminals here";
    }
    say();
    return terminal.text();
  }
  void SetUp() override {
    if (!Terminal(80, STDOUT_FILENO).exists()) {
      GTEST_SKIP() << "no pseudo-terminals here (is /dev/pts mounted?)";
    }
  }
};

void print_names() {
  print_table({{">n", "name", "?remark", "?>extra"},
               {{"1", "a long name of twenty-four", "first", "10"}, {"22", "short", "", "7"}}});
}

constexpr const char* kWhole =
    " n  name                        remark  extra\n"
    " 1  a long name of twenty-four  first      10\n"
    "22  short                                   7\n";

TEST_F(Console, ATableLosesColumnsThenTextThenItsForm) {
  EXPECT_EQ(in_pipe(STDOUT_FILENO, print_names), kWhole);
  EXPECT_EQ(on_terminal(1, print_names), kWhole) << "nobody's terminal is so narrow";
  EXPECT_EQ(on_terminal(45, print_names), kWhole);
  const std::string without_extra =
      " n  name                        remark\n 1  a long name of twenty-four  first\n22  short\n";
  EXPECT_EQ(on_terminal(44, print_names), without_extra);
  EXPECT_EQ(on_terminal(38, print_names), without_extra);
  const std::string of_names = " n  name\n 1  a long name of twenty-four\n22  short\n";
  EXPECT_EQ(on_terminal(37, print_names), of_names);
  EXPECT_EQ(on_terminal(30, print_names), of_names);
  EXPECT_EQ(on_terminal(29, print_names), " n  name\n 1  a long name of twenty-fo…\n22  short\n");
  EXPECT_EQ(on_terminal(20, print_names), " n  name\n 1  a long name of …\n22  short\n");
  const std::string stacked = "n 1\n  name a long name\n  of twenty-four\nn 22  name short\n";
  EXPECT_EQ(on_terminal(19, print_names), stacked);
  EXPECT_EQ(on_terminal(18, print_names), stacked);
  EXPECT_EQ(on_terminal(17, print_names), "n 1\n  name a long\n  name of\n  twenty-four\nn 22  name short\n");
  EXPECT_EQ(on_terminal(15, print_names),
            "n 1\n  name a long\n  name of\n  twenty-four\nn 22\n  name short\n");
}

TEST_F(Console, TheWidestTextIsCutFirstAndNumbersStayWhole) {
  const auto print_two = [] {
    print_table({{"first", "second", ">number"},
                 {{std::string(30, 'a'), std::string(24, 'b'), "123456789012345678901234567890"}}});
  };
  const std::string number = "123456789012345678901234567890";
  const auto line = [&](std::size_t first, std::size_t second) {
    const auto cell = [](std::size_t all, std::size_t columns, char c) {
      return columns >= all ? std::string(all, c) : std::string(columns - 1, c) + "…";
    };
    return cell(30, first, 'a') + "  " + cell(24, second, 'b') + "  " + number + "\n";
  };
  EXPECT_THAT(on_terminal(88, print_two), HasSubstr(line(30, 24)));
  EXPECT_THAT(on_terminal(87, print_two), HasSubstr(line(29, 24)));
  EXPECT_THAT(on_terminal(74, print_two), HasSubstr(line(16, 24)));
  EXPECT_THAT(on_terminal(73, print_two), HasSubstr(line(16, 23)));
  EXPECT_THAT(on_terminal(66, print_two), HasSubstr(line(16, 16)));
  EXPECT_EQ(on_terminal(65, print_two), "first " + std::string(30, 'a') + "\n  second " +
                                            std::string(24, 'b') + "\n  number " + number + "\n");
}

TEST_F(Console, AStackedRowLeavesOutWhatIsEmptyAndKeepsWhatHasNoTitle) {
  const auto print_row = [] {
    print_table(
        {{"", ">seconds", "where"}, {{"→", "", "x"}, {"", "12345678", ""}, {"a", "12345678", "12345678"}}});
  };
  EXPECT_EQ(on_terminal(20, print_row),
            "→  where x\nseconds 12345678\na  seconds 12345678\n  where 12345678\n");
}

TEST_F(Console, WhetherATableFitsIsAskedOfTheTerminal) {
  const TextTable table = {.header = {"ab", ">cd"}, .rows = {{"1", "2345"}}};
  EXPECT_TRUE(fits_terminal(table)) << "a pipe has no width";
  const auto fits = [&](unsigned short columns) {
    bool result = false;
    on_terminal(columns, [&] { result = fits_terminal(table); });
    return result;
  };
  EXPECT_TRUE(fits(8));
  EXPECT_FALSE(fits(7));
}

TEST_F(Console, SentencesAreBrokenWhereTheTerminalEnds) {
  const auto print_sentence = [] { print_line("one two three"); };
  EXPECT_EQ(in_pipe(STDOUT_FILENO, print_sentence), "one two three\n");
  EXPECT_EQ(on_terminal(13, print_sentence), "one two three\n");
  EXPECT_EQ(on_terminal(12, print_sentence), "one two\nthree\n");
  EXPECT_EQ(on_terminal(6, print_sentence), "one\ntwo\nthree\n");
  EXPECT_EQ(on_terminal(7, [] { print_line("ä ö ü x"); }), "ä ö ü x\n") << "bytes are no columns";
  EXPECT_EQ(on_terminal(6, [] { print_line("ä ö ü x"); }), "ä ö ü\nx\n");
  EXPECT_EQ(on_terminal(3, [] { print_line("longer"); }), "longer\n");
  const auto error = [] { print_error("one two three"); };
  EXPECT_EQ(in_pipe(STDERR_FILENO, error), "one two three\n");
  EXPECT_EQ(on_terminal(12, error, STDERR_FILENO), "one two\nthree\n");
  std::string help;
  const auto describe = [&] { help = wrapped_for_terminal("one two three four", 27); };
  on_terminal(44, describe);
  EXPECT_EQ(help, "one two three\nfour");
  on_terminal(43, describe);
  EXPECT_EQ(help, "one two three four") << "no room for a column beside the flag";
  in_pipe(STDOUT_FILENO, describe);
  EXPECT_EQ(help, "one two three four");
}

TEST_F(Console, ProgressIsABarOnATerminal) {
  const auto bar = [](double fraction, std::string_view what, unsigned short columns = 60) {
    return on_terminal(
        columns,
        [&] {
          Progress progress(false);
          progress.stage("timing");
          progress.update(fraction, what);
          progress.finish();
          progress.finish();
        },
        STDERR_FILENO);
  };
  const auto times = [](int count, std::string_view text) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      all += text;
    }
    return all;
  };
  const auto shown = [&](int filled, const std::string& rest) {
    return "\r\033[Ktiming " + times(filled, "█") + times(24 - filled, "·") + rest + "\r\033[K";
  };
  EXPECT_EQ(bar(0.5, "ring"), shown(12, "  50 %  ring"));
  EXPECT_EQ(bar(0, "ring"), shown(0, "   0 %  ring"));
  EXPECT_EQ(bar(1, "ring"), shown(24, " 100 %  ring"));
  EXPECT_EQ(bar(-1, "ring"), shown(0, "   0 %  ring"));
  EXPECT_EQ(bar(2, "a\033b"), shown(24, " 100 %  a\\u001bb"));
  EXPECT_EQ(bar(0.02, "x"), shown(0, "   2 %  x"));
  EXPECT_EQ(bar(0.03, "x"), shown(1, "   3 %  x"));
  EXPECT_EQ(bar(0.5, "ring", 42), shown(12, "  50 %  r…"));
  EXPECT_EQ(bar(0.5, "ring", 43), shown(12, "  50 %  ri…")) << "one column stays free";
  EXPECT_EQ(bar(0.5, "ring", 44), shown(12, "  50 %  ring"));
}

TEST_F(Console, ProgressIsALinePerStageInAPipeAndNothingWhereItIsUnwanted) {
  const auto said = [](bool quiet) {
    return in_pipe(STDERR_FILENO, [&] {
      Progress progress(quiet);
      const study::Observer observer = progress.observer();
      observer.stage("timing");
      observer.progress(0.5, "ring");
      observer.note("a note");
      observer.finished();
    });
  };
  EXPECT_EQ(said(false), "timing …\na note\n");
  EXPECT_EQ(said(true), "");
  const auto on_screen = [](bool quiet) {
    return on_terminal(
        60,
        [&] {
          Progress progress(quiet);
          const study::Observer observer = progress.observer();
          observer.stage("t");
          observer.progress(0, "x");
          observer.note("a note");
          observer.progress(0, "y");
          observer.stage("u");
        },
        STDERR_FILENO);
  };
  const auto bar = [&](const char* what) {
    return "\r\033[Kt ························   0 %  " + std::string(what);
  };
  EXPECT_EQ(on_screen(false), bar("x") + "\r\033[Ka note\n" + bar("y") + "\r\033[K");
  EXPECT_EQ(on_screen(true), "");
}

TEST_F(Console, ColoursAreForTerminalsAndForThoseWhoForceThem) {
  const auto verdict = [] { print_verdict("ring wins"); };
  const auto failure = [] { print_failure("ringside", "no such file"); };
  const auto winner = [] { print_table({{"a", ""}, {{"1", "fastest"}, {"2", "not"}}}, "fastest"); };
  EXPECT_EQ(in_pipe(STDOUT_FILENO, verdict), "ring wins\n");
  EXPECT_EQ(in_pipe(STDERR_FILENO, failure), "ringside: no such file\n");
  EXPECT_EQ(in_pipe(STDOUT_FILENO, winner), "a\n1  fastest\n2  not\n");
  coloured();
  const std::string bold = std::string(kVerdictColour) + "ring wins\n" + std::string(kPlainColour);
  EXPECT_EQ(in_pipe(STDOUT_FILENO, verdict), bold);
  EXPECT_EQ(in_pipe(STDERR_FILENO, failure),
            std::string(kFailureColour) + "ringside" + std::string(kPlainColour) + ": no such file\n");
  EXPECT_EQ(in_pipe(STDOUT_FILENO, winner),
            "a\n1  " + std::string(kWinnerColour) + "fastest" + std::string(kPlainColour) + "\n2  not\n");
  EXPECT_EQ(in_pipe(STDERR_FILENO, [] { print_failure("a\033b", "c"); }), "a\\u001bb: c\n");
  ::unsetenv("CLICOLOR_FORCE");
  EXPECT_EQ(in_pipe(STDOUT_FILENO, verdict), "ring wins\n");
  EXPECT_EQ(on_terminal(60, verdict), bold);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_EQ(on_terminal(60, verdict), bold) << "said with nothing is not said";
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(on_terminal(60, verdict), "ring wins\n");
}

TEST_F(Console, WhoChoosesAColourChoosesItForProgramsThatAreStartedToo) {
  const auto variables = [] {
    const auto text = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value == nullptr ? "-" : value);
    };
    return text("NO_COLOR") + text("CLICOLOR_FORCE");
  };
  choose_colour("always");
  EXPECT_EQ(variables(), "-1");
  choose_colour("auto");
  EXPECT_EQ(variables(), "-1");
  choose_colour("never");
  EXPECT_EQ(variables(), "1-");
  EXPECT_EQ(examples::message_of(ErrorKind::bad_input, [] { choose_colour("red"); }),
            "unknown --color 'red'. Known: auto, always, never");
}

TEST(Arguments, AreQuotedAsAShellTakesThem) {
  for (const char* plain : {"a", "A9", "./x_y:z=1,2@3%+-", "é"}) {
    EXPECT_EQ(for_a_shell(plain), plain);
  }
  EXPECT_EQ(for_a_shell(""), "''");
  EXPECT_EQ(for_a_shell("a b"), "'a b'");
  EXPECT_EQ(for_a_shell("it's"), "'it'\\''s'");
  EXPECT_EQ(for_a_shell("a\\b"), "'a\\b'");
  EXPECT_EQ(for_a_shell("a\n'\\"), "$'a\\x0a\\'\\\\'");
  EXPECT_EQ(for_a_shell("\x7f"), "$'\\x7f'");
  for (const char c : std::string("*?$`~#&|;<>(){}[]!\"^")) {
    EXPECT_EQ(for_a_shell(std::string(1, c)), "'" + std::string(1, c) + "'");
  }
}

TEST(Transcripts, KeepLinesAndTablesInTheirOrderUntilTheyEnd) {
  const Transcript kept = said_by([] {
    print_line("before {}", 1);
    print_table({{"a"}, {{"1"}}});
    print_lines(std::vector<std::string>{"x", "y"});
    print_table({{"b"}, {}});
    print("z\033");
  });
  EXPECT_EQ(kept.before, "before 1\n");
  ASSERT_THAT(kept.tables, SizeIs(2));
  EXPECT_EQ(kept.tables[0].table.header[0], "a");
  EXPECT_EQ(kept.tables[0].after, "x\ny\n");
  EXPECT_EQ(kept.tables[1].after, "z\\u001b");
  EXPECT_THROW(said_by([] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(in_pipe(STDOUT_FILENO, [] { print_line("out"); }), "out\n");
}

TEST(Files, ArePrintedAsTheyAreButForOrdersToATerminal) {
  const examples::ScratchFolder folder;
  examples::write_file(folder / "a", "one\n\033[1mtwo");
  EXPECT_EQ(said_by([&] { print_file(folder / "a"); }).before, "one\n\\u001b[1mtwo");
  examples::write_file(folder / "b", "one\n");
  EXPECT_EQ(said_by([&] { print_file(folder / "b"); }).before, "one\n");
  EXPECT_THAT(examples::message_of(ErrorKind::bad_input, [&] { print_file(folder / "none"); }),
              HasSubstr("none"));
}

}  // namespace
}  // namespace ringside::cli
