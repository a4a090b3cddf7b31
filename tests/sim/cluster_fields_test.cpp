// The scenario's cluster: what its fields build, and what is said about bad ones.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/reader.h"
#include "sim/topology/routes.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

class ClusterFields : public ::testing::Test {
 protected:
  static std::string text(const std::string& cluster) {
    return "model { layers: [4, 8, 2] }\ntraining { steps: 1 global_batch: 48 }\ncluster {\n"
           "  device { preset: \"classroom\" }\n" +
           cluster + "\n}\n";
  }

  std::optional<Scenario> parse(const std::string& cluster, std::vector<Fault>& faults) {
    return parse_scenario({"x.textproto", text(cluster)}, {},
                          fs::path(SHARDSCOPE_SOURCE_DIR) / "platforms", faults);
  }

  Cluster read(const std::string& cluster) {
    std::vector<Fault> faults;
    const auto scenario = parse(cluster, faults);
    EXPECT_TRUE(scenario.has_value()) << joined(faults);
    return scenario.has_value() ? scenario->cluster : Cluster{};
  }

  std::string faults_of(const std::string& cluster) {
    std::vector<Fault> faults;
    EXPECT_FALSE(parse(cluster, faults).has_value());
    return joined(faults);
  }

  static std::string joined(const std::vector<Fault>& faults) {
    std::string text;
    for (const Fault& fault : faults) {
      text += format_fault(fault) + "\n";
    }
    return text;
  }
};

const std::string kLink = "link { bandwidth: \"10Gbps\" latency: \"5us\" } ";
const std::string kNode =
    "node { devices: 4 nvlink: NVSWITCH nvlink_bandwidth: \"300GBps\" pcie_bandwidth: \"32GBps\" "
    "nics: 2 } ";

TEST_F(ClusterFields, EachFabricIsBuilt) {
  const std::vector<std::pair<std::string, std::size_t>> fabrics = {
      {"kind: STAR", 2 * 8},
      {"kind: RING", 2 * 8},
      {"kind: FULLY_CONNECTED", 8 * 7},
      {"kind: LEAF_SPINE endpoints_per_leaf: 4 spines: 2", 2 * (8 + 4)},
      {"kind: FAT_TREE", 2 * (8 + 16 + 16)},  // k = 4, the least with room for 8.
      {"kind: TORUS lengths: [4, 2]", 2 * (8 + 4)},
      {"kind: TORUS lengths: [2, 2, 2]", 2 * 12}};
  for (const auto& [fabric, links] : fabrics) {
    const Topology topology =
        topology_of(read("world_size: 8 " + kLink + "fabric { " + fabric + " }"));
    EXPECT_EQ(topology.devices().size(), 8U) << fabric;
    EXPECT_EQ(topology.links().size(), links) << fabric;
  }
}

TEST_F(ClusterFields, NodesStandBehindTheirNics) {
  const Cluster cluster = read("world_size: 8 " + kNode + kLink + "fabric { kind: RAILS }");
  const Topology topology = topology_of(cluster);
  EXPECT_EQ(cluster.spec.nodes, 2U);
  EXPECT_EQ(cluster.devices_per_node, 4U);
  EXPECT_EQ(topology.devices().size(), 8U);
  Routes routes(topology);
  EXPECT_EQ(routes.length(0, 1), 2U) << "device, NVSwitch, device";
  EXPECT_EQ(routes.length(0, 4), 6U) << "device, PCIe switch, NIC, rail and back";
}

TEST_F(ClusterFields, PresetsGiveWhatFieldsDoNotSay) {
  const Cluster cluster = read(
      "world_size: 16 node { preset: \"dgx-a100\" pcie_bandwidth: \"20GBps\" } "
      "fabric { kind: RAILS preset: \"hdr-200\" }");
  EXPECT_EQ(cluster.spec.nodes, 2U);
  EXPECT_EQ(cluster.spec.node->nvlink, NodeSpec::Nvlink::nvswitch);
  EXPECT_EQ(cluster.spec.node->nvlink_cable.bandwidth_bytes_per_s, 300e9);
  EXPECT_EQ(cluster.spec.node->pcie_cable.bandwidth_bytes_per_s, 20e9);
  EXPECT_EQ(cluster.spec.node->nics, 8U);
  EXPECT_EQ(cluster.spec.fabric->cable.bandwidth_bytes_per_s, 25e9);
  EXPECT_GT(cluster.spec.fabric->cable.latency_s, 0);
  const Cluster slower = read("world_size: 16 node { preset: \"dgx-a100\" } " + kLink);
  EXPECT_EQ(slower.spec.fabric->cable.bandwidth_bytes_per_s, 1.25e9);
  const Cluster nics = read(
      "world_size: 16 node { preset: \"p4d.24xlarge\" } "
      "link { latency: \"1us\" }");
  EXPECT_EQ(nics.spec.fabric->cable.bandwidth_bytes_per_s, 12.5e9);
}

TEST_F(ClusterFields, ASingleNodeNeedsNoLink) {
  const Cluster cluster = read("world_size: 4 " + kNode);
  EXPECT_EQ(cluster.spec.nodes, 1U);
  EXPECT_FALSE(cluster.spec.fabric.has_value());
}

TEST_F(ClusterFields, RanksGoWhereTheyArePlaced) {
  using Devices = std::vector<std::size_t>;
  const std::string nodes = "world_size: 6 nodes: 3 " + kNode + kLink;
  EXPECT_EQ(read(nodes).placement, (Devices{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read(nodes + "placement { order: ROUND_ROBIN }").placement,
            (Devices{0, 4, 8, 1, 5, 9}));
  EXPECT_EQ(read(nodes + "placement { devices: [11, 0, 3, 5, 4, 6] }").placement,
            (Devices{11, 0, 3, 5, 4, 6}));
  EXPECT_EQ(faults_of(nodes + "placement { devices: [1, 0, 1, 5, 4, 12] }"),
            "x.textproto:5:194: cluster.placement.devices: 1 is the device of rank 0 already: a "
            "rank has its device, its memory and its links to itself; each device once\n"
            "x.textproto:5:203: cluster.placement.devices: 12 is not allowed; a whole number from "
            "0 to 11\n");
  EXPECT_EQ(faults_of(nodes + "placement { devices: [1, 0] }"),
            "x.textproto:5:188: cluster.placement.devices: 1 and 1 more are not as many; a device "
            "for each of the 6 ranks (cluster.world_size)\n");
}

TEST_F(ClusterFields, UnevennessIsRead) {
  const Cluster cluster =
      read("world_size: 8 " + kLink +
           "rank_speed { ranks: \"0-2, 7\" speed: 0.5 } "
           "rank_speed { ranks: \"4\" change { at: \"1s\" speed: 0.25 } change { at: \"2s\" speed: "
           "1 } } "
           "link_change { links: \"device1->*\" bandwidth: \"1Gbps\" } "
           "link_change { links: \"switch->device1\" latency: \"1ms\" "
           "change { at: \"1s\" bandwidth: \"2Gbps\" } } "
           "background { from: \"device0\" to: \"device1\" message: \"1MiB\" every: \"1ms\" }");
  ASSERT_EQ(cluster.rank_speeds.size(), 8U);
  for (const std::size_t rank : {0U, 1U, 2U, 7U}) {
    EXPECT_EQ(cluster.rank_speeds[rank].speed, 0.5);
  }
  EXPECT_EQ(cluster.rank_speeds[3].speed, 1);
  ASSERT_EQ(cluster.rank_speeds[4].changes.size(), 2U);
  EXPECT_EQ(cluster.rank_speeds[4].changes[1].at_s, 2);
  const Topology topology = topology_of(cluster);
  EXPECT_EQ(topology.link(matching_links(topology, "device1->switch").front())
                .cable.bandwidth_bytes_per_s,
            1.25e8);
  EXPECT_EQ(topology.link(matching_links(topology, "switch->device1").front()).cable.latency_s,
            1e-3);
  ASSERT_EQ(cluster.link_changes[1].changes.size(), 1U);
  EXPECT_EQ(cluster.link_changes[1].changes[0].bandwidth_bytes_per_s, 2.5e8);
  ASSERT_EQ(cluster.background.size(), 1U);
  EXPECT_EQ(cluster.background[0].message_bytes, 1048576U);
}

TEST_F(ClusterFields, AnotherClusterIsAnotherDigest) {
  const std::string plain = "world_size: 8 " + kLink;
  std::vector<std::string> digests;
  for (const std::string& more :
       {std::string(), std::string("fabric { kind: RING }"), std::string("nodes: 16"),
        std::string("placement { devices: [1, 0, 2, 3, 4, 5, 6, 7] }"),
        std::string("rank_speed { ranks: \"3\" speed: 0.5 }"),
        std::string("link_change { links: \"*\" latency: \"1us\" }"),
        std::string("background { from: \"device0\" to: \"device1\" message: \"1MiB\" }")}) {
    std::vector<Fault> faults;
    const auto scenario = parse(plain + more, faults);
    ASSERT_TRUE(scenario.has_value()) << joined(faults);
    digests.push_back(scenario->digest);
  }
  for (std::size_t a = 0; a < digests.size(); ++a) {
    for (std::size_t b = a + 1; b < digests.size(); ++b) {
      EXPECT_NE(digests[a], digests[b]) << a << " " << b;
    }
  }
}

struct BadCluster {
  std::string cluster;
  std::string faults;  // Without the place.
};

TEST_F(ClusterFields, WhatIsWrongIsNamed) {
  const std::string eight = "world_size: 8 " + kLink;
  const std::vector<BadCluster> all = {
      {"world_size: 8",
       "cluster.link.bandwidth: missing; a rate such as \"10Gbps\" (bits) or \"12.5GBps\" (bytes)\n"
       "cluster.link.latency: missing; a time such as \"5us\", or a fabric preset\n"},
      {eight + "nodes: 4", "cluster.nodes: 4 is not enough; at least 8 for 8 ranks\n"},
      {eight + "fabric { kind: TORUS lengths: [3, 2] }",
       "cluster.fabric: a torus needs 3 x 2 x 1 endpoints, has 8\n"},
      {eight + "fabric { kind: TORUS }",
       "cluster.fabric.lengths: missing; two or three lengths, for example [4, 2]\n"},
      {eight + "fabric { kind: TORUS lengths: [8] }",
       "cluster.fabric.lengths: 8 is the only length; two or three, for example [4, 2]\n"},
      {eight + "fabric { kind: RAILS }",
       "cluster.fabric.kind: RAILS needs nodes, whose NICs it joins; a node block beside it\n"},
      {eight + "fabric { kind: LEAF_SPINE }",
       "cluster.fabric.endpoints_per_leaf: missing; a whole number from 1 to 65536\n"
       "cluster.fabric.spines: missing; a whole number from 1 to 65536\n"},
      {eight + "fabric { spines: 2 k: 4 oversubscription: 2 }",
       "cluster.fabric.spines: 2 concerns another kind; with kind LEAF_SPINE or RAILS\n"
       "cluster.fabric.k: 4 concerns another kind; with kind FAT_TREE\n"
       "cluster.fabric.oversubscription: 2 concerns another kind; with kind LEAF_SPINE, RAILS or "
       "FAT_TREE\n"},
      {eight + "fabric { kind: FAT_TREE k: 3 }",
       "cluster.fabric.k: 3 is odd; an even number from 2 to 256\n"},
      {eight + "fabric { kind: FAT_TREE k: 2 }",
       "cluster.fabric: a fat tree needs at most oversubscription k^3 / 4 = 2 endpoints, has 8\n"},
      {eight + "fabric { kind: FAT_TREE oversubscription: 1.5 }",
       "cluster.fabric.oversubscription: 1.5 is not allowed; a whole number with kind FAT_TREE\n"},
      {"world_size: 8 node { devices: 4 } " + kLink,
       "cluster: a cluster needs NICs in its nodes, has none\n"
       "cluster.node: a node needs NVLink or PCIe between its devices, has neither\n"},
      {eight + "node { nvlink: MESH }",
       "cluster.node.devices: missing; a whole number from 1 to 1024\n"
       "cluster.node.nvlink_bandwidth: missing; a rate such as \"10Gbps\" (bits) or \"12.5GBps\" "
       "(bytes)\n"},
      {eight + "node { devices: 4 devices_per_pcie_switch: 2 pcie_switches_per_host: 1 "
               "pcie_bandwidth: \"0GBps\" }",
       "cluster.node.socket_bandwidth: missing; a rate such as \"10Gbps\" (bits) or \"12.5GBps\" "
       "(bytes)\n"
       "cluster.node.pcie_bandwidth: \"0GBps\" is not allowed; a rate such as \"10Gbps\" (bits) or "
       "\"12.5GBps\" (bytes), greater than 0\n"},
      {eight + "rank_speed { ranks: \"8\" speed: 0.5 } rank_speed { ranks: \"1-\" } "
               "rank_speed { speed: 0 }",
       "cluster.rank_speed.ranks: \"8\" has rank 8 of 8; ranks and ranges of them, for example "
       "\"3\" or \"0-3,7\"\n"
       "cluster.rank_speed.ranks: \"1-\" is no list of ranks; ranks and ranges of them, for "
       "example \"3\" or \"0-3,7\"\n"
       "cluster.rank_speed: lacks ranks; ranks and ranges of them, for example \"3\" or \"0-3,7\"\n"
       "cluster.rank_speed.speed: 0 is not allowed; a number from 0.001 up to 1000\n"},
      {eight + "rank_speed { ranks: \"1\" } rank_speed { ranks: \"0-2\" speed: 0.5 "
               "change { at: \"2s\" speed: 0.6 } change { at: \"1s\" speed: 0.1 } }",
       "cluster.rank_speed.ranks: \"0-2\" has rank 1 again; each rank once\n"
       "cluster.rank_speed.change.speed: 0.6 is not allowed; at most the block's own speed, from "
       "which it falls\n"
       "cluster.rank_speed.change.at: \"1s\" is not after the change before; rising dates\n"},
      {eight + "link_change { links: \"device9->switch\" } link_change { links: \"device*\" } "
               "link_change { links: \"device1->switch\" bandwidth: \"1\" }",
       "cluster.link_change.links: \"device9->switch\" matches no link; did you mean "
       "\"device0->switch\"? (names as shardscope topology shows them)\n"
       "cluster.link_change.links: \"device1->switch\" has link device1->switch again; each link "
       "once\n"
       "cluster.link_change.bandwidth: \"1\" has no unit; a rate such as \"10Gbps\" (bits) or "
       "\"12.5GBps\" (bytes)\n"},
      {eight + "background { from: \"device1\" to: \"device1\" message: \"1B\" } "
               "background { from: \"devic2\" }",
       "cluster.background.to: \"device1\" is where it comes from; another device\n"
       "cluster.background.message: \"1B\" is not allowed; a size from \"1KiB\" to below "
       "\"8EiB\"\n"
       "cluster.background: lacks to; a device, for example \"device0\"\n"
       "cluster.background: lacks message; a size such as \"64MiB\"\n"
       "cluster.background.from: \"devic2\" is no device; did you mean \"device2\"? (a device as "
       "shardscope topology names them)\n"},
  };
  for (const BadCluster& bad : all) {
    std::vector<Fault> faults;
    EXPECT_FALSE(parse(bad.cluster, faults).has_value()) << bad.cluster;
    for (Fault& fault : faults) {
      EXPECT_TRUE(fault.place.starts_with("x.textproto:")) << fault.place;
      fault.place.clear();
    }
    std::string text = joined(faults);
    for (std::size_t at; (at = text.find("\n: ")) != std::string::npos;) {
      text.erase(at + 1, 2);
    }
    EXPECT_EQ(text.starts_with(": ") ? text.substr(2) : text, bad.faults) << bad.cluster;
  }
}

}  // namespace
}  // namespace shardscope
