#include "sim/topology/topology.h"

#include <algorithm>
#include <boost/graph/strong_components.hpp>
#include <boost/property_map/property_map.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include "sim/text/printable.h"

namespace shardscope {
namespace {

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::size_t links_between(const Topology::Graph& graph, NodeId from, NodeId to) {
  std::size_t count = 0;
  if (out_degree(from, graph) <= in_degree(to, graph)) {
    for (auto [edge, end] = out_edges(from, graph); edge != end; ++edge) {
      count += target(*edge, graph) == to ? 1 : 0;
    }
  } else {
    for (auto [edge, end] = in_edges(to, graph); edge != end; ++edge) {
      count += source(*edge, graph) == from ? 1 : 0;
    }
  }
  return count;
}

// "twice", "3 times"
std::string times(std::size_t count) {
  return count == 2 ? "twice" : std::to_string(count) + " times";
}

using Counts = std::map<std::string, std::size_t>;

void add_duplicates(const char* what, const Counts& counts, std::vector<std::string>& faults) {
  for (const auto& [name, count] : counts) {
    if (count > 1) {
      faults.push_back(std::string("the name of ") + what + " " + quoted(name) + " is taken " +
                       times(count));
    }
  }
}

// "a, b, c and 5 more"
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 3;
  std::string text;
  const std::size_t shown_names = std::min(names.size(), kMostNames);
  for (std::size_t i = 0; i < shown_names; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > shown_names) {
    text += " and " + std::to_string(names.size() - shown_names) + " more";
  }
  return text;
}

void add_unreachable(const Topology& topology, std::vector<std::string>& faults) {
  std::vector<std::size_t> component(topology.node_count());
  boost::strong_components(topology.graph(),
                           boost::make_iterator_property_map(
                               component.begin(), get(boost::vertex_index, topology.graph())));
  std::vector<std::size_t> order;  // Of components, by their first device.
  std::map<std::size_t, std::vector<std::string>> parts;
  for (const NodeId device : topology.devices()) {
    std::vector<std::string>& part = parts[component[device]];
    if (part.empty()) {
      order.push_back(component[device]);
    }
    part.push_back(quoted(topology.node(device).name));
  }
  if (order.size() < 2) {
    return;
  }
  std::string text = "devices must reach each other both ways, and fall into " +
                     std::to_string(order.size()) + " parts: ";
  constexpr std::size_t kMostParts = 4;
  for (std::size_t i = 0; i < std::min(order.size(), kMostParts); ++i) {
    text += (i == 0 ? "" : "; ") + some_of(parts[order[i]]);
  }
  if (order.size() > kMostParts) {
    text += "; and " + std::to_string(order.size() - kMostParts) + " more parts";
  }
  faults.push_back(std::move(text));
}

}  // namespace

std::string_view name(NodeKind kind) {
  switch (kind) {
    case NodeKind::device:
      return "device";
    case NodeKind::nic:
      return "NIC";
    case NodeKind::bridge:
      return "bridge";
    case NodeKind::network_switch:
      break;
  }
  return "switch";
}

std::string_view name(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return "NVLink";
    case LinkKind::pcie:
      return "PCIe";
    case LinkKind::socket:
      return "socket";
    case LinkKind::network:
      break;
  }
  return "network";
}

std::vector<std::string> cable_faults(const CableSpec& cable) {
  std::vector<std::string> faults;
  if (!std::isfinite(cable.bandwidth_bytes_per_s) || cable.bandwidth_bytes_per_s <= 0) {
    faults.push_back("needs a positive, finite bandwidth, has " +
                     figure(cable.bandwidth_bytes_per_s) + " bytes/s");
  }
  if (!std::isfinite(cable.latency_s) || cable.latency_s < 0) {
    faults.push_back("needs a finite latency of at least 0, has " + figure(cable.latency_s) + " s");
  }
  return faults;
}

NodeId Topology::add_node(std::string name, NodeKind kind) {
  const NodeId id = add_vertex(graph_);
  graph_[id] = {std::move(name), kind};
  if (kind == NodeKind::device) {
    devices_.push_back(id);
  }
  return id;
}

LinkId Topology::add_link(std::string name, NodeId from, NodeId to, const CableSpec& cable) {
  const LinkId id = links_.size();
  add_edge(from, to, Edge{id}, graph_);
  links_.push_back({std::move(name), cable, from, to});
  return id;
}

LinkId Topology::add_link(NodeId from, NodeId to, const CableSpec& cable) {
  const std::size_t earlier = links_between(graph_, from, to);
  const std::string suffix = earlier == 0 ? "" : " #" + std::to_string(earlier);
  return add_link(node(from).name + "->" + node(to).name + suffix, from, to, cable);
}

void Topology::connect(NodeId a, NodeId b, const CableSpec& cable) {
  add_link(a, b, cable);
  add_link(b, a, cable);
}

std::vector<std::string> Topology::check() const {
  std::vector<std::string> faults;
  Counts node_names;
  for (NodeId id = 0; id < node_count(); ++id) {
    ++node_names[node(id).name];
  }
  add_duplicates("node", node_names, faults);
  Counts link_names;
  for (const Link& link : links_) {
    ++link_names[link.name];
  }
  add_duplicates("link", link_names, faults);
  for (const Link& link : links_) {
    if (link.from == link.to) {
      faults.push_back("link " + quoted(link.name) + " joins " + quoted(node(link.from).name) +
                       " with itself");
    }
    for (const std::string& fault : cable_faults(link.cable)) {
      faults.push_back("link " + quoted(link.name) + " " + fault);
    }
  }
  if (devices_.empty()) {
    faults.emplace_back("there is no device");
  }
  add_unreachable(*this, faults);
  return faults;
}

}  // namespace shardscope
