#include "scenario/machine/named_machine.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "common/mapped.hpp"
#include "common/names.hpp"
#include "common/numbers.hpp"
#include "common/text.hpp"
#include "scenario/machine/machine_file.hpp"
#include "scenario/scenario.hpp"
#include "scenario/yaml/document.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThis = "this";

bool is_yaml(const fs::path& file) { return file.extension() == ".yaml" || file.extension() == ".yml"; }

/// A folder that cannot be listed has no names to offer: that is no error of its own.
std::vector<fs::path> yaml_files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (is_yaml(entry.path())) {
      files.push_back(entry.path());
    }
  }
  return files;
}

/// Machines that a text may mean, by the file's name without its ending.
struct Candidates {
  std::map<std::string, fs::path> named = {};      ///< Those that come with the program.
  std::map<std::string, std::string> nearby = {};  ///< Files around the scenario, as it would name them.
};

Candidates candidates_for(const std::string& text, const fs::path& scenario_folder,
                          const std::optional<fs::path>& machines) {
  Candidates candidates;
  if (machines) {
    for (const fs::path& file : yaml_files_in(*machines)) {
      candidates.named.emplace(file.stem().string(), file);
    }
  }
  for (const fs::path& below :
       {fs::path(text).parent_path(), fs::path("../machines"), fs::path("machines")}) {
    if (!below.empty()) {
      for (const fs::path& file : yaml_files_in(scenario_folder / below)) {
        candidates.nearby.emplace(file.stem().string(),
                                  (below / file.filename()).lexically_normal().string());
      }
    }
  }
  return candidates;
}

/// What to write instead of `text`: the names that start with it, else those that contain it, else the one
/// that is spelt most alike. Names are compared without their folder and ending, which people leave out.
std::vector<std::string> suggestions(const Candidates& candidates, const std::string& text) {
  constexpr std::size_t kShortestPart = 3;
  std::map<std::string, std::string> written = {{std::string(kThis), std::string(kThis)}};
  for (const auto& [name, file] : candidates.named) {
    written.emplace(lower(name), name);
  }
  for (const auto& [name, file] : candidates.nearby) {
    written.emplace(lower(name), file);
  }
  const fs::path file_name = fs::path(text).filename();
  const std::string asked = lower(is_yaml(file_name) ? file_name.stem().string() : file_name.string());
  std::vector<std::string> names;
  std::vector<std::string> starting;
  std::vector<std::string> containing;
  for (const auto& [name, what] : written) {
    names.push_back(name);
    const std::size_t at = asked.size() < kShortestPart ? std::string::npos : name.find(asked);
    if (at != std::string::npos) {
      (at == 0 ? starting : containing).push_back(what);
    }
  }
  if (!starting.empty() || !containing.empty()) {
    return starting.empty() ? containing : starting;
  }
  const auto near = nearest_name(asked, names);
  return near ? std::vector{written.at(*near)} : std::vector<std::string>{};
}

/// The first files that lie around; nothing when there are none.
std::string listed(const Candidates& candidates) {
  constexpr std::size_t kMaxOffered = 12;
  std::vector<std::string> all =
      mapped<std::string>(candidates.nearby, [](const auto& it) { return it.second; });
  const bool cut = all.size() > kMaxOffered;
  all.resize(std::min(all.size(), kMaxOffered));
  return all.empty() ? "" : fmt::format(" There are {}{}.", fmt::join(all, ", "), cut ? ", …" : "");
}

/// `; did you mean 'p4d.24xlarge' or 'p4de.24xlarge'?`, or a full stop.
std::string did_you_mean(std::vector<std::string> names) {
  constexpr std::size_t kMostOffered = 6;
  if (names.empty()) {
    return ".";
  }
  const std::size_t more = names.size() - std::min(names.size(), kMostOffered);
  names.resize(names.size() - more);
  return fmt::format("; did you mean '{}'{}?", fmt::join(names, "', '"),
                     more > 0 ? fmt::format(" or one of {} more", more) : "");
}

/// `machine` is `text` without its number of nodes.
std::string no_such_machine(const Candidates& candidates, const std::string& text,
                            const std::string& machine) {
  return fmt::format(
      "{} is neither a file, nor the name of a machine, nor `this`{}{}{} One that is not listed is described "
      "by hand, "
      "such as {{gpus_per_node: 8, gpu: {{model: RTX 4090}}, intra: {{kind: pcie, generation: 4, lanes: "
      "16}}}}",
      in_quotes(text), did_you_mean(suggestions(candidates, machine)), listed(candidates),
      !candidates.named.empty() ? " `ringside list machines` lists names."
                                : " The machines that come with ringside (configs/machines) are not here.");
}

/// Several nodes of a machine whose file describes one.
void multiply(Reader& reader, const Value& value, int count, std::optional<Machine>& machine) {
  if (machine->nodes > 1) {
    reader.fail(value, "{} is a machine of {} nodes already; name it without a number",
                in_quotes(machine->name), machine->nodes);
  } else if (!machine->inter) {
    reader.fail(value, "{} does not say what connects its nodes (`inter`), so there can be one only",
                in_quotes(machine->name));
  } else {
    machine->name = fmt::format("{} × {}", count, machine->name);
    machine->nodes = count;
    if (machine->price) {
      machine->price->per_hour *= count;
    }
    return;
  }
  machine.reset();
}

/// The maps of a machine that a key without a dot is looked for in, nearest first.
constexpr std::array<std::string_view, 4> kMaps = {"intra", "inter", "calibrated", "software"};

/// Keys that stand at the top of a machine file.
constexpr std::array<std::string_view, 4> kTopLevel = {"nodes", "gpus_per_node", "ring_order", "known"};

std::string map_of(const YAML::Node& root, std::string_view key) {
  for (const std::string_view top : kTopLevel) {
    if (top == key) {
      return {};
    }
  }
  for (const std::string_view map : kMaps) {
    const YAML::Node node = root[std::string(map)];
    if (node.IsDefined() && node.IsMap() && node[std::string(key)].IsDefined()) {
      return std::string(map);
    }
  }
  // Not there yet: `intra` answers, if only with the nearest key that it knows.
  return root["intra"].IsDefined() ? "intra" : "";
}

}  // namespace

Counted counted(const std::string& text) {
  std::string_view rest = text;
  const std::optional<int> count = take_number<int>(rest);
  for (const std::string_view times : {" x ", " × ", "x ", "× "}) {
    if (count && *count >= 1 && *count <= kMaxRanks && rest.starts_with(times)) {
      return {.count = *count, .what = std::string(rest.substr(times.size()))};
    }
  }
  return {.count = 1, .what = text};
}

std::optional<std::string> name_of_machine(const std::string& text, const std::vector<std::string>& names) {
  constexpr std::string_view kAzure = "standard_";
  const std::string asked = lower(text);
  std::vector<std::string> sizes;
  for (const std::string& name : names) {
    if (lower(name) == asked) {
      return name;
    }
    if (const std::string size = lower(name);
        size == std::string(kAzure) + asked || size.starts_with(fmt::format("{}{}_", kAzure, asked))) {
      sizes.push_back(name);
    }
  }
  return sizes.size() == 1 ? std::optional(sizes.front()) : std::nullopt;
}

std::string machine_form() {
  return "a name of `ringside list machines`, a machine file such as `../machines/custom.yaml`, a map, or "
         "`this`";
}

std::optional<Machine> read_named_machine(Reader& reader, const Value& value,
                                          const std::optional<fs::path>& machines) {
  const auto text = reader.scalar(value, machine_form());
  if (!text || *text == kThis) {
    return std::nullopt;
  }
  const fs::path folder = fs::path(reader.file()).parent_path();
  const std::vector<std::string> algorithms(reader.algorithms().begin(), reader.algorithms().end());
  const auto read = [&](const fs::path& file) {
    return read_machine_file(file, file.lexically_normal().string(), reader.problems(), algorithms);
  };
  const fs::path file = folder / *text;
  std::error_code ignored;
  if (!text->empty() && fs::is_directory(file, ignored)) {
    reader.fail(value, "{} is a directory; write {}", in_quotes(*text), machine_form());
    return std::nullopt;
  }
  if (!text->empty() && fs::exists(file, ignored)) {
    return read(file);
  }
  const Counted nodes = counted(*text);
  const Candidates candidates = candidates_for(nodes.what, folder, machines);
  const std::vector<std::string> names = mapped(candidates.named, [](const auto& it) { return it.first; });
  const auto name = name_of_machine(nodes.what, names);
  if (!name) {
    reader.fail(value, no_such_machine(candidates, *text, nodes.what));
    return std::nullopt;
  }
  auto machine = read(candidates.named.at(*name));
  if (machine && nodes.count > 1) {
    multiply(reader, value, nodes.count, machine);
  }
  return machine;
}

Machine with_value(const Machine& machine, const KeyOverride& override) {
  const std::string_view key = override.key;
  YAML::Node root = YAML::Load(to_yaml(machine));
  const std::size_t dot = key.find('.');
  const std::string map = dot == std::string_view::npos ? map_of(root, key) : std::string(key.substr(0, dot));
  const std::string leaf(dot == std::string_view::npos ? key : key.substr(dot + 1));
  const YAML::Node parsed = parse_value(override.value, override.origin);
  if (map.empty()) {
    root[leaf] = parsed;
  } else {
    root[map][leaf] = parsed;
  }
  YAML::Emitter out;
  out << root;
  std::vector<Problem> problems;
  std::optional<Machine> changed;
  if (const auto document = parse_document(override.origin, out.c_str(), problems)) {
    Reader reader(*document, problems);
    changed = read_machine(reader, reader.root(), machine.name);
  }
  if (!changed) {
    report(problems, override.key, override.origin);
    for (Problem& problem : problems) {
      problem.position = {};  // The position is one in a text that the user has never seen.
    }
    throw_problems(std::move(problems));
  }
  changed->origin = machine.origin;
  return std::move(*changed);
}

}  // namespace ringside
