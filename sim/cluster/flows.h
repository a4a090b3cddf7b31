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
#include <vector>

#include "core/collectives/collective.h"
#include "sim/cluster/network_events.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/traffic.h"

namespace shardscope {

class Flows {
 public:
  /// Both must outlive it.
  Flows(const Platform& platform, NetworkEvents& events);
  ~Flows();

  /// The rank whose traffic it is has come to a collective with stages, in maestro's context.
  /// `over` is called when it is over. Collective and traffic must be valid until then.
  void join(Collective& collective, RankTraffic& traffic, std::function<void()> over);

 private:
  class Meeting;
  using Key = std::tuple<int, int, int>;  // A group: its ranks meet for one collective at a time.

  double latency_s(int from, int to);

  const Platform& platform_;
  NetworkEvents& events_;
  std::map<Key, std::unique_ptr<Meeting>> meetings_;  // That wait for ranks.
  std::vector<std::unique_ptr<Meeting>> under_way_;
  std::unordered_map<std::uint64_t, double> latencies_s_;  // Of paths, as they are used.
};

}  // namespace shardscope
