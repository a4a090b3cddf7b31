// Nodes: servers of several devices, as the endpoints of a fabric (fabrics.h) by their NICs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/topology/parts.h"

namespace shardscope {

class Topology;

/// A mesh's NVLinks between devices a and b of a node.
struct NvlinkPair {
  std::size_t a = 0;
  std::size_t b = 0;
  std::size_t links = 1;
};

/// Bandwidths in bytes/s and one direction; the kinds of the cables are set by the builder.
///
/// NVSwitch: one bridge "nvswitch" that joins all devices, however many chips it is made of.
///
///     device0 ----.         .---- device2
///              [nvswitch]
///     device1 ----'         '---- device3
///
/// NVLink mesh: cables between devices.
///
///     device0 ==== device1
///        |   \  /   |
///        |   /  \   |
///     device2 ==== device3
///
/// PCIe tree: devices_per_pcie_switch devices and NICs below a switch, pcie_switches_per_host
/// switches below a host bridge, each host bridge joined to each other one. NIC j of m is at switch
/// floor(j switches / m): spread, in order.
///
///             [host0] ------socket------ [host1]
///             /     \                    /     \        2 devices and 1 NIC per switch,
///       [pcie0]    [pcie1]         [pcie2]    [pcie3]   2 switches per host
///       /  |  \    /  |  \         /  |  \    /  |  \   .
///      0   1 nic0 2   3 nic1      4   5 nic2 6   7 nic3
struct NodeSpec {
  enum class Nvlink { none, nvswitch, mesh };

  std::size_t devices = 8;

  Nvlink nvlink = Nvlink::none;
  CableSpec nvlink_cable;                ///< Of a device to the NVSwitch; of one link of a mesh.
  std::vector<NvlinkPair> nvlink_pairs;  ///< Of a mesh; empty: each two devices, one link.

  std::size_t devices_per_pcie_switch = 0;  ///< 0: no PCIe; needs NVLink, and no NICs.
  std::size_t pcie_switches_per_host = 1;
  CableSpec pcie_cable;    ///< Of a device, a NIC and a PCIe switch.
  CableSpec socket_cable;  ///< Between host bridges; needed if there are two.

  std::size_t nics = 0;
};

/// In the order of nodes and, inside a node, of its parts.
struct NodeEndpoints {
  std::vector<NodeId> devices;
  std::vector<NodeId> nics;
};

/// Adds nodes "node0" ... with "node0.device0", "node0.nic0", "node0.nvswitch", "node0.pcie0" and
/// "node0.host0". Returns what it refuses, all of it, and then leaves the topology as it was: no
/// node, no device in it, several nodes without NICs, several devices with neither NVLink nor
/// PCIe, pairs of a mesh that are no two devices or have no link, figures of a cable in use that
/// cable_faults() names, more than kMostCables cables.
std::vector<std::string> add_nodes(Topology& topology, std::size_t count, const NodeSpec& spec,
                                   NodeEndpoints& endpoints);

}  // namespace shardscope
