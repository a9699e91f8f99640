#include "scenario/machine/machine.hpp"

#include "common/error.hpp"

namespace ringside {

std::string_view name(IntraKind kind) {
  switch (kind) {
    case IntraKind::nvlink:
      return "nvlink";
    case IntraKind::pcie:
      return "pcie";
    case IntraKind::xgmi:
      return "xgmi";
    case IntraKind::custom:
      return "custom";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a link kind has no name");
}

std::string_view name(InterKind kind) {
  switch (kind) {
    case InterKind::infiniband:
      return "infiniband";
    case InterKind::roce:
      return "roce";
    case InterKind::efa:
      return "efa";
    case InterKind::tcpx:
      return "tcpx";
    case InterKind::tcpxo:
      return "tcpxo";
    case InterKind::ethernet:
      return "ethernet";
    case InterKind::slingshot:
      return "slingshot";
    case InterKind::custom:
      return "custom";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a network kind has no name");
}

std::string_view name(Ports ports) {
  switch (ports) {
    case Ports::one:
      return "1";
    case Ports::all:
      return "all";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a number of ports has no name");
}

std::string_view name(Processes processes) {
  switch (processes) {
    case Processes::per_gpu:
      return "per_gpu";
    case Processes::single:
      return "single";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a way to start processes has no name");
}

std::string_view name(Vendor vendor) {
  switch (vendor) {
    case Vendor::nvidia:
      return "nvidia";
    case Vendor::amd:
      return "amd";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a vendor has no name");
}

std::string_view name(CpuVendor vendor) {
  switch (vendor) {
    case CpuVendor::amd:
      return "amd";
    case CpuVendor::intel:
      return "intel";
    case CpuVendor::arm:
      return "arm";
    case CpuVendor::other:
      return "other";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "a vendor of CPUs has no name");
}

std::string_view name(Architecture architecture) {
  switch (architecture) {
    case Architecture::kepler:
      return "kepler";
    case Architecture::pascal:
      return "pascal";
    case Architecture::volta:
      return "volta";
    case Architecture::turing:
      return "turing";
    case Architecture::ampere:
      return "ampere";
    case Architecture::ada:
      return "ada";
    case Architecture::hopper:
      return "hopper";
    case Architecture::blackwell:
      return "blackwell";
    case Architecture::cdna:
      return "cdna";
  }
  throw_bug("a declared value", __FILE__, __LINE__, "an architecture has no name");
}

}  // namespace ringside
