#include "sim/topology/cluster_spec.h"

#include <cmath>

#include "sim/topology/fabrics.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

using Faults = std::vector<std::string>;

std::size_t whole(double oversubscription) {
  return oversubscription >= 1 ? static_cast<std::size_t>(std::llround(oversubscription)) : 0;
}

FatTreeSpec fat_tree_spec(const FabricSpec& fabric, std::size_t endpoints) {
  return {.k = fat_tree_pods(fabric, endpoints),
          .oversubscription = whole(fabric.oversubscription),
          .cable = fabric.cable};
}

}  // namespace

std::string_view name(FabricKind kind) {
  switch (kind) {
    case FabricKind::star:
      return "STAR";
    case FabricKind::ring:
      return "RING";
    case FabricKind::fully_connected:
      return "FULLY_CONNECTED";
    case FabricKind::leaf_spine:
      return "LEAF_SPINE";
    case FabricKind::fat_tree:
      return "FAT_TREE";
    case FabricKind::rails:
      return "RAILS";
    case FabricKind::torus:
      return "TORUS";
  }
  return "";
}

std::size_t fat_tree_pods(const FabricSpec& fabric, std::size_t endpoints) {
  if (fabric.k != 0) {
    return fabric.k;
  }
  FatTreeSpec spec{
      .k = 2, .oversubscription = whole(fabric.oversubscription), .cable = fabric.cable};
  while (spec.oversubscription > 0 && fat_tree_capacity(spec) < endpoints) {
    spec.k += 2;
  }
  return spec.k;
}

Faults add_fabric(Topology& topology, const FabricSpec& fabric, const std::vector<NodeId>& ends,
                  std::size_t ends_per_node) {
  switch (fabric.kind) {
    case FabricKind::star:
      return add_star(topology, ends, fabric.cable);
    case FabricKind::ring:
      return add_ring(topology, ends, fabric.cable);
    case FabricKind::fully_connected:
      return add_fully_connected(topology, ends, fabric.cable);
    case FabricKind::leaf_spine:
      return add_leaf_spine(topology, ends,
                            {.endpoints_per_leaf = fabric.endpoints_per_leaf,
                             .spines = fabric.spines,
                             .oversubscription = fabric.oversubscription,
                             .cable = fabric.cable});
    case FabricKind::fat_tree:
      return add_fat_tree(topology, ends, fat_tree_spec(fabric, ends.size()));
    case FabricKind::rails:
      return add_rails(topology, ends,
                       {.endpoints_per_node = ends_per_node,
                        .spines = fabric.spines,
                        .oversubscription = fabric.oversubscription,
                        .cable = fabric.cable});
    case FabricKind::torus:
      return add_torus(topology, ends, {.lengths = fabric.lengths, .cable = fabric.cable});
  }
  return {};
}

bool is_plain_star(const ClusterSpec& spec) {
  return !spec.node.has_value() && spec.fabric.has_value() && spec.fabric->kind == FabricKind::star;
}

Faults build_cluster(const ClusterSpec& spec, Topology& topology) {
  NodeEndpoints ends;
  Faults faults;
  if (spec.node.has_value()) {
    faults = add_nodes(topology, spec.nodes, *spec.node, ends);
  } else {
    ends.nics = add_devices(topology, spec.nodes);
  }
  if (!faults.empty()) {
    return faults;
  }
  if (spec.fabric.has_value()) {
    const std::size_t per_node = spec.node.has_value() ? spec.node->nics : 1;
    faults = add_fabric(topology, *spec.fabric, ends.nics, per_node);
  }
  return faults.empty() ? topology.check() : faults;
}

}  // namespace shardscope
