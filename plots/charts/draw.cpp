#include <algorithm>
#include <array>
#include <future>
#include <limits>
#include <system_error>
#include <thread>

#include "common/failures.hpp"
#include "common/mapped.hpp"
#include "plots/charts/charts.hpp"
#include "plots/drawing/gnuplot.hpp"

namespace ringside::plots {
namespace fs = std::filesystem;

namespace {

struct Job {
  Figure figure;
  ImageFormat format;
  fs::path file;
};

struct SizeRow {
  ChartSize size;
  int pixels;          ///< At most, of which 96 are an inch on a screen.
  double centimetres;  ///< On paper; 0: as on the screen.
};

constexpr std::array kSizes = {SizeRow{ChartSize::screen, std::numeric_limits<int>::max(), 0},
                               SizeRow{ChartSize::page, 1040, 17}, SizeRow{ChartSize::column, 560, 8.5}};

const SizeRow& row_of(ChartSize size) { return kSizes.at(static_cast<std::size_t>(size)); }

/// A gnuplot each, some of them at once: the system shares the cores.
void run_all(const std::vector<Job>& jobs) {
  constexpr std::size_t kFewest = 8;
  const std::size_t at_once = std::max<std::size_t>(kFewest, std::thread::hardware_concurrency());
  for (std::size_t first = 0; first < jobs.size(); first += at_once) {
    std::vector<std::future<void>> running;
    for (std::size_t index = first; index < std::min(jobs.size(), first + at_once); ++index) {
      const Job& job = jobs[index];
      running.push_back(
          std::async(std::launch::async, [&job] { write_image(job.figure, job.format, job.file); }));
    }
    for (std::future<void>& one : running) {
      one.wait();  // All have ended before the first fault of one of them is thrown.
    }
    for (std::future<void>& one : running) {
      one.get();
    }
  }
}

}  // namespace

int width_for(ChartSize size, int on_screen) { return std::min(on_screen, row_of(size).pixels); }

PageText page_text(const ChartContext& context, const std::string& subtitle) {
  std::string footer = context.machine.empty() ? "" : "machine: " + context.machine;
  if (!context.source.empty()) {
    // Where it lies on this machine tells nobody else anything.
    const fs::path source = context.source;
    const fs::path shown =
        source.is_absolute() ? source.parent_path().filename() / source.filename() : source;
    footer += (footer.empty() ? "" : "   ·   ") + ("source: " + shown.string());
  }
  return {.title = context.title, .subtitle = subtitle, .footer = footer};
}

std::vector<fs::path> draw(const std::vector<Figure>& figures, const ChartContext& context) {
  if (figures.empty()) {
    return {};
  }
  std::error_code error;
  fs::create_directories(context.output_directory, error);
  if (error) {
    throw lacking("cannot make the directory '{}': {}", context.output_directory.string(), error.message());
  }
  std::vector<Job> jobs;
  for (const Figure& figure : figures) {
    RINGSIDE_CHECK(!figure.name.empty() && figure.name.find('/') == std::string::npos,
                   "'" + figure.name + "' is no file name for a chart");
    Figure printed = figure;
    printed.inches = row_of(context.size).centimetres / 2.54;
    for (const ImageFormat format : context.formats) {
      const char* ending = format == ImageFormat::png ? ".png" : format == ImageFormat::svg ? ".svg" : ".pdf";
      jobs.push_back({printed, format, context.output_directory / (figure.name + ending)});
    }
  }
  run_all(jobs);
  return mapped(jobs, &Job::file);
}

}  // namespace ringside::plots
