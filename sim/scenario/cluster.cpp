#include "sim/scenario/cluster.h"

#include <fnmatch.h>

#include "core/check.h"
#include "sim/topology/topology.h"

namespace shardscope {

std::vector<LinkId> matching_links(const Topology& topology, const std::string& pattern) {
  std::vector<LinkId> matching;
  for (LinkId id = 0; id < topology.links().size(); ++id) {
    if (fnmatch(pattern.c_str(), topology.link(id).name.c_str(), FNM_NOESCAPE) == 0) {
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
