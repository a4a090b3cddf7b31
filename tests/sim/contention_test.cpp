// Flows that share links: how long they take, by hand.
#include <gtest/gtest.h>

#include <cstddef>
#include <simgrid/s4u/Engine.hpp>
#include <string>
#include <vector>

#include "core/collectives/collective.h"
#include "core/tensor/ledger.h"
#include "sim/scenario/cluster.h"
#include "tests/sim/on_cluster.h"
#include "tests/sim/star.h"

namespace shardscope::testing {
namespace {

constexpr double kBandwidth = 1e9;
constexpr double kLatency_s = 1e-3;
constexpr std::size_t kBytes = 1'000'000;
constexpr double kAlone_s = kBytes / kBandwidth;  // At full bandwidth, latency apart.

void send(Transport& transport, int peer) {
  const Tensor message{nullptr, DType::bf16, kBytes / 2};
  transport.isend(peer, {&message, 1})->wait();
}

void receive(Transport& transport, int peer) {
  const Tensor message{nullptr, DType::bf16, kBytes / 2};
  transport.recv(peer, {&message, 1}, Arrival::replaces);
}

double now() { return simgrid::s4u::Engine::get_clock(); }

Cluster cluster_of(const FabricSpec& fabric, std::size_t devices) {
  Cluster cluster;
  cluster.spec.nodes = devices;
  cluster.spec.fabric = fabric;
  for (std::size_t rank = 0; rank < devices; ++rank) {
    cluster.placement.push_back(rank);
  }
  return cluster;
}

FabricSpec leaf_spine(std::size_t per_leaf, std::size_t spines, double oversubscription) {
  FabricSpec fabric;
  fabric.kind = FabricKind::leaf_spine;
  fabric.cable = network_cable(kBandwidth, kLatency_s);
  fabric.endpoints_per_leaf = per_leaf;
  fabric.spines = spines;
  fabric.oversubscription = oversubscription;
  return fabric;
}

// Ranks 0 to flows - 1 send a message each to the rank so many above; when the last one arrives.
double send_up(const Cluster& cluster, int flows, int above) {
  const std::vector<double> ends = on_cluster(cluster, [&](int rank, Transport& transport) {
    if (rank < flows) {
      send(transport, rank + above);
    } else if (rank >= above && rank < flows + above) {
      receive(transport, rank - above);
    }
    return now();
  });
  double last = 0;
  for (const double end : ends) {
    last = std::max(last, end);
  }
  return last;
}

// 8 devices below a leaf with one uplink of a device's bandwidth (8:1): 4 links up and down.
TEST(Contention, KFlowsOverOneUplinkTakeKTimesAsLong) {
  const Cluster cluster = cluster_of(leaf_spine(8, 1, 8), 16);
  for (int flows = 1; flows <= 8; ++flows) {
    EXPECT_NEAR(send_up(cluster, flows, 8), flows * kAlone_s + 4 * kLatency_s, 1e-12) << flows;
  }
}

// Four uplinks of a device's bandwidth each: 8 flows between two leaves take 2 times as long, not
// 8 times, as they would on one.
TEST(Contention, EightFlowsBetweenTwoLeavesUseAllFourUplinks) {
  const Cluster cluster = cluster_of(leaf_spine(8, 4, 2), 16);
  EXPECT_NEAR(send_up(cluster, 8, 8), 2 * kAlone_s + 4 * kLatency_s, 1e-12);
}

NodeSpec node_of_two(double nic_path_latency_s) {
  NodeSpec node;
  node.devices = 2;
  node.devices_per_pcie_switch = 1;
  node.pcie_switches_per_host = 2;
  node.pcie_cable = network_cable(8 * kBandwidth, nic_path_latency_s);
  node.nics = 1;
  return node;
}

// Device 0 is at the switch of the NIC, device 1 two PCIe links farther away: their messages share
// the NIC's link and leave together, and only the latencies that they arrive after differ.
TEST(Contention, TwoRanksOnOneNicShareItEquallyWhateverTheirLatencies) {
  for (const double pcie_latency_s : {0.0, 1e-6, 1e-2}) {
    FabricSpec fabric;
    fabric.cable = network_cable(kBandwidth, kLatency_s);
    Cluster cluster;
    cluster.spec = {.nodes = 2, .node = node_of_two(pcie_latency_s), .fabric = fabric};
    cluster.placement = {0, 1, 2, 3};
    const std::vector<double> ends = on_cluster(cluster, [](int rank, Transport& transport) {
      if (rank < 2) {
        send(transport, rank + 2);
      } else {
        receive(transport, rank - 2);
      }
      return now();
    });
    const double left_s = 2 * kAlone_s;
    EXPECT_NEAR(ends[0], left_s, 1e-12);
    EXPECT_NEAR(ends[1], left_s, 1e-12);
    EXPECT_NEAR(ends[2], left_s + 2 * kLatency_s + 4 * pcie_latency_s, 1e-12);
    EXPECT_NEAR(ends[3], left_s + 2 * kLatency_s + 8 * pcie_latency_s, 1e-12);
  }
}

double ring_all_reduce_s(const Cluster& cluster, std::size_t elements) {
  const int n = static_cast<int>(cluster.placement.size());
  const std::vector<double> ends = on_cluster(cluster, [&](int rank, Transport& transport) {
    MemoryLedger memory(~std::uint64_t{0});
    Collective collective(
        make_schedule(Operation::all_reduce, std::make_shared<const CollectivePlan>(), n,
                      Chunking::even(elements, n)),
        ChunkedTensor::even({nullptr, DType::fp32, elements}, n),
        {.first = 0, .stride = 1, .size = n}, rank, Purpose::data, std::nullopt, memory,
        Storage::shape_only);
    collective.run(transport);
    return now();
  });
  double last = 0;
  for (const double end : ends) {
    last = std::max(last, end);
  }
  return last;
}

// 8 devices on two leaves of 4, 4:1: one spine, uplinks of a device's bandwidth. A ring in order
// crosses leaves at 3 -> 4 and 7 -> 0, one flow on each uplink, which it fills: 14 rounds of a
// chunk at full bandwidth, as on a star, but for the latency of the 4 links across.
//
// Placed round robin, 0 4 1 5 2 6 3 7, every flow crosses: 4 flows on each uplink, so a round's
// chunk takes 4 times as long.
TEST(Contention, AnOversubscribedLeafSpineSlowsARingThatCrossesLeaves) {
  const std::size_t elements = 8 * kBytes / 4;
  Cluster cluster = cluster_of(leaf_spine(4, 1, 4), 8);
  EXPECT_NEAR(ring_all_reduce_s(cluster, elements), 14 * (kAlone_s + 4 * kLatency_s), 1e-9);
  cluster.placement = {0, 4, 1, 5, 2, 6, 3, 7};
  EXPECT_NEAR(ring_all_reduce_s(cluster, elements), 14 * (4 * kAlone_s + 4 * kLatency_s), 1e-9);
}

// One message after another from device 2 to device 1 takes half of the link of device 1.
TEST(Contention, BackgroundTrafficTakesItsShare) {
  Cluster cluster = star(3, network_cable(kBandwidth, 0));
  cluster.background = {{"device2", "device1", kBytes, 0, 0}};
  const std::vector<double> ends = on_cluster(cluster, [](int rank, Transport& transport) {
    if (rank == 0) {
      send(transport, 1);
    } else if (rank == 1) {
      receive(transport, 0);
    }
    return now();
  });
  EXPECT_NEAR(ends[1], 2 * kAlone_s, 1e-12);
}

// Half of the message at 1 GB/s, then the other half at a tenth of it.
TEST(Contention, ALinkThatLosesBandwidthSlowsWhatCrossesIt) {
  Cluster cluster = star(2, network_cable(kBandwidth, 0));
  cluster.link_changes = {{"device0->*", {}, {}, {{kAlone_s / 2, kBandwidth / 10}}}};
  const auto run = [&] { return send_up(cluster, 1, 1); };
  EXPECT_NEAR(run(), kAlone_s / 2 + 10 * kAlone_s / 2, 1e-12);
  cluster.link_changes = {{"switch->device1", kBandwidth / 4, 0.5, {}}};
  EXPECT_NEAR(run(), 4 * kAlone_s + 0.5, 1e-12);
}

}  // namespace
}  // namespace shardscope::testing
