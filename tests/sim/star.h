// Clusters of single devices around one switch, the scenario's default.
#pragma once

#include <cstddef>

#include "sim/scenario/scenario.h"

namespace shardscope::testing {

inline Cluster star(int ranks, const CableSpec& link) {
  Cluster cluster;
  cluster.spec.nodes = static_cast<std::size_t>(ranks);
  cluster.spec.fabric.emplace().cable = link;
  for (std::size_t rank = 0; rank < cluster.spec.nodes; ++rank) {
    cluster.placement.push_back(rank);
  }
  return cluster;
}

inline CableSpec network_cable(double bandwidth_bytes_per_s, double latency_s) {
  return {.kind = LinkKind::network,
          .bandwidth_bytes_per_s = bandwidth_bytes_per_s,
          .latency_s = latency_s,
          .dimension = 0};
}

/// A rank's link to the switch.
inline CableSpec& link_of(Scenario& scenario) { return scenario.cluster.spec.fabric->cable; }
inline const CableSpec& link_of(const Scenario& scenario) {
  return scenario.cluster.spec.fabric->cable;
}

}  // namespace shardscope::testing
