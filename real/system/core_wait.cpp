#include "real/system/core_wait.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "real/system/posix.hpp"

namespace ringside {

using std::chrono::milliseconds;

CoreWait::CoreWait(pid_t process) : process_(process) { look(); }

milliseconds CoreWait::elapsed() const { return std::chrono::floor<milliseconds>(Clock::now() - began_); }

void CoreWait::look() {
  const bool first = threads_.empty();
  std::error_code gone;  // Threads end while we look, and so may the process.
  for (std::filesystem::directory_iterator entry(fmt::format("/proc/{}/task", process_), gone), end;
       !gone && entry != end; entry.increment(gone)) {
    const std::string name = entry->path().filename().string();
    pid_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    // Nanoseconds on a core, nanoseconds of waiting for one, turns.
    std::int64_t ran = 0;
    std::int64_t waited = 0;
    std::int64_t turns = 0;
    if (!(std::ifstream(entry->path() / "schedstat") >> ran >> waited >> turns)) {
      continue;
    }
    Thread& thread = threads_[number];
    if (first) {
      thread.waited_before = std::chrono::nanoseconds(waited);
    }
    const Clock::time_point now = Clock::now();
    if (process_state(entry->path()) != 'R' || thread.ran != ran || thread.turns != turns) {
      thread.waits_since.reset();
    } else if (!thread.waits_since) {
      thread.waits_since = thread.seen;
    }
    thread.ran = ran;
    thread.turns = turns;
    thread.seen = now;
    const std::chrono::nanoseconds goes_on =
        thread.waits_since ? now - *thread.waits_since : std::chrono::nanoseconds(0);
    longest_ = std::max(longest_, std::chrono::floor<milliseconds>(std::chrono::nanoseconds(waited) -
                                                                   thread.waited_before + goes_on));
  }
}

}  // namespace ringside
