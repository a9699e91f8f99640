#include "import/anonymise.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "import/machine/run_facts.hpp"
#include "import/parts.hpp"

namespace ringside {
namespace {

/// Names that are replaced even inside of words: nothing else looks like them.
constexpr std::size_t kLongName = 6;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What stands for what, in the order in which it was found.
class Names {
 public:
  explicit Names(std::string_view kind) : kind_(kind) {}
  const std::string& of(std::string_view text) {
    const auto [found, fresh] = names_.try_emplace(std::string(text));
    if (fresh) {
      found->second = fmt::format("{}{}", kind_, names_.size());
    }
    return found->second;
  }
  const std::map<std::string, std::string>& all() const { return names_; }

 private:
  std::string_view kind_;
  std::map<std::string, std::string> names_;
};

std::string_view leading(std::string_view text, bool (*keeps)(char)) {
  return text.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(text, keeps) - text.begin()));
}

bool is_name(char c) { return is_word(c) || c == '-' || c == '.'; }

void find_hosts(std::string_view text, Names& hosts) {
  std::set<std::string> found = read_run_facts(text).hosts;
  // `node1:95583:95648 [4] NCCL INFO …`
  for (const std::string_view mark : {"NCCL INFO", "NCCL WARN"}) {
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      const std::size_t bracket = text.rfind(" [", at);
      if (bracket == std::string_view::npos || at - bracket > 12 || bracket == 0) {
        continue;
      }
      const std::size_t start = text.find_last_of(" \n\t>", bracket - 1) + 1;
      const std::string_view word = text.substr(start, bracket - start);
      const std::string_view host = word.substr(0, word.find(':'));
      if (std::ranges::count(word, ':') == 2 && host.size() > 1 &&
          leading(host, is_name).size() == host.size()) {
        found.emplace(host);
      }
    }
  }
  for (const std::string& host : found) {
    // A row's last word may be glued to a name in front of which nothing was printed.
    const bool glued = std::ranges::any_of(found, [&](const std::string& other) {
      return other.size() >= kLongName && other.size() < host.size() && host.ends_with(other);
    });
    if (host != "localhost" && !glued) {
      hosts.of(host);
    }
  }
  // The short name of a full one.
  const std::map<std::string, std::string> full = hosts.all();
  for (const auto& [host, replacement] : full) {
    if (const std::size_t dot = host.find('.');
        dot != std::string::npos && dot > 1 && !std::isdigit(static_cast<unsigned char>(host[0]))) {
      hosts.of(host.substr(0, dot));
    }
  }
}

void find_users(std::string_view text, Names& users) {
  for (const std::string_view mark : {"/home/", "/Users/", "/users/", "/home/users/"}) {
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      const std::string_view user = leading(text.substr(at + mark.size()), is_name);
      if (user.size() > 2 && user != "users" && user != "USER") {
        users.of(user);
      }
    }
  }
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    std::size_t start = at;
    while (start > 0 && is_name(text[start - 1])) {
      --start;
    }
    const std::string_view user = text.substr(start, at - start);
    const bool named =
        user.size() > 2 && std::isalpha(static_cast<unsigned char>(user[0])) != 0 && user != "root";
    if (named && at + 1 < text.size() && std::isalpha(static_cast<unsigned char>(text[at + 1])) != 0) {
      users.of(user);
    }
  }
}

/// How long the address at the start of the text is; 0 = there is none.
std::size_t ipv4_at(std::string_view text) {
  std::size_t at = 0;
  for (int group = 0; group < 4; ++group) {
    const std::string_view digits = leading(text.substr(at), [](char c) { return c >= '0' && c <= '9'; });
    if (digits.empty() || digits.size() > 3 || (digits.size() == 3 && digits > "255")) {
      return 0;
    }
    at += digits.size();
    if (group < 3 && (at >= text.size() || text[at++] != '.')) {
      return 0;
    }
  }
  return at < text.size() && (is_word(text[at]) || text[at] == '.') ? 0 : at;
}

std::size_t colons_at(std::string_view text) {
  const std::string_view run = leading(text, [](char c) { return is_hex(c) || c == ':'; });
  const auto colons = std::ranges::count(run, ':');
  const bool ends = run.size() == text.size() || !is_word(text[run.size()]);
  const bool ipv6 = run.size() > 3 && (contains(run, "::") || colons == 7) && colons >= 2;
  const bool mac = colons == 5 && run.size() == 17;
  return ends && (ipv6 || mac) ? run.size() : 0;
}

std::size_t uuid_at(std::string_view text) {
  constexpr std::size_t kLength = 40;  // GPU- and 32 digits in five groups
  if (!text.starts_with("GPU-") || text.size() < kLength) {
    return 0;
  }
  const std::string_view rest = leading(text.substr(4), [](char c) { return is_hex(c) || c == '-'; });
  return rest.size() == kLength - 4 ? kLength : 0;
}

/// The longest of the names that stands at the start of the text as a word of its own.
const std::pair<const std::string, std::string>* name_at(const Names& names, std::string_view text) {
  const std::pair<const std::string, std::string>* best = nullptr;
  for (const auto& entry : names.all()) {
    const bool stands = text.starts_with(entry.first) &&
                        (text.size() == entry.first.size() || !is_word(text[entry.first.size()]));
    if (stands && (best == nullptr || entry.first.size() > best->first.size())) {
      best = &entry;
    }
  }
  return best;
}

}  // namespace

std::string anonymised(std::string_view text) {
  Names hosts("host");
  Names users("user");
  Names addresses("address");
  find_hosts(text, hosts);
  find_users(text, users);
  std::string result;
  result.reserve(text.size());
  bool in_word = false;
  while (!text.empty()) {
    const bool may_start = !in_word && (is_word(text[0]) || text[0] == ':');
    const auto* name = in_word || may_start ? name_at(hosts, text) : nullptr;
    if (in_word && name != nullptr && name->first.size() < kLongName) {
      name = nullptr;
    }
    if (may_start && name == nullptr) {
      name = name_at(users, text);
    }
    const std::size_t address =
        may_start && name == nullptr ? std::max({ipv4_at(text), colons_at(text), uuid_at(text)}) : 0;
    const std::size_t length = name != nullptr ? name->first.size() : std::max<std::size_t>(address, 1);
    in_word = is_word(text[length - 1]);
    result += name != nullptr ? name->second
              : address > 0   ? addresses.of(text.substr(0, length))
                              : std::string(1, text[0]);
    text.remove_prefix(length);
  }
  return result;
}

}  // namespace ringside
