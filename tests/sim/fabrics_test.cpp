// Fabrics and nodes against closed forms: counts, degrees, diameter, bisection, routes, and what
// they refuse.
#include "sim/topology/fabrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/topology/analysis.h"
#include "sim/topology/nodes.h"
#include "sim/topology/routes.h"
#include "tests/sim/topologies.h"

namespace shardscope::testing {
namespace {

// ---- Fabrics of devices.

struct Figures {
  std::size_t switches;
  std::size_t cables;
  std::size_t diameter;
  double bisection;  ///< In bandwidths of a cable.
};

void expect_figures(const Topology& topology, const Figures& expected) {
  EXPECT_EQ(topology.check(), Texts{});
  EXPECT_EQ(count(topology, NodeKind::network_switch), expected.switches);
  EXPECT_EQ(topology.node_count(), topology.devices().size() + expected.switches);
  EXPECT_EQ(cables(topology), expected.cables);
  Routes routes(topology);
  EXPECT_EQ(diameter(topology, routes), expected.diameter);
  EXPECT_DOUBLE_EQ(bisection_bytes_per_s(topology), expected.bisection * kBandwidth);
}

TEST(FabricsTest, Star) {
  for (std::size_t n = 2; n <= 9; ++n) {
    SCOPED_TRACE(n);
    Topology topology;
    ASSERT_EQ(add_star(topology, add_devices(topology, n), kCable), Texts{});
    expect_figures(topology, {1, n, 2, static_cast<double>(n / 2)});
    EXPECT_EQ(degrees(topology, "switch"), std::set{n});
  }
}

TEST(FabricsTest, Ring) {
  for (std::size_t n = 2; n <= 9; ++n) {
    SCOPED_TRACE(n);
    Topology topology;
    ASSERT_EQ(add_ring(topology, add_devices(topology, n), kCable), Texts{});
    expect_figures(topology, {0, n == 2 ? 1 : n, n / 2, n == 2 ? 1.0 : 2.0});
    EXPECT_EQ(degrees(topology, "device"), std::set<std::size_t>{n == 2 ? 1U : 2U});
  }
}

TEST(FabricsTest, FullyConnected) {
  for (std::size_t n = 2; n <= 9; ++n) {
    SCOPED_TRACE(n);
    Topology topology;
    ASSERT_EQ(add_fully_connected(topology, add_devices(topology, n), kCable), Texts{});
    expect_figures(topology, {0, n * (n - 1) / 2, 1, static_cast<double>(n / 2 * (n - n / 2))});
    EXPECT_EQ(degrees(topology, "device"), std::set{n - 1});
  }
}

TEST(FabricsTest, LeafSpine) {
  for (const std::size_t leaves : {2U, 4U}) {
    for (const std::size_t spines : {1U, 2U, 3U, 8U}) {
      for (const double oversubscription : {1.0, 2.0, 4.0}) {
        SCOPED_TRACE(::testing::Message()
                     << leaves << " leaves, " << spines << " spines, " << oversubscription << ":1");
        Topology topology;
        const std::size_t devices = leaves * 8;
        ASSERT_EQ(add_leaf_spine(topology, add_devices(topology, devices),
                                 {.endpoints_per_leaf = 8,
                                  .spines = spines,
                                  .oversubscription = oversubscription,
                                  .cable = kCable}),
                  Texts{});
        expect_figures(topology, {leaves + spines, devices + leaves * spines, 4,
                                  static_cast<double>(devices / 2) / oversubscription});
        EXPECT_EQ(degrees(topology, "leaf"), std::set{8 + spines});
        EXPECT_EQ(degrees(topology, "spine"), std::set{leaves});
      }
    }
  }
}

TEST(FabricsTest, TheLastLeafMayHaveFewerEndpoints) {
  Topology topology;
  ASSERT_EQ(add_leaf_spine(topology, add_devices(topology, 9),
                           {.endpoints_per_leaf = 4, .spines = 2, .cable = kCable}),
            Texts{});
  EXPECT_EQ(topology.check(), Texts{});
  EXPECT_EQ(degrees(topology, "leaf0"), std::set<std::size_t>{6});
  EXPECT_EQ(degrees(topology, "leaf2"), std::set<std::size_t>{3});
}

TEST(FabricsTest, FatTree) {
  for (const std::size_t k : {2U, 4U, 6U, 8U}) {
    for (const std::size_t oversubscription : {1U, 2U, 4U}) {
      SCOPED_TRACE(::testing::Message() << "k " << k << ", " << oversubscription << ":1");
      Topology topology;
      const FatTreeSpec spec{.k = k, .oversubscription = oversubscription, .cable = kCable};
      const std::size_t devices = oversubscription * k * k * k / 4;
      EXPECT_EQ(fat_tree_capacity(spec), devices);
      ASSERT_EQ(add_fat_tree(topology, add_devices(topology, devices), spec), Texts{});
      expect_figures(topology,
                     {5 * k * k / 4, devices + k * k * k / 2, 6,
                      static_cast<double>(devices / 2) / static_cast<double>(oversubscription)});
      EXPECT_EQ(degrees(topology, "edge"), std::set{k / 2 * (oversubscription + 1)});
      EXPECT_EQ(degrees(topology, "aggregation"), std::set{k});
      EXPECT_EQ(degrees(topology, "core"), std::set{k});
    }
  }
}

TEST(FabricsTest, Rails) {
  for (const std::size_t nodes : {2U, 4U}) {
    for (const std::size_t spines : {1U, 4U}) {
      SCOPED_TRACE(::testing::Message() << nodes << " nodes, " << spines << " spines");
      Topology topology;
      ASSERT_EQ(
          add_rails(
              topology, add_devices(topology, nodes * 8),
              {.endpoints_per_node = 8, .spines = spines, .oversubscription = 2, .cable = kCable}),
          Texts{});
      expect_figures(topology,
                     {8 + spines, nodes * 8 + 8 * spines, 4, static_cast<double>(nodes * 8 / 2)});
      EXPECT_EQ(degrees(topology, "rail"), std::set{nodes + spines});
      EXPECT_EQ(degrees(topology, "spine"), std::set<std::size_t>{8});
    }
  }
}

TEST(FabricsTest, Torus) {
  using Lengths = std::array<std::size_t, 3>;
  for (const Lengths& lengths : {Lengths{4, 4, 1},
                                 {3, 4, 1},
                                 {5, 2, 1},
                                 {2, 2, 1},
                                 {3, 1, 4},
                                 {4, 4, 4},
                                 {2, 3, 4},
                                 {2, 2, 2},
                                 {3, 3, 6}}) {
    SCOPED_TRACE(::testing::Message() << lengths[0] << "x" << lengths[1] << "x" << lengths[2]);
    const std::size_t devices = lengths[0] * lengths[1] * lengths[2];
    std::size_t cable_count = 0;
    std::size_t diameter_links = 0;
    std::size_t degree = 0;
    std::size_t last = 1;  // The last dimension that is cut in halves.
    for (const std::size_t length : lengths) {
      cable_count += devices / length * (length > 2 ? length : length - 1);
      diameter_links += length / 2;
      degree += length > 2 ? 2 : length - 1;
      last = length > 1 ? length : last;
    }
    Topology topology;
    ASSERT_EQ(
        add_torus(topology, add_devices(topology, devices), {.lengths = lengths, .cable = kCable}),
        Texts{});
    expect_figures(topology, {0, cable_count, diameter_links,
                              static_cast<double>(devices / last * (last > 2 ? 2 : 1))});
    EXPECT_EQ(degrees(topology, "device"), std::set{degree});
  }
}

TEST(FabricsTest, RefuseWhatCannotBe) {
  Topology topology;
  const std::vector<NodeId> ten = add_devices(topology, 10);
  const CableSpec bad{.kind = LinkKind::network, .bandwidth_bytes_per_s = -1, .latency_s = -2};
  EXPECT_EQ(add_star(topology, {}, bad),
            (Texts{"a star needs at least 1 endpoint, has 0",
                   "the cable of a star needs a positive, finite bandwidth, has -1 bytes/s",
                   "the cable of a star needs a finite latency of at least 0, has -2 s"}));
  EXPECT_EQ(add_ring(topology, {}, kCable), Texts{"a ring needs at least 1 endpoint, has 0"});
  EXPECT_EQ(add_fully_connected(topology, std::vector<NodeId>(1001), kCable),
            Texts{"a fully connected fabric needs at most 500000 cables, has 500500"});
  EXPECT_EQ(add_leaf_spine(topology, ten, {.oversubscription = 0, .cable = kCable}),
            (Texts{"a leaf-spine fabric needs at least 1 endpoint per leaf, has 0",
                   "a leaf-spine fabric needs at least 1 spine, has 0",
                   "a leaf-spine fabric needs a finite oversubscription above 0, has 0"}));
  EXPECT_EQ(
      add_leaf_spine(topology, ten, {.endpoints_per_leaf = 1, .spines = SIZE_MAX, .cable = kCable}),
      Texts{"a leaf-spine fabric needs at most 500000 cables, has 1.84467e+20"});
  EXPECT_EQ(add_fat_tree(topology, ten, {.k = 3, .oversubscription = 0, .cable = kCable}),
            (Texts{"a fat tree needs an even k of at least 2, has 3",
                   "a fat tree needs an oversubscription of 1 to 500000, has 0"}));
  EXPECT_EQ(add_fat_tree(topology, ten, {.k = 2, .cable = kCable}),
            Texts{"a fat tree needs at most oversubscription k^3 / 4 = 2 endpoints, has 10"});
  EXPECT_EQ(add_fat_tree(topology, ten, {.k = std::size_t{1} << 63, .cable = kCable}),
            Texts{"a fat tree needs at most 500000 cables, has 3.92319e+56"});
  EXPECT_EQ(add_rails(topology, ten, {.endpoints_per_node = 4, .cable = kCable}),
            Texts{"a rail-optimized fabric needs endpoints in nodes of 4, has 10"});
  EXPECT_EQ(add_rails(topology, ten, {.endpoints_per_node = 0, .cable = kCable}),
            Texts{"a rail-optimized fabric needs at least 1 endpoint per node, has 0"});
  EXPECT_EQ(add_torus(topology, ten, {.lengths = {3, 3, 1}, .cable = kCable}),
            Texts{"a torus needs 3 x 3 x 1 endpoints, has 10"});
  EXPECT_EQ(add_torus(topology, {}, {.lengths = {0, 3, 1}, .cable = kCable}),
            (Texts{"a torus needs at least 1 endpoint, has 0",
                   "a torus needs 0 x 3 x 1 endpoints, has 0"}));
  EXPECT_EQ(topology.node_count(), 10U) << "what is refused is not begun";
  EXPECT_TRUE(topology.links().empty());
}

// ---- Nodes.

CableSpec bandwidth(double bytes_per_s) {
  return {.kind = LinkKind::network, .bandwidth_bytes_per_s = bytes_per_s, .latency_s = 1e-6};
}

// Eight devices behind an NVSwitch, two devices and two NICs per PCIe switch, two sockets.
NodeSpec eight_devices() {
  NodeSpec node;
  node.nvlink = NodeSpec::Nvlink::nvswitch;
  node.nvlink_cable = bandwidth(300e9);
  node.devices_per_pcie_switch = 2;
  node.pcie_switches_per_host = 2;
  node.pcie_cable = bandwidth(25e9);
  node.socket_cable = bandwidth(50e9);
  node.nics = 8;
  return node;
}

TEST(NodesTest, HaveTheirParts) {
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 3, eight_devices(), endpoints), Texts{});
  EXPECT_EQ(endpoints.devices, topology.devices());
  EXPECT_EQ(endpoints.devices.size(), 24U);
  EXPECT_EQ(endpoints.nics.size(), 24U);
  EXPECT_EQ(count(topology, NodeKind::nic), 24U);
  EXPECT_EQ(count(topology, NodeKind::bridge), 3U * (1 + 4 + 2));
  EXPECT_EQ(cables(topology), 3U * (8 + 8 + 8 + 4 + 1));
  EXPECT_EQ(degrees(topology, "node1.device"), std::set<std::size_t>{2});
  EXPECT_EQ(degrees(topology, "node1.nvswitch"), std::set<std::size_t>{8});
  EXPECT_EQ(degrees(topology, "node1.pcie"), std::set<std::size_t>{2 + 2 + 1});
  EXPECT_EQ(degrees(topology, "node1.host"), std::set<std::size_t>{2 + 1});
  EXPECT_EQ(topology.check(),
            Texts{"devices must reach each other both ways, and fall into 3 parts: "
                  "\"node0.device0\", \"node0.device1\", \"node0.device2\" and 5 more; "
                  "\"node1.device0\", \"node1.device1\", \"node1.device2\" and 5 more; "
                  "\"node2.device0\", \"node2.device1\", \"node2.device2\" and 5 more"})
      << "no fabric joins them yet";
}

// A PCIe switch joins them as closely.
TEST(NodesTest, DevicesUseTheNvswitch) {
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 1, eight_devices(), endpoints), Texts{});
  Routes routes(topology);
  for (std::size_t to = 1; to < 8; ++to) {
    EXPECT_EQ(names(topology, routes.route(0, to)),
              (Texts{"node0.device0->node0.nvswitch",
                     "node0.nvswitch->node0.device" + std::to_string(to)}));
  }
}

TEST(NodesTest, DevicesOfAPcieTreeMeetAtTheLowestBridge) {
  NodeSpec node = eight_devices();
  node.nvlink = NodeSpec::Nvlink::none;
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 1, node, endpoints), Texts{});
  Routes routes(topology);
  EXPECT_EQ(routes.length(0, 1), 2U);
  EXPECT_EQ(routes.length(0, 2), 4U);
  EXPECT_EQ(routes.length(0, 4), 5U);
  EXPECT_EQ(topology.link(*bottleneck(topology, routes.route(0, 4))).name,
            "node0.device0->node0.pcie0");
}

// A cube mesh in small: opposite corners have no NVLink and go over PCIe, not through a device.
TEST(NodesTest, DevicesOfAMeshUseTheirNvlinksOrPcie) {
  NodeSpec node = eight_devices();
  node.devices = 4;
  node.nvlink = NodeSpec::Nvlink::mesh;
  node.nvlink_cable = bandwidth(25e9);
  node.nvlink_pairs = {{0, 1, 2}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}};
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 1, node, endpoints), Texts{});
  Routes routes(topology);
  EXPECT_EQ(names(topology, routes.route(0, 1)), Texts{"node0.device0->node0.device1"});
  EXPECT_EQ(topology.link(routes.route(0, 1)[0]).cable.bandwidth_bytes_per_s, 50e9);
  EXPECT_EQ(names(topology, routes.route(0, 2)),
            (Texts{"node0.device0->node0.pcie0", "node0.pcie0->node0.host0",
                   "node0.host0->node0.pcie1", "node0.pcie1->node0.device2"}));

  node.nvlink_pairs.clear();
  Topology whole;
  endpoints = {};
  ASSERT_EQ(add_nodes(whole, 1, node, endpoints), Texts{});
  EXPECT_EQ(cables(whole), cables(topology) + 2) << "six pairs instead of four";
  Routes direct(whole);
  EXPECT_EQ(direct.length(0, 2), 1U);
}

// Two devices share a PCIe switch with two NICs, and 16 NICs share a leaf with 8 uplinks. Device i
// of one leaf sends to device i of the other: choices that were made are made up for.
TEST(NodesTest, FlowsBetweenLeavesUseAllNicsAndUplinks) {
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 4, eight_devices(), endpoints), Texts{});
  ASSERT_EQ(add_leaf_spine(topology, endpoints.nics,
                           {.endpoints_per_leaf = 16, .spines = 8, .cable = kCable}),
            Texts{});
  EXPECT_EQ(topology.check(), Texts{});
  Routes routes(topology);
  const std::vector<double> loads = link_loads(topology, routes, shift(32, 16));
  const auto all = [](std::size_t links, double load) { return std::vector<double>(links, load); };
  EXPECT_EQ(loads_between(topology, loads, "leaf", "spine"), all(16, 2));
  EXPECT_EQ(loads_between(topology, loads, "spine", "leaf"), all(16, 2));
  EXPECT_EQ(loads_between(topology, loads, "node", "leaf"), all(32, 1));
  EXPECT_EQ(loads_between(topology, loads, "leaf", "node"), all(32, 1));
}

TEST(NodesTest, RailsJoinNicsOfOneNumber) {
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 4, eight_devices(), endpoints), Texts{});
  ASSERT_EQ(
      add_rails(topology, endpoints.nics, {.endpoints_per_node = 8, .spines = 2, .cable = kCable}),
      Texts{});
  EXPECT_EQ(topology.check(), Texts{});
  Routes routes(topology);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::string part = std::to_string(i);
    const std::string device = "device" + part;
    const std::string pcie = "pcie" + std::to_string(i / 2);
    const std::string nic = "nic" + part;
    EXPECT_EQ(names(topology, routes.route(i, 8 + i)),
              (Texts{"node0." + device + "->node0." + pcie, "node0." + pcie + "->node0." + nic,
                     "node0." + nic + "->rail" + part, "rail" + part + "->node1." + nic,
                     "node1." + nic + "->node1." + pcie, "node1." + pcie + "->node1." + device}));
  }
}

TEST(NodesTest, FewNicsAreSpreadOverPcieSwitches) {
  NodeSpec node = eight_devices();
  node.nics = 2;
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_EQ(add_nodes(topology, 1, node, endpoints), Texts{});
  EXPECT_EQ(degrees(topology, "node0.pcie0"), std::set<std::size_t>{4});
  EXPECT_EQ(degrees(topology, "node0.pcie1"), std::set<std::size_t>{3});
  EXPECT_EQ(degrees(topology, "node0.pcie2"), std::set<std::size_t>{4});
}

TEST(NodesTest, AreJoinedByAnyFabric) {
  NodeSpec node = eight_devices();
  node.nics = 1;
  for (int fabric = 0; fabric < 7; ++fabric) {
    Topology topology;
    NodeEndpoints endpoints;
    ASSERT_EQ(add_nodes(topology, 4, node, endpoints), Texts{});
    const std::vector<NodeId>& nics = endpoints.nics;
    const std::vector<Texts> faults = {
        fabric == 0 ? add_star(topology, nics, kCable) : Texts{},
        fabric == 1 ? add_ring(topology, nics, kCable) : Texts{},
        fabric == 2 ? add_fully_connected(topology, nics, kCable) : Texts{},
        fabric == 3 ? add_leaf_spine(topology, nics,
                                     {.endpoints_per_leaf = 2, .spines = 2, .cable = kCable})
                    : Texts{},
        fabric == 4 ? add_fat_tree(topology, nics, {.k = 4, .cable = kCable}) : Texts{},
        fabric == 5 ? add_rails(topology, nics, {.endpoints_per_node = 1, .cable = kCable})
                    : Texts{},
        fabric == 6 ? add_torus(topology, nics, {.lengths = {2, 2, 1}, .cable = kCable}) : Texts{}};
    EXPECT_EQ(faults, std::vector<Texts>(7)) << fabric;
    EXPECT_EQ(topology.check(), Texts{}) << fabric;
    Routes routes(topology);
    const Route route = routes.route(1, 8 * 3 + 1);
    ASSERT_GE(route.size(), 5U) << fabric;
    EXPECT_EQ(topology.node(topology.link(route[1]).to).name, "node0.nic0") << fabric;
  }
}

TEST(NodesTest, RefuseWhatCannotBe) {
  Topology topology;
  NodeEndpoints endpoints;
  NodeSpec node;
  node.devices = 0;
  EXPECT_EQ(
      add_nodes(topology, 0, node, endpoints),
      (Texts{"a cluster needs at least 1 node, has 0", "a node needs at least 1 device, has 0"}));
  node.devices = 2;
  EXPECT_EQ(add_nodes(topology, 2, node, endpoints),
            (Texts{"a cluster needs NICs in its nodes, has none",
                   "a node needs NVLink or PCIe between its devices, has neither"}));
  node.nics = 1;
  node.nvlink = NodeSpec::Nvlink::mesh;
  node.nvlink_pairs = {{0, 2, 1}, {1, 1, 1}, {0, 1, 0}};
  EXPECT_EQ(add_nodes(topology, 2, node, endpoints),
            (Texts{"the NVLink of a node needs a positive, finite bandwidth, has 0 bytes/s",
                   "a node needs NVLinks between two of its devices, 0 to 1, has some between 0 "
                   "and 2",
                   "a node needs NVLinks between two of its devices, 0 to 1, has some between 1 "
                   "and 1",
                   "a node needs at least 1 NVLink between devices 0 and 1, has 0",
                   "a node needs PCIe for its NICs, has none"}));
  node = eight_devices();
  node.pcie_switches_per_host = 0;
  EXPECT_EQ(add_nodes(topology, 1, node, endpoints),
            Texts{"a node needs at least 1 PCIe switch per host bridge, has 0"});
  node = eight_devices();
  node.pcie_cable.latency_s = -1;
  node.socket_cable = {};
  EXPECT_EQ(add_nodes(topology, 1, node, endpoints),
            (Texts{"the PCIe link of a node needs a finite latency of at least 0, has -1 s",
                   "the link between host bridges of a node needs a positive, finite bandwidth, "
                   "has 0 bytes/s"}));
  EXPECT_EQ(add_nodes(topology, 100'000, eight_devices(), endpoints),
            Texts{"a cluster needs at most 500000 cables, has 2.9e+06"});
  EXPECT_EQ(topology.node_count(), 0U);
  EXPECT_TRUE(endpoints.devices.empty());
}

}  // namespace
}  // namespace shardscope::testing
