// A node as NCCL's topology files describe it, ready to be placed in a cluster.
//
//             [host0] ------socket------ [host1]         cpu elements (NUMA nodes)
//             /     \                    /     \         .
//       [pcie0]    [pcie1]         [pcie2]    [pcie3]    pci elements: switches
//       /  |  \    /  |  \         /  |  \    /  |  \    .
//      0   1 nic0 2   3 nic1      4   5 nic2 6   7 nic3  pci elements: GPUs and NICs
//      '---'------'---'---- [nvswitch] ----'---'----'    nvlink elements
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/topology/nodes.h"
#include "sim/topology/topology.h"
#include "sim/topology_files/notes.h"

namespace shardscope {

struct NcclNode {
  struct Part {
    std::string name;  ///< "device0", "nic0", "nvswitch", "pcie0", "host0"
    NodeKind kind = NodeKind::device;
  };
  struct Cable {        ///< Full duplex.
    std::size_t a = 0;  ///< Part indices.
    std::size_t b = 0;
    CableSpec spec;
  };
  struct Nic {
    double bandwidth_bytes_per_s = 0;  ///< To the network, one direction; 0 if not in the file.
    long port = 0;
  };

  std::vector<Part> parts;  ///< First the devices, then the NICs, each in their order.
  std::vector<Cable> cables;
  std::size_t devices = 0;
  std::vector<Nic> nics;

  /// Several devices, no NVLinks, and none of what NCCL writes about a GPU itself: the file leaves
  /// NVLinks to be found on the machine.
  bool needs_nvlinks = false;
};

/// Adds the NVLinks of `spec`: its nvlink fields, and its number of devices if they are a mesh.
/// `source` says in the notes where they come from: "preset dgx_a100". Returns what it refuses, and
/// then adds nothing: NVLinks where there are some, a spec without them, a mesh of another number
/// of devices, figures of a cable that cable_faults() names.
std::vector<std::string> add_nvlinks(NcclNode& node, const NodeSpec& spec,
                                     const std::string& source, TopologyNotes& notes);

/// NCCL's files hold no latencies. Sets that of all cables of a kind.
void set_latency(NcclNode& node, LinkKind kind, double latency_s);

/// Adds copies "node0." ... as add_nodes() does, endpoints in the order of nodes and parts. Returns
/// what it refuses, and then leaves the topology as it was: no node, several without NICs, more
/// than kMostCables cables.
std::vector<std::string> add_nccl_nodes(Topology& topology, std::size_t count, const NcclNode& node,
                                        NodeEndpoints& endpoints);

}  // namespace shardscope
