// Runs the collectives of all ranks on the simulated network: round by round as messages, or as
// flows where the planner says so. No actor waits meanwhile.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/collectives/collective.h"
#include "sim/cluster/flows.h"
#include "sim/cluster/messages.h"
#include "sim/cluster/network_events.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/traffic.h"
#include "sim/collectives/cluster_planner.h"

namespace shardscope {

class RecordedCollective;

class Exchange {
 public:
  /// Both must outlive it, and it the engine's run.
  Exchange(const Platform& platform, const ClusterPlanner& planner);
  ~Exchange();

  /// Whether the collective is simulated as flows. All ranks get the same answer.
  bool as_flows(const Collective& collective) const;

  /// The rank whose traffic it is has come to the collective, its only one at a time. Returns at
  /// once; `over` is called when it is over for the rank, in maestro's context. The traffic counts
  /// what the rank sends and receives; its messages are written to `recorded`, if that is not null.
  /// All must be valid until then.
  void begin(Collective& collective, RankTraffic& traffic, RecordedCollective* recorded,
             std::function<void()> over);

  /// All collectives under way end here, unfinished and untold.
  void stop() { events_.stop(); }

 private:
  class Rounds;

  const ClusterPlanner& planner_;
  NetworkEvents events_;
  Messages messages_;
  Flows flows_;
  std::vector<std::unique_ptr<Rounds>> rounds_;  // By rank.
};

}  // namespace shardscope
