#include "sim/mpi/rules.hpp"

#include <bit>
#include <cstdint>
#include <limits>
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
  std::map<std::string, std::map<std::string, int>> numbers = {};
};

using Rules = std::map<std::string, Library>;

/// "<4K" or "else".
std::int64_t limit_of(const std::string& text) {
  if (text == "else") {
    return std::numeric_limits<std::int64_t>::max();
  }
  const std::int64_t unit = text.back() == 'K' ? 1 << 10 : text.back() == 'M' ? 1 << 20 : 1;
  return std::stoll(text.substr(1)) * unit;
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
      Library& library = rules[word];
      line >> library.oldest >> library.newest >> std::ws;
      std::getline(line, library.name);
    } else if (first == "numbers") {
      std::string collective;
      line >> collective;
      for (std::string pair; line >> pair;) {
        const std::size_t colon = pair.find(':');
        rules.at(word).numbers[collective][pair.substr(0, colon)] = std::stoi(pair.substr(colon + 1));
      }
    } else if (first == "table") {
      std::string collective;
      std::string counted;
      line >> collective >> counted;
      table = &rules.at(word).tables[collective];
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
      return "recursive_doubling";
    }
    if (word == "halving_doubling" &&
        elements < static_cast<int>(std::bit_floor(static_cast<unsigned>(call.ranks)))) {
      return library == "mpich" ? "recursive_doubling" : "naive";
    }
  } else if (word == "recursive_doubling" && !is_binary(call.ranks)) {
    return "bruck";
  } else if (word == "neighbour_exchange" && call.ranks % 2 != 0) {
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

const Rules::value_type& known_library(const std::string& text) {
  if (const std::size_t forced = text.find(" with "); forced != std::string::npos) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{} decides which algorithm runs", text.substr(forced + 6)));
  }
  static const Rules kRules = read_rules();
  const double version = version_in(text);
  for (const Rules::value_type& known : kRules) {
    const Library& library = known.second;
    if (text.starts_with(library.name) && version >= library.oldest && version <= library.newest) {
      return known;
    }
  }
  throw Error(
      ErrorKind::bad_input,
      fmt::format("the rules of '{}' are not known; known are Open MPI 4.1 to 5.0 and MPICH 4.0 to 5.0",
                  text));
}

}  // namespace

std::string mpi_choice(const std::string& text, const MpiCall& call) {
  const auto& [word, library] = known_library(text);
  if (!library.tables.contains(std::string(name(call.collective)))) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}'s rules for {} are not modelled", library.name, name(call.collective)));
  }
  const std::string before = before_tables(word, version_in(text), call);
  return before.empty() ? fallback(word_in(library, call), word, call) : before;
}

std::map<std::string, int> mpi_numbers(const std::string& text, Collective collective) {
  const Library& library = known_library(text).second;
  const auto numbers = library.numbers.find(std::string(name(collective)));
  if (numbers == library.numbers.end()) {
    throw Error(ErrorKind::bad_input,
                fmt::format("no file of rules is known that {} reads for {}; known is Open MPI's for "
                            "all_reduce",
                            text, name(collective)));
  }
  return numbers->second;
}

const Algorithm& mpi_native(const std::optional<std::string>& library, const MpiCall& call) {
  if (!library) {
    throw Error(ErrorKind::bad_input,
                "MPI libraries choose each in their own way; say `software: {mpi: Open MPI 4.1.4}`");
  }
  const std::string chosen = mpi_choice(*library, call);
  const Algorithm* ours = find_algorithm(call.collective, chosen);
  if (ours == nullptr) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{} chooses {}, which none of our algorithms does", *library, chosen));
  }
  return *ours;
}

std::vector<MpiSwitch> mpi_switches(const std::string& library, MpiCall call) {
  std::vector<MpiSwitch> switches;
  for (std::int64_t power = 4; power <= 1 << 30; power *= 2) {
    for (const std::int64_t part : {4, 5, 6}) {  // All limits are such numbers, times the ranks.
      call.bytes = {power * part / 16 * 4};
      const std::string algorithm = mpi_choice(library, call);
      if (switches.empty() || switches.back().algorithm != algorithm) {
        switches.push_back({.from = call.bytes, .algorithm = algorithm});
      }
    }
  }
  return switches;
}

}  // namespace ringside
