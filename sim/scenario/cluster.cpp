#include "sim/scenario/cluster.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "core/check.h"
#include "sim/topology/topology.h"

namespace shardscope {

int node_of(const Cluster& cluster, int rank) {
  return static_cast<int>(cluster.placement[static_cast<std::size_t>(rank)] /
                          cluster.devices_per_node);
}

std::string_view name(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::message:
      return "MESSAGE";
    case Fidelity::flow:
      return "FLOW";
    case Fidelity::automatic:
      return "AUTO";
  }
  return "";
}

bool is_steady(const Cluster& cluster) {
  // A platform's file may change its links.
  return !cluster.platform.has_value() && cluster.rank_speeds.empty() &&
         cluster.background.empty() &&
         std::all_of(cluster.link_changes.begin(), cluster.link_changes.end(),
                     [](const LinkChange& change) { return change.changes.empty(); });
}

bool has_even_nodes(const std::vector<int>& node_of_rank) {
  std::map<int, int> ranks;
  for (const int node : node_of_rank) {
    ++ranks[node];
  }
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const auto& node) { return node.second == ranks.begin()->second; });
}

std::optional<std::string> why_not_hierarchical(const Cluster& cluster) {
  if (cluster.collective.algorithm != Algorithm::hierarchical) {
    return std::nullopt;
  }
  std::vector<int> nodes;
  for (std::size_t rank = 0; rank < cluster.placement.size(); ++rank) {
    nodes.push_back(node_of(cluster, static_cast<int>(rank)));
  }
  return has_even_nodes(nodes) ? std::nullopt
                               : std::optional<std::string>("needs as many ranks on each node");
}

bool matches(const std::string& link, const std::string& pattern) {
  return fnmatch(pattern.c_str(), link.c_str(), FNM_NOESCAPE) == 0;
}

std::vector<LinkId> matching_links(const Topology& topology, const std::string& pattern) {
  std::vector<LinkId> matching;
  for (LinkId id = 0; id < topology.links().size(); ++id) {
    if (matches(topology.link(id).name, pattern)) {
      matching.push_back(id);
    }
  }
  return matching;
}

Topology topology_of(const Cluster& cluster) {
  Topology topology;
  if (cluster.read != nullptr) {
    topology = *cluster.read;
  } else {
    const std::vector<std::string> faults = build_cluster(cluster.spec, topology);
    SHARDSCOPE_CHECK(faults.empty(), "a checked cluster can be built");
  }
  for (const LinkChange& change : cluster.link_changes) {
    for (const LinkId id : matching_links(topology, change.links)) {
      CableSpec cable = topology.link(id).cable;
      cable.bandwidth_bytes_per_s =
          change.bandwidth_bytes_per_s.value_or(cable.bandwidth_bytes_per_s);
      cable.latency_s = change.latency_s.value_or(cable.latency_s);
      topology.set_cable(id, cable);
    }
  }
  return topology;
}

}  // namespace shardscope
