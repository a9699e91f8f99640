#include <array>

#include "common/spellings.hpp"
#include "results/limit.hpp"
#include "results/measurement.hpp"
#include "results/prediction.hpp"
#include "results/trace_event.hpp"

namespace ringside {

template <>
struct Spellings<CostSource> {
  static constexpr std::array kTable = {
      Spelling<CostSource>{CostSource::spec, "spec"},
      Spelling<CostSource>{CostSource::calibrated, "calibrated"},
      Spelling<CostSource>{CostSource::given, "given"},
      Spelling<CostSource>{CostSource::spec_plus_known, "spec+known"},
  };
};

template <>
struct Spellings<LaunchMode> {
  static constexpr std::array kTable = {
      Spelling<LaunchMode>{LaunchMode::cuda_graph, "cuda_graph"},
      Spelling<LaunchMode>{LaunchMode::stream, "stream"},
  };
};

template <>
struct Spellings<LinkKind> {
  static constexpr std::array kTable = {
      Spelling<LinkKind>{LinkKind::gpu_to_gpu, "gpu_to_gpu"},
      Spelling<LinkKind>{LinkKind::gpu_up, "gpu_up"},
      Spelling<LinkKind>{LinkKind::gpu_down, "gpu_down"},
      Spelling<LinkKind>{LinkKind::pcie_up, "pcie_up"},
      Spelling<LinkKind>{LinkKind::pcie_down, "pcie_down"},
      Spelling<LinkKind>{LinkKind::pcie_switch_up, "pcie_switch_up"},
      Spelling<LinkKind>{LinkKind::pcie_switch_down, "pcie_switch_down"},
      Spelling<LinkKind>{LinkKind::staging, "staging"},
      Spelling<LinkKind>{LinkKind::host_bridge, "host_bridge"},
      Spelling<LinkKind>{LinkKind::host_memory, "host_memory"},
      Spelling<LinkKind>{LinkKind::inter_socket, "inter_socket"},
      Spelling<LinkKind>{LinkKind::nic_out, "nic_out"},
      Spelling<LinkKind>{LinkKind::nic_in, "nic_in"},
      Spelling<LinkKind>{LinkKind::fabric_out, "fabric_out"},
      Spelling<LinkKind>{LinkKind::fabric_in, "fabric_in"},
      Spelling<LinkKind>{LinkKind::switch_to_switch, "switch_to_switch"},
      Spelling<LinkKind>{LinkKind::medium, "medium"},
      Spelling<LinkKind>{LinkKind::other, "other"},
  };
};

template <>
struct Spellings<Limit::Kind> {
  static constexpr std::array kTable = {
      Spelling<Limit::Kind>{Limit::Kind::shared_link, "shared_link"},
      Spelling<Limit::Kind>{Limit::Kind::shared_cores, "shared_cores"},
      Spelling<Limit::Kind>{Limit::Kind::contention, "contention"},
      Spelling<Limit::Kind>{Limit::Kind::model, "model"},
  };
};

template <>
struct Spellings<TraceKind> {
  static constexpr std::array kTable = {
      Spelling<TraceKind>{TraceKind::transfer, "transfer"},
      Spelling<TraceKind>{TraceKind::reduction, "reduction"},
      Spelling<TraceKind>{TraceKind::local, "local"},
  };
};

std::string_view name(CostSource source) { return spelling_of(source); }
std::string_view name(LaunchMode mode) { return spelling_of(mode); }
std::string_view name(LinkKind kind) { return spelling_of(kind); }
std::string_view name(Limit::Kind kind) { return spelling_of(kind); }
std::string_view name(TraceKind kind) { return spelling_of(kind); }

template std::vector<std::string> names_of<CostSource>();
template std::vector<std::string> names_of<LaunchMode>();
template std::vector<std::string> names_of<LinkKind>();
template std::vector<std::string> names_of<Limit::Kind>();
template std::vector<std::string> names_of<TraceKind>();
template std::optional<CostSource> parse_name<CostSource>(std::string_view);
template std::optional<LaunchMode> parse_name<LaunchMode>(std::string_view);
template std::optional<LinkKind> parse_name<LinkKind>(std::string_view);
template std::optional<Limit::Kind> parse_name<Limit::Kind>(std::string_view);
template std::optional<TraceKind> parse_name<TraceKind>(std::string_view);

}  // namespace ringside
