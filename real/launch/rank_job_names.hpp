#pragma once

#include <string_view>

#include "common/error.hpp"

/// How answers of ranks and kinds of errors are spelt on the wire between a parent and its ranks.
namespace ringside {

enum class AnswerKind {
  alive,   ///< Still at it.
  done,    ///< The job is done.
  failed,  ///< This rank is of no more use.
};

std::string_view name(AnswerKind kind);
std::string_view name(ErrorKind kind);

}  // namespace ringside
