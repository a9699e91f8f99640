#include "sim/nccl/transport.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <fmt/format.h>

#include "common/numbers.hpp"

namespace ringside {

namespace {

/// Where nothing is said: about as many rented hosts have CPUs of AMD as of others, and most containers of
/// the last two years hold NCCL 2.23.4 or later.
constexpr double kAmdCpu = 0.5;
constexpr double kRecentNccl = 0.6;

constexpr std::string_view kCpuQuestion = "is the CPU one of AMD's (an EPYC, a Threadripper)?";
constexpr std::string_view kCpuAnswer = "cpu: {vendor: amd} or {vendor: intel}";
constexpr std::string_view kVersionQuestion = "is it NCCL 2.23.4 or later?";
constexpr std::string_view kVersionAnswer = "software: {nccl: …}";

bool mentions(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

/// The probability that the rule of a version lets GPUs copy from one to the other.
double by_rule(bool recent, bool amd_cpu, int gpus) { return amd_cpu && (!recent || gpus <= 2) ? 1 : 0; }

std::string by_rule_because(bool recent, bool amd_cpu, int gpus) {
  if (!amd_cpu) {
    return "because NCCL copies from GPU to GPU only below one PCIe switch unless the CPU is AMD's";
  }
  if (!recent) {
    return "because NCCL before 2.23.4 copies from GPU to GPU at any distance on AMD's CPUs";
  }
  return gpus <= 2
             ? "because NCCL copies between two GPUs at any distance on AMD's CPUs"
             : "because NCCL from 2.23.4 on copies between more than two GPUs only below one PCIe switch";
}

}  // namespace

std::optional<bool> is_at_least(const std::string& version, int major, int minor, int patch) {
  std::array<int, 3> parts = {};
  std::string_view rest = version;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int> part = take_number<int>(rest);
    if (!part) {
      return std::nullopt;
    }
    parts[i] = *part;
    if (!rest.starts_with('.')) {
      // `2` alone says too little.
      return i == 0 ? std::nullopt : std::optional(parts >= std::array{major, minor, patch});
    }
    rest.remove_prefix(1);
  }
  return parts >= std::array{major, minor, patch};
}

std::optional<CpuVendor> cpu_vendor(const Machine& machine) {
  if (!machine.cpu) {
    return std::nullopt;
  }
  if (machine.cpu->vendor || !machine.cpu->model) {
    return machine.cpu->vendor;
  }
  struct Family {
    std::string_view word;
    CpuVendor vendor;
  };
  constexpr auto kFamilies = std::to_array<Family>({{"epyc", CpuVendor::amd},
                                                    {"threadripper", CpuVendor::amd},
                                                    {"ryzen", CpuVendor::amd},
                                                    {"opteron", CpuVendor::amd},
                                                    {"xeon", CpuVendor::intel},
                                                    {"intel", CpuVendor::intel},
                                                    {"grace", CpuVendor::arm},
                                                    {"graviton", CpuVendor::arm},
                                                    {"neoverse", CpuVendor::arm},
                                                    {"amd", CpuVendor::amd}});
  const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    return mentions(*machine.cpu->model, family.word);
  });
  return found != kFamilies.end() ? std::optional(found->vendor) : std::nullopt;
}

PcieTransport pcie_transport(const PcieQuestion& question) {
  if (question.stated) {
    return {.peer_to_peer = *question.stated ? 1.0 : 0.0, .why = "as the machine states"};
  }
  if (question.driver_allows == false) {
    return {.peer_to_peer = 0, .why = "because the vendor's driver refuses peer-to-peer on this card"};
  }
  if (question.amd_gpus) {
    return {.peer_to_peer = 1, .why = "as RCCL does by default"};
  }
  if (question.same_switch) {
    return {.peer_to_peer = 1, .why = "because all GPUs are below one PCIe switch"};
  }
  const std::optional<bool> since_2_23_4 =
      question.version ? is_at_least(*question.version, 2, 23, 4) : std::nullopt;
  const bool version_known = since_2_23_4.has_value();
  const bool recent = since_2_23_4.value_or(false);
  const bool cpu_known = question.cpu.has_value();
  const bool amd = question.cpu == CpuVendor::amd;
  if ((version_known && cpu_known) || (cpu_known && !amd) || (recent && question.gpus > 2)) {
    const bool is_recent = !version_known || recent;
    const bool is_amd = !cpu_known || amd;
    return {.peer_to_peer = by_rule(is_recent, is_amd, question.gpus),
            .why = by_rule_because(is_recent, is_amd, question.gpus)};
  }
  if (amd && question.gpus <= 2) {
    return {.peer_to_peer = 1, .why = by_rule_because(true, true, question.gpus)};
  }
  double probability = 0;
  for (const bool is_recent : {false, true}) {
    for (const bool is_amd : {false, true}) {
      if ((!version_known || recent == is_recent) && (!cpu_known || amd == is_amd)) {
        const double of_version = version_known ? 1 : is_recent ? kRecentNccl : 1 - kRecentNccl;
        const double of_cpu = cpu_known ? 1 : is_amd ? kAmdCpu : 1 - kAmdCpu;
        probability += of_version * of_cpu * by_rule(is_recent, is_amd, question.gpus);
      }
    }
  }
  // A recent version settles more than two GPUs whatever the CPU; for two only the CPU counts.
  const bool ask_version = !version_known && question.gpus > 2;
  return {.peer_to_peer = probability,
          .why = fmt::format("because NCCL's rule needs an answer that the description lacks: {}",
                             ask_version ? kVersionQuestion : kCpuQuestion),
          .question = std::string(ask_version ? kVersionQuestion : kCpuQuestion),
          .answer = std::string(ask_version ? kVersionAnswer : kCpuAnswer)};
}

}  // namespace ringside
