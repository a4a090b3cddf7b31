#include "sim/topology/nodes.h"

#include "sim/topology/builder_faults.h"
#include "sim/topology/topology.h"

namespace shardscope {
namespace {

std::size_t divided_up(std::size_t count, std::size_t per) { return (count + per - 1) / per; }

bool has_pcie(const NodeSpec& spec) { return spec.devices_per_pcie_switch > 0; }

std::size_t pcie_switches(const NodeSpec& spec) {
  return has_pcie(spec) ? divided_up(spec.devices, spec.devices_per_pcie_switch) : 0;
}

std::size_t hosts(const NodeSpec& spec) {
  return spec.pcie_switches_per_host == 0
             ? 0
             : divided_up(pcie_switches(spec), spec.pcie_switches_per_host);
}

CableSpec of_kind(CableSpec cable, LinkKind kind) {
  cable.kind = kind;
  return cable;
}

double cables_per_node(const NodeSpec& spec) {
  const auto devices = static_cast<double>(spec.devices);
  const auto host_count = static_cast<double>(hosts(spec));
  double cables = static_cast<double>(spec.nics) + host_count * (host_count - 1) / 2;
  cables += has_pcie(spec) ? devices + static_cast<double>(pcie_switches(spec)) : 0;
  if (spec.nvlink == NodeSpec::Nvlink::nvswitch) {
    cables += devices;
  } else if (spec.nvlink == NodeSpec::Nvlink::mesh) {
    cables += spec.nvlink_pairs.empty() ? devices * (devices - 1) / 2
                                        : static_cast<double>(spec.nvlink_pairs.size());
  }
  return cables;
}

void require_pairs(BuilderFaults& faults, const NodeSpec& spec) {
  for (const NvlinkPair& pair : spec.nvlink_pairs) {
    const std::string devices = std::to_string(pair.a) + " and " + std::to_string(pair.b);
    faults.require(pair.a != pair.b && pair.a < spec.devices && pair.b < spec.devices,
                   "NVLinks between two of its devices, 0 to " + std::to_string(spec.devices - 1),
                   "some between " + devices);
    faults.require(pair.links > 0, "at least 1 NVLink between devices " + devices, "0");
  }
}

std::vector<std::string> node_faults(std::size_t count, const NodeSpec& spec) {
  BuilderFaults cluster("a cluster");
  cluster.require_at_least(1, "node", count);
  cluster.require(count <= 1 || spec.nics > 0, "NICs in its nodes", "none");
  cluster.require_few_cables(static_cast<double>(count) * cables_per_node(spec));

  BuilderFaults faults("a node");
  faults.require_at_least(1, "device", spec.devices);
  faults.require(spec.devices <= 1 || has_pcie(spec) || spec.nvlink != NodeSpec::Nvlink::none,
                 "NVLink or PCIe between its devices", "neither");
  if (spec.nvlink != NodeSpec::Nvlink::none) {
    faults.require_cable("NVLink", spec.nvlink_cable);
  }
  if (spec.nvlink == NodeSpec::Nvlink::mesh && spec.devices > 0) {
    require_pairs(faults, spec);
  }
  if (has_pcie(spec)) {
    faults.require_at_least(1, "PCIe switch per host bridge", spec.pcie_switches_per_host);
    faults.require_cable("PCIe link", spec.pcie_cable);
    if (hosts(spec) > 1) {
      faults.require_cable("link between host bridges", spec.socket_cable);
    }
  } else {
    faults.require(spec.nics == 0, "PCIe for its NICs", "none");
  }
  std::vector<std::string> all = cluster.take();
  for (std::string& fault : faults.take()) {
    all.push_back(std::move(fault));
  }
  return all;
}

// One node, part by part.
class Node {
 public:
  Node(Topology& topology, const NodeSpec& spec, std::string name)
      : topology_(topology), spec_(spec), name_(std::move(name)) {
    devices_ = add("device", spec.devices, NodeKind::device);
    nics_ = add("nic", spec.nics, NodeKind::nic);
    add_nvlink();
    add_pcie();
  }

  const std::vector<NodeId>& devices() const { return devices_; }
  const std::vector<NodeId>& nics() const { return nics_; }

 private:
  std::vector<NodeId> add(const std::string& part, std::size_t count, NodeKind kind) {
    std::vector<NodeId> added;
    for (std::size_t i = 0; i < count; ++i) {
      added.push_back(topology_.add_node(name_ + "." + part + std::to_string(i), kind));
    }
    return added;
  }

  void add_nvlink() {
    const CableSpec cable = of_kind(spec_.nvlink_cable, LinkKind::nvlink);
    if (spec_.nvlink == NodeSpec::Nvlink::nvswitch) {
      const NodeId nvswitch = topology_.add_node(name_ + ".nvswitch", NodeKind::bridge);
      for (const NodeId device : devices_) {
        topology_.connect(device, nvswitch, cable);
      }
    } else if (spec_.nvlink == NodeSpec::Nvlink::mesh) {
      add_mesh(cable);
    }
  }

  void add_mesh(const CableSpec& link) {
    for (const NvlinkPair& pair : spec_.nvlink_pairs) {
      CableSpec cable = link;
      cable.bandwidth_bytes_per_s *= static_cast<double>(pair.links);
      topology_.connect(devices_[pair.a], devices_[pair.b], cable);
    }
    for (std::size_t a = 0; spec_.nvlink_pairs.empty() && a < devices_.size(); ++a) {
      for (std::size_t b = a + 1; b < devices_.size(); ++b) {
        topology_.connect(devices_[a], devices_[b], link);
      }
    }
  }

  void add_pcie() {
    const CableSpec cable = of_kind(spec_.pcie_cable, LinkKind::pcie);
    const std::vector<NodeId> switches = add("pcie", pcie_switches(spec_), NodeKind::bridge);
    const std::vector<NodeId> bridges = add("host", hosts(spec_), NodeKind::bridge);
    for (std::size_t i = 0; i < switches.size(); ++i) {
      topology_.connect(switches[i], bridges[i / spec_.pcie_switches_per_host], cable);
    }
    for (std::size_t i = 0; has_pcie(spec_) && i < devices_.size(); ++i) {
      topology_.connect(devices_[i], switches[i / spec_.devices_per_pcie_switch], cable);
    }
    for (std::size_t j = 0; j < nics_.size(); ++j) {
      topology_.connect(nics_[j], switches[j * switches.size() / nics_.size()], cable);
    }
    for (std::size_t a = 0; a < bridges.size(); ++a) {
      for (std::size_t b = a + 1; b < bridges.size(); ++b) {
        topology_.connect(bridges[a], bridges[b], of_kind(spec_.socket_cable, LinkKind::socket));
      }
    }
  }

  Topology& topology_;
  const NodeSpec& spec_;
  std::string name_;
  std::vector<NodeId> devices_;
  std::vector<NodeId> nics_;
};

}  // namespace

std::vector<std::string> add_nodes(Topology& topology, std::size_t count, const NodeSpec& spec,
                                   NodeEndpoints& endpoints) {
  std::vector<std::string> faults = node_faults(count, spec);
  for (std::size_t i = 0; faults.empty() && i < count; ++i) {
    const Node node(topology, spec, "node" + std::to_string(i));
    endpoints.devices.insert(endpoints.devices.end(), node.devices().begin(), node.devices().end());
    endpoints.nics.insert(endpoints.nics.end(), node.nics().begin(), node.nics().end());
  }
  return faults;
}

}  // namespace shardscope
