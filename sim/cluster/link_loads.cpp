#include "sim/cluster/link_loads.h"

#include <algorithm>

namespace shardscope {
namespace {

// From the start to `end_s`, bytes/s.
double mean_bandwidth(const PathLink& link, const std::vector<LinkChange>& changes, double end_s) {
  double bandwidth = link.bandwidth_bytes_per_s;
  double bytes = 0;  // That it could have carried.
  double since_s = 0;
  for (const LinkChange& change : changes) {
    if (!matches(link.name, change.links)) {
      continue;
    }
    for (const BandwidthChange& later : change.changes) {
      const double at_s = std::min(later.at_s, end_s);
      bytes += bandwidth * (at_s - since_s);
      bandwidth = later.bandwidth_bytes_per_s;
      since_s = at_s;
    }
  }
  return since_s == 0 ? bandwidth : (bytes + bandwidth * (end_s - since_s)) / end_s;
}

}  // namespace

LinkLoads link_loads(const Platform& platform, const Ranks& ranks,
                     const std::deque<BackgroundTraffic>& background,
                     const std::vector<LinkChange>& changes, double end_s) {
  std::vector<LinkLoad> loads(platform.links().size());
  LinkLoads found;
  for (const auto& rank : ranks) {
    for (const auto& [peer, bytes] : rank->traffic().sent_to()) {
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
      loads[link].background_bytes += traffic.bytes;
    }
  }
  for (std::size_t link = 0; link < loads.size(); ++link) {
    LinkLoad& load = loads[link];
    load.link = link;
    load.seconds = static_cast<double>(load.training_bytes + load.background_bytes) /
                   mean_bandwidth(platform.links()[link], changes, end_s);
  }
  std::erase_if(loads, [](const LinkLoad& load) { return load.seconds == 0; });
  std::stable_sort(loads.begin(), loads.end(),
                   [](const LinkLoad& a, const LinkLoad& b) { return a.seconds > b.seconds; });
  found.busiest = std::move(loads);
  return found;
}

}  // namespace shardscope
