#pragma once

#include <string>

namespace ringside {

/// Where a shell would find this program; empty where it would not. A name with a slash is a path.
std::string path_of_program(const std::string& name);

}  // namespace ringside
