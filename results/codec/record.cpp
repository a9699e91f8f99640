#include "results/codec/record.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "results/codec/field_table.hpp"

namespace ringside {
namespace {

constexpr const char* kTag = "record";

Json parse_json(std::string_view line) {
  try {
    return Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw bad_input("is not JSON (at byte {})", error.byte);
  } catch (const Json::exception&) {
    throw bad_input("holds a number that no double can hold");
  }
}

/// Nothing else of another schema can be trusted to mean what it says.
void refuse_other_schema(const JsonPlace& header) {
  const JsonPlace schema = header.required_member("schema");
  if (const std::string text = Codec<std::string>::read(schema, {}); text != kSchema) {
    schema.reject(fmt::format("is '{}', this version reads '{}'", text, kSchema));
  }
}

template <typename Kind>
std::string line_of(const Kind& record) {
  JsonWriter json;
  write_tagged(json, kTag, record);
  return with_directions_spelt(json.take());
}

}  // namespace

std::string to_line(const Record& record) {
  return std::visit([](const auto& value) { return line_of(value); }, record);
}

std::string to_line(const Point& point) { return line_of(point); }

std::optional<Record> parse_record(std::string_view line) {
  const Json json = parse_json(line);
  const JsonPlace place(json);
  const std::string kind = Codec<std::string>::read(place.required_member(kTag), {});
  if (kind == field_table<RunHeader>().record) {
    refuse_other_schema(place);
  }
  return Tagged<Record>::read(place, kind);
}

bool is_json(std::string_view line) { return Json::accept(line); }

std::string timestamp(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

}  // namespace ringside
