#pragma once

#include <string_view>

/// What CMake compiles in (plots/CMakeLists.txt).
namespace ringside::plots {

/// The text, and its SHA-256 in hexadecimal digits.
struct Asset {
  std::string_view text;
  std::string_view sha256;
};

/// Empty where the build did not find it.
extern const Asset kChartLibrary;
extern const Asset kReportScript;
extern const Asset kReportStyle;
extern const Asset kPage;     ///< For fmt::format().
extern const Asset kRunning;  ///< Part of the page of a run that goes on.
extern const Asset kLicences;

}  // namespace ringside::plots
