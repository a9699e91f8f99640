#include "sim/mpi/rules.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "common/failures.hpp"
#include "schedule/registry.hpp"

namespace ringside {

extern const char* const kMpiRulesText;

namespace {

/// By ranks and then by the number of bytes below which it is chosen, each as a least or most number.
struct Table {
  bool of_part = false;
  std::string only = {};  ///< From this version on, or where the library's name has this word.
  std::map<int, std::map<std::int64_t, std::string>> words = {};

  const std::string& at(int ranks, std::int64_t bytes) const {
    const auto above = words.upper_bound(ranks);
    const auto& row = above == words.begin() ? above->second : std::prev(above)->second;
    return row.upper_bound(of_part ? bytes / ranks : bytes)->second;
  }
};

using Tables = std::map<std::string, Table>;

struct Library {
  double oldest = 0;
  double newest = 0;
  std::string name = {};
  Tables tables = {};
  std::map<std::string, std::map<std::string, int>> numbers = {};
};

struct Parts {
  std::int64_t segment = 0;
  std::vector<std::string> words = {};
};

struct Rules {
  std::map<std::string, Library> libraries = {};
  std::map<std::string, Parts> parts = {};  ///< By "COLLECTIVE NAME".
  Tables predicted = {};                    ///< Likewise.
};

/// "4K" or "12".
std::int64_t bytes_of(const std::string& text) {
  const char unit = text.back();
  return std::stoll(text) << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

/// "<4K" or "else".
std::int64_t limit_of(const std::string& text) {
  return text == "else" ? std::numeric_limits<std::int64_t>::max() : bytes_of(text.substr(1));
}

std::pair<std::string, std::string> cut_at(const std::string& text, char sign) {
  const std::size_t place = text.find(sign);
  return place == std::string::npos ? std::pair(text, std::string())
                                    : std::pair(text.substr(0, place), text.substr(place + 1));
}

Rules read_rules() {
  Rules rules;
  Table* table = nullptr;
  std::istringstream text(kMpiRulesText);
  for (std::string all; std::getline(text, all);) {
    std::istringstream line(all);
    std::string first;
    std::string word;
    std::string collective;
    line >> first >> word;
    if (first == "library") {
      Library& library = rules.libraries[word];
      line >> library.oldest >> library.newest >> std::ws;
      std::getline(line, library.name);
    } else if (first == "numbers") {
      line >> collective;
      for (std::string pair; line >> pair;) {
        const auto [name, number] = cut_at(pair, ':');
        rules.libraries.at(word).numbers[collective][name] = std::stoi(number);
      }
    } else if (first == "table") {
      std::string counted;
      line >> collective >> counted;
      table = &rules.libraries.at(word).tables[collective];
      table->of_part = counted == "part";
      line >> table->only;
    } else if (first == "parts") {
      std::string name;
      std::string segment;
      line >> name >> segment;
      Parts& parts = rules.parts[word + ' ' + name];
      parts.segment = bytes_of(segment);
      for (std::string part; line >> part;) {
        parts.words.push_back(part);
      }
    } else if (first == "predicted") {
      std::string name;
      line >> name;
      table = &rules.predicted[word + ' ' + name];
    } else if (!first.empty() && first.front() != '#') {
      RINGSIDE_CHECK(table != nullptr, "rows stand below their table");
      do {
        const auto [limit, name] = cut_at(word, ':');
        table->words[std::stoi(first)][limit_of(limit)] = name;
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

/// As in Table::only.
bool holds(const std::string& only, const std::string& text, double version) {
  const bool is_version = !only.empty() && std::isdigit(static_cast<unsigned char>(only.front())) != 0;
  return is_version ? version >= std::stod(only) : text.find(only) != std::string::npos;
}

/// By the table of the place where the ranks are, if there is one that does not leave it to the general one.
std::string word_in(const Library& library, const std::string& text, double version, const MpiCall& call) {
  const std::string collective(name(call.collective));
  std::vector<std::string> places = {""};
  if (call.ranks_per_node >= call.ranks) {
    places = {"_node", ""};
  } else if (call.ranks_per_node > 1) {
    places = {call.ranks % call.ranks_per_node == 0 ? "_full_nodes" : "_nodes", "_nodes", ""};
  }
  for (const std::string& place : places) {
    for (const char* of_binary : {"_binary", ""}) {
      const auto table = library.tables.find(collective + place + of_binary);
      if (table == library.tables.end() || !holds(table->second.only, text, version) ||
          (*of_binary != 0 && !is_binary(call.ranks))) {
        continue;
      }
      if (std::string word = table->second.at(call.ranks, call.bytes.value); word != "flat") {
        return word;
      }
      break;
    }
  }
  throw bad_input("{}'s rules for {} are not modelled", library.name, collective);
}

/// What runs instead where the chosen algorithm cannot: coll_base_allreduce.c, coll_base_reduce.c and
/// coll_base_allgather.c in Open MPI, conditions on the count in MPICH's generic.json.
std::string fallback(const std::string& word, const std::string& library, const MpiCall& call) {
  const std::int64_t elements = call.bytes.value / static_cast<std::int64_t>(size_of(call.dtype));
  const bool few = elements < static_cast<int>(std::bit_floor(static_cast<unsigned>(call.ranks)));
  if (call.collective == Collective::all_reduce) {
    if (word == "ring" && elements < call.ranks) {
      return "recursive_doubling";
    }
    if (word == "halving_doubling" && few) {
      return library == "mpich" ? "recursive_doubling" : "naive";
    }
  } else if (word == "reduce_scatter_gather" && few) {
    return library == "openmpi" ? "naive" : "binomial_tree";
  } else if (word == "recursive_doubling" && !is_binary(call.ranks)) {
    return "bruck";
  } else if (word == "neighbour_exchange" && call.ranks % 2 != 0) {
    return "ring";
  }
  return word;
}

const std::pair<const std::string, Library>& known_library(const std::string& text) {
  if (const std::size_t forced = text.find(" with "); forced != std::string::npos) {
    throw bad_input("{} decides which algorithm runs", text.substr(forced + 6));
  }
  const double version = version_in(text);
  for (const auto& known : rules().libraries) {
    const Library& library = known.second;
    if (text.starts_with(library.name) && version >= library.oldest && version <= library.newest) {
      return known;
    }
  }
  throw bad_input("the rules of '{}' are not known; known are Open MPI 4.1 to 5.0 and MPICH 4.0 to 5.0",
                  text);
}

/// The schedule of ours for a choice: the one of its name, or the one that it is predicted as.
MpiPart part_of(const MpiCall& call, const std::string& choice, MpiGroup group) {
  MpiPart part{.group = group, .ranks = call.ranks, .bytes = call.bytes};
  const auto predicted = rules().predicted.find(fmt::format("{} {}", name(call.collective), choice));
  const auto [whose, segment] = cut_at(
      predicted == rules().predicted.end() ? choice : predicted->second.at(call.ranks, call.bytes.value),
      '@');
  const auto [collective, ours] = cut_at(whose, '.');
  part.algorithm = ours.empty() ? &known_algorithm(call.collective, whose)
                                : &known_algorithm(*parse_name<Collective>(collective), ours);
  if (!segment.empty()) {
    const std::int64_t most = bytes_of(segment);
    part.segments = static_cast<int>(std::clamp<std::int64_t>((call.bytes.value + most - 1) / most, 1, 4096));
  }
  return part;
}

const Parts* parts_named(const MpiCall& call, const std::string& choice) {
  const auto found = rules().parts.find(fmt::format("{} {}", name(call.collective), choice));
  return found == rules().parts.end() ? nullptr : &found->second;
}

/// What `choice` is made of, down to schedules of ours. Tables from a version on (HAN's) are of all ranks,
/// not of parts.
void append_parts(const std::string& text, const MpiCall& call, const std::string& choice, MpiGroup group,
                  std::vector<MpiPart>& parts) {
  const Parts* made_of = parts_named(call, choice);
  if (made_of == nullptr) {
    parts.push_back(part_of(call, choice, group));
    return;
  }
  for (const std::string& word : made_of->words) {  // WHO:COLLECTIVE[/N][:TABLES|=OURS]
    const auto [who, what] = cut_at(word, ':');
    const auto [chosen_by, forced] = cut_at(what, '=');
    const auto [divided, tables] = cut_at(chosen_by, ':');
    const auto [collective, divisor] = cut_at(divided, '/');
    const int per_node = std::min(call.ranks, call.ranks_per_node);
    MpiGroup own = group;
    MpiCall part = call;
    part.collective = *parse_name<Collective>(collective);
    if (who == "node") {
      own = MpiGroup::node;
      part.ranks = per_node;
      if (part.collective == Collective::gather) {
        part.bytes.value = call.bytes.value * per_node / call.ranks;
      }
    } else if (who == "leaders") {
      own = MpiGroup::leaders;
      part.ranks = (call.ranks + per_node - 1) / per_node;
      part.ranks_per_node = 1;
    }
    part.bytes.value /= divisor.empty() ? 1 : std::stoi(divisor);
    const std::string asked = tables.empty() ? known_library(text).first : tables;
    append_parts(
        text, part,
        forced.empty() ? fallback(word_in(rules().libraries.at(asked), text, 0, part), asked, part) : forced,
        own, parts);
  }
}

}  // namespace

std::string mpi_choice(const std::string& text, const MpiCall& call) {
  const auto& [word, library] = known_library(text);
  return fallback(word_in(library, text, version_in(text), call), word, call);
}

MpiPlan mpi_plan(const std::optional<std::string>& library, const MpiCall& call) {
  if (!library) {
    throw Error(ErrorKind::bad_input,
                "MPI libraries choose each in their own way; say `software: {mpi: Open MPI 4.1.4}`");
  }
  MpiPlan plan{.choice = mpi_choice(*library, call), .parts = {}, .segment = call.bytes};
  const Parts* parts = parts_named(call, plan.choice);
  if (parts != nullptr && parts->segment > 0) {
    plan.segment = std::min(call.bytes, Bytes{parts->segment});
  }
  MpiCall segment = call;
  segment.bytes = plan.segment;
  append_parts(*library, segment, plan.choice, MpiGroup::all, plan.parts);
  return plan;
}

std::string predicted_as(const MpiPlan& plan) {
  const MpiPart& first = plan.parts.front();
  if (plan.parts.size() == 1 && plan.choice == first.algorithm->name) {
    return {};
  }
  std::string text;
  for (const MpiPart& part : plan.parts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name(part.algorithm->collective),
                        part.algorithm->name);
    text += part.group == MpiGroup::node      ? " in nodes"
            : part.group == MpiGroup::leaders ? " between nodes"
                                              : "";
  }
  return text;
}

std::map<std::string, int> mpi_numbers(const std::string& text, Collective collective) {
  const Library& library = known_library(text).second;
  const auto numbers = library.numbers.find(std::string(name(collective)));
  if (numbers == library.numbers.end()) {
    throw bad_input(
        "no file of rules is known that {} reads for {}; known is Open MPI's for "
        "all_reduce",
        text, name(collective));
  }
  return numbers->second;
}

std::vector<MpiSwitch> mpi_switches(const std::string& library, MpiCall call) {
  const auto at = [&](std::int64_t words) {
    call.bytes = {words * 4};
    const MpiPlan plan = mpi_plan(library, call);
    return MpiSwitch{.from = call.bytes, .algorithm = plan.choice, .predicted_as = predicted_as(plan)};
  };
  const auto same = [](const MpiSwitch& one, const MpiSwitch& other) {
    return one.algorithm == other.algorithm && one.predicted_as == other.predicted_as;
  };
  std::vector<MpiSwitch> switches = {at(1)};
  std::int64_t last = 1;
  for (std::int64_t power = 4; power <= 1 << 28; power *= 2) {
    for (const std::int64_t part : {4, 5, 6, 7}) {
      const std::int64_t words = power * part / 4;
      while (!same(at(words), switches.back())) {
        std::int64_t first = words;
        for (std::int64_t before = last; first - before > 1;) {
          const std::int64_t middle = (before + first) / 2;
          (same(at(middle), switches.back()) ? before : first) = middle;
        }
        switches.push_back(at(first));
        last = first;
      }
      last = words;
    }
  }
  return switches;
}

}  // namespace ringside
