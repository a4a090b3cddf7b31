// NCCL topologies.
#include <random>

#include "sim/topology/analysis.h"
#include "sim/topology/fabrics.h"
#include "sim/topology_files/nccl_tables.h"
#include "tests/sim/topology_files.h"

namespace shardscope::testing {
namespace {

// Two sockets, a switch with a GPU and a NIC each; the second GPU in the file is the first rank.
std::string dump(const std::string& links0, const std::string& links1,
                 const std::string& cpu =
                     "arch='x86_64' vendor='GenuineIntel' familyid='6' "
                     "modelid='143'") {
  const auto half = [&](const std::string& n, const std::string& rank, const std::string& links) {
    return "<cpu numaid='" + n + "' " + cpu + " affinity='ff'>\n" + "<pci busid='0000:" + n +
           "0:00.0' class='0x060400' link_speed='32.0 GT/s PCIe' "
           "link_width='16'>\n" +
           "<pci busid='0000:" + n +
           "1:00.0' class='0x030200' link_speed='16.0 GT/s PCIe' "
           "link_width='16'>\n<gpu dev='" +
           rank + "' sm='90' rank='" + rank + "' gdr='1'>" + links + "</gpu></pci>\n" +
           "<pci busid='0000:" + n +
           "2:00.0' class='0x020000' link_speed='16.0 GT/s PCIe' "
           "link_width='8'><nic><net name='mlx" +
           n + "' dev='" + n +
           "' speed='400000' port='1' latency='0'/></nic></pci>\n</pci>\n</cpu>\n";
  };
  return "<system version='1'>\n" + half("1", "1", links1) + half("2", "0", links0) + "</system>";
}

const std::string kSwitch4 =
    "<nvlink target='0000:f0:00.0' count='2' tclass='0x068000'/>"
    "<nvlink target='0000:f1:00.0' count='2' tclass='0x068000'/>";

std::string to_gpu(const std::string& n, const std::string& count) {
  return "<nvlink target='0000:" + n + "1:00.0' count='" + count + "' tclass='0x030200'/>";
}

// GPUs by hand, as they are before NCCL looks at the machine.
std::string by_hand(const std::string& more = "") {
  return "<system version='1'><cpu numaid='0' arch='arm64'>"
         "<pci busid='0000:01:00.0' class='0x030200' link_speed='' link_width=''/>"
         "<pci busid='0000:02:00.0' class='0x030200' link_speed='8 GT/s' link_width='16'/>"
         "<pci busid='0000:03:00.0' class='0x020700' link_speed='2.5 GT/s' link_width='4'/>" +
         more + "</cpu></system>";
}

TEST(NcclTables, GiveBandwidths) {
  EXPECT_DOUBLE_EQ(*pcie_lane_bytes_per_s("2.5 GT/s"), 0.25e9);
  EXPECT_DOUBLE_EQ(*pcie_lane_bytes_per_s("5.0 GT/s PCIe"), 0.5e9);
  EXPECT_DOUBLE_EQ(*pcie_lane_bytes_per_s("16 GT/s"), 16e9 * 128 / 130 / 8);
  EXPECT_DOUBLE_EQ(*pcie_lane_bytes_per_s("64.0 GT/s PCIe"), 64e9 * 236 / 256 / 8);
  for (const char* none : {"", "16", "7 GT/s", "16 GT/s!", "nan GT/s", "1e400 GT/s"}) {
    EXPECT_FALSE(pcie_lane_bytes_per_s(none).has_value()) << none;
  }
  const std::vector<std::pair<long, double>> nvlinks = {{60, 18}, {70, 20},   {80, 20},   {86, 12},
                                                        {89, 20}, {90, 20.6}, {100, 40.1}};
  for (const auto& [sm, gigabytes] : nvlinks) {
    EXPECT_DOUBLE_EQ(*nvlink_bytes_per_s(sm), gigabytes * 1e9) << sm;
  }
  EXPECT_FALSE(nvlink_bytes_per_s(52).has_value());
  const std::vector<std::pair<CpuModel, double>> sockets = {
      {{"ppc64", "", 0, 0}, 32},
      {{"arm64", "", 0, 0}, 6},
      {{"x86_64", "GenuineIntel", 6, 0x4f}, 6},
      {{"x86_64", "GenuineIntel", 6, 0x55}, 10},
      {{"x86_64", "GenuineIntel", 6, 0x8f}, 22},
      {{"x86_64", "GenuineIntel", 6, 0xcf}, 40},
      {{"x86_64", "AuthenticAMD", 0x17, 49}, 16},
      {{"x86_64", "AuthenticAMD", 0x19, 1}, 24},
      {{"x86_64", "AuthenticAMD", 0x1a, 1}, 32},
      {{"x86_64", "CentaurHauls", 7, 0x5b}, 9},
      {{"x86_64", "  Shanghai  ", 7, 1}, 6}};
  for (const auto& [cpu, gigabytes] : sockets) {
    EXPECT_DOUBLE_EQ(*socket_bytes_per_s(cpu), gigabytes * 1e9) << cpu.vendor << cpu.model;
  }
  EXPECT_FALSE(socket_bytes_per_s({"x86_64", "Other", 0, 0}).has_value());
  EXPECT_FALSE(socket_bytes_per_s({"riscv", "", 0, 0}).has_value());
}

TEST(Nccl, ReadsANodeWithAnNvswitch) {
  const ReadText read(dump(kSwitch4, kSwitch4));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  const double lane = 16e9 * 128 / 130 / 8;
  EXPECT_EQ(read.file->topology.node_count(), 9u);
  // The order of ranks: device0 is below the second socket.
  EXPECT_DOUBLE_EQ(read.link("node0.device0->node0.pcie1")->cable.bandwidth_bytes_per_s, 16 * lane);
  EXPECT_DOUBLE_EQ(read.link("node0.nic0->node0.pcie0")->cable.bandwidth_bytes_per_s, 8 * lane);
  EXPECT_DOUBLE_EQ(read.link("node0.pcie1->node0.host1")->cable.bandwidth_bytes_per_s, 32 * lane);
  EXPECT_DOUBLE_EQ(read.link("node0.host1->node0.host0")->cable.bandwidth_bytes_per_s, 22e9);
  EXPECT_DOUBLE_EQ(read.link("node0.nvswitch->node0.device1")->cable.bandwidth_bytes_per_s,
                   4 * 20.6e9);
  EXPECT_EQ(read.link("node0.nvswitch->node0.device1")->cable.kind, LinkKind::nvlink);
  const NcclNode& node = *read.file->nccl_node;
  EXPECT_FALSE(node.needs_nvlinks);
  ASSERT_EQ(node.nics.size(), 2u);
  EXPECT_EQ(node.nics[0].bandwidth_bytes_per_s, 50e9);
  EXPECT_EQ(node.nics[0].port, 1);
  EXPECT_EQ(joined(read.file->notes.understood),
            "2 devices, in the order of rank\n"
            "2 PCIe bridges and 2 host bridges\n"
            "PCIe links, from link_speed and link_width: 6 cables, 15.75 GB/s to 63.02 GB/s in "
            "each direction\n"
            "links between host bridges, from arch, vendor, familyid, modelid: 1 cable, 22 GB/s "
            "in each direction\n"
            "NVLinks to an NVSwitch, from count and sm: 2 cables, 82.4 GB/s in each direction\n"
            "2 NICs, 2 with a speed, the first one 50 GB/s\n"
            "latencies: not in the file, 0 s\n");
  EXPECT_EQ(joined(read.file->notes.left_aside),
            "attribute \"affinity\" of <cpu> (2)\nattribute \"gdr\" of <gpu> (2)\n"
            "attribute \"latency\" of <net> (2)\nattribute \"name\" of <net> (2)\n");
}

TEST(Nccl, ReadsAMesh) {
  const ReadText read(dump(to_gpu("1", "3"), to_gpu("2", "3")));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  EXPECT_DOUBLE_EQ(read.link("node0.device0->node0.device1")->cable.bandwidth_bytes_per_s,
                   3 * 20.6e9);
  EXPECT_EQ(read.link("node0.device0->node0.device1 #1"), nullptr);
  expect_fault(dump(to_gpu("1", "3"), ""), "has another bandwidth than the way back");
  expect_fault(dump(to_gpu("1", "3"), to_gpu("2", "2")), "has another bandwidth than the way back");
  expect_fault(dump(to_gpu("2", "1"), ""), "nvlink of pci \"0000:21:00.0\": leads to itself");
  const ReadText trimmed(dump(to_gpu("9", "3"), to_gpu("9", "3")));
  ASSERT_TRUE(trimmed.file.has_value()) << joined(trimmed.lines());
  EXPECT_TRUE(contains(trimmed.file->notes.left_aside,
                       "nvlink elements to GPUs that are not in the file (2)"));
}

TEST(Nccl, ReadsLinksToTheHost) {
  const ReadText read(
      dump("<nvlink target='0' count='3' tclass='0x068001'/>", "<c2c count='2' bw='45000'/>"));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  EXPECT_DOUBLE_EQ(read.link("node0.device0->node0.host1")->cable.bandwidth_bytes_per_s,
                   3 * 20.6e9);
  EXPECT_DOUBLE_EQ(read.link("node0.device1->node0.host0")->cable.bandwidth_bytes_per_s, 90e9);
}

TEST(Nccl, PortsShareTheirPcieLink) {
  const ReadText read(
      by_hand("<pci busid='0000:04:00.0' class='0x020000'><nic>"
              "<net dev='1' speed='-1'/><net dev='0' speed='100000'/>"
              "<net dev='2' net='0'/><net speed='1'/></nic></pci>"
              "<nic><net dev='3' speed='10000'/></nic>"));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  EXPECT_EQ(read.file->nccl_node->nics.size(), 4u);
  EXPECT_NE(read.link("node0.pcie0->node0.host0"), nullptr);
  EXPECT_NE(read.link("node0.nic1->node0.pcie0"), nullptr);
  EXPECT_TRUE(contains(read.file->notes.left_aside, "element \"net\" of <nic> (2)"));
}

TEST(Nccl, TakesNvlinksFromElsewhere) {
  ReadText read(by_hand());
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  NcclNode& node = *read.file->nccl_node;
  EXPECT_TRUE(node.needs_nvlinks);
  EXPECT_TRUE(contains(read.file->notes.understood,
                       "PCIe links without a speed or a width, taken as 8 GT/s and 16 lanes: 1"));
  EXPECT_TRUE(contains(read.file->notes.understood, "the file describes those of no device"));

  NodeSpec spec;
  spec.devices = 8;
  TopologyNotes notes;
  EXPECT_EQ(add_nvlinks(node, spec, "x", notes).size(), 1u);
  spec.nvlink = NodeSpec::Nvlink::mesh;
  EXPECT_EQ(add_nvlinks(node, spec, "x", notes).size(), 2u);  // No bandwidth, eight devices.
  spec.nvlink_cable = {.bandwidth_bytes_per_s = 300e9, .latency_s = 1e-6};
  spec.devices = 2;
  spec.nvlink_pairs = {{0, 2, 1}, {0, 0, 1}, {0, 1, 0}};
  EXPECT_EQ(add_nvlinks(node, spec, "x", notes).size(), 3u);
  EXPECT_TRUE(node.needs_nvlinks);
  spec.nvlink_pairs = {{0, 1, 2}};
  NcclNode meshed = node;
  EXPECT_TRUE(add_nvlinks(meshed, spec, "x", notes).empty());
  EXPECT_EQ(meshed.cables.back().spec.bandwidth_bytes_per_s, 600e9);

  spec.nvlink = NodeSpec::Nvlink::nvswitch;
  notes = {};
  EXPECT_TRUE(add_nvlinks(node, spec, "preset dgx", notes).empty());
  EXPECT_FALSE(node.needs_nvlinks);
  EXPECT_EQ(joined(notes.understood), "NVLinks: not in the file, taken from preset dgx\n");
  EXPECT_EQ(
      add_nvlinks(node, spec, "again", notes),
      (std::vector<std::string>{"a node to which NVLinks are added needs no NVLinks, has some"}));
  set_latency(node, LinkKind::pcie, 2e-6);
  EXPECT_EQ(node.cables.front().spec.latency_s, 2e-6);
  EXPECT_EQ(node.cables.back().spec.latency_s, 1e-6);
}

TEST(Nccl, NodesArePlacedInAFabric) {
  const ReadText read(dump(kSwitch4, kSwitch4));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_TRUE(add_nccl_nodes(topology, 3, *read.file->nccl_node, endpoints).empty());
  EXPECT_EQ(endpoints.devices.size(), 6u);
  ASSERT_EQ(endpoints.nics.size(), 6u);
  EXPECT_EQ(topology.node(endpoints.nics[3]).name, "node1.nic1");
  EXPECT_EQ(topology.devices(), endpoints.devices);
  ASSERT_TRUE(
      add_rails(topology, endpoints.nics,
                {.endpoints_per_node = 2, .spines = 1, .cable = {.bandwidth_bytes_per_s = 50e9}})
          .empty());
  EXPECT_TRUE(topology.check().empty()) << joined(topology.check());
  Routes routes(topology);
  EXPECT_EQ(routes.length(0, 1), 2u);
  EXPECT_EQ(routes.length(0, 2), 6u);  // Device, switch, NIC, rail, NIC, switch, device.

  EXPECT_EQ(add_nccl_nodes(topology, 0, *read.file->nccl_node, endpoints).size(), 1u);
  EXPECT_EQ(add_nccl_nodes(topology, 1'000'000, *read.file->nccl_node, endpoints).size(), 1u);
  NcclNode without = *read.file->nccl_node;
  without.nics.clear();
  EXPECT_EQ(add_nccl_nodes(topology, 2, without, endpoints),
            (std::vector<std::string>{"a cluster needs NICs in its nodes, has none"}));
}

TEST(Nccl, RefusesWhatIsNoNode) {
  const auto pci = [](const std::string& attributes) {
    return "<system>\n<cpu numaid='0'>\n<pci " + attributes + "/></cpu></system>";
  };
  const std::string field = "f:3: pci \"0000:01:00.0\", ";
  expect_fault("<system/>", "f: has no GPU");
  expect_fault("<system>\n<cpu numaid='0'>\n<pci busid='0000:01:00.0'><pci/></pci></cpu></system>",
               field + "class: is missing");
  expect_fault(pci("busid='x' class='0x03'"), "f:3: pci \"x\", busid: is no PCI bus id");
  expect_fault(pci("class='0x03'"), "f:3: pci \"\", busid: is no PCI bus id");
  expect_fault(pci("busid='0000:01:00.0' class='0x03' link_speed='17 GT/s'"),
               field + "link_speed: \"17 GT/s\" is unknown; 2.5, 5, 8, 16, 32 or 64 GT/s");
  expect_fault(pci("busid='0000:01:00.0' class='0x03' link_width='3'"),
               field + "link_width: \"3\" is not allowed");
  expect_fault(by_hand("<pci busid='0000:1:00.0' class='0x03'/><pci busid='0000:01:00.0' "
                       "class='0x03'/>"),
               "pci \"0000:01:00.0\", busid: is taken twice");
  expect_fault("<system><cpu numaid='0' host_hash='1'/><cpu numaid='1' host_hash='2'/></system>",
               "f: host_hash: are 2 different ones; one host in a file");
  expect_fault("<system><cpu numaid='0'/>\n<cpu numaid='0'/></system>",
               "f:2: cpu, numaid: \"0\" is taken twice");
  expect_fault(dump("", "", "arch='x86_64' vendor='KVMKVMKVM'"),
               "f:2: cpu, arch and vendor: \"x86_64\" and \"KVMKVMKVM\" say nothing");
  expect_fault(dump("<nvlink target='x' tclass='0x068000'/>", ""), "needs count and tclass");
  expect_fault(dump("<nvlink count='0' tclass='0x068000'/>", ""),
               "nvlink, count: \"0\" is not allowed; a whole number from 1 to 1000");
  expect_fault(dump("<nvlink count='99999999999999999999' tclass='0x068000'/>", ""),
               "nvlink, count: \"99999999999999999999\" is not allowed");
  expect_fault(by_hand("<pci busid='0000:05:00.0' class='0x03'><gpu dev='0'>"
                       "<nvlink count='1' tclass='0x0680'/></gpu></pci>"),
               "gpu of pci \"0000:05:00.0\", sm: is missing; 60 or more");
  std::string cpus = "<system>";
  for (int i = 0; i < 300; ++i) cpus += "<cpu numaid='" + std::to_string(i) + "'/>";
  expect_fault(cpus + "</system>", "300 cpu elements among them; at most 10000 and 256");
}

TEST(Nccl, MutatedFilesNeverCrash) {
  const std::vector<std::string> texts = {dump(kSwitch4, kSwitch4),
                                          dump(to_gpu("1", "3"), to_gpu("2", "3")), by_hand()};
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 300; ++i) {
    const std::string text = mutated(texts[static_cast<std::size_t>(i) % texts.size()], random);
    SCOPED_TRACE(text);
    const ReadText read(text);
    if (read.file.has_value()) {
      EXPECT_TRUE(read.file->topology.check().empty());
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
