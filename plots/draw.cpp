#include <system_error>

#include <fmt/format.h>

#include "common/error.hpp"
#include "plots/charts.hpp"
#include "plots/gnuplot.hpp"
#include "plots/page.hpp"

namespace ringside::plots {
namespace fs = std::filesystem;

PageText page_text(const ChartContext& context, const std::string& subtitle) {
  std::string footer = context.machine.empty() ? "" : "machine: " + context.machine;
  if (!context.source.empty()) {
    footer += (footer.empty() ? "" : "   ·   ") + ("source: " + context.source);
  }
  return {.title = context.title, .subtitle = subtitle, .footer = footer};
}

std::vector<fs::path> draw(const std::vector<Figure>& figures, const ChartContext& context) {
  std::vector<fs::path> files;
  if (figures.empty()) {
    return files;
  }
  std::error_code error;
  fs::create_directories(context.output_directory, error);
  if (error) {
    throw Error(ErrorKind::environment, fmt::format("cannot make the directory '{}': {}",
                                                    context.output_directory.string(), error.message()));
  }
  for (const Figure& figure : figures) {
    RINGSIDE_CHECK(!figure.name.empty() && figure.name.find('/') == std::string::npos,
                   "'" + figure.name + "' is no file name for a chart");
    if (context.format != ChartFormat::svg) {
      files.push_back(context.output_directory / (figure.name + ".png"));
      write_image(figure, ImageFormat::png, files.back());
    }
    if (context.format != ChartFormat::png) {
      files.push_back(context.output_directory / (figure.name + ".svg"));
      write_image(figure, ImageFormat::svg, files.back());
    }
  }
  return files;
}

}  // namespace ringside::plots
