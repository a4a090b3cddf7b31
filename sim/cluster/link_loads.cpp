#include "sim/cluster/link_loads.h"

#include <algorithm>

namespace shardscope {

LinkLoads link_loads(const Platform& platform, const Ranks& ranks,
                     const std::deque<BackgroundTraffic>& background) {
  std::vector<LinkLoad> loads(platform.links().size());
  LinkLoads found;
  for (const auto& rank : ranks) {
    for (const auto& [peer, bytes] : rank->transport().sent_to()) {
      const Path path = platform.path(rank->rank(), peer);
      for (const std::size_t link : path.links) {
        loads[link].training_bytes += bytes;
      }
      found.longest_latency_s = std::max(found.longest_latency_s, path.latency_s);
    }
  }
  for (const BackgroundTraffic& traffic : background) {
    for (const std::size_t link :
         platform.device_path(traffic.flow->from, traffic.flow->to).links) {
      loads[link].background_bytes += traffic.arrived_bytes;
    }
  }
  for (std::size_t link = 0; link < loads.size(); ++link) {
    LinkLoad& load = loads[link];
    load.link = link;
    load.seconds = static_cast<double>(load.training_bytes + load.background_bytes) /
                   platform.links()[link].bandwidth_bytes_per_s;
  }
  std::erase_if(loads, [](const LinkLoad& load) { return load.seconds == 0; });
  std::stable_sort(loads.begin(), loads.end(),
                   [](const LinkLoad& a, const LinkLoad& b) { return a.seconds > b.seconds; });
  found.busiest = std::move(loads);
  return found;
}

}  // namespace shardscope
