#include "real/launch/message.hpp"

#include <nlohmann/json.hpp>

#include "common/failures.hpp"

namespace ringside {

std::string written_message(const std::function<void(JsonWriter&)>& write) {
  JsonWriter json;
  write(json);
  return json.take();
}

void read_message(std::string_view text, const std::function<void(const JsonPlace&)>& read) {
  // A message is whole JSON or it is none of ours: something else wrote to the rank's standard output.
  const auto refuse = [&](std::string_view why) {
    throw bad_input("this is no message between ringside and its ranks ({}): '{}'", why, text.substr(0, 200));
  };
  try {
    const Json json = Json::parse(text);
    read(JsonPlace(json));
  } catch (const Json::exception&) {
    refuse("it is not JSON");
  } catch (const Error& error) {
    refuse(error.what());
  }
}

}  // namespace ringside
