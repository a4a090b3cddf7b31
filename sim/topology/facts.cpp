#include "sim/topology/facts.h"

#include <algorithm>
#include <limits>

#include "sim/topology/analysis.h"
#include "sim/topology/routes.h"

namespace shardscope {
namespace {

std::vector<RingRoute> ring_routes(const Topology& topology, Routes& routes,
                                   const std::vector<std::size_t>& placement) {
  std::vector<RingRoute> ring;
  std::vector<double> flows(topology.links().size());
  for (std::size_t rank = 0; placement.size() > 1 && rank < placement.size(); ++rank) {
    RingRoute route;
    route.rank = rank;
    route.next = (rank + 1) % placement.size();
    route.links = routes.route(placement[rank], placement[route.next]);
    route.latency_s = path_latency_s(topology, route.links);
    route.bottleneck = bottleneck(topology, route.links).value_or(0);
    route.alone_bytes_per_s = topology.link(route.bottleneck).cable.bandwidth_bytes_per_s;
    for (const LinkId link : route.links) {
      ++flows[link];
    }
    ring.push_back(std::move(route));
  }
  for (RingRoute& route : ring) {
    route.shared_bytes_per_s = std::numeric_limits<double>::infinity();
    for (const LinkId link : route.links) {
      route.shared_bytes_per_s = std::min(
          route.shared_bytes_per_s, topology.link(link).cable.bandwidth_bytes_per_s / flows[link]);
    }
  }
  return ring;
}

}  // namespace

TopologyFacts topology_facts(const Topology& topology, const std::vector<std::size_t>& placement) {
  TopologyFacts facts;
  for (NodeId id = 0; id < topology.node_count(); ++id) {
    ++facts.nodes[std::string(name(topology.node(id).kind))];
  }
  for (const Link& link : topology.links()) {
    ++facts.links[std::string(name(link.cable.kind))];
  }
  Routes routes(topology);
  facts.bisection_bytes_per_s = bisection_bytes_per_s(topology);
  facts.diameter_links = diameter(topology, routes);
  facts.ring = ring_routes(topology, routes, placement);
  return facts;
}

}  // namespace shardscope
