// Collectives as flows: a transfer for each edge of a schedule's stage instead of its messages.
//
// A collective begins when its last rank is there. In a stage every edge carries rounds x the
// largest message at once, max-min fairly with whatever else goes on, and then pays its path's
// latency for each round; the stage is over when the last edge is, and the collective ends on all
// ranks together. Payload is exchanged at that time, in the schedule's order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "core/collectives/collective.h"
#include "sim/cluster/simgrid_transport.h"
#include "sim/collectives/cluster_planner.h"

namespace shardscope {

/// For simulations on one thread.
class FlowExchange {
 public:
  /// Both must outlive it.
  FlowExchange(const Platform& platform, const ClusterPlanner& planner)
      : platform_(platform), planner_(planner) {}

  /// Whether the collective is one for join(). All ranks get the same answer.
  bool takes(const Collective& collective) const;

  /// The rank that the transport is of has come to the collective. Returns at once; `over` is
  /// called when the collective is over, by an actor that all ranks' calls share. The transport
  /// counts what the rank sends and receives. All must outlive that call.
  void join(Collective& collective, SimGridTransport& transport, std::function<void()> over);

 private:
  class Transfers;
  struct Meeting;
  using Key = std::tuple<int, int, int>;  // A group: its ranks meet for one collective at a time.

  void run(const Meeting& meeting);
  void transfer(const Meeting& meeting, int stage);
  double latency_s(int from, int to);

  const Platform& platform_;
  const ClusterPlanner& planner_;
  std::map<Key, std::shared_ptr<Meeting>> meetings_;
  std::unordered_map<std::uint64_t, double> latencies_s_;  // Of paths, as they are used.
};

}  // namespace shardscope
