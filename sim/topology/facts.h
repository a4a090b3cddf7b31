// What a cluster is, counted and analysed: its parts, its limits, and the ring's routes on it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "sim/topology/topology.h"

namespace shardscope {

/// From a rank to the next one of the ring.
struct RingRoute {
  std::size_t rank = 0;
  std::size_t next = 0;
  std::vector<LinkId> links;
  double latency_s = 0;
  LinkId bottleneck = 0;         ///< The least bandwidth of the route; 0 if there are no links.
  double alone_bytes_per_s = 0;  ///< Its bandwidth.
  /// What is left where all of the ring's messages are on their way at once: the least, over the
  /// route's links, of their bandwidth / the ring's messages that cross them.
  double shared_bytes_per_s = 0;
};

struct TopologyFacts {
  std::map<std::string, std::size_t> nodes;  ///< By kind: "device", "switch", ...
  std::map<std::string, std::size_t> links;  ///< Directed ones by kind: "NVLink", "network", ...
  double bisection_bytes_per_s = 0;          ///< Between the devices' halves (analysis.h).
  std::size_t diameter_links = 0;
  std::vector<RingRoute> ring;  ///< By rank; empty for one.
};

/// Of a topology that passes check() and the device of each rank.
TopologyFacts topology_facts(const Topology& topology, const std::vector<std::size_t>& placement);

}  // namespace shardscope
