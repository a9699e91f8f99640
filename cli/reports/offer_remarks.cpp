#include "cli/reports/offer_remarks.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/console.hpp"

namespace ringside::cli {

void add_remarks(const std::string& offer, const std::vector<std::string>& sentences,
                 std::vector<Remark>& remarks) {
  for (const std::string& sentence : sentences) {
    remarks.push_back({offer, sentence});
  }
}

std::string SharedRemark::named() const {
  return offers.size() > 1 ? fmt::format("{} and {} more", offers.front(), offers.size() - 1)
                           : offers.front();
}

std::vector<SharedRemark> shared(const std::vector<Remark>& remarks) {
  std::vector<SharedRemark> all;
  std::map<std::string, std::size_t> places;
  for (const Remark& remark : remarks) {
    const auto [place, is_new] = places.emplace(remark.sentence, all.size());
    if (is_new) {
      all.push_back({.sentence = remark.sentence});
    }
    all[place->second].offers.push_back(remark.offer);
  }
  return all;
}

std::vector<std::string> distinct(const std::vector<std::string>& sentences) {
  std::vector<std::string> kept;
  for (const std::string& sentence : sentences) {
    if (std::ranges::find(kept, sentence) == kept.end()) {
      kept.push_back(sentence);
    }
  }
  return kept;
}

void print_block(std::string_view title, const std::vector<Remark>& remarks) {
  constexpr std::size_t kMostNames = 3;
  if (remarks.empty()) {
    return;
  }
  print_line();
  print_line(title);
  for (const SharedRemark& remark : shared(remarks)) {
    std::vector<std::string> names = distinct(remark.offers);
    if (names.size() > kMostNames) {
      const std::size_t more = names.size() - kMostNames;
      names.resize(kMostNames);
      names.push_back(fmt::format("{} more", more));
    }
    print_line("  {} [{}]", remark.sentence, fmt::join(names, "; "));
  }
}

void print_first(std::string_view title, const std::vector<std::string>& sentences, std::size_t most,
                 const std::string& file) {
  for (std::size_t i = 0; i < std::min(sentences.size(), most); ++i) {
    print_line("{}: {}", title, sentences[i]);
  }
  if (sentences.size() > most) {
    print_line("{}: {} more in {}", title, sentences.size() - most, file);
  }
}

}  // namespace ringside::cli
