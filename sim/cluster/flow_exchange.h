// Collectives as flows: a transfer for each edge of a schedule's stage instead of its messages.
//
// A collective begins when its last rank is there. In a stage every edge carries rounds x the
// largest message at once, max-min fairly with whatever else goes on, and then pays its path's
// latency for each round; the stage is over when the last edge is, and the collective ends on all
// ranks together. Payload is exchanged at that time, in the schedule's order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>

#include "core/collectives/collective.h"
#include "sim/cluster/simgrid_transport.h"
#include "sim/collectives/cluster_planner.h"

namespace shardscope {

class FlowExchange {
 public:
  /// Both must outlive it.
  FlowExchange(const Platform& platform, const ClusterPlanner& planner)
      : platform_(platform), planner_(planner) {}

  /// Whether the collective is one for run(). All ranks get the same answer.
  bool takes(const Collective& collective) const;

  /// On the communication stream of each rank of the group: returns when the collective is over.
  /// The transport counts what the rank sends and receives.
  void run(Collective& collective, SimGridTransport& transport);

 private:
  class Transfers;
  struct Meeting;
  using Key = std::tuple<int, int, int>;  // A group: its ranks meet for one collective at a time.
  struct Joined {
    std::shared_ptr<Meeting> meeting;
    bool is_last;
  };

  Joined join(Collective& collective, SimGridTransport& transport);
  void transfer(const Meeting& meeting, int stage);
  double latency_s(int from, int to);

  const Platform& platform_;
  const ClusterPlanner& planner_;
  std::mutex mutex_;  // Never held across a simcall.
  std::map<Key, std::shared_ptr<Meeting>> meetings_;
  std::unordered_map<std::uint64_t, double> latencies_s_;  // Of paths, as they are used.
};

}  // namespace shardscope
