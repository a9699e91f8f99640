#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/units.hpp"
#include "plots/drawing/figure.hpp"

/// Where an axis has its tics and what they are called.
namespace ringside::plots {

struct Range {
  double min = 1;
  double max = 1;
  /// Widens the range so that `value` is inside.
  void include(double value);
};

/// Tics of a log byte axis: powers of two (`1 KiB`, `32 KiB`, `1 MiB`, …), as dense as `pixels` allow.
std::vector<Tic> size_tics(Range bytes, double pixels);

/// The same for sizes in powers of ten: `1 KB`, `10 KB`, …
std::vector<Tic> decimal_size_tics(Range bytes, double pixels);

/// Tics of a log axis of seconds: powers of ten (`10 us`, `1 ms`, …), and 2 and 5 in between on a short axis.
std::vector<Tic> time_tics(Range seconds, double pixels);

/// Tics of a log axis around 1: `0.5`, `1`, `2`, and finer steps where the range is narrow.
std::vector<Tic> ratio_tics(Range ratio, double pixels);

/// Tics of a linear axis: multiples of 1, 2 or 5 · 10^n, labelled in units of `unit`.
std::vector<Tic> linear_tics(Range range, double unit, double pixels);

/// The unit in which seconds up to `max` are shown on a linear axis: `us` and 1e-6, say.
struct NamedUnit {
  std::string name;
  double value;
};
NamedUnit time_unit(Seconds max);
NamedUnit bandwidth_unit(BytesPerSecond max);

/// Takes the label off every tic that has no room behind the label before. `pixel_of`: where a value stands;
/// `half` of a label's height on a vertical axis, 0 on a horizontal one.
void keep_labels_apart(std::vector<Tic>& tics, double half, const std::function<double(double)>& pixel_of);

/// 1, 2 and 5 times powers of ten of a log axis in a unit; all are labelled where there is room.
std::vector<Tic> decade_tics(const Range& range, double unit, double pixels, bool horizontal);

}  // namespace ringside::plots
