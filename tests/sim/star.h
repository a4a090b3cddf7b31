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

/// A node whose devices share an NVSwitch and have a PCIe switch and a NIC each.
inline NodeSpec nvswitch_node(std::size_t devices, double latency_s) {
  NodeSpec node;
  node.devices = devices;
  node.nvlink = NodeSpec::Nvlink::nvswitch;
  node.nvlink_cable = network_cable(8e9, latency_s);
  node.devices_per_pcie_switch = 1;
  node.pcie_switches_per_host = devices;
  node.pcie_cable = network_cable(4e9, latency_s);
  node.nics = devices;
  return node;
}

/// A rank's link to the switch.
inline CableSpec& link_of(Scenario& scenario) { return scenario.cluster.spec.fabric->cable; }
inline const CableSpec& link_of(const Scenario& scenario) {
  return scenario.cluster.spec.fabric->cable;
}

}  // namespace shardscope::testing
