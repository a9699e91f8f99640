#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/units.hpp"

namespace ringside {

/// What only the driver's management library (libnvidia-ml.so.1, part of every driver) tells. Everything is
/// optional: a container may lack it.
class Nvml {
 public:
  /// Null when the library is not there or does not work.
  static std::unique_ptr<Nvml> load();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// "580.159.03"; empty when it does not tell.
  std::string driver_version() const;
  // GPUs are named by their PCI address, "0000:19:00.0".
  std::optional<Bytes> free_memory(const std::string& pci) const;
  int computing_processes(const std::string& pci) const;
  /// As in GpuPair::kind.
  std::string link(const std::string& first, const std::string& second) const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace ringside
