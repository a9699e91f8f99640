#pragma once

#include <string_view>

/// What CMake compiles in (plots/CMakeLists.txt).
namespace ringside::plots {

/// What stands between `<script>` or `<style>` and its end, and its SHA-256 in hexadecimal digits.
struct Asset {
  std::string_view text;
  std::string_view sha256;
};

/// Empty where the build did not find it.
extern const Asset kChartLibrary;
extern const Asset kReportScript;
extern const Asset kReportStyle;

}  // namespace ringside::plots
