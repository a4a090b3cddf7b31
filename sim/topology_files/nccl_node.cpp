#include "sim/topology_files/nccl_node.h"

#include <algorithm>

#include "sim/topology/builder_faults.h"

namespace shardscope {
namespace {

bool has_nvlinks(const NcclNode& node) {
  return std::any_of(node.cables.begin(), node.cables.end(), [](const NcclNode::Cable& cable) {
    return cable.spec.kind == LinkKind::nvlink;
  });
}

std::vector<std::string> nvlink_faults(const NcclNode& node, const NodeSpec& spec) {
  BuilderFaults faults("a node to which NVLinks are added");
  faults.require(!has_nvlinks(node), "no NVLinks", "some");
  faults.require(spec.nvlink != NodeSpec::Nvlink::none, "a description of NVLinks", "none");
  if (spec.nvlink != NodeSpec::Nvlink::none) {
    faults.require_cable("NVLink", spec.nvlink_cable);
  }
  if (spec.nvlink == NodeSpec::Nvlink::mesh) {
    faults.require(spec.devices == node.devices, "a mesh of its " + counted(node.devices, "device"),
                   "one of " + std::to_string(spec.devices));
    for (const NvlinkPair& pair : spec.nvlink_pairs) {
      faults.require(
          pair.a != pair.b && pair.a < node.devices && pair.b < node.devices && pair.links > 0,
          "NVLinks between two of its devices",
          std::to_string(pair.links) + " between " + std::to_string(pair.a) + " and " +
              std::to_string(pair.b));
    }
  }
  return faults.take();
}

void add_mesh(NcclNode& node, const NodeSpec& spec, const CableSpec& link) {
  for (const NvlinkPair& pair : spec.nvlink_pairs) {
    CableSpec cable = link;
    cable.bandwidth_bytes_per_s *= static_cast<double>(pair.links);
    node.cables.push_back({pair.a, pair.b, cable});
  }
  for (std::size_t a = 0; spec.nvlink_pairs.empty() && a < node.devices; ++a) {
    for (std::size_t b = a + 1; b < node.devices; ++b) {
      node.cables.push_back({a, b, link});
    }
  }
}

void add_nvswitch(NcclNode& node, const CableSpec& link) {
  node.parts.push_back({.name = "nvswitch", .kind = NodeKind::bridge});
  for (std::size_t device = 0; device < node.devices; ++device) {
    node.cables.push_back({device, node.parts.size() - 1, link});
  }
}

}  // namespace

std::vector<std::string> add_nvlinks(NcclNode& node, const NodeSpec& spec,
                                     const std::string& source, TopologyNotes& notes) {
  std::vector<std::string> faults = nvlink_faults(node, spec);
  if (!faults.empty()) {
    return faults;
  }
  CableSpec link = spec.nvlink_cable;
  link.kind = LinkKind::nvlink;
  if (spec.nvlink == NodeSpec::Nvlink::nvswitch) {
    add_nvswitch(node, link);
  } else {
    add_mesh(node, spec, link);
  }
  node.needs_nvlinks = false;
  notes.understood.push_back("NVLinks: not in the file, taken from " + source);
  return {};
}

void set_latency(NcclNode& node, LinkKind kind, double latency_s) {
  for (NcclNode::Cable& cable : node.cables) {
    if (cable.spec.kind == kind) {
      cable.spec.latency_s = latency_s;
    }
  }
}

std::vector<std::string> add_nccl_nodes(Topology& topology, std::size_t count, const NcclNode& node,
                                        NodeEndpoints& endpoints) {
  BuilderFaults faults("a cluster");
  faults.require_at_least(1, "node", count);
  faults.require(count <= 1 || !node.nics.empty(), "NICs in its nodes", "none");
  faults.require_few_cables(static_cast<double>(count) * static_cast<double>(node.cables.size()));
  if (!faults.empty()) {
    return faults.take();
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string prefix = "node" + std::to_string(i) + ".";
    std::vector<NodeId> ids;
    for (const NcclNode::Part& part : node.parts) {
      ids.push_back(topology.add_node(prefix + part.name, part.kind));
    }
    for (const NcclNode::Cable& cable : node.cables) {
      topology.connect(ids[cable.a], ids[cable.b], cable.spec);
    }
    const auto nics = ids.begin() + static_cast<std::ptrdiff_t>(node.devices);
    endpoints.devices.insert(endpoints.devices.end(), ids.begin(), nics);
    endpoints.nics.insert(endpoints.nics.end(), nics,
                          nics + static_cast<std::ptrdiff_t>(node.nics.size()));
  }
  return {};
}

}  // namespace shardscope
