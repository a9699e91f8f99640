#include "tests/gpu/rehearsal/cuda/settings.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

namespace rehearsal {
namespace {

std::vector<std::string> parts(const char* text, char separator) {
  std::vector<std::string> result;
  std::stringstream stream(text == nullptr ? "" : text);
  for (std::string part; std::getline(stream, part, separator);) {
    result.push_back(part);
  }
  return result;
}

/// A test that is misspelt must not pass.
[[noreturn]] void refuse(const std::string& text) {
  complain("its environment", "'" + text + "' means nothing");
  std::_Exit(70);
}

std::int64_t number_of(const std::string& text) {
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') {
    refuse(text);
  }
  return value;
}

Settings settings_in(const std::string& text) {
  Settings settings;
  for (const std::string& part : parts(text.c_str(), ',')) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::int64_t value = equals == std::string::npos ? 1 : number_of(part.substr(equals + 1));
    if (key == "gpus") {
      settings.gpus = static_cast<int>(value);
    } else if (key == "memory") {
      settings.memory = value;
    } else if (key == "driver") {
      settings.driver = static_cast<int>(value);
    } else if (key == "peers") {
      settings.peers = value != 0;
    } else if (key == "taken") {
      settings.taken = value != 0;
    } else if (key == "others") {
      settings.others = static_cast<int>(value);
    } else if (key == "seed") {
      settings.seed = static_cast<std::uint64_t>(value);
    } else if (key == "nccl") {
      settings.nccl = static_cast<int>(value);
    } else {
      refuse(part);
    }
  }
  return settings;
}

struct Rule {
  std::string call;
  std::int64_t number = 1;
  std::optional<int> gpu = {};
  std::string action = {};
};

/// "cudaMalloc#3@1=2"
Rule rule_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    refuse(text);
  }
  Rule rule = {.call = text.substr(0, equals), .action = text.substr(equals + 1)};
  if (const std::size_t at = rule.call.find('@'); at != std::string::npos) {
    rule.gpu = static_cast<int>(number_of(rule.call.substr(at + 1)));
    rule.call.resize(at);
  }
  if (const std::size_t hash = rule.call.find('#'); hash != std::string::npos) {
    rule.number = number_of(rule.call.substr(hash + 1));
    rule.call.resize(hash);
  }
  return rule;
}

struct Faults {
  std::mutex mutex;
  std::vector<Rule> rules;
  std::map<std::string, std::int64_t> calls;  ///< So often each was made.
};

Faults& faults() {
  // Never destroyed: streams work until the process ends.
  static auto* const faults = [] {
    auto* made = new Faults;
    for (const std::string& part : parts(std::getenv("RINGSIDE_REHEARSAL_FAULTS"), ';')) {
      made->rules.push_back(rule_of(part));
    }
    return made;
  }();
  return *faults;
}

Fault act(const std::string& action) {
  if (action.starts_with("slow:")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(number_of(action.substr(5))));
    return {.kind = FaultKind::late, .code = 0};  // Nothing else goes wrong.
  }
  if (action == "die" || action == "stop") {
    ::kill(::getpid(), action == "die" ? SIGKILL : SIGSTOP);
    // One that was stopped and goes on is as if nothing had been.
    return {.kind = FaultKind::late, .code = 0};
  }
  if (action == "nothing") {
    return {.kind = FaultKind::skipped};
  }
  constexpr std::string_view kLate = "late:";
  if (action.starts_with(kLate)) {
    return {.kind = FaultKind::late, .code = static_cast<int>(number_of(action.substr(kLate.size())))};
  }
  return {.kind = FaultKind::returns, .code = static_cast<int>(number_of(action))};
}

}  // namespace

Settings settings() {
  static std::mutex mutex;
  static std::string known;
  static Settings settings;
  const char* const value = std::getenv("RINGSIDE_REHEARSAL");
  const std::string text = value == nullptr ? "" : value;
  const std::lock_guard lock(mutex);
  if (text != known) {
    settings = settings_in(text);
    known = text;
  }
  return settings;
}

std::optional<Fault> fault_at(const char* call, int gpu) {
  Faults& all = faults();
  if (all.rules.empty()) {
    return std::nullopt;
  }
  std::unique_lock lock(all.mutex);
  const std::int64_t number = ++all.calls[call];
  for (const Rule& rule : all.rules) {
    if (rule.call == call && rule.number == number && (!rule.gpu || *rule.gpu == gpu)) {
      lock.unlock();  // Other calls go on while one is slow.
      const Fault fault = act(rule.action);
      return fault.kind == FaultKind::late && fault.code == 0 ? std::nullopt : std::optional(fault);
    }
  }
  return std::nullopt;
}

void complain(const char* call, const std::string& why) {
  const std::string line =
      std::string("rehearsal device: ").append(call).append(": ").append(why).append("\n");
  // One write, so that lines of several ranks do not mix.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace rehearsal
