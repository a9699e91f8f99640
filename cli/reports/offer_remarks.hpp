#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What is said of offers. A listing may hold hundreds of which the same is to be said.
namespace ringside::cli {

struct Remark {
  std::string offer;
  std::string sentence;
};

void add_remarks(const std::string& offer, const std::vector<std::string>& sentences,
                 std::vector<Remark>& remarks);

/// A sentence of several offers.
struct SharedRemark {
  std::string sentence;
  std::vector<std::string> offers = {};  ///< As often as it was said of them.

  /// `two`, or `two and 3 more`.
  std::string named() const;
};

/// In the order in which they were first said.
std::vector<SharedRemark> shared(const std::vector<Remark>& remarks);

/// Each sentence once, the first few of them.
std::vector<std::string> distinct(const std::vector<std::string>& sentences);

/// A block: the title, and below it each sentence with the names of its offers. Nothing where there is none.
void print_block(std::string_view title, const std::vector<Remark>& remarks);

/// The first `most`, a line each behind the title, and how many more stand in `file`.
void print_first(std::string_view title, const std::vector<std::string>& sentences, std::size_t most,
                 const std::string& file);

}  // namespace ringside::cli
