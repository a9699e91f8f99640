#pragma once

#include <string_view>

/// The files of configs/catalog/ as they were when the program was built.
namespace ringside {

extern const std::string_view kGpusYaml;
extern const std::string_view kLinksYaml;

}  // namespace ringside
