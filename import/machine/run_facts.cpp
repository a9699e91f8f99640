// What is looked for, of NCCL 2.4 to 2.29 and nccl-tests:
//
//   #  Rank  0 Group  0 Pid  12345 on  node1 device  0 [0x0f] NVIDIA A100-SXM4-40GB
//   host:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Ring.
//   host:1:2 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>
//   host:1:2 [0] NCCL INFO Using network Socket
//   host:1:2 [0] NCCL INFO               + NET[25.0] - NET/0 (5a862d0003f6ceb8/1/25.000000)
//   host:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC          also SHM/direct/direct, NET/IB/0/GDRDMA, NET/Socket/0
//   host:1:2 [0] NCCL INFO NVLS multicast support is available on dev 0
//   host:1:2 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.1<4> with error 12, opcode 0, len 0, vendor err 129
//   # Out of bounds values : 0 OK
//   host:1:2 [0] NCCL INFO comm 0x… rank 0 nranks 2 cudaDev 0 busId 41000 - Init COMPLETE

#include "import/machine/run_facts.hpp"

#include <fmt/format.h>

#include "import/parts.hpp"

namespace ringside {
namespace {

bool is_of_setting(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

void read_rank(std::string_view line, RunFacts& facts) {
  const auto words = words_of(line);
  const auto rank = std::ranges::find(words, "Rank");
  const auto on = std::find(rank, words.end(), "on");
  const auto pid = std::find(rank, words.end(), "Pid");
  if (rank == words.end() || on == words.end() || on + 1 == words.end()) {
    return;
  }
  facts.hosts.emplace(*(on + 1));
  if (pid != words.end() && pid + 1 != words.end()) {
    facts.processes.insert(fmt::format("{} {}", *(on + 1), *(pid + 1)));
  }
  if (const auto number = whole_in_word(*(rank + 1)); number && *number < 10'000'000) {
    facts.ranks = std::max(facts.ranks.value_or(0), static_cast<int>(*number) + 1);
    facts.ranks_of_host[std::string(*(on + 1))].insert(static_cast<int>(*number));
  }
  if (std::string gpu = gpu_of_rank(line); !gpu.empty()) {
    facts.gpus.push_back(std::move(gpu));
  }
}

void read_channel(std::size_t number, std::string_view via, RunFacts& facts) {
  const std::string_view transport = first_word(via);
  if (transport.starts_with("P2P")) {
    facts.peer_to_peer.see(number);
  } else if (transport.starts_with("SHM") || via.starts_with("direct shared memory")) {
    facts.shared_memory.see(number);
  } else if (transport.starts_with("NET/")) {
    if (transport.starts_with("NET/Socket")) {
      facts.sockets.see(number);
    }
    (contains(via, "GDRDMA") ? facts.gpudirect : facts.without_gpudirect).see(number);
  }
}

void read_info(std::size_t number, std::string_view line, RunFacts& facts) {
  if (const auto via = after(line, " via ");
      via && (contains(line, "Channel") || contains(line, "Ring") || contains(line, "->"))) {
    read_channel(number, *via, facts);
  } else if (const auto network = after(line, "Using network ")) {
    facts.network = std::string(clean(network->substr(0, network->find_last_not_of(" \t\r") + 1)));
    facts.network_line = number;
  } else if (const auto nics = after(line, "NET/IB : Using ")) {
    facts.nics_line = number;
    for (std::string_view word : words_of(nics->substr(0, nics->find(';')))) {
      // `[0]mlx5_0:1/IB`
      if (const std::size_t close = word.find(']'); close != std::string_view::npos && contains(word, ":")) {
        facts.nics.emplace(word.substr(close + 1));
      }
    }
  } else if (const auto nic = after(line, "+ NET[")) {
    const auto rate = number_in_word(nic->substr(0, nic->find(']')));
    if (const auto name = after(*nic, " - "); name && rate && *rate > 0) {
      facts.nic_rates[std::string(line.substr(0, line.find(':')))][std::string(first_word(*name))] = *rate;
    }
  } else if (contains(line, "NVLS multicast support is not available")) {
    facts.no_nvls.see(number);
  } else if (contains(line, "NVLS multicast support is available")) {
    facts.nvls.see(number);
  } else if (const auto nodes = after(line, "nNodes ")) {
    if (const auto count = whole_in_word(first_word(*nodes)); count && *count > 0 && *count < 10'000'000) {
      facts.nodes = static_cast<int>(*count);
    }
  } else if (const auto ranks = after(line, "nranks "); ranks && contains(line, "Init COMPLETE")) {
    if (const auto count = whole_in_word(first_word(*ranks)); count && *count < 10'000'000) {
      facts.ranks = static_cast<int>(*count);
    }
  }
}

void read_settings(std::size_t number, std::string_view line, RunFacts& facts) {
  if (const auto value = after(line, " set by environment to ")) {
    const std::string_view before = line.substr(0, line.size() - value->size());
    const auto words = words_of(before.substr(0, before.find(" set by")));
    std::string_view text = clean(first_word(*value));
    text = text.substr(0, text.ends_with('.') ? text.size() - 1 : text.size());
    if (!words.empty() && words.back().starts_with("NCCL_")) {
      facts.settings[std::string(words.back())] = {.value = std::string(text), .line = number};
    }
    return;
  }
  // `-x NCCL_ALGO=Ring`, `NCCL_ALGO=Ring ./all_reduce_perf`, `export NCCL_ALGO=Ring`
  for (std::size_t at = line.find("NCCL_"); at != std::string_view::npos; at = line.find("NCCL_", at + 1)) {
    const std::string_view rest = line.substr(at);
    const auto end = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_of_setting) - rest.begin());
    if (end >= rest.size() || rest[end] != '=' || (at > 0 && is_of_setting(line[at - 1]))) {
      continue;
    }
    std::string_view value = clean(rest.substr(end + 1));
    value = value.substr(0, value.find_first_of(" \t\r;'"));
    if (!value.empty()) {
      facts.settings[std::string(rest.substr(0, end))] = {.value = std::string(value), .line = number};
    }
  }
}

void read_end(std::size_t number, std::string_view line, RunFacts& facts) {
  constexpr std::size_t kShown = 160;
  const auto fail = [&](std::string_view text) {
    const std::string_view shown = clean(text.substr(0, kShown));
    facts.failures[number] =
        fmt::format("line {}: {}", number, shown.substr(0, shown.find_last_not_of(" \t\r") + 1));
  };
  if (contains(line, "nThread") && contains(line, "nGpus")) {
    ++facts.runs;
  } else if (contains(line, "Avg bus bandwidth")) {
    ++facts.average_lines;
  } else if (const std::size_t bounds = line.find("Out of bounds values"); bounds != std::string_view::npos) {
    ++facts.bounds_lines;
    if (contains(line, "FAILED")) {
      fail(line.substr(bounds));
    }
  } else if (contains(line, "Test NCCL failure") || contains(line, "Test CUDA failure") ||
             (contains(line, "NCCL WARN") && contains(line, "Got completion"))) {
    const std::size_t test = line.find("Test ");
    fail(line.substr(test == std::string_view::npos ? line.find("NCCL WARN") : test));
  }
}

void read_line(std::size_t number, std::string_view line, RunFacts& facts) {
  read_end(number, line, facts);
  if (contains(line, " Rank") && contains(line, " device ")) {
    read_rank(line, facts);
  }
  if (contains(line, "NCCL")) {
    if (contains(line, "NCCL INFO") || contains(line, "NCCL WARN")) {
      read_info(number, line, facts);
    }
    if (contains(line, "NCCL_")) {
      read_settings(number, line, facts);
    }
    if (const auto version = after(line, "NCCL version "); version && !facts.nccl) {
      const std::string_view word = first_word(*version);
      facts.nccl = std::string(word.substr(0, word.find_first_not_of("0123456789.")));
    }
  }
}

}  // namespace

RunFacts read_run_facts(std::string_view text) {
  RunFacts facts;
  std::string blanks;
  each_line_of(text, [&](std::size_t number, std::string_view line) {
    read_line(number, without_tabs(line, blanks), facts);
  });
  return facts;
}

}  // namespace ringside
