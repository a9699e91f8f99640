#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "scenario/machine/machine.hpp"
#include "scenario/machine/named_machine.hpp"
#include "scenario/scenario.hpp"

/// What `ringside plan --gpus` and its `--known` name. All throw Error{bad_input} that names flag and part.
namespace ringside::study {

[[noreturn]] void reject_part(const std::string& flag, const std::string& text, const std::string& what);
template <typename Part, typename... Parts>
[[noreturn]] void reject_part(const std::string& flag, const std::string& text,
                              fmt::format_string<Part, Parts...> what, Part&& part, Parts&&... parts) {
  reject_part(flag, text, fmt::format(what, std::forward<Part>(part), std::forward<Parts>(parts)...));
}

/// `4x3090`, `4 x RTX 3090`, `4 × 3090` in its parts.
Counted counted(const std::string& text);

/// An entry of --known.
struct KnownPart {
  std::string text;     ///< As typed.
  std::string of = {};  ///< Before the colon.
  std::optional<double> samples_per_second = {};
  std::optional<Known> all_reduce = {};
  bool used = false;
};

/// `3090: 568 samples/s` or `4x3090: 88 MB in 15 ms`
KnownPart read_known_part(const std::string& text);

/// A part of --gpus as a plan has it.
struct NamedOffer {
  std::string text = {};  ///< As typed, without the price.
  std::string name = {};
  Machine machine = {};
  int gpus = 0;
  /// What the plan names instead of describing it: a machine of configs/machines, or a file.
  std::optional<std::string> reference = {};
  std::optional<std::string> price = {};  ///< As a plan writes it.
  /// What the machine's description does not show, whole sentences.
  std::vector<std::string> assumptions = {};
};

/// The offers of `4x3090, 8x4090 @ 2.77 USD, p4d.24xlarge`: GPUs on their board or in slots, or machines.
/// `bandwidth`: of the slot of every GPU that is in one. Known facts are added and marked as used.
std::vector<NamedOffer> named_offers(const std::string& gpus, const std::optional<std::string>& bandwidth,
                                     std::vector<KnownPart>& known_parts, const KnownNames& known);

}  // namespace ringside::study
