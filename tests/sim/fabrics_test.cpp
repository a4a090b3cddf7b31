// Fabrics against closed forms: counts, degrees, diameter, bisection, routes, and what
// they refuse.
#include "sim/topology/fabrics.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sim/topology/analysis.h"
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

}  // namespace
}  // namespace shardscope::testing
