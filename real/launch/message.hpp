#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "real/launch/rank_task.hpp"
#include "results/codec/field_table.hpp"

/// What travels between a parent and its ranks: JSON on one line, by the field tables of the values.
namespace ringside {

/// The line without its end.
std::string written_message(const std::function<void(JsonWriter&)>& write);
/// Throws Error{bad_input} for text that is no such message.
void read_message(std::string_view text, const std::function<void(const JsonPlace&)>& read);

template <typename V>
std::string message_of(const V& value) {
  return written_message([&](JsonWriter& json) { Codec<V>::write(json, value); });
}

template <typename V>
V value_of(std::string_view message) {
  V value;
  read_message(message, [&](const JsonPlace& place) { value = Codec<V>::read(place, {}); });
  return value;
}

/// TaskKind::run by a function of values.
template <typename Request, typename Result,
          Result (*kWork)(const Request&, const RankBackend&, Coordination&)>
std::string run_task(const std::string& request, const RankBackend& backend, Coordination& coordination) {
  return message_of(kWork(value_of<Request>(request), backend, coordination));
}

}  // namespace ringside
