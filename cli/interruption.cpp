#include "cli/interruption.hpp"

#include <csignal>
#include <string_view>

#include <unistd.h>

namespace ringside::cli {
namespace {

constexpr int kInterrupted = 130;

extern "C" void end_resumable(int /*signal*/) {
  constexpr std::string_view kSentence =
      "\nringside: interrupted; finished points are kept, --resume goes on\n";
  // Whether or not it can be written, this is the end.
  [[maybe_unused]] const ssize_t count = ::write(STDERR_FILENO, kSentence.data(), kSentence.size());
  ::_exit(kInterrupted);
}

}  // namespace

void say_how_to_resume_when_interrupted() { std::signal(SIGINT, end_resumable); }

}  // namespace ringside::cli
