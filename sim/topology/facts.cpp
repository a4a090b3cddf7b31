#include "sim/topology/facts.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sim/topology/analysis.h"
#include "sim/topology/routes.h"

namespace shardscope {
namespace {

/// Devices x nodes that a diameter is looked for in: a second or two.
constexpr std::size_t kMostDistances = 4'000'000;

}  // namespace

std::vector<RingRoute> ring_routes(const ClusterPaths& paths, std::size_t ranks) {
  const std::vector<PathLink>& links = paths.links();
  std::vector<RingRoute> ring;
  std::vector<double> flows(links.size());
  for (std::size_t rank = 0; ranks > 1 && rank < ranks; ++rank) {
    const std::size_t next = (rank + 1) % ranks;
    Path path = paths.path(static_cast<int>(rank), static_cast<int>(next));
    RingRoute& route = ring.emplace_back();
    route.rank = rank;
    route.next = next;
    route.latency_s = path.latency_s;
    route.alone_bytes_per_s = std::numeric_limits<double>::infinity();
    for (const std::size_t link : path.links) {
      if (links[link].bandwidth_bytes_per_s < route.alone_bytes_per_s) {
        route.alone_bytes_per_s = links[link].bandwidth_bytes_per_s;
        route.bottleneck = link;
      }
      ++flows[link];
    }
    route.links = std::move(path.links);
  }
  for (RingRoute& route : ring) {
    route.shared_bytes_per_s = std::numeric_limits<double>::infinity();
    for (const std::size_t link : route.links) {
      route.shared_bytes_per_s =
          std::min(route.shared_bytes_per_s, links[link].bandwidth_bytes_per_s / flows[link]);
    }
  }
  return ring;
}

TopologyFacts topology_facts(const Topology& topology, const std::vector<std::size_t>& placement) {
  TopologyFacts facts;
  for (NodeId id = 0; id < topology.node_count(); ++id) {
    ++facts.nodes[std::string(name(topology.node(id).kind))];
  }
  for (const Link& link : topology.links()) {
    ++facts.links[std::string(name(link.cable.kind))];
  }
  for (const std::size_t device : placement) {
    facts.device_of_rank.push_back(topology.node(topology.devices()[device]).name);
  }
  Routes routes(topology);
  facts.bisection_bytes_per_s = bisection_bytes_per_s(topology);
  if (topology.devices().size() * topology.node_count() <= kMostDistances) {
    facts.diameter_links = diameter(topology, routes);
  }
  const GraphPaths paths(topology, placement);
  facts.path_links = paths.links();
  facts.ring = ring_routes(paths, placement.size());
  return facts;
}

}  // namespace shardscope
