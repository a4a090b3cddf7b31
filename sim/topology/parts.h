// What topologies are made of. Apart from topology.h for the sake of those that describe clusters
// and need no graph.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

/// bridge: inside a node, such as an NVSwitch, a PCIe switch or a host bridge.
enum class NodeKind { device, nic, bridge, network_switch };

/// socket: between the host bridges of a node (UPI, Infinity Fabric).
enum class LinkKind { nvlink, pcie, socket, network };

std::string_view name(NodeKind kind);
std::string_view name(LinkKind kind);

/// Nodes and links are numbered from 0 in the order of adding.
using NodeId = std::size_t;
using LinkId = std::size_t;

/// What a cable is in each of its directions.
struct CableSpec {
  LinkKind kind = LinkKind::network;
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;
  std::size_t dimension = 0;  ///< Of a torus: routes go along the lower ones first.
};

/// One direction of a cable.
struct Link {
  std::string name;
  CableSpec cable;
  NodeId from = 0;
  NodeId to = 0;
};

/// What is wrong with a cable's figures, in words that follow its name: "needs a positive, finite
/// bandwidth, has -1 bytes/s". Empty if nothing is.
std::vector<std::string> cable_faults(const CableSpec& cable);

}  // namespace shardscope
