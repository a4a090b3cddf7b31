// What is built alike in tests of topologies, and figures of what was built.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "sim/topology/analysis.h"
#include "sim/topology/topology.h"

namespace shardscope::testing {

using Texts = std::vector<std::string>;

inline constexpr double kBandwidth = 1e9;
inline constexpr CableSpec kCable{
    .kind = LinkKind::network, .bandwidth_bytes_per_s = kBandwidth, .latency_s = 1e-6};

// Of the cables at the nodes whose names begin so, the set of how many a node has.
inline std::set<std::size_t> degrees(const Topology& topology, const std::string& prefix) {
  std::set<std::size_t> found;
  for (NodeId id = 0; id < topology.node_count(); ++id) {
    if (topology.node(id).name.rfind(prefix, 0) == 0) {
      EXPECT_EQ(out_degree(id, topology.graph()), in_degree(id, topology.graph()));
      found.insert(out_degree(id, topology.graph()));
    }
  }
  return found;
}

inline std::size_t count(const Topology& topology, NodeKind kind) {
  std::size_t found = 0;
  for (NodeId id = 0; id < topology.node_count(); ++id) {
    found += topology.node(id).kind == kind ? 1 : 0;
  }
  return found;
}

inline std::size_t cables(const Topology& topology) {
  EXPECT_EQ(topology.links().size() % 2, 0U);
  return topology.links().size() / 2;
}

// The loads of the links whose names have `from` and `to` at the begin of their ends' names.
inline std::vector<double> loads_between(const Topology& topology, const std::vector<double>& loads,
                                         const std::string& from, const std::string& to) {
  std::vector<double> found;
  for (LinkId id = 0; id < loads.size(); ++id) {
    const Link& link = topology.link(id);
    if (topology.node(link.from).name.rfind(from, 0) == 0 &&
        topology.node(link.to).name.rfind(to, 0) == 0) {
      found.push_back(loads[id]);
    }
  }
  return found;
}

inline double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

inline std::vector<Flow> shift(std::size_t devices, std::size_t distance) {
  std::vector<Flow> flows;
  for (std::size_t i = 0; i < devices; ++i) {
    flows.push_back({.source = i, .destination = (i + distance) % devices});
  }
  return flows;
}

inline std::vector<Flow> all_to_all(std::size_t devices) {
  std::vector<Flow> flows;
  for (std::size_t distance = 1; distance < devices; ++distance) {
    const std::vector<Flow> some = shift(devices, distance);
    flows.insert(flows.end(), some.begin(), some.end());
  }
  return flows;
}

inline std::vector<std::string> names(const Topology& topology, const Route& route) {
  std::vector<std::string> found;
  for (const LinkId link : route) {
    found.push_back(topology.link(link).name);
  }
  return found;
}

}  // namespace shardscope::testing
