// Fabrics: how a cluster's endpoints are joined. Endpoints are devices, or the NICs of nodes
// (nodes.h), in their order; each function adds switches and cables to the topology they are in.
//
// Each returns what it refuses, all of it, as texts; the topology is then left as it was. All
// refuse no endpoints, cables without a positive, finite bandwidth or with a negative latency, and
// more than kMostCables cables.
//
// Bandwidths are in bytes/s, one direction, of one cable. Oversubscription is the bandwidth of the
// endpoints below a switch over that of its uplinks: 1 is none, 4 means that all of its endpoints
// sending up at once get a quarter each.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/topology/builder_faults.h"
#include "sim/topology/topology.h"

namespace shardscope {

/// Devices "device0" ... as endpoints, at most kMostCables.
std::vector<NodeId> add_devices(Topology& topology, std::size_t count);

/// One switch, "switch".
///
///     0 ----.   .---- 2
///         [switch]
///     1 ----'   '---- 3
std::vector<std::string> add_star(Topology& topology, const std::vector<NodeId>& endpoints,
                                  const CableSpec& cable);

/// Each to the next, the last to the first. One cable for two endpoints, none for one.
///
///     0 ---- 1 ---- 2 ---- 3
///     '--------------------'
std::vector<std::string> add_ring(Topology& topology, const std::vector<NodeId>& endpoints,
                                  const CableSpec& cable);

/// Each to each.
///
///     0 ---- 1
///     | \  / |
///     | /  \ |
///     2 ---- 3
std::vector<std::string> add_fully_connected(Topology& topology,
                                             const std::vector<NodeId>& endpoints,
                                             const CableSpec& cable);

struct LeafSpineSpec {
  std::size_t endpoints_per_leaf = 0;  ///< At least 1; the last leaf may have fewer.
  std::size_t spines = 0;              ///< At least 1; one uplink from each leaf to each spine.
  double oversubscription = 1;         ///< Above 0.
  CableSpec cable;                     ///< Of an endpoint. Uplinks have its latency.
};

/// Switches "leaf0" ... and "spine0" .... An uplink's bandwidth is
/// endpoints_per_leaf bandwidth / (spines oversubscription).
///
///       [spine0]       [spine1]
///        |    \         /    |
///        |      \     /      |
///        |        \ /        |
///        |       /   \       |
///       [leaf0]---   ---[leaf1]
///        | | | |         | | | |
///        0 1 2 3         4 5 6 7
std::vector<std::string> add_leaf_spine(Topology& topology, const std::vector<NodeId>& endpoints,
                                        const LeafSpineSpec& spec);

struct FatTreeSpec {
  std::size_t k = 0;                 ///< Pods. Even, at least 2.
  std::size_t oversubscription = 1;  ///< Of the edge switches, 1 to kMostCables.
  CableSpec cable;                   ///< All are alike.
};

/// At most this many endpoints fit: oversubscription k^3 / 4.
std::size_t fat_tree_capacity(const FatTreeSpec& spec);

/// A k-ary fat tree (Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network
/// architecture", 2008): k pods of k/2 edge and k/2 aggregation switches, and (k/2)^2 cores. An
/// edge switch has oversubscription k/2 endpoints below and k/2 cables up; aggregation switch a of
/// each pod has a cable to cores a k/2 ... a k/2 + k/2 - 1. Endpoints fill edge switches in order.
/// Refuses more endpoints than fit. Switches "edge0" ... and "aggregation0" ..., pod after pod,
/// and "core0" ....
///
///      [core0] [core1]   [core2] [core3]         k = 4: pod 0 of four
///            \    /         \    /
///         [aggregation0] [aggregation1]
///                |     \/      |
///                |     /\      |
///            [edge0]       [edge1]
///             |   |         |   |
///             0   1         2   3
std::vector<std::string> add_fat_tree(Topology& topology, const std::vector<NodeId>& endpoints,
                                      const FatTreeSpec& spec);

struct RailSpec {
  std::size_t endpoints_per_node = 0;  ///< Rails. At least 1; divides the number of endpoints.
  std::size_t spines = 0;              ///< 0: rails are joined inside nodes only.
  double oversubscription = 1;         ///< Of a rail switch, above 0.
  CableSpec cable;                     ///< Of an endpoint. Uplinks have its latency.
};

/// Endpoint i of each node to switch "rail<i>", each rail to each of the spines. An uplink's
/// bandwidth is nodes bandwidth / (spines oversubscription).
///
///           [spine0]
///           /      \             two nodes of two endpoints
///      [rail0]    [rail1]
///       |   \      /   |
///       |     \  /     |
///       |     /  \     |
///       0   1      2   3
///      node 0      node 1
std::vector<std::string> add_rails(Topology& topology, const std::vector<NodeId>& endpoints,
                                   const RailSpec& spec);

/// Two dimensions: columns, rows, and 1. Three: their lengths. The product is the number of
/// endpoints; the first dimension changes fastest.
struct TorusSpec {
  std::array<std::size_t, 3> lengths = {1, 1, 1};  ///< Each at least 1.
  CableSpec cable;
};

/// Each line of each dimension is a ring (add_ring).
///
///      |   |   |
///     -0---1---2-          lengths 3, 2, 1: the ends of a row are joined; a column of two has
///      |   |   |           one cable
///     -3---4---5-
///      |   |   |
std::vector<std::string> add_torus(Topology& topology, const std::vector<NodeId>& endpoints,
                                   const TorusSpec& spec);

}  // namespace shardscope
