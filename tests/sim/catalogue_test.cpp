// The catalogue in platforms/: that its files are complete and make sense together, and what is
// said about files that are wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "sim/report/platforms_json.h"
#include "sim/report/platforms_text.h"
#include "sim/scenario/nvlink_pairs.h"
#include "sim/scenario/platforms.h"
#include "sim/text/text_file.h"
#include "sim/topology/analysis.h"
#include "sim/topology/fabrics.h"
#include "tests/sim/parse_json.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope {
namespace {

namespace fs = std::filesystem;

const fs::path kPlatforms = fs::path(SHARDSCOPE_SOURCE_DIR) / "platforms";

std::string join(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += format_fault(fault) + "\n";
  return text;
}

Platforms shipped() {
  std::vector<Fault> faults;
  Platforms platforms = read_platforms(kPlatforms, {}, faults);
  EXPECT_TRUE(faults.empty()) << join(faults);
  return platforms;
}

NodePreset shipped_node(const std::string& name) {
  std::vector<Fault> faults;
  const auto node = read_node_preset(kPlatforms, name, faults);
  EXPECT_TRUE(node.has_value()) << join(faults);
  return node.value_or(NodePreset{});
}

// The devices of one node.
Topology built(const NodeSpec& spec) {
  Topology topology;
  NodeEndpoints endpoints;
  EXPECT_TRUE(add_nodes(topology, 1, spec, endpoints).empty());
  EXPECT_TRUE(topology.check().empty());
  return topology;
}

// ---- What is shipped ----

TEST(CatalogueTest, HasTheEntriesAndAllOfTheirFields) {
  EXPECT_EQ(device_preset_names(kPlatforms),
            (std::vector<std::string>{"a100-40g", "a100-80g", "a10g-24g", "b200-180g", "classroom",
                                      "cpu-core", "h100-80g", "h200-141g", "l4-24g", "mi250x-64g",
                                      "mi300x-192g", "rtx4090-24g", "t4-16g", "v100-32g"}));
  EXPECT_EQ(node_preset_names(kPlatforms),
            (std::vector<std::string>{"dgx-1v", "dgx-a100", "dgx-h100", "g5.12xlarge",
                                      "p4d.24xlarge", "p5.48xlarge", "rtx4090-8x"}));
  EXPECT_EQ(fabric_preset_names(kPlatforms),
            (std::vector<std::string>{"ethernet-100g", "ethernet-10g", "ethernet-25g", "hdr-200",
                                      "ndr-400"}));
  const Platforms platforms = shipped();
  EXPECT_EQ(platforms.devices.size() + platforms.nodes.size() + platforms.fabrics.size(),
            platform_names(kPlatforms).size());
}

TEST(CatalogueTest, NamesAreLowerCaseAndUnlikeEachOther) {
  const std::vector<std::string> names = platform_names(kPlatforms);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-"), std::string::npos)
        << name;
  }
}

TEST(CatalogueTest, HalfTypesAreNotSlowerThanFp32) {
  for (const auto& [name, file, device] : shipped().devices) {
    EXPECT_GE(device.peak_flops_per_s(DType::fp16), device.peak_flops_per_s(DType::fp32)) << name;
    EXPECT_GE(device.peak_flops_per_s(DType::bf16), device.peak_flops_per_s(DType::fp32)) << name;
  }
}

// Each comment that gives a figure's source can be seen by whoever asks for the entry.
TEST(CatalogueTest, EachFileBeginsByTellingWhatItIs) {
  const Platforms platforms = shipped();
  std::vector<std::string> files;
  for (const auto& entry : platforms.devices) files.push_back(entry.file);
  for (const auto& entry : platforms.nodes) files.push_back(entry.file);
  for (const auto& entry : platforms.fabrics) files.push_back(entry.file);
  for (const std::string& file : files) {
    std::vector<Fault> faults;
    const std::string text = read_text_file(file, faults).value_or("");
    EXPECT_TRUE(text.starts_with("# ")) << file;
  }
}

TEST(CatalogueTest, NodesAreBuiltAndNicsFitTheirPcie) {
  for (const auto& [name, file, node] : shipped().nodes) {
    Topology topology;
    NodeEndpoints endpoints;
    ASSERT_TRUE(add_nodes(topology, 2, node.spec, endpoints).empty()) << name;
    EXPECT_EQ(endpoints.devices.size(), 2 * node.spec.devices) << name;
    ASSERT_EQ(endpoints.nics.size(), 2 * node.spec.nics) << name;
    CableSpec cable;
    cable.bandwidth_bytes_per_s = node.nic_bandwidth_bytes_per_s;
    ASSERT_TRUE(add_star(topology, endpoints.nics, cable).empty()) << name;
    EXPECT_TRUE(topology.check().empty()) << name;
    EXPECT_LE(node.nic_bandwidth_bytes_per_s, node.spec.pcie_cable.bandwidth_bytes_per_s) << name;
    // Halves are the two nodes, and what joins them are the NICs.
    EXPECT_DOUBLE_EQ(bisection_bytes_per_s(topology),
                     static_cast<double>(node.spec.nics) * node.nic_bandwidth_bytes_per_s)
        << name;
  }
}

TEST(CatalogueTest, TheNvswitchOfADgxCarriesAllItsDevicesSend) {
  NodeSpec a100 = shipped_node("dgx-a100").spec;
  a100.devices_per_pcie_switch = 0;
  a100.nics = 0;
  EXPECT_DOUBLE_EQ(bisection_bytes_per_s(built(a100)), 4 * 300e9);
  NodeSpec h100 = shipped_node("dgx-h100").spec;
  h100.devices_per_pcie_switch = 0;
  h100.nics = 0;
  EXPECT_DOUBLE_EQ(bisection_bytes_per_s(built(h100)), 4 * 450e9);
}

TEST(CatalogueTest, TheDgx1IsAHybridCubeMeshOfSixLinksPerDevice) {
  NodeSpec spec = shipped_node("dgx-1v").spec;
  std::vector<std::size_t> links(spec.devices);
  std::vector<std::size_t> peers(spec.devices);
  for (const NvlinkPair& pair : spec.nvlink_pairs) {
    for (const std::size_t device : {pair.a, pair.b}) {
      links[device] += pair.links;
      ++peers[device];
    }
  }
  EXPECT_EQ(links, std::vector<std::size_t>(8, 6));
  EXPECT_EQ(peers, std::vector<std::size_t>(8, 4));
  // The quads are joined by 0-4, 1-5, 2-6 and 3-7, six links.
  spec.devices_per_pcie_switch = 0;
  spec.nics = 0;
  EXPECT_DOUBLE_EQ(bisection_bytes_per_s(built(spec)), 6 * 25e9);
}

TEST(CatalogueTest, LatenciesAddUpToThoseOfTheReadme) {
  std::vector<Fault> faults;
  const auto fabric = read_fabric_preset(kPlatforms, "hdr-200", faults);
  ASSERT_TRUE(fabric.has_value()) << join(faults);
  const NodePreset node = shipped_node("dgx-a100");
  Topology topology;
  NodeEndpoints endpoints;
  ASSERT_TRUE(add_nodes(topology, 2, node.spec, endpoints).empty());
  ASSERT_TRUE(add_star(topology, endpoints.nics,
                       {LinkKind::network, fabric->bandwidth_bytes_per_s, fabric->latency_s})
                  .empty());
  Routes routes(topology);
  EXPECT_NEAR(path_latency_s(topology, routes.route(0, 1)), 0.6e-6, 1e-15);
  EXPECT_NEAR(path_latency_s(topology, routes.route(0, 8)), 2.7e-6, 1e-15);
}

// ---- How it is shown ----

TEST(CatalogueTest, TheReadmeShowsWhatTheProgramPrints) {
  std::vector<Fault> faults;
  const std::string readme =
      read_text_file((kPlatforms / "README.md").string(), faults).value_or("");
  const std::string shown =
      "```\n$ shardscope platforms\n" + platforms_text(shipped(), /*colour=*/false) + "```\n";
  EXPECT_NE(readme.find(shown), std::string::npos) << "it prints\n" << shown;
}

TEST(CatalogueTest, TablesFitEightyColumns) {
  std::istringstream lines(platforms_text(shipped(), /*colour=*/false));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(CatalogueTest, NarrowTerminalsGetNarrowTables) {
  std::istringstream lines(platforms_text(shipped(), /*colour=*/false, 40));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 40U) << line;
}

TEST(CatalogueTest, JsonHoldsWhatTheFilesSay) {
  const Platforms platforms = shipped();
  const Json::Value json = parse_json(platforms_json(platforms, "1.2.3"));
  EXPECT_EQ(json["shardscope"], "1.2.3");
  ASSERT_EQ(json["devices"].size(), platforms.devices.size());
  ASSERT_EQ(json["nodes"].size(), platforms.nodes.size());
  ASSERT_EQ(json["fabrics"].size(), platforms.fabrics.size());
  for (Json::ArrayIndex i = 0; i < json["devices"].size(); ++i) {
    const Json::Value& device = json["devices"][i];
    const DevicePreset& preset = platforms.devices[i].preset;
    EXPECT_EQ(device["name"], platforms.devices[i].name);
    EXPECT_EQ(device["memory_bytes"].asUInt64(), preset.memory_bytes);
    EXPECT_EQ(device["peak_flops_per_s"]["bf16"].asDouble(), preset.peak_flops_per_s_bf16);
    EXPECT_EQ(device["memory_bandwidth_bytes_per_s"].asDouble(),
              preset.memory_bandwidth_bytes_per_s);
    EXPECT_EQ(device["launch_overhead_s"].asDouble(), preset.launch_overhead_s);
  }
  for (Json::ArrayIndex i = 0; i < json["nodes"].size(); ++i) {
    const Json::Value& node = json["nodes"][i];
    const NodePreset& preset = platforms.nodes[i].preset;
    EXPECT_EQ(node["name"], platforms.nodes[i].name);
    EXPECT_EQ(node["device"], preset.device);
    EXPECT_EQ(node["nics"].asUInt64(), preset.spec.nics);
    EXPECT_EQ(node["nic_bandwidth_bytes_per_s"].asDouble(), preset.nic_bandwidth_bytes_per_s);
    EXPECT_EQ(node["pcie"]["bandwidth_bytes_per_s"].asDouble(),
              preset.spec.pcie_cable.bandwidth_bytes_per_s);
    EXPECT_EQ(node["nvlink"].isNull(), preset.spec.nvlink == NodeSpec::Nvlink::none);
    EXPECT_EQ(node["pcie"]["socket"].isNull(), preset.spec.socket_cable.bandwidth_bytes_per_s == 0);
  }
  EXPECT_EQ(json["nodes"][0]["nvlink"]["pairs"].size(), 16U);
  EXPECT_EQ(json["nodes"][1]["nvlink"]["kind"], "nvswitch");
  EXPECT_EQ(json["fabrics"][0]["bandwidth_bytes_per_s"].asDouble(), 12.5e9);
  EXPECT_EQ(json["fabrics"][0]["latency_s"].asDouble(), 1e-6);
}

// ---- Files that are wrong ----

class BadCatalogueTest : public testing::Test {
 protected:
  BadCatalogueTest() {
    for (const char* name : {"devices", "nodes", "fabrics"}) {
      fs::create_directory(folder_.path(name));
    }
    folder_.write("devices/gpu.textproto", "");
  }

  // The faults of a node or fabric "x", one a line, without the folder's name.
  std::string faults_of_node(const std::string& text) {
    folder_.write("nodes/x.textproto", text);
    std::vector<Fault> faults;
    const auto preset = read_node_preset(folder_.path(""), "x", faults);
    EXPECT_EQ(preset.has_value(), faults.empty());
    return shortened(join(faults));
  }

  std::string faults_of_fabric(const std::string& text) {
    folder_.write("fabrics/x.textproto", text);
    std::vector<Fault> faults;
    const auto preset = read_fabric_preset(folder_.path(""), "x", faults);
    EXPECT_EQ(preset.has_value(), faults.empty());
    return shortened(join(faults));
  }

  std::string shortened(std::string text) const {
    const std::string prefix = folder_.path("");
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) {
      text.erase(at, prefix.size());
    }
    return text;
  }

  const TemporaryFolder folder_;
};

TEST_F(BadCatalogueTest, AllFaultsOfADeviceAtOnce) {
  folder_.write("devices/gpu.textproto", R"(memory: "80"
peak_flops_fp32: "0Tf"
peak_flop_bf16: "1Tf"
compute_efficiency: 1.5
)");
  std::vector<Fault> faults;
  EXPECT_FALSE(read_device_preset(folder_.path(""), "gpu", faults).has_value());
  EXPECT_EQ(shortened(join(faults)),
            R"(devices/gpu.textproto: peak_flops_fp16: missing; a speed such as "312Tf"
devices/gpu.textproto: memory_bandwidth: missing; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes)
devices/gpu.textproto: memory_efficiency: missing; a number above 0 up to 1
devices/gpu.textproto: launch_overhead: missing; a time such as "5us"
devices/gpu.textproto:1:9: memory: "80" has no unit; a size such as "64MiB"
devices/gpu.textproto:2:18: peak_flops_fp32: "0Tf" is not allowed; a speed such as "312Tf", greater than 0
devices/gpu.textproto:3:1: peak_flop_bf16: unknown field; did you mean "peak_flops_bf16"? (one of memory, peak_flops_fp32, peak_flops_bf16, peak_flops_fp16, memory_bandwidth, compute_efficiency, memory_efficiency, launch_overhead)
devices/gpu.textproto:4:21: compute_efficiency: 1.5 is not allowed; a number above 0 up to 1
)");
}

TEST_F(BadCatalogueTest, AnErrorOfSyntaxIsTheOnlyFault) {
  EXPECT_EQ(faults_of_fabric("bandwidth: \"1Gbps\" }\n"),
            "fabrics/x.textproto:1:20: syntax error: expected identifier, got: }\n");
  EXPECT_EQ(faults_of_node("nvlink { kind: MESH pairs: \"0-1\" }\n"
                           "pcie { devices_per_switch: 1 socket_latency: \"1us\" }\n"
                           "nic_bandwidth: \"1Gbps\"\n}\ndevices: 2\nnics: 1\n"),
            "nodes/x.textproto:4:1: syntax error: expected identifier, got: }\n");
}

TEST_F(BadCatalogueTest, AllFaultsOfAFabricAtOnce) {
  EXPECT_EQ(
      faults_of_fabric("bandwidth: \"0Gbps\"\nlatency: \"-1us\"\nspeed: 3\n"),
      R"(fabrics/x.textproto:1:12: bandwidth: "0Gbps" is not allowed; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes), greater than 0
fabrics/x.textproto:2:10: latency: "-1us" is negative; a time such as "5us"
fabrics/x.textproto:3:1: speed: unknown field; one of bandwidth, latency
)");
  EXPECT_EQ(
      faults_of_fabric(""),
      R"(fabrics/x.textproto: bandwidth: missing; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes)
fabrics/x.textproto: latency: missing; a time such as "5us"
)");
}

TEST_F(BadCatalogueTest, AllFaultsOfANodeAtOnce) {
  EXPECT_EQ(
      faults_of_node(R"(device: "gpus"
devices: 4
nvlink {
  kind: MESH
  bandwidth: "25"
  latency: "1us"
  pairs: ["0-1", "0-4", "1-0 x2", "2-2", "2-3 x0", "2-3x2", "2"]
}
pcie {
  devices_per_switch: 0
  switches_per_host: 2
  latency: "1us"
}
nics: 2
)"),
      R"(nodes/x.textproto: nic_bandwidth: missing; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes)
nodes/x.textproto:1:9: device: "gpus" is not in the catalogue; did you mean "gpu"? (one of gpu)
nodes/x.textproto:5:14: nvlink.bandwidth: "25" has no unit; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes)
nodes/x.textproto:7:18: nvlink.pairs: "0-4" is not allowed; two of the devices 0 to 3 and their links, such as "0-1" or "0-1 x2"
nodes/x.textproto:7:25: nvlink.pairs: "1-0 x2" is listed twice; each two devices once
nodes/x.textproto:7:35: nvlink.pairs: "2-2" is not allowed; two of the devices 0 to 3 and their links, such as "0-1" or "0-1 x2"
nodes/x.textproto:7:42: nvlink.pairs: "2-3 x0" is not allowed; two of the devices 0 to 3 and their links, such as "0-1" or "0-1 x2"
nodes/x.textproto:7:52: nvlink.pairs: "2-3x2" is not allowed; two of the devices 0 to 3 and their links, such as "0-1" or "0-1 x2"
nodes/x.textproto:7:61: nvlink.pairs: "2" is not allowed; two of the devices 0 to 3 and their links, such as "0-1" or "0-1 x2"
nodes/x.textproto:9:1: pcie.bandwidth: missing; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes)
nodes/x.textproto:10:23: pcie.devices_per_switch: 0 is not allowed; a whole number from 1 to 256
)");
}

TEST_F(BadCatalogueTest, WhatANodeDoesNotHaveIsNotGiven) {
  EXPECT_EQ(faults_of_node(R"(device: "gpu"
devices: 2
nvlink { kind: NVSWITCH bandwidth: "1GBps" latency: "1us" pairs: "0-1" }
pcie {
  devices_per_switch: 2 switches_per_host: 1 bandwidth: "1GBps" latency: "1us"
  socket_bandwidth: "1GBps" socket_latency: "1us"
}
nics: 0
nic_bandwidth: "1Gbps"
)"),
            R"(nodes/x.textproto:3:66: nvlink.pairs: "0-1" is for a MESH only; leave it out
nodes/x.textproto:6:21: pcie.socket_bandwidth: "1GBps" is for several host bridges only; leave it out
nodes/x.textproto:6:45: pcie.socket_latency: "1us" is for several host bridges only; leave it out
nodes/x.textproto:9:16: nic_bandwidth: "1Gbps" is for NICs only; leave it out
)");
}

TEST_F(BadCatalogueTest, SeveralSocketsNeedACableBetweenThem) {
  EXPECT_EQ(
      faults_of_node(R"(device: "gpu"
devices: 4
pcie { devices_per_switch: 1 switches_per_host: 3 bandwidth: "1GBps" latency: "1us" }
nics: 0
)"),
      R"(nodes/x.textproto:3:1: pcie.socket_bandwidth: missing; a rate such as "10Gbps" (bits) or "12.5GBps" (bytes)
nodes/x.textproto:3:1: pcie.socket_latency: missing; a time such as "5us"
)");
}

TEST_F(BadCatalogueTest, ANodeThatCannotBeBuiltIsRefused) {
  EXPECT_EQ(faults_of_node("device: \"gpu\"\ndevices: 2\nnics: 1\nnic_bandwidth: \"1Gbps\"\n"),
            "nodes/x.textproto: a node needs NVLink or PCIe between its devices, has neither\n"
            "nodes/x.textproto: a node needs PCIe for its NICs, has none\n");
}

TEST_F(BadCatalogueTest, AMeshWithoutPairsLinksEachTwoDevices) {
  folder_.write("nodes/x.textproto",
                "device: \"gpu\" devices: 3 nics: 0\n"
                "nvlink { kind: MESH bandwidth: \"1GBps\" latency: \"1us\" }\n");
  std::vector<Fault> faults;
  const auto node = read_node_preset(folder_.path(""), "x", faults);
  ASSERT_TRUE(node.has_value()) << join(faults);
  EXPECT_EQ(built(node->spec).links().size(), 6U);
}

TEST_F(BadCatalogueTest, AFileThatIsNotThereIsAFault) {
  std::vector<Fault> faults;
  EXPECT_FALSE(read_node_preset(folder_.path(""), "none", faults).has_value());
  EXPECT_FALSE(read_fabric_preset(folder_.path(""), "none", faults).has_value());
  EXPECT_EQ(faults.size(), 2U);
}

TEST(NvlinkPairTest, ReadsWhatItWrites) {
  for (const char* text : {"0-1", "1-0 x2", "6-7 x256"}) {
    const auto pair = parse_nvlink_pair(text, 8);
    ASSERT_TRUE(pair.has_value()) << text;
    EXPECT_EQ(format_nvlink_pair(*pair), text);
  }
  for (const char* text : {"", "0", "0-", "-1", "0-1 ", "0-1 x", "0-1 x-1", "0-1 x257", "0-8",
                           "0-1-2", " 0-1", "0-99999999999999999999", "0-1 x2 "}) {
    EXPECT_FALSE(parse_nvlink_pair(text, 8).has_value()) << text;
  }
}

}  // namespace
}  // namespace shardscope
