#include "analysis/comparison/limit_sentences.hpp"

#include <fmt/format.h>

#include "common/error.hpp"
#include "common/text.hpp"

namespace ringside {
namespace {

std::string shared_link(const Limit& limit) {
  std::string sentence = fmt::format("{} flows share {}", limit.flows, limit.link);
  if (limit.crossings > limit.flows) {
    sentence += fmt::format(" ({} crossings)", limit.crossings);
  }
  if (limit.others) {
    sentence += "; other links of this kind are shared alike";
  }
  return sentence;
}

}  // namespace

std::string limit_sentence(const Limit& limit) {
  switch (limit.kind) {
    case Limit::Kind::shared_link:
      return shared_link(limit);
    case Limit::Kind::shared_cores:
      return fmt::format("{} ranks share {} CPU cores", limit.ranks, limit.cores);
    case Limit::Kind::contention:
      return fmt::format("probes show that simultaneous messages take {} as long as one alone",
                         factor_text(limit.factor, 1));
    case Limit::Kind::model:
      return limit.text;
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a limit has no sentence");
}

std::string limit_sentences(std::span<const Limit> limits) {
  std::string text;
  for (const Limit& limit : limits) {
    text += (text.empty() ? "" : "; ") + limit_sentence(limit);
  }
  return text;
}

}  // namespace ringside
