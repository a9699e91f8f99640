#include "scenario/machine/machine_file.hpp"

#include "common/error.hpp"
#include "scenario/keys.hpp"
#include "scenario/machine/machine_table.hpp"
#include "scenario/scenario.hpp"

namespace ringside {
namespace {

std::vector<std::string> algorithms_of(const KnownNames& known) {
  return known.algorithms == nullptr ? std::vector<std::string>{} : known.algorithms(Collective::all_reduce);
}

}  // namespace

std::optional<Machine> read_machine(Reader& reader, const Value& value, const std::string& default_name) {
  auto machine = read_map(reader, value, machine_table());
  if (machine) {
    machine->origin = reader.file();
    if (machine->name.empty()) {
      machine->name = default_name;
    }
  }
  return machine;
}

std::optional<Machine> read_machine_file(const std::filesystem::path& file, const std::string& shown,
                                         std::vector<Problem>& problems,
                                         const std::vector<std::string>& algorithms) {
  const auto document = read_document(file, shown, problems);
  if (!document) {
    return std::nullopt;
  }
  Reader reader(*document, problems, algorithms);
  return read_machine(reader, reader.root(), file.stem().string());
}

Machine load_machine(const std::filesystem::path& file, const KnownNames& known) {
  std::vector<Problem> problems;
  auto machine = read_machine_file(file, file.string(), problems, algorithms_of(known));
  if (!machine) {
    throw_problems(std::move(problems));
  }
  return std::move(*machine);
}

Machine parse_machine(const std::string& yaml, const std::string& origin) {
  std::vector<Problem> problems;
  const auto document = parse_document(origin, yaml, problems);
  std::optional<Machine> machine;
  if (document) {
    Reader reader(*document, problems);
    machine = read_machine(reader, reader.root(), origin);
  }
  if (!machine) {
    throw_problems(std::move(problems));
  }
  return std::move(*machine);
}

std::string to_yaml(const Machine& machine) {
  YAML::Emitter out;
  write_map(out, machine, machine_table());
  RINGSIDE_CHECK(out.good(), "a machine that cannot be written: " + out.GetLastError());
  return std::string(out.c_str()) + "\n";
}

std::vector<KeyDescription> machine_keys() { return keys_of(machine_table()); }

}  // namespace ringside
