// A cluster in a few figures - nodes, and a fabric that joins them - and the topology made of it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/topology/nodes.h"
#include "sim/topology/parts.h"

namespace shardscope {

class Topology;

enum class FabricKind { star, ring, fully_connected, leaf_spine, fat_tree, rails, torus };

/// As in scenarios: "LEAF_SPINE".
std::string_view name(FabricKind kind);

/// What fabrics.h builds; a field that the kind does not name is not looked at.
struct FabricSpec {
  FabricKind kind = FabricKind::star;
  CableSpec cable;                     ///< Of an endpoint; of rings, tori, and fat trees, of all.
  std::size_t endpoints_per_leaf = 0;  ///< leaf_spine.
  std::size_t spines = 0;              ///< leaf_spine, rails.
  double oversubscription = 1;         ///< leaf_spine, rails, fat_tree.
  std::size_t k = 0;                   ///< fat_tree; 0: the least that has room.
  std::array<std::size_t, 3> lengths = {1, 1, 1};  ///< torus.
};

struct ClusterSpec {
  std::size_t nodes = 1;
  std::optional<NodeSpec> node;      ///< None: each node is a device, an endpoint by itself.
  std::optional<FabricSpec> fabric;  ///< None: a single node, which nothing leaves.
};

/// Single devices around one switch.
bool is_plain_star(const ClusterSpec& spec);

/// Builds it: devices in the order of nodes. Returns all that the builders refuse, and what
/// Topology::check() finds; the topology is then of no use.
std::vector<std::string> build_cluster(const ClusterSpec& spec, Topology& topology);

/// Joins endpoints, of which each node has so many. Returns what the builders refuse.
std::vector<std::string> add_fabric(Topology& topology, const FabricSpec& fabric,
                                    const std::vector<NodeId>& endpoints,
                                    std::size_t endpoints_per_node);

/// The number of fat-tree pods used: `k`, or the least that has room for the endpoints.
std::size_t fat_tree_pods(const FabricSpec& fabric, std::size_t endpoints);

}  // namespace shardscope
