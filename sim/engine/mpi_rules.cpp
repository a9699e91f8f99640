#include "sim/engine/mpi_rules.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>

#include "common/error.hpp"
#include "schedule/registry.hpp"

namespace ringside {

extern const char* const kMpiRulesText;

namespace {

/// By ranks and then by the number of bytes below which it is chosen, each as a least or most number.
struct Table {
  bool of_part = false;
  std::map<int, std::map<std::int64_t, std::string>> words = {};
};

struct Library {
  double oldest = 0;
  double newest = 0;
  std::string name = {};
  std::map<std::string, Table> tables = {};
};

struct Rules {
  std::map<std::string, Library> libraries = {};
  std::map<std::string, MpiChoice> choices = {};
};

/// "<4K" or "else".
std::int64_t limit_of(const std::string& text) {
  if (text == "else") {
    return std::numeric_limits<std::int64_t>::max();
  }
  const std::int64_t unit = text.back() == 'K' ? 1 << 10 : text.back() == 'M' ? 1 << 20 : 1;
  return std::stoll(text.substr(1)) * unit;
}

std::string rest_of(std::istringstream& line) {
  std::string rest;
  std::getline(line >> std::ws, rest);
  return rest;
}

Rules read_rules() {
  Rules rules;
  Table* table = nullptr;
  std::istringstream text(kMpiRulesText);
  for (std::string all; std::getline(text, all);) {
    std::istringstream line(all);
    std::string first;
    std::string word;
    line >> first >> word;
    if (first == "library") {
      Library& library = rules.libraries[word];
      line >> library.oldest >> library.newest;
      library.name = rest_of(line);
    } else if (first == "algorithm") {
      MpiChoice& choice = rules.choices[word];
      line >> choice.ours;
      choice = {.word = word, .ours = choice.ours == "-" ? "" : choice.ours, .name = rest_of(line)};
    } else if (first == "table") {
      std::string collective;
      std::string counted;
      line >> collective >> counted;
      table = &rules.libraries.at(word).tables[collective];
      table->of_part = counted == "part";
    } else if (!first.empty() && first.front() != '#') {
      RINGSIDE_CHECK(table != nullptr, "rows stand below their table");
      do {
        const std::size_t colon = word.find(':');
        table->words[std::stoi(first)][limit_of(word.substr(0, colon))] = word.substr(colon + 1);
      } while (line >> word);
    }
  }
  return rules;
}

const Rules& rules() {
  static const Rules kRules = read_rules();
  return kRules;
}

/// 4.1 of "Open MPI v4.1.4"; 0 where there is no version.
double version_in(const std::string& text) {
  const std::size_t begin = text.find_first_of("0123456789");
  return begin == std::string::npos || text.find('.', begin) == std::string::npos
             ? 0
             : std::stod(text.substr(begin));
}

bool is_binary(int ranks) { return std::has_single_bit(static_cast<unsigned>(ranks)); }

std::string word_in(const Library& library, const MpiCall& call) {
  const std::string collective(name(call.collective));
  const auto binary = library.tables.find(collective + "_binary");
  const Table& table = binary != library.tables.end() && is_binary(call.ranks)
                           ? binary->second
                           : library.tables.at(collective);
  const auto above = table.words.upper_bound(call.ranks);
  const auto& row = above == table.words.begin() ? above->second : std::prev(above)->second;
  return row.upper_bound(call.bytes.value / (table.of_part ? call.ranks : 1))->second;
}

/// What runs instead where the chosen algorithm cannot: coll_base_allreduce.c and coll_base_allgather.c in
/// Open MPI, conditions on the count in MPICH's generic.json.
std::string fallback(const std::string& word, const std::string& library, const MpiCall& call) {
  const std::int64_t elements = call.bytes.value / static_cast<std::int64_t>(size_of(call.dtype));
  if (call.collective == Collective::all_reduce) {
    if (word == "ring" && elements < call.ranks) {
      return "doubling";
    }
    if (word == "rabenseifner" &&
        elements < static_cast<int>(std::bit_floor(static_cast<unsigned>(call.ranks)))) {
      return library == "mpich" ? "doubling" : "linear";
    }
  } else if (word == "doubling" && !is_binary(call.ranks)) {
    return "bruck";
  } else if (word == "neighbours" && call.ranks % 2 != 0) {
    return "ring";
  }
  return word;
}

/// Who answers before the tables do: HAN in Open MPI 5 on several nodes (coll_han_component.c, priority) and
/// MPICH's compositions (maint/tuning/coll/ch4/generic.json); empty where nobody does.
std::string before_tables(const std::string& library, double version, const MpiCall& call) {
  const bool several_nodes = call.ranks_per_node < call.ranks;
  if (library == "openmpi") {
    return version >= 5 && several_nodes ? "han" : "";
  }
  if (call.collective == Collective::all_gather) {
    return "";
  }
  return !several_nodes ? "release_gather" : call.ranks_per_node > 1 ? "by_node" : "";
}

}  // namespace

std::variant<MpiChoice, std::string> mpi_choice(const std::string& text, const MpiCall& call) {
  const double version = version_in(text);
  for (const auto& [word, library] : rules().libraries) {
    if (!text.starts_with(library.name) || version < library.oldest || version > library.newest) {
      continue;
    }
    if (!library.tables.contains(std::string(name(call.collective)))) {
      return fmt::format("{}'s rules for {} are not modelled", library.name, name(call.collective));
    }
    const std::string before = before_tables(word, version, call);
    return rules().choices.at(before.empty() ? fallback(word_in(library, call), word, call) : before);
  }
  return fmt::format("the rules of '{}' are not known; known are Open MPI 4.1 to 5.0 and MPICH 4.0 to 5.0",
                     text);
}

std::variant<const Algorithm*, std::string> mpi_native(const std::optional<std::string>& library,
                                                       const MpiCall& call) {
  if (!library) {
    return "what MPI does for its own collectives depends on the library; say `software: {mpi: …}`";
  }
  const std::variant<MpiChoice, std::string> outcome = mpi_choice(*library, call);
  if (const auto* reason = std::get_if<std::string>(&outcome)) {
    return *reason;
  }
  const auto& choice = std::get<MpiChoice>(outcome);
  if (choice.ours.empty()) {
    return fmt::format("{} chooses {}, which is none of our algorithms", *library, choice.name);
  }
  return &known_algorithm(call.collective, choice.ours);
}

std::variant<std::vector<MpiSwitch>, std::string> mpi_switches(const std::string& library, MpiCall call) {
  std::vector<MpiSwitch> switches;
  for (std::int64_t power = 4; power <= 1 << 30; power *= 2) {
    for (const std::int64_t part : {4, 5, 6}) {  // All limits are such numbers, times the ranks.
      call.bytes = {power * part / 16 * 4};
      const std::variant<MpiChoice, std::string> outcome = mpi_choice(library, call);
      if (const auto* reason = std::get_if<std::string>(&outcome)) {
        return *reason;
      }
      const auto& choice = std::get<MpiChoice>(outcome);
      if (switches.empty() || switches.back().choice.word != choice.word) {
        switches.push_back({.from = call.bytes, .choice = choice});
      }
    }
  }
  return switches;
}

}  // namespace ringside
