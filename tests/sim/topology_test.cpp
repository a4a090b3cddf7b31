// Topologies against closed forms and brute-force twins: routes against Floyd and Warshall's
// algorithm, bisection against all cuts, loads of links against counting.
#include "sim/topology/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/topology/analysis.h"
#include "sim/topology/fabrics.h"
#include "sim/topology/routes.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/topologies.h"

namespace shardscope::testing {
namespace {

// ---- The graph.

TEST(TopologyTest, ACableIsTwoLinks) {
  Topology topology;
  const NodeId a = topology.add_device("a");
  const NodeId b = topology.add_device("b");
  topology.connect(a, b, kCable);
  topology.connect(b, a, kCable);
  ASSERT_EQ(topology.links().size(), 4U);
  EXPECT_EQ(names(topology, {0, 1, 2, 3}), (Texts{"a->b", "b->a", "b->a #1", "a->b #1"}));
  EXPECT_EQ(topology.link(1).from, b);
  EXPECT_EQ(topology.link(1).to, a);
  EXPECT_EQ(topology.link(1).cable.bandwidth_bytes_per_s, kBandwidth);
  EXPECT_EQ(topology.check(), Texts{});
}

TEST(TopologyTest, ACopyIsWhole) {
  Topology topology;
  add_star(topology, add_devices(topology, 3), kCable);
  const Topology copy = topology;
  topology = Topology();
  Routes routes(copy);
  EXPECT_EQ(names(copy, routes.route(0, 2)), (Texts{"device0->switch", "switch->device2"}));
}

TEST(TopologyCheck, NamesWhatIsWrong) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Topology topology;
  const NodeId a = topology.add_device("a");
  const NodeId b = topology.add_device("b");
  const NodeId c = topology.add_device("c");
  topology.add_node("c", NodeKind::network_switch);
  topology.add_link("ab", a, b, {LinkKind::network, 0, 0});
  topology.add_link("ab", b, a, {LinkKind::network, 1, -1});
  topology.add_link("cc", c, c, {LinkKind::network, -2, 0});
  topology.add_link("bc", b, c, {LinkKind::network, kInfinity, std::nan("")});
  EXPECT_EQ(
      topology.check(),
      (Texts{"the name of node \"c\" is taken twice", "the name of link \"ab\" is taken twice",
             "link \"ab\" needs a positive, finite bandwidth, has 0 bytes/s",
             "link \"ab\" needs a finite latency of at least 0, has -1 s",
             "link \"cc\" joins \"c\" with itself",
             "link \"cc\" needs a positive, finite bandwidth, has -2 bytes/s",
             "link \"bc\" needs a positive, finite bandwidth, has inf bytes/s",
             "link \"bc\" needs a finite latency of at least 0, has nan s",
             "devices must reach each other both ways, and fall into 2 parts: \"a\", \"b\"; "
             "\"c\""}));
}

TEST(TopologyCheck, WantsADevice) {
  Topology topology;
  EXPECT_EQ(topology.check(), Texts{"there is no device"});
  topology.add_node("switch", NodeKind::network_switch);
  EXPECT_EQ(topology.check(), Texts{"there is no device"});
  topology.add_device("device");
  EXPECT_EQ(topology.check(), Texts{});
}

TEST(TopologyCheck, TellsPartsOfManyDevices) {
  Topology topology;
  const std::vector<NodeId> devices = add_devices(topology, 9);
  add_star(topology, {devices.begin(), devices.begin() + 4}, kCable);
  EXPECT_EQ(topology.check(),
            Texts{"devices must reach each other both ways, and fall into 6 parts: \"device0\", "
                  "\"device1\", \"device2\" and 1 more; \"device4\"; \"device5\"; \"device6\"; and "
                  "2 more parts"});
}

// ---- Routes.

// Links, and how many are not NVLink; by pairs of nodes.
using Cost = std::pair<std::size_t, std::size_t>;
using Costs = std::vector<std::vector<Cost>>;
constexpr Cost kNoPath{1'000'000, 0};

Cost cost_of(const Link& link) { return {1, link.cable.kind == LinkKind::nvlink ? 0 : 1}; }

// Floyd and Warshall's algorithm through the nodes of which `passable` is true.
template <typename Passable>
void shorten(Costs& costs, const Passable& passable) {
  for (std::size_t via = 0; via < costs.size(); ++via) {
    for (std::size_t a = 0; passable(via) && a < costs.size(); ++a) {
      for (std::size_t b = 0; b < costs.size(); ++b) {
        const Cost through{costs[a][via].first + costs[via][b].first,
                           costs[a][via].second + costs[via][b].second};
        costs[a][b] = std::min(costs[a][b], through);
      }
    }
  }
}

struct RandomTopology {
  explicit RandomTopology(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::size_t nodes = 2 + random() % 12;
    for (std::size_t i = 0; i < nodes; ++i) {
      const bool device = i < 2 || random() % 3 == 0;
      topology.add_node("n" + std::to_string(i), device ? NodeKind::device : NodeKind::bridge);
    }
    const std::size_t links = nodes + random() % (3 * nodes);
    for (std::size_t i = 0; i < links; ++i) {
      const NodeId from = random() % nodes;
      const NodeId to = (from + 1 + random() % (nodes - 1)) % nodes;
      topology.add_link("l" + std::to_string(i), from, to,
                        {random() % 2 == 0 ? LinkKind::nvlink : LinkKind::pcie,
                         static_cast<double>(1 + random() % 9), 0});
    }
  }
  Topology topology;
};

void expect_route(const Topology& topology, const Route& route, NodeId from, NodeId to,
                  const Costs& around, const Costs& through) {
  const bool goes_around = around[from][to] < kNoPath;
  Cost cost{0, 0};
  NodeId at = from;
  for (const LinkId id : route) {
    const Link& link = topology.link(id);
    ASSERT_EQ(link.from, at) << link.name;
    at = link.to;
    cost.first += cost_of(link).first;
    cost.second += cost_of(link).second;
    if (goes_around && at != to) {
      EXPECT_NE(topology.node(at).kind, NodeKind::device);
    }
  }
  EXPECT_EQ(at, to);
  if (from != to) {
    EXPECT_EQ(cost, goes_around ? around[from][to] : through[from][to]);
  }
}

TEST(RoutesTest, AreThoseOfFloydAndWarshall) {
  std::size_t compared = 0;
  std::size_t through_devices = 0;
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 100 : 1000); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomTopology random(seed);
    const Topology& topology = random.topology;
    if (!topology.check().empty()) {
      continue;
    }
    Costs around(topology.node_count(), std::vector<Cost>(topology.node_count(), kNoPath));
    for (const Link& link : topology.links()) {
      Cost& cost = around[link.from][link.to];
      cost = std::min(cost, cost_of(link));
    }
    Costs through = around;
    shorten(around, [&](NodeId via) { return topology.node(via).kind != NodeKind::device; });
    shorten(through, [](NodeId) { return true; });
    Routes routes(topology);
    const std::vector<NodeId>& devices = topology.devices();
    for (std::size_t a = 0; a < devices.size(); ++a) {
      for (std::size_t b = 0; b < devices.size(); ++b) {
        const Route route = routes.route(a, b);
        expect_route(topology, route, devices[a], devices[b], around, through);
        EXPECT_EQ(route.size(), routes.length(a, b));
        through_devices += around[devices[a]][devices[b]] < kNoPath ? 0 : 1;
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, kSanitized ? 200U : 2000U) << "too few random topologies are connected";
  EXPECT_GE(through_devices, 50U);
}

TEST(RoutesTest, EightFlowsBetweenTwoLeavesUseAllFourUplinks) {
  Topology topology;
  ASSERT_EQ(add_leaf_spine(topology, add_devices(topology, 16),
                           {.endpoints_per_leaf = 8, .spines = 4, .cable = kCable}),
            Texts{});
  Routes routes(topology);
  std::vector<Flow> flows = shift(16, 8);
  flows.resize(8);
  const std::vector<double> loads = link_loads(topology, routes, flows);
  EXPECT_EQ(loads_between(topology, loads, "leaf0", "spine"), (std::vector<double>{2, 2, 2, 2}));
  EXPECT_EQ(loads_between(topology, loads, "spine", "leaf1"), (std::vector<double>{2, 2, 2, 2}));
}

TEST(RoutesTest, UseParallelCablesAlike) {
  Topology topology;
  const std::vector<NodeId> devices = add_devices(topology, 6);
  ASSERT_EQ(add_star(topology, {devices.begin(), devices.begin() + 3}, kCable), Texts{});
  const NodeId left = topology.node_count() - 1;
  const NodeId right = topology.add_node("right", NodeKind::network_switch);
  for (int i = 0; i < 3; ++i) {
    topology.connect(left, right, kCable);
    topology.connect(devices[static_cast<std::size_t>(3 + i)], right, kCable);
  }
  ASSERT_EQ(topology.check(), Texts{});
  Routes routes(topology);
  const std::vector<double> loads = link_loads(topology, routes, shift(6, 3));
  EXPECT_EQ(loads_between(topology, loads, "switch", "right"), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(loads_between(topology, loads, "right", "switch"), (std::vector<double>{1, 1, 1}));
}

// Every device sends to the one so far behind it: no link of a fat tree carries two flows.
TEST(RoutesTest, ShiftsDoNotMeetInAFatTree) {
  for (const std::size_t k : {2U, 4U, 6U, 8U}) {
    Topology topology;
    const FatTreeSpec spec{.k = k, .cable = kCable};
    const std::size_t devices = fat_tree_capacity(spec);
    ASSERT_EQ(add_fat_tree(topology, add_devices(topology, devices), spec), Texts{});
    Routes routes(topology);
    for (std::size_t distance = 1; distance < devices; ++distance) {
      EXPECT_EQ(largest(link_loads(topology, routes, shift(devices, distance))), 1)
          << "k " << k << ", distance " << distance;
    }
  }
}

// Below an edge switch are more devices than links above it; what goes up is spread evenly, also
// over the cores: the smaller and the larger load differ by what does not divide.
TEST(RoutesTest, AllToAllUsesAllOfAnOversubscribedFatTreeEvenly) {
  for (const std::size_t oversubscription : {1U, 2U, 3U}) {
    for (const std::size_t k : {4U, 6U}) {
      Topology topology;
      const FatTreeSpec spec{.k = k, .oversubscription = oversubscription, .cable = kCable};
      const std::size_t devices = fat_tree_capacity(spec);
      ASSERT_EQ(add_fat_tree(topology, add_devices(topology, devices), spec), Texts{});
      Routes routes(topology);
      const std::vector<double> loads = link_loads(topology, routes, all_to_all(devices));
      for (const auto& [from, to] : {std::pair{"edge", "aggregation"},
                                     {"aggregation", "edge"},
                                     {"aggregation", "core"},
                                     {"core", "aggregation"}}) {
        const std::vector<double> some = loads_between(topology, loads, from, to);
        EXPECT_EQ(some.size(), k * k * k / 4) << from << " " << to;
        const auto [least, most] = std::minmax_element(some.begin(), some.end());
        EXPECT_GT(*least, 0);
        EXPECT_EQ(*least, *most) << from << "->" << to << ", k " << k << ", oversubscription "
                                 << oversubscription;
      }
    }
  }
}

// Both choices are of two; were they alike, half of the cores would be idle.
TEST(RoutesTest, LaterChoicesDifferFromEarlierOnes) {
  Topology topology;
  const FatTreeSpec spec{.k = 4, .cable = kCable};
  ASSERT_EQ(add_fat_tree(topology, add_devices(topology, 16), spec), Texts{});
  Routes routes(topology);
  std::vector<Flow> flows = shift(16, 4);
  flows.resize(4);
  std::set<std::string> cores;
  for (const Flow& flow : flows) {
    const Route route = routes.route(flow.source, flow.destination);
    ASSERT_EQ(route.size(), 6U);
    cores.insert(topology.node(topology.link(route[2]).to).name);
  }
  EXPECT_EQ(cores, (std::set<std::string>{"core0", "core1", "core2", "core3"}));
}

TEST(RoutesTest, TakeTurnsBothWaysRoundARing) {
  for (const std::size_t n : {4U, 6U, 7U, 8U}) {
    Topology topology;
    ASSERT_EQ(add_ring(topology, add_devices(topology, n), kCable), Texts{});
    Routes routes(topology);
    const std::vector<double> loads = link_loads(topology, routes, all_to_all(n));
    const double even =
        n % 2 == 1 ? static_cast<double>((n * n - 1) / 8) : static_cast<double>(n * n) / 8;
    for (const double load : loads) {
      EXPECT_LE(std::abs(load - even), n % 4 == 0 ? 0 : 0.5) << n;
    }
  }
}

TEST(RoutesTest, GoAlongOneDimensionOfATorusAfterAnother) {
  Topology topology;
  ASSERT_EQ(
      add_torus(topology, add_devices(topology, 125), {.lengths = {5, 5, 5}, .cable = kCable}),
      Texts{});
  Routes routes(topology);
  EXPECT_EQ(
      names(topology, routes.route(0, 2 + 5 * 4 + 25 * 1)),
      (Texts{"device0->device1", "device1->device2", "device2->device22", "device22->device47"}));
  const std::vector<double> loads = link_loads(topology, routes, all_to_all(125));
  EXPECT_EQ(loads, std::vector<double>(loads.size(), 25 * 3)) << "25 lines, 1 + 2 links each way";
}

// ---- Analyses.

TEST(AnalysisTest, OfARouteAreItsSumAndItsLeast) {
  Topology topology;
  const NodeId a = topology.add_device("a");
  const NodeId s = topology.add_node("s", NodeKind::network_switch);
  const NodeId b = topology.add_device("b");
  topology.connect(a, s, {LinkKind::network, 4, 0.5});
  topology.connect(s, b, {LinkKind::network, 3, 0.25});
  Routes routes(topology);
  EXPECT_EQ(path_latency_s(topology, routes.route(0, 1)), 0.75);
  ASSERT_TRUE(bottleneck(topology, routes.route(0, 1)).has_value());
  EXPECT_EQ(topology.link(*bottleneck(topology, routes.route(0, 1))).name, "s->b");
  EXPECT_EQ(topology.link(*bottleneck(topology, routes.route(1, 0))).name, "b->s");
  EXPECT_EQ(path_latency_s(topology, routes.route(1, 1)), 0);
  EXPECT_EQ(bottleneck(topology, routes.route(1, 1)), std::nullopt);
  EXPECT_EQ(link_loads(topology, routes, {{0, 1, 10}, {0, 1, 5}, {1, 0, 2}}),
            (std::vector<double>{15, 2, 15, 2}));
}

// The least bandwidth out of any set of nodes that has the first half and not the second.
double least_cut(const Topology& topology, bool forward) {
  const std::vector<NodeId>& devices = topology.devices();
  std::vector<int> sides(topology.node_count(), -1);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    sides[devices[i]] = (i < devices.size() / 2) == forward ? 1 : 0;
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t set = 0; set < std::size_t{1} << topology.node_count(); ++set) {
    const auto in = [&](NodeId id) { return static_cast<int>(set >> id & 1); };
    bool parts = true;
    for (NodeId id = 0; id < topology.node_count(); ++id) {
      parts = parts && (sides[id] == -1 || sides[id] == in(id));
    }
    double cut = 0;
    for (const Link& link : topology.links()) {
      cut += parts && in(link.from) == 1 && in(link.to) == 0 ? link.cable.bandwidth_bytes_per_s : 0;
    }
    least = parts ? std::min(least, cut) : least;
  }
  return least;
}

TEST(AnalysisTest, BisectionIsTheLeastCut) {
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 20 : 200); ++seed) {
    const RandomTopology random(seed);
    EXPECT_EQ(bisection_bytes_per_s(random.topology),
              std::min(least_cut(random.topology, true), least_cut(random.topology, false)))
        << "seed " << seed;
  }
}

TEST(AnalysisTest, OneDeviceHasNeitherDiameterNorBisection) {
  Topology topology;
  ASSERT_EQ(add_star(topology, add_devices(topology, 1), kCable), Texts{});
  Routes routes(topology);
  EXPECT_EQ(diameter(topology, routes), 0U);
  EXPECT_EQ(bisection_bytes_per_s(topology), 0);
}

// ---- Size.

TEST(TopologySize, AFatTreeOf1024DevicesTakesALittleTime) {
  const auto begin = std::chrono::steady_clock::now();
  Topology topology;
  ASSERT_EQ(add_fat_tree(topology, add_devices(topology, 1024), {.k = 16, .cable = kCable}),
            Texts{});
  ASSERT_EQ(topology.check(), Texts{});
  const auto built = std::chrono::steady_clock::now();
  Routes routes(topology);
  EXPECT_EQ(largest(link_loads(topology, routes, shift(1024, 1))), 1);
  const auto routed = std::chrono::steady_clock::now();
  EXPECT_EQ(diameter(topology, routes), 6U);
  EXPECT_EQ(bisection_bytes_per_s(topology), 512 * kBandwidth);
  const auto analysed = std::chrono::steady_clock::now();
  const auto seconds = [](auto from, auto to) {
    return std::chrono::duration<double>(to - from).count();
  };
  std::printf("built and checked in %.3f s, ring routed in %.3f s, analysed in %.3f s\n",
              seconds(begin, built), seconds(built, routed), seconds(routed, analysed));
  EXPECT_LT(seconds(begin, routed), kSanitized ? 20 : 1);
}

}  // namespace
}  // namespace shardscope::testing
