// Graphs of GraphML and DOT files as they are written, and how they become a topology.
//
// A node's attribute
//   kind       device (also gpu, host), nic, bridge or switch. If no node of the file has one, all
//              nodes are devices; otherwise each node needs one.
// An edge's attributes
//   bandwidth  of one direction, needed: "100Gbps" (bits) or "12.5GBps" (bytes). A bare number is
//   in
//              bytes/s, and must be at least 1e6: a smaller one is a number of Gbit/s or GB/s.
//   latency    "5us", or a bare number of seconds, at most 1. 0 s if there is none.
//   kind       nvlink, pcie, socket or network, which it is if there is none.
// An undirected edge is a full-duplex cable, two links that do not slow each other; a directed edge
// is one link. Several edges between the same nodes are as many cables.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/text/fault_list.h"
#include "sim/topology/topology.h"
#include "sim/topology_files/notes.h"

namespace shardscope {

inline constexpr std::size_t kMostGraphNodes = 100'000;
inline constexpr std::size_t kMostGraphEdges = 500'000;

struct DescribedNode {
  std::string name;
  std::optional<std::string> kind;
  std::size_t line = 0;  ///< 0: not known.
};

struct DescribedEdge {
  std::size_t from = 0;  ///< Node indices.
  std::size_t to = 0;
  bool directed = false;
  std::optional<std::string> bandwidth;
  std::optional<std::string> latency;
  std::optional<std::string> kind;
  std::size_t line = 0;
};

struct DescribedGraph {
  std::vector<DescribedNode> nodes;  ///< Devices are counted in this order.
  std::vector<DescribedEdge> edges;
};

/// Says whether there are few enough, as a fault if there are not.
bool check_counts(std::size_t nodes, std::size_t edges, FaultList& faults);

/// The topology, which passes check(), or nothing and all that is wrong. Says in `notes` what gave
/// what.
std::optional<Topology> make_topology(const DescribedGraph& graph, FaultList& faults,
                                      TopologyNotes& notes);

}  // namespace shardscope
