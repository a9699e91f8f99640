#include "scenario/yaml/document.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include "common/failures.hpp"
#include "common/text.hpp"
#include "results/codec/reader.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMaxFileSize = std::size_t{16} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Offset of the first byte that no text file holds.
std::optional<std::size_t> first_binary_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool control = byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    const std::size_t length = character_length(text.substr(at));
    if (control || length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

std::vector<std::size_t> line_starts_of(std::string_view text) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    starts.push_back(at + 1);
  }
  return starts;
}

std::vector<std::size_t> continuations_of(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) {
      offsets.push_back(at);
    }
  }
  return offsets;
}

/// The first tab that indents something. YAML forbids it, and yaml-cpp's own message depends on what follows.
std::optional<Position> tab_in_indentation(std::string_view text,
                                           const std::vector<std::size_t>& line_starts) {
  for (std::size_t line = 0; line < line_starts.size(); ++line) {
    const std::string_view rest = text.substr(line_starts[line]);
    const std::size_t content = rest.find_first_not_of(" \t");
    // Not beyond the indentation: what follows may be megabytes, once for each line.
    const std::size_t tab = rest.substr(0, content).find('\t');
    if (tab != std::string_view::npos && content != std::string_view::npos &&
        std::string_view("\r\n#").find(rest[content]) == std::string_view::npos) {
      return Position{.line = static_cast<int>(line) + 1, .column = static_cast<int>(tab) + 1};
    }
  }
  return std::nullopt;
}

/// Remembers where documents start and where the last quoted text does.
class Landmarks final : public YAML::EventHandler {
 public:
  std::vector<YAML::Mark> documents;
  std::optional<YAML::Mark> last_quoted;

  void OnDocumentStart(const YAML::Mark& mark) override { documents.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    if (tag == "!") {
      last_quoted = mark;
    }
  }
  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}
  void OnMapEnd() override {}
};

Landmarks landmarks_of(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Landmarks landmarks;
  // Two are too many; text that cannot begin a value, such as a comma, would be found without end.
  while (landmarks.documents.size() < 2 && parser.HandleNextDocument(landmarks)) {
  }
  return landmarks;
}

/// Whether the quoted text that starts at the front of `text` ends. else yaml-cpp 0.7 takes the whole rest.
bool quote_ends(std::string_view text) {
  const char quote = text.front();
  if (quote != '"' && quote != '\'') {
    return true;
  }
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 == text.size() || text[at + 1] != quote) {
        return true;
      }
      ++at;
    }
  }
  return false;
}

/// The texts of yaml-cpp that do not say what to look for, with what usually is behind them.
std::string explained(const std::string& message) {
  struct Hint {
    std::string_view message;
    std::string_view hint;
  };
  constexpr std::array kHints = {
      Hint{"illegal map value", "check the indentation, and put text that holds ': ' in quotes"},
      Hint{"illegal map key", "check the indentation"},
      Hint{"end of map not found", "check the indentation"},
      Hint{"end of map flow not found", "a '}' or a comma is missing"},
      Hint{"end of sequence flow not found", "a ']' or a comma is missing"},
      Hint{"end of sequence not found", "check the indentation"},
      Hint{"unknown token", "put text that starts with @, %, ` or * in quotes"},
      Hint{"illegal flow end", "there is a '}' or ']' too many"},
  };
  for (const Hint& hint : kHints) {
    if (hint.message == message) {
      return fmt::format("is not valid YAML: {}; {}", message, hint.hint);
    }
  }
  return "is not valid YAML: " + message;
}

std::string_view spelt(YAML::NodeType::value type) {
  switch (type) {
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Scalar:
      return "a single value";
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
    case YAML::NodeType::Map:
      break;
  }
  return "empty";
}

/// Nobody reads more than this; a generated file can have a problem in each of a million lines.
constexpr std::size_t kMaxReported = 50;

/// What users wrote is quoted in messages; a line break in it must not start a line of its own.
std::string on_one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

std::string to_text(const Problem& problem) {
  std::string text = problem.file;
  if (problem.position.line > 0) {
    text += fmt::format(":{}:{}", problem.position.line, problem.position.column);
  }
  if (!problem.key.empty()) {
    text += ": " + problem.key;
  }
  return on_one_line(text + ": " + problem.what);
}

}  // namespace

Position Document::position(const YAML::Mark& mark) const {
  const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
  const auto column = static_cast<std::size_t>(std::max(mark.column, 0));
  if (line >= line_starts_.size()) {
    return {.line = static_cast<int>(line) + 1, .column = static_cast<int>(column) + 1};
  }
  const auto up_to = [&](std::size_t offset) {
    return std::lower_bound(continuations_.begin(), continuations_.end(), offset);
  };
  const auto continued = up_to(line_starts_[line] + column) - up_to(line_starts_[line]);
  return {.line = static_cast<int>(line) + 1,
          .column = static_cast<int>(column) + 1 - static_cast<int>(continued)};
}

std::optional<Document> parse_document(const std::string& file, std::string text,
                                       std::vector<Problem>& problems, bool ours) {
  const auto reject = [&](Position position, std::string what) {
    problems.push_back({.file = file, .position = position, .key = {}, .what = std::move(what)});
    return std::nullopt;
  };
  if (text.starts_with(kByteOrderMark)) {
    text.erase(0, kByteOrderMark.size());
  }
  if (const auto at = first_binary_byte(text)) {
    return reject({}, fmt::format("is not a YAML file: byte {} is 0x{:02x}, but YAML is UTF-8 text", *at,
                                  static_cast<unsigned char>(text[*at])));
  }
  Document document;
  document.file_ = file;
  document.text_ = std::move(text);
  document.line_starts_ = line_starts_of(document.text_);
  document.continuations_ = continuations_of(document.text_);
  if (const auto tab = tab_in_indentation(document.text_, document.line_starts_)) {
    return reject(*tab, "a tab indents this line; YAML takes spaces only");
  }
  try {
    const Landmarks landmarks = ours ? Landmarks() : landmarks_of(document.text_);
    if (landmarks.last_quoted) {
      const YAML::Mark& mark = *landmarks.last_quoted;
      const std::size_t offset =
          document.line_starts_[static_cast<std::size_t>(mark.line)] + static_cast<std::size_t>(mark.column);
      if (!quote_ends(std::string_view(document.text_).substr(offset))) {
        return reject(document.position(mark), "is not valid YAML: the quote that starts here does not end");
      }
    }
    if (landmarks.documents.size() > 1 && landmarks.documents[0].pos == landmarks.documents[1].pos) {
      return reject(document.position(landmarks.documents[0]),
                    "is not valid YAML: no value begins like this");
    }
    if (landmarks.documents.size() > 1) {
      return reject(document.position(landmarks.documents[1]),
                    "a second YAML document starts here; a file holds one (check the indentation if this is "
                    "meant to be "
                    "part of the first)");
    }
    document.root_ = YAML::Load(document.text_);
  } catch (const YAML::DeepRecursion& error) {
    return reject(document.position(error.mark), "is nested too deeply");
  } catch (const YAML::Exception& error) {
    return reject(document.position(error.mark), explained(error.msg));
  }
  if (!document.root_.IsMap()) {
    return reject({}, fmt::format("is {}; write a map of keys and values, such as `name: quickstart`",
                                  spelt(document.root_.Type())));
  }
  return document;
}

std::optional<Document> read_document(const std::filesystem::path& file, const std::string& shown,
                                      std::vector<Problem>& problems) {
  const auto reject = [&](std::string what) {
    problems.push_back(
        {.file = shown.empty() ? "''" : shown, .position = {}, .key = {}, .what = std::move(what)});
    return std::nullopt;
  };
  std::error_code status_error;
  const auto status = std::filesystem::status(file, status_error);
  if (!std::filesystem::exists(status)) {
    return reject(status_error && status.type() == std::filesystem::file_type::none
                      ? status_error.message()
                      : "there is no such file");
  }
  if (std::filesystem::is_directory(status)) {
    return reject("is a directory, not a YAML file");
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return reject("cannot be read; check its permissions");
  }
  std::string text = read_beyond(stream, kMaxFileSize);
  if (stream.bad()) {
    return reject("cannot be read");
  }
  if (text.size() > kMaxFileSize) {
    return reject(
        fmt::format("is larger than {} MiB, which no YAML file of ringside is", kMaxFileSize >> 20U));
  }
  return parse_document(shown, std::move(text), problems);
}

YAML::Node parse_value(const std::string& text, const std::string& origin) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& problem) {
    throw bad_input("{}: no value that YAML takes: {}", origin, problem.msg);
  }
}

void report(std::vector<Problem>& problems, std::string_view path, const std::string& origin) {
  for (Problem& problem : problems) {
    const std::string_view key = problem.key;
    const bool within = key.starts_with(path) && key.size() > path.size() &&
                        (key[path.size()] == '.' || key[path.size()] == '[');
    if (key == path || within) {
      problem = {.file = origin, .position = {}, .key = {}, .what = std::move(problem.what)};
    }
  }
}

void throw_problems(std::vector<Problem> problems) {
  RINGSIDE_CHECK(!problems.empty(), "an error without a problem");
  // Files stay in the order in which they were read: the one that the user named comes first.
  std::vector<std::string> files;
  for (const Problem& problem : problems) {
    if (std::ranges::find(files, problem.file) == files.end()) {
      files.push_back(problem.file);
    }
  }
  const auto place = [&](const Problem& problem) {
    const auto file = std::ranges::find(files, problem.file) - files.begin();
    return std::tuple(file, problem.position.line, problem.position.column);
  };
  std::ranges::stable_sort(problems, [&](const Problem& a, const Problem& b) { return place(a) < place(b); });

  // A key that several systems of a file share is read once for each.
  std::set<std::string> said;
  std::erase_if(problems, [&](const Problem& problem) { return !said.insert(to_text(problem)).second; });

  std::string text;
  for (std::size_t i = 0; i < std::min(problems.size(), kMaxReported); ++i) {
    text += (text.empty() ? "" : "\n") + to_text(problems[i]);
  }
  if (problems.size() > kMaxReported) {
    text += fmt::format("\n{}: and {} more problems", problems.back().file, problems.size() - kMaxReported);
  }
  throw Error(ErrorKind::bad_input, text);
}

}  // namespace ringside
