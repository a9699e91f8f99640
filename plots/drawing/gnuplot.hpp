#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "plots/drawing/figure.hpp"

/// The only module that knows gnuplot (https://gnuplot.info): its language, and how to run it.
namespace ringside::plots {

/// Which program to run and how long to wait for it.
struct Gnuplot {
  std::string program = "gnuplot";
  std::chrono::milliseconds deadline{20'000};
};

/// Is the program there to be run (on PATH, if its name has no slash)?
bool gnuplot_available(const Gnuplot& gnuplot = {});

/// The whole script that draws `figure` on gnuplot's standard output. It names no files, and texts are single
/// quoted with gnuplot's markup off: no text can start a command or turn into a subscript.
std::string gnuplot_script(const Figure& figure, ImageFormat format);

/// Draws in memory, then writes: `file` is whole or absent. Throws Error{environment}, with what gnuplot
/// said, when gnuplot is not installed, fails, draws nothing or exceeds the deadline, and when the file
/// cannot be written.
void write_image(const Figure& figure, ImageFormat format, const std::filesystem::path& file,
                 const Gnuplot& gnuplot = {});

/// Runs a script, its standard output going to `output` (an open file descriptor). Returns what gnuplot said
/// on standard error. Throws Error{environment} when it cannot be started, fails or exceeds the deadline.
std::string run_gnuplot(std::string_view script, int output, const Gnuplot& gnuplot = {});

}  // namespace ringside::plots
