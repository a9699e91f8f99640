#include "common/file_descriptor.hpp"

#include <unistd.h>

namespace ringside {

void FileDescriptor::close() {
  if (open()) {
    ::close(std::exchange(number_, -1));
  }
}

}  // namespace ringside
