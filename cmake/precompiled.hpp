// What is precompiled for every module: the standard library and fmt, which nearly every file parses.
// CLI11's, Eigen's and nlohmann's headers are not here: they cost more in files without them than they save
// in files with them. Files that include Eigen do without (SKIP_PRECOMPILE_HEADERS): fmt 9.1 raises the
// optimisation by a pragma, GCC 12 does not take it back in a precompiled header, and intrinsics then fail.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
