#include "sim/topology/paths.h"

#include <utility>

#include "sim/topology/analysis.h"

namespace shardscope {

GraphPaths::GraphPaths(Topology topology, std::vector<std::size_t> placement)
    : topology_(std::move(topology)), placement_(std::move(placement)), routes_(topology_) {
  for (const Link& link : topology_.links()) {
    links_.push_back({link.name, link.cable.bandwidth_bytes_per_s});
  }
}

Path GraphPaths::between_devices(std::size_t from, std::size_t to) const {
  constexpr std::size_t kMostKnown = std::size_t{1} << 20;
  const std::uint64_t key = std::uint64_t{from} << 32 | to;
  const std::lock_guard lock(mutex_);
  if (const auto known = known_.find(key); known != known_.end()) {
    return known->second;
  }
  Route route = routes_.route(from, to);
  const double latency_s = path_latency_s(topology_, route);
  Path path{std::move(route), latency_s};
  if (known_.size() < kMostKnown) {
    known_.emplace(key, path);
  }
  return path;
}

}  // namespace shardscope
