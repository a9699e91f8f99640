#include "cli/live/live_page.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/console.hpp"
#include "common/failures.hpp"
#include "plots/html/page.hpp"

namespace ringside::cli {
namespace {

/// The socket is its standard input; Ctrl-C is not for it, since the page still shows the last results.
pid_t start(const std::string& program, const std::string& title, int socket) {
  const pid_t process = ::fork();
  if (process == 0) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::setpgid(0, 0);
    ::dup2(socket, STDIN_FILENO);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    ::execl(program.c_str(), program.c_str(), title.c_str(), nullptr);
    ::_exit(1);
  }
  return process;
}

/// A server that is gone or stuck is no reason to end a run, or to wait.
void tell(int server, const nlohmann::ordered_json& what) {
  const std::string text = what.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  static_cast<void>(::send(server, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

}  // namespace

LivePage::LivePage(const std::string& title) {
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none).parent_path() / "ringside-live";
  plots::require_charts();
  std::array<int, 2> ends{};
  std::array<char, 100> address{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0) {
    to_server_ = FileDescriptor(ends[0]);
    const FileDescriptor theirs(ends[1]);
    server_ = start(program, title, theirs.number());
  }
  if (server_ < 0 || ::read(to_server_.number(), address.data(), address.size() - 1) <= 0) {
    throw lacking(
        "{} does not start; it is built where cpp-httplib is: install it (Debian: "
        "libcpp-httplib-dev), configure and build again",
        program.string());
  }
  print_error(fmt::format("Live, on this machine until the run ends: {}", address.data()));
}

LivePage::~LivePage() {
  to_server_.close();
  while (::waitpid(server_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

study::Observer LivePage::observer(const study::Observer& shown) const {
  const int to = to_server_.number();
  study::Observer both = shown;
  both.stage = [=](std::string_view what) {
    tell(to, {{"stage", what}, {"fraction", 0}, {"doing", ""}});
    shown.stage(what);
  };
  both.progress = [=](double fraction, std::string_view what) {
    tell(to, {{"fraction", fraction}, {"doing", what}});
    shown.progress(fraction, what);
  };
  both.journal = [=](const std::filesystem::path& file) {
    tell(to, {{"journal", std::filesystem::absolute(file).string()}});
  };
  return both;
}

}  // namespace ringside::cli
