#pragma once

#include <memory>

/// What Gloo's headers of TCP pairs include and Debian's package of them leaves out: only how large these
/// are, for who derives from a pair. cmake/gloo_pairs.cpp sees whether that fits the library.
namespace gloo {

template <typename T>
class ShareableNonOwningPtr;
template <typename T>
class NonOwningPtr;
template <typename T>
class WeakNonOwningPtr {
  std::weak_ptr<T> pointer_;
};

}  // namespace gloo
