#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/medium.hpp"
#include "sim/network.hpp"
#include "sim/route_cost.hpp"

namespace ringside {

/// Messages share the links that they cross: first the latencies of the route pass, then the bytes flow through all
/// its links at once (cut-through) at the flow's max-min fair share: rates are raised together until a link is full,
/// whose flows then keep theirs while the others rise on (D. Bertsekas, R. Gallager, "Data Networks", 1992, section
/// 6.5.2). A flow that crosses a link twice fills it twice as fast. Reductions take γ·bytes and share nothing;
/// local copies are free.
class LinkSharing final : public Medium {
 public:
  /// Without a topology the network must be uniform: then nothing is shared.
  LinkSharing(const Network& network, Activities& activities);

  bool free(const Work& work) const override;
  Activities::Id begin(const Work& work) override;
  Stage finish(Activities::Id id) override;
  void share() override;
  std::vector<std::string> limits() const override;
  std::optional<NicUse> nics() const override;

  /// Bytes that so many links and messages under way need, about.
  static double memory(double links, double messages);

 private:
  enum class Phase : std::uint8_t { latency, flowing, reducing };
  /// A link on the route of a flow.
  struct Hop {
    std::int32_t link = 0;
    std::int32_t uses = 1;
    std::int32_t position = 0;  ///< In the link's list of flows.
  };
  struct Flow {
    Phase phase = Phase::latency;
    bool affected = false;            ///< Its rate is being decided.
    std::int32_t bottleneck = kNone;  ///< The link that it shares and that decides its rate.
    double work = 0;                  ///< Bytes to flow; a straggler's count more.
    double alone_rate = 0;            ///< Bytes per second when nothing else is on its way.
    double rate = 0;
    std::vector<Hop> hops;
  };
  struct Crossing {
    Activities::Id flow = 0;
    std::int32_t hop = 0;  ///< Which of the flow's.
  };
  struct LinkState {
    double capacity = 0;
    std::vector<Crossing> flows;
    bool carried = false;         ///< Some flow was on it.
    bool limiting = false;        ///< It is full, and flows on it would be faster alone.
    bool touched = false;         ///< It has affected flows, or lost some.
    std::int32_t most_flows = 0;  ///< While it was limiting.
    std::int32_t most_uses = 0;   ///< Of these flows, some of which may cross it twice.
    double limiting_since = 0;
    double limiting_time = 0;  ///< Before `limiting_since`.
    // While rates are decided:
    double left = 0;        ///< Capacity that no decided flow uses.
    double level = 0;       ///< Rate of the flows that it held back; infinite = none.
    std::int32_t uses = 0;  ///< By flows that are not decided.
    bool all_affected = false;
  };
  /// What each undecided flow of a link would get; a heap of these gives the smallest first.
  struct Filling {
    double share = 0;
    std::int32_t link = 0;

    bool operator<(const Filling& other) const {
      return share > other.share || (share == other.share && link > other.link);
    }
  };
  static constexpr std::int32_t kNone = -1;

  Flow& flow(Activities::Id id) { return flows_[static_cast<std::size_t>(id)]; }
  LinkState& link(std::int32_t id) { return links_[static_cast<std::size_t>(id)]; }
  RouteCost find_route(Rank source, Rank target);
  void set_hops(Flow& flow);
  void join_links(Activities::Id id);
  void leave_links(const Flow& flow);
  bool alone(const Flow& flow);
  void affect(Activities::Id id);
  void touch(std::int32_t id);
  void settle();
  void fill_links();
  void prepare(std::int32_t id);
  void fill(std::int32_t id, double level);
  void decide(Flow& flow, double rate);
  void affect_unsettled(std::int32_t id);
  bool holds_back(std::int32_t id);
  static bool slowed_down(const Flow& flow);
  void set_limiting(LinkState& link, bool limiting);

  const Network& network_;
  Activities& activities_;
  std::vector<Flow> flows_;  ///< By activity.
  std::vector<LinkState> links_;
  std::vector<std::int32_t> route_;
  std::vector<Activities::Id> joined_;  ///< Flows that have no rate yet.
  std::vector<Activities::Id> affected_;
  std::vector<std::int32_t> touched_;
  std::vector<Filling> filling_;
};

}  // namespace ringside
