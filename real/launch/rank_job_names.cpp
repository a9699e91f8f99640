#include "real/launch/rank_job_names.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/spellings.hpp"

namespace ringside {

template <>
struct Spellings<AnswerKind> {
  static constexpr std::array kTable = {
      Spelling<AnswerKind>{AnswerKind::alive, "alive"},
      Spelling<AnswerKind>{AnswerKind::done, "done"},
      Spelling<AnswerKind>{AnswerKind::failed, "failed"},
  };
};

template <>
struct Spellings<ErrorKind> {
  static constexpr std::array kTable = {
      Spelling<ErrorKind>{ErrorKind::bad_input, "bad_input"},
      Spelling<ErrorKind>{ErrorKind::environment, "environment"},
      Spelling<ErrorKind>{ErrorKind::peer_lost, "peer_lost"},
      Spelling<ErrorKind>{ErrorKind::failed, "failed"},
  };
};

std::string_view name(AnswerKind kind) { return spelling_of(kind); }
std::string_view name(ErrorKind kind) { return spelling_of(kind); }

template std::vector<std::string> names_of<AnswerKind>();
template std::vector<std::string> names_of<ErrorKind>();
template std::optional<AnswerKind> parse_name<AnswerKind>(std::string_view);
template std::optional<ErrorKind> parse_name<ErrorKind>(std::string_view);

}  // namespace ringside
