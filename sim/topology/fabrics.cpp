#include "sim/topology/fabrics.h"

#include <cmath>
#include <cstdio>
#include <string_view>

#include "core/check.h"
#include "sim/topology/builder_faults.h"

namespace shardscope {
namespace {

using Faults = std::vector<std::string>;
using Nodes = std::vector<NodeId>;

BuilderFaults common_faults(std::string_view what, const Nodes& endpoints, const CableSpec& cable) {
  BuilderFaults faults(what);
  faults.require_at_least(1, "endpoint", endpoints.size());
  faults.require_cable("cable", cable);
  return faults;
}

void require_oversubscription(BuilderFaults& faults, double oversubscription) {
  char has[32];
  std::snprintf(has, sizeof has, "%g", oversubscription);
  faults.require(std::isfinite(oversubscription) && oversubscription > 0,
                 "a finite oversubscription above 0", has);
}

Nodes add_switches(Topology& topology, const std::string& prefix, std::size_t count) {
  Nodes switches;
  for (std::size_t i = 0; i < count; ++i) {
    switches.push_back(topology.add_node(prefix + std::to_string(i), NodeKind::network_switch));
  }
  return switches;
}

// Of one of `uplinks` cables from a switch with `endpoints` below.
CableSpec uplink(CableSpec cable, std::size_t endpoints, std::size_t uplinks,
                 double oversubscription) {
  cable.bandwidth_bytes_per_s *=
      static_cast<double>(endpoints) / (static_cast<double>(uplinks) * oversubscription);
  return cable;
}

void connect_all(Topology& topology, const Nodes& lower, const Nodes& upper,
                 const CableSpec& cable) {
  for (const NodeId below : lower) {
    for (const NodeId above : upper) {
      topology.connect(below, above, cable);
    }
  }
}

// All links of one way come first: so flows to opposite devices, which may go either way, take
// turns by the tie rule of routes.h.
void connect_ring(Topology& topology, const Nodes& endpoints, const CableSpec& cable) {
  const std::size_t n = endpoints.size();
  const std::size_t cables = n > 2 ? n : n - 1;
  for (std::size_t i = 0; i < cables; ++i) {
    topology.add_link(endpoints[i], endpoints[(i + 1) % n], cable);
  }
  for (std::size_t i = 0; i < cables; ++i) {
    topology.add_link(endpoints[(i + 1) % n], endpoints[i], cable);
  }
}

}  // namespace

std::vector<NodeId> add_devices(Topology& topology, std::size_t count) {
  SHARDSCOPE_CHECK(count <= kMostCables, "devices are not too many");
  Nodes devices;
  for (std::size_t i = 0; i < count; ++i) {
    devices.push_back(topology.add_device("device" + std::to_string(i)));
  }
  return devices;
}

Faults add_star(Topology& topology, const Nodes& endpoints, const CableSpec& cable) {
  BuilderFaults faults = common_faults("a star", endpoints, cable);
  faults.require_few_cables(static_cast<double>(endpoints.size()));
  if (faults.empty()) {
    connect_all(topology, endpoints, {topology.add_node("switch", NodeKind::network_switch)},
                cable);
  }
  return faults.take();
}

Faults add_ring(Topology& topology, const Nodes& endpoints, const CableSpec& cable) {
  BuilderFaults faults = common_faults("a ring", endpoints, cable);
  faults.require_few_cables(static_cast<double>(endpoints.size()));
  if (faults.empty()) {
    connect_ring(topology, endpoints, cable);
  }
  return faults.take();
}

Faults add_fully_connected(Topology& topology, const Nodes& endpoints, const CableSpec& cable) {
  BuilderFaults faults = common_faults("a fully connected fabric", endpoints, cable);
  const auto n = static_cast<double>(endpoints.size());
  faults.require_few_cables(n * (n - 1) / 2);
  if (faults.empty()) {
    for (std::size_t i = 0; i < endpoints.size(); ++i) {
      for (std::size_t j = i + 1; j < endpoints.size(); ++j) {
        topology.connect(endpoints[i], endpoints[j], cable);
      }
    }
  }
  return faults.take();
}

Faults add_leaf_spine(Topology& topology, const Nodes& endpoints, const LeafSpineSpec& spec) {
  BuilderFaults faults = common_faults("a leaf-spine fabric", endpoints, spec.cable);
  faults.require_at_least(1, "endpoint per leaf", spec.endpoints_per_leaf);
  faults.require_at_least(1, "spine", spec.spines);
  require_oversubscription(faults, spec.oversubscription);
  const std::size_t per_leaf = spec.endpoints_per_leaf;
  const std::size_t leaf_count = per_leaf == 0 ? 0 : (endpoints.size() + per_leaf - 1) / per_leaf;
  faults.require_few_cables(static_cast<double>(endpoints.size()) +
                            static_cast<double>(leaf_count) * static_cast<double>(spec.spines));
  if (!faults.empty()) {
    return faults.take();
  }
  const Nodes leaves = add_switches(topology, "leaf", leaf_count);
  const Nodes spines = add_switches(topology, "spine", spec.spines);
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    topology.connect(endpoints[i], leaves[i / per_leaf], spec.cable);
  }
  connect_all(topology, leaves, spines,
              uplink(spec.cable, per_leaf, spec.spines, spec.oversubscription));
  return {};
}

std::size_t fat_tree_capacity(const FatTreeSpec& spec) {
  return spec.oversubscription * spec.k * (spec.k / 2) * (spec.k / 2);
}

Faults add_fat_tree(Topology& topology, const Nodes& endpoints, const FatTreeSpec& spec) {
  BuilderFaults faults = common_faults("a fat tree", endpoints, spec.cable);
  faults.require(spec.k >= 2 && spec.k % 2 == 0, "an even k of at least 2", std::to_string(spec.k));
  faults.require(spec.oversubscription >= 1 && spec.oversubscription <= kMostCables,
                 "an oversubscription of 1 to " + std::to_string(kMostCables),
                 std::to_string(spec.oversubscription));
  const auto k = static_cast<double>(spec.k);
  faults.require_few_cables(static_cast<double>(endpoints.size()) + k * k * k / 2);
  if (faults.empty()) {
    const double capacity = static_cast<double>(spec.oversubscription) * k * k * k / 4;
    faults.require(static_cast<double>(endpoints.size()) <= capacity,
                   "at most oversubscription k^3 / 4 = " + std::to_string(fat_tree_capacity(spec)) +
                       " endpoints",
                   std::to_string(endpoints.size()));
  }
  if (!faults.empty()) {
    return faults.take();
  }
  const std::size_t half = spec.k / 2;
  const Nodes edges = add_switches(topology, "edge", spec.k * half);
  const Nodes aggregations = add_switches(topology, "aggregation", spec.k * half);
  const Nodes cores = add_switches(topology, "core", half * half);
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    topology.connect(endpoints[i], edges[i / (half * spec.oversubscription)], spec.cable);
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const std::size_t pod = i / half;
    for (std::size_t a = 0; a < half; ++a) {
      topology.connect(edges[i], aggregations[pod * half + a], spec.cable);
    }
  }
  for (std::size_t i = 0; i < aggregations.size(); ++i) {
    for (std::size_t c = 0; c < half; ++c) {
      topology.connect(aggregations[i], cores[i % half * half + c], spec.cable);
    }
  }
  return {};
}

Faults add_rails(Topology& topology, const Nodes& endpoints, const RailSpec& spec) {
  BuilderFaults faults = common_faults("a rail-optimized fabric", endpoints, spec.cable);
  faults.require_at_least(1, "endpoint per node", spec.endpoints_per_node);
  const std::size_t rail_count = spec.endpoints_per_node;
  faults.require(rail_count == 0 || endpoints.size() % rail_count == 0,
                 "endpoints in nodes of " + std::to_string(rail_count),
                 std::to_string(endpoints.size()));
  require_oversubscription(faults, spec.oversubscription);
  faults.require_few_cables(static_cast<double>(endpoints.size()) +
                            static_cast<double>(rail_count) * static_cast<double>(spec.spines));
  if (!faults.empty()) {
    return faults.take();
  }
  const Nodes rails = add_switches(topology, "rail", rail_count);
  const Nodes spines = add_switches(topology, "spine", spec.spines);
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    topology.connect(endpoints[i], rails[i % rail_count], spec.cable);
  }
  connect_all(
      topology, rails, spines,
      uplink(spec.cable, endpoints.size() / rail_count, spec.spines, spec.oversubscription));
  return {};
}

Faults add_torus(Topology& topology, const Nodes& endpoints, const TorusSpec& spec) {
  BuilderFaults faults = common_faults("a torus", endpoints, spec.cable);
  faults.require_few_cables(3 * static_cast<double>(endpoints.size()));
  double product = 1;
  for (const std::size_t length : spec.lengths) {
    product *= static_cast<double>(length);
  }
  const auto& lengths = spec.lengths;
  faults.require(product > 0 && product == static_cast<double>(endpoints.size()),
                 std::to_string(lengths[0]) + " x " + std::to_string(lengths[1]) + " x " +
                     std::to_string(lengths[2]) + " endpoints",
                 std::to_string(endpoints.size()));
  if (!faults.empty()) {
    return faults.take();
  }
  std::size_t stride = 1;
  CableSpec cable = spec.cable;
  for (cable.dimension = 0; cable.dimension < lengths.size(); ++cable.dimension) {
    const std::size_t length = lengths[cable.dimension];
    for (std::size_t first = 0; first < endpoints.size(); ++first) {
      if (first / stride % length == 0) {
        Nodes line;
        for (std::size_t i = 0; i < length; ++i) {
          line.push_back(endpoints[first + i * stride]);
        }
        connect_ring(topology, line, cable);
      }
    }
    stride *= length;
  }
  return {};
}

}  // namespace shardscope
