#pragma once

#include <stdexcept>
#include <string>

/// The one way ringside reports that something went wrong. Libraries throw; only main prints and exits.
namespace ringside {

enum class ErrorKind {
  bad_input,    ///< The user's file or flag is wrong.
  environment,  ///< This machine lacks what was asked for.
  peer_lost,    ///< A rank died, hung, or could not be reached.
  failed,       ///< It ran and the outcome is not acceptable (a wrong result, say).
};

class Error : public std::runtime_error {
 public:
  /// `message` is the whole text that the user reads: what is wrong, where, and what to do.
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The exit status that main returns for an error of this kind (docs: exit status).
int exit_status(ErrorKind kind);

inline constexpr int kExitBug = 70;

/// A bug of ours, found by RINGSIDE_CHECK.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_bug(const char* condition, const char* file, int line, const std::string& message);

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

/// Checks an invariant of our own code in every build; not for user input and not per byte.
#define RINGSIDE_CHECK(condition, message)                              \
  do {                                                                  \
    if (!(condition)) {                                                 \
      ::ringside::throw_bug(#condition, __FILE__, __LINE__, (message)); \
    }                                                                   \
  } while (false)
