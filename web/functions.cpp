// What JavaScript calls, and what a browser does instead of a module that is native.

#include <exception>
#include <string>

#include <nlohmann/json.hpp>

#include "common/error.hpp"
#include "common/parallel.hpp"
#include "results/codec/page_records.hpp"
#include "web/answers.hpp"

namespace ringside {

/// A page has one thread.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  for (std::size_t i = 0; i < count; ++i) {
    work(i);
  }
}

/// Nor does it read a report.
std::string_view records_in(std::string_view text) { return text; }

}  // namespace ringside

/// JSON in, JSON out, which stays until the next call. What goes wrong is `{"error": …, "status": …}`, in the
/// words of the program.
extern "C" const char* ringside_answer(const char* question) {
  static std::string text;
  nlohmann::ordered_json answer;
  try {
    answer = ringside::web::answer(nlohmann::json::parse(question));
  } catch (const ringside::Error& error) {
    answer = {{"error", error.what()}, {"status", ringside::exit_status(error.kind())}};
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}, {"status", ringside::kExitBug}};
  }
  text = answer.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return text.c_str();
}
