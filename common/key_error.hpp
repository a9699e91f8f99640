#pragma once

#include <string>

#include "common/error.hpp"

namespace ringside {

/// A value of a request is wrong: the message begins with its key, such as `sweep ranks=0: …`. Who read the
/// request from a command line knows the flag.
class KeyError : public Error {
 public:
  explicit KeyError(const std::string& message) : Error(ErrorKind::bad_input, message) {}
};

/// Reads a value of a request; `read` throws messages that begin with its key.
template <typename Read>
auto value_of_key(const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) {
      throw;
    }
    throw KeyError(error.what());
  }
}

}  // namespace ringside
