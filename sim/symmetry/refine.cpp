#include "sim/symmetry/refine.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/numbers.hpp"

namespace ringside {

namespace {

/// Items are nodes 0 … num_items−1, moves the nodes behind them.
class Refinement {
 public:
  Refinement(const TouchGraph& graph, std::int32_t num_items)
      : graph_(graph),
        num_items_(num_items),
        num_nodes_(num_items + graph.num_moves()),
        colour_(at(num_nodes_)),
        signature_(at(num_nodes_)),
        dirty_(at(num_nodes_)) {
    // The edges of each item, by counting.
    back_first_.assign(at(num_items) + 1, 0);
    for (const std::int32_t item : graph.item) {
      ++back_first_[at(item) + 1];
    }
    for (std::size_t i = 1; i < back_first_.size(); ++i) {
      back_first_[i] += back_first_[i - 1];
    }
    back_move_.resize(graph.item.size());
    back_label_.resize(graph.item.size());
    std::vector<std::int32_t> next(back_first_.begin(), back_first_.end() - 1);
    for (std::int32_t move = 0; move < graph.num_moves(); ++move) {
      for (std::int32_t edge = graph.first[at(move)]; edge < graph.first[at(move) + 1]; ++edge) {
        const std::int32_t place = next[at(graph.item[at(edge)])]++;
        back_move_[at(place)] = num_items_ + move;
        back_label_[at(place)] = graph.label[at(edge)];
      }
    }
  }

  Colours run(const std::vector<std::uint64_t>& items, const std::vector<std::uint64_t>& moves) {
    colour_by_attribute(items, moves);
    for (std::int32_t node = 0; node < num_nodes_; ++node) {
      for_edges(node, [&](std::int32_t other, std::uint32_t label) {
        signature_[at(node)] += weight(label, colour_[at(other)]);
      });
      mark(node);
    }
    settled_.assign(size_.size(), 0);
    while (!dirty_nodes_.empty()) {
      split();
      spread();
    }
    return result();
  }

 private:
  struct Change {
    std::int32_t node = 0;
    std::int32_t before = 0;
  };

  static std::uint64_t weight(std::uint32_t label, std::int32_t colour) {
    return mixed(label, static_cast<std::uint64_t>(colour));
  }

  template <typename Visit>
  void for_edges(std::int32_t node, Visit visit) const {
    if (node < num_items_) {
      for (std::int32_t edge = back_first_[at(node)]; edge < back_first_[at(node) + 1]; ++edge) {
        visit(back_move_[at(edge)], back_label_[at(edge)]);
      }
      return;
    }
    const std::int32_t move = node - num_items_;
    for (std::int32_t edge = graph_.first[at(move)]; edge < graph_.first[at(move) + 1]; ++edge) {
      visit(graph_.item[at(edge)], graph_.label[at(edge)]);
    }
  }

  void colour_by_attribute(const std::vector<std::uint64_t>& items, const std::vector<std::uint64_t>& moves) {
    std::unordered_map<std::uint64_t, std::int32_t> colours;
    std::uint64_t last = 0;
    std::int32_t last_colour = -1;
    for (std::int32_t node = 0; node < num_nodes_; ++node) {
      const bool item = node < num_items_;
      const std::uint64_t key = mixed(item ? 1 : 2, item ? items[at(node)] : moves[at(node - num_items_)]);
      if (last_colour < 0 || key != last) {
        last = key;
        last_colour = colours.emplace(key, static_cast<std::int32_t>(colours.size())).first->second;
      }
      colour_[at(node)] = last_colour;
      size_.resize(std::max(size_.size(), at(last_colour) + 1));
      ++size_[at(last_colour)];
    }
  }

  void mark(std::int32_t node) {
    if (!dirty_[at(node)]) {
      dirty_[at(node)] = true;
      dirty_nodes_.push_back(node);
    }
  }

  /// Gives new colours to the nodes that no longer see the same as others of their colour. Those that see
  /// what all saw before, or else the largest group, keep the colour.
  void split() {
    changes_.clear();
    group_by_colour();
    std::size_t begin = 0;
    for (const std::int32_t colour : dirty_colours_) {
      const std::size_t end = at(dirty_of_[at(colour)]);
      dirty_of_[at(colour)] = 0;
      split_colour(colour, begin, end);
      begin = end;
    }
    for (const std::int32_t node : dirty_nodes_) {
      dirty_[at(node)] = false;
    }
    dirty_nodes_.clear();
    for (const Change& change : changes_) {
      std::swap(colour_[at(change.node)], new_colour_[at(change.node)]);
    }
  }

  /// Sorts dirty nodes by colour, by counting, and leaves the end of each group in `dirty_of_`.
  void group_by_colour() {
    dirty_of_.resize(size_.size(), 0);
    dirty_colours_.clear();
    for (const std::int32_t node : dirty_nodes_) {
      if (dirty_of_[at(colour_[at(node)])]++ == 0) {
        dirty_colours_.push_back(colour_[at(node)]);
      }
    }
    std::int32_t next = 0;
    for (const std::int32_t colour : dirty_colours_) {
      next += std::exchange(dirty_of_[at(colour)], next);
    }
    grouped_.resize(dirty_nodes_.size());
    for (const std::int32_t node : dirty_nodes_) {
      grouped_[at(dirty_of_[at(colour_[at(node)])]++)] = node;
    }
    std::swap(grouped_, dirty_nodes_);
  }

  void split_colour(std::int32_t colour, std::size_t begin, std::size_t end) {
    const auto signature = [this](std::int32_t node) { return signature_[at(node)]; };
    const auto first = dirty_nodes_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = dirty_nodes_.begin() + static_cast<std::ptrdiff_t>(end);
    const bool differ =
        std::any_of(first, last, [&](std::int32_t node) { return signature(node) != signature(*first); });
    if (differ) {
      std::sort(first, last, [&](std::int32_t a, std::int32_t b) {
        return signature(a) < signature(b) || (signature(a) == signature(b) && a < b);
      });
    }
    const bool all = end - begin == at(size_[at(colour)]);
    if (all) {
      settled_[at(colour)] = signature_[at(largest_group(begin, end))];
    }
    new_colour_.resize(colour_.size());
    std::int32_t given = colour;
    std::uint64_t of = settled_[at(colour)];
    for (std::size_t i = begin; i < end; ++i) {
      const std::int32_t node = dirty_nodes_[i];
      if (signature_[at(node)] == settled_[at(colour)]) {
        continue;
      }
      if (given == colour || signature_[at(node)] != of) {
        given = static_cast<std::int32_t>(size_.size());
        of = signature_[at(node)];
        size_.push_back(0);
        settled_.push_back(of);
      }
      ++size_[at(given)];
      --size_[at(colour)];
      new_colour_[at(node)] = given;
      changes_.push_back({.node = node, .before = colour});
    }
  }

  /// A node of the largest group with one signature.
  std::int32_t largest_group(std::size_t begin, std::size_t end) const {
    std::size_t best = begin;
    std::size_t most = 0;
    std::size_t first = begin;
    for (std::size_t i = begin; i <= end; ++i) {
      if (i == end || signature_[at(dirty_nodes_[i])] != signature_[at(dirty_nodes_[first])]) {
        if (i - first > most) {
          most = i - first;
          best = first;
        }
        first = i;
      }
    }
    return dirty_nodes_[best];
  }

  /// Tells the neighbours of what has changed colour.
  void spread() {
    for (const Change& change : changes_) {
      for_edges(change.node, [&](std::int32_t other, std::uint32_t label) {
        signature_[at(other)] += weight(label, colour_[at(change.node)]) - weight(label, change.before);
        mark(other);
      });
    }
  }

  Colours result() const {
    Colours colours{.of_item = std::vector<std::int32_t>(at(num_items_)),
                    .of_move = std::vector<std::int32_t>(at(graph_.num_moves()))};
    std::vector<std::int32_t> number(size_.size(), -1);
    for (std::int32_t node = 0; node < num_nodes_; ++node) {
      const bool item = node < num_items_;
      std::int32_t& counted = number[at(colour_[at(node)])];
      if (counted < 0) {
        counted = item ? colours.num_items++ : colours.num_moves++;
      }
      (item ? colours.of_item[at(node)] : colours.of_move[at(node - num_items_)]) = counted;
    }
    return colours;
  }

  const TouchGraph& graph_;
  std::int32_t num_items_;
  std::int32_t num_nodes_;
  std::vector<std::int32_t> back_first_;
  std::vector<std::int32_t> back_move_;
  std::vector<std::uint32_t> back_label_;
  std::vector<std::int32_t> colour_;
  std::vector<std::int32_t> new_colour_;  ///< What nodes become whose colour changes.
  std::vector<std::uint64_t> signature_;  ///< What a node sees: a sum over its edges.
  std::vector<std::int32_t> size_;        ///< Nodes of each colour.
  std::vector<std::uint64_t> settled_;    ///< The signature of all nodes of a colour that are not dirty.
  std::vector<bool> dirty_;
  std::vector<std::int32_t> dirty_nodes_;
  std::vector<std::int32_t> dirty_colours_;
  std::vector<std::int32_t> dirty_of_;  ///< By colour; 0 between passes.
  std::vector<std::int32_t> grouped_;
  std::vector<Change> changes_;
};

}  // namespace

Colours refine(const TouchGraph& graph, const std::vector<std::uint64_t>& item_attribute,
               const std::vector<std::uint64_t>& move_attribute) {
  return Refinement(graph, static_cast<std::int32_t>(item_attribute.size()))
      .run(item_attribute, move_attribute);
}

}  // namespace ringside
