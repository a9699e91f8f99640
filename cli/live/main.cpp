// ringside-live TITLE, which `measure --live` starts (cli/live/live_page.cpp): serves the page of that run to
// this machine. Standard input is a socket to the run: the page's address goes there, JSON comes back.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/reports/html_report.hpp"
#include "common/error.hpp"
#include "real/system/posix.hpp"
#include "study/predict.hpp"

namespace ringside::cli {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

/// What the run has told so far, with this. The thread that reads and those that answer share it.
ordered_json told(const ordered_json& news = ordered_json::object()) {
  static std::mutex mutex;
  static ordered_json all = {
      {"stage", "The run begins."}, {"fraction", 0}, {"doing", ""}, {"journal", ""}, {"ended", false}};
  const std::lock_guard lock(mutex);
  all.update(news);
  return all;
}

/// Hears what the run tells, until it is over, however it ended.
void read_run() {
  std::array<char, std::size_t{1} << 14> message{};
  for (ssize_t size = 0; (size = ::read(STDIN_FILENO, message.data(), message.size())) > 0;) {
    told(ordered_json::parse(message.data(), message.data() + size));
  }
  told({{"ended", true}});
}

std::string page_of(const std::string& title, const std::string& journal) {
  plots::HtmlReport report{.title = title};
  try {
    report = report_of(study::read_study(journal));
  } catch (const Error&) {
    // There is no journal yet, or no point in it.
  }
  report.live = true;
  report.next.clear();  // Not before it has ended.
  return plots::report_html(report);
}

void serve(const std::string& title) {
  std::atomic<Clock::time_point> waits_until;  // Till then, a page may be open that does not show the end.
  // A browser beside nine busy processes looked every 26 s; one that leaves the page says so.
  const auto page_looks = [&] { waits_until = Clock::now() + std::chrono::seconds(60); };
  const Secret token = make_secret();
  // Other paths have no page: who lacks the token is answered 404.
  const std::string start = "/" + std::string(token.begin(), token.end()) + "/";
  const pid_t parent = ::getppid();
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(4); };
  server.set_payload_max_length(1024);
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"}});
  server.Get(start, [&](const httplib::Request&, httplib::Response& answer) {
    answer.set_content(page_of(title, told()["journal"]), "text/html; charset=utf-8");
    if (waits_until.load() != Clock::time_point()) {
      page_looks();  // Making the page takes a while beside other load.
    }
  });
  server.Get(start + "state", [&](const httplib::Request&, httplib::Response& answer) {
    page_looks();
    ordered_json state = told();
    std::error_code none;
    const auto size = std::filesystem::file_size(state["journal"].get<std::string>(), none);
    state["size"] = none ? 0 : size;  // By that, the page's script knows when the journal has grown.
    answer.set_content(state.dump(), "application/json");
  });
  server.Post(start + "end", [&](const httplib::Request&, httplib::Response& answer) {
    waits_until = Clock::time_point();  // The page shows the last results, or nobody sees it any more.
    answer.set_content("true", "application/json");
  });
  server.Post(start + "stop", [&](const httplib::Request&, httplib::Response& answer) {
    const bool stopped = ::getppid() == parent && ::kill(parent, SIGINT) == 0;
    answer.set_content(stopped ? "true" : "false", "application/json");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  const std::string address = fmt::format("http://127.0.0.1:{}{}", port, start);
  if (port <= 0 || ::write(STDIN_FILENO, address.data(), address.size()) <= 0) {
    return;
  }
  std::thread reader([&] {
    read_run();
    while (Clock::now() < waits_until.load() || !server.is_running()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    server.stop();
  });
  server.listen_after_bind();
  reader.join();
}

}  // namespace
}  // namespace ringside::cli

int main(int count, char** arguments) {
  // Ranks come first. Where that is refused, they share.
  [[maybe_unused]] const int niceness = ::nice(10);
  ringside::cli::serve(count > 1 ? arguments[1] : "");
  return 0;
}
