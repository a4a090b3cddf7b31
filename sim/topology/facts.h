// What a cluster is, counted and analysed: its parts, its limits, and the ring's routes on it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/topology/paths.h"
#include "sim/topology/topology.h"

namespace shardscope {

/// From a rank to the next one of the ring.
struct RingRoute {
  std::size_t rank = 0;
  std::size_t next = 0;
  std::vector<std::size_t> links;  ///< Indices in ClusterPaths::links().
  double latency_s = 0;
  std::size_t bottleneck = 0;    ///< The least bandwidth of the route; 0 if there are no links.
  double alone_bytes_per_s = 0;  ///< Its bandwidth.
  /// What is left where all of the ring's messages are on their way at once: the least, over the
  /// route's links, of their bandwidth / the ring's messages that cross them.
  double shared_bytes_per_s = 0;
};

struct TopologyFacts {
  std::vector<std::string> device_of_rank;
  std::vector<PathLink> path_links;          ///< What routes are made of.
  std::map<std::string, std::size_t> nodes;  ///< By kind: "device", "switch", ...
  std::map<std::string, std::size_t> links;  ///< Directed ones by kind: "NVLink", "network", ...
  /// Between the devices' halves (analysis.h), and the longest route; none where only some routes
  /// are known, or there are too many.
  std::optional<double> bisection_bytes_per_s;
  std::optional<std::size_t> diameter_links;
  std::vector<RingRoute> ring;  ///< By rank; empty for one.
};

/// Of a topology that passes check() and the device of each rank.
TopologyFacts topology_facts(const Topology& topology, const std::vector<std::size_t>& placement);

/// The ring's routes over so many ranks.
std::vector<RingRoute> ring_routes(const ClusterPaths& paths, std::size_t ranks);

}  // namespace shardscope
