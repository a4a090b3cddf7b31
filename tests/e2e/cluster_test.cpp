// What the program says about clusters that users describe or bring as files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/program.h"
#include "tests/e2e/report_checks.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/temporary_folder.h"

namespace shardscope::testing {
namespace {

// Of one all_reduce of 64 MiB on the shipped four DGX A100.
double seconds(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"collective", shipped("four_dgx_a100"), "--bytes", "64MiB",
                                       "--json", "-", "--algorithm"});
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return parse_json(outcome.out)["rows"][0]["time_s"].asDouble();
}

// S = 64 MiB. Inside a node a reduce_scatter and an all_gather of 7 rounds each, S/8 at 300 GB/s
// and two NVLinks of 300 ns; across the four nodes a ring all_reduce of S/8, 6 rounds of S/32 at 25
// GB/s, over four PCIe links of 250 ns and two of the rail's of 850 ns.
TEST(FourDgx, HierarchicalAllReduceBeatsTheFlatRing) {
  const double bytes = 64.0 * 1024 * 1024;
  const double inside = 14 * (0.6e-6 + bytes / 8 / 300e9);
  const double across = 6 * (2.7e-6 + bytes / 32 / 25e9);
  const double hierarchical = seconds({"HIERARCHICAL"});
  EXPECT_NEAR(hierarchical, inside + across, 1e-9 * hierarchical);
  const double flat = seconds({"RING", "--set", "cluster.placement.order=ROUND_ROBIN"});
  EXPECT_GT(flat, 10 * hierarchical);
}

// FLOW is for rings and hierarchies: the other algorithms keep their messages.
TEST(FourDgx, CollectiveSaysWhichFidelityATimeIsOf) {
  const auto collective = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"collective", shipped("four_dgx_a100"), "--bytes", "1MiB", "--set"});
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string flow = "cluster.collective.fidelity=FLOW";
  const std::string message = "cluster.collective.fidelity=MESSAGE";
  for (const std::string& fidelity : {flow, message}) {
    for (const Json::Value& row :
         parse_json(collective({fidelity, "--algorithm", "all", "--json", "-"}))["rows"]) {
      const bool can_flow = row["algorithm"] == "RING" || row["algorithm"] == "HIERARCHICAL";
      EXPECT_EQ(row["fidelity"], can_flow && fidelity == flow ? "FLOW" : "MESSAGE") << row;
    }
  }
  const auto says = [&](const std::vector<std::string>& arguments, const std::string& words) {
    const std::string text = collective(arguments);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says({message, "--algorithm", "RING"}, "fidelity  MESSAGE: every message");
  says({flow, "--algorithm", "RING"}, "fidelity  FLOW: a transfer for each edge");
  says({flow, "--algorithm", "RING,DIRECT"}, "fidelity  FLOW where marked ~, MESSAGE elsewhere");
  says({flow, "--algorithm", "RING,DIRECT"}, "1048576  RING ~");
}

// Where no link ever changes, an action of SimGrid carries one transfer after another. A change
// long after the end makes each a communication of its own, in the same time.
TEST(SteadyLinks, CarryTransfersAsFreshCommunicationsDo) {
  const std::vector<std::pair<std::string, int>> clusters = {
      {"cluster.node={preset: \"dgx-a100\"}", 16},
      {"cluster.node={preset: \"rtx4090-8x\"}", 16},
      {"cluster.node={preset: \"g5.12xlarge\"}", 12},
      {"cluster.node={preset: \"dgx-1v\"}", 24},
      {"cluster.fabric={kind: RING}", 6},
      {"cluster.fabric={kind: TORUS lengths: [2, 4]}", 8},
      {"cluster.fabric={kind: LEAF_SPINE endpoints_per_leaf: 3 spines: 2 oversubscription: 3}", 9}};
  const std::vector<std::string> algorithms = {"RING", "HALVING_DOUBLING", "DOUBLE_TREE", "DIRECT"};
  const std::vector<std::string> sizes = {"68B", "64KiB", "1MiB"};
  const std::vector<std::string> operations = {"all_reduce", "all_gather", "broadcast"};
  std::mt19937 random(20261201);
  const auto one_of = [&](const auto& all) { return all[random() % all.size()]; };
  for (int i = 0; i < (kSanitized ? 4 : 40); ++i) {
    const auto [cluster, ranks] = one_of(clusters);
    std::vector<std::string> arguments = {
        "collective",
        shipped("quickstart"),
        "--op",
        one_of(operations),
        "--algorithm",
        one_of(algorithms),
        "--bytes",
        one_of(sizes),
        "--json",
        "-",
        "--set",
        cluster,
        "--set",
        "cluster.world_size=" + std::to_string(ranks),
        "--set",
        "cluster.collective.fidelity=" + std::string(i % 3 == 0 ? "FLOW" : "MESSAGE"),
        "--set",
        "cluster.collective.channels=" + std::to_string(1 + random() % 4)};
    const auto seconds = [&] {
      const Outcome outcome = run_program(arguments);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      return parse_json(outcome.out)["rows"][0]["time_s"].asDouble();
    };
    const double carried = seconds();
    arguments.insert(arguments.end(),
                     {"--set",
                      "cluster.link_change={links: \"*\" change: {at: \"1000s\" bandwidth: "
                      "\"1Gbps\"}}"});
    std::string text;
    for (const std::string& argument : arguments) {
      text += argument + " ";
    }
    ASSERT_GT(carried, 0);
    EXPECT_NEAR(carried, seconds(), 1e-12 * carried) << text;
  }
}

// Neither trains on the scenario's batch.
TEST(AClusterAlone, NeedsNoBatchThatItsRanksCanShare) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"collective", shipped("quickstart"), "--bytes", "1MiB"},
        std::vector<std::string>{"topology", shipped("quickstart")}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--set", "cluster.world_size=7"});
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(outcome.out.starts_with("quickstart: all_reduce over 7 ranks") ||
                outcome.out.starts_with("quickstart: 7 devices"))
        << outcome.out;
  }
}

// A vector of fewer elements than ranks is a message or a few that pass all edges, some of them
// slow: as flows each of its many empty rounds would take the time of the slowest.
TEST(FourDgx, FewElementsAreSentAsMessages) {
  for (const std::string bytes : {"4B", "60B", "124B", "128B"}) {
    const auto row = [&](const std::string& fidelity) {
      const Outcome outcome =
          run_program({"collective", shipped("four_dgx_a100"), "--bytes", bytes, "--algorithm",
                       "RING", "--set", "cluster.collective.fidelity=" + fidelity, "--json", "-"});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      return parse_json(outcome.out)["rows"][0];
    };
    EXPECT_EQ(row("FLOW")["fidelity"], bytes == "128B" ? "FLOW" : "MESSAGE");
    const double by_messages = row("MESSAGE")["time_s"].asDouble();
    EXPECT_NEAR(row("FLOW")["time_s"].asDouble(), by_messages, 1e-9 * by_messages) << bytes;
  }
}

TEST(FourDgx, TheReportSaysWhichLinksWereBusy) {
  const Json::Value report = run_json(shipped("four_dgx_a100"));
  for (const Json::Value& run : report["runs"]) {
    const Json::Value& links = run["links"];
    ASSERT_GT(links.size(), 0U);
    EXPECT_GT(links[0]["training_bytes"].asDouble(), 0);
    EXPECT_EQ(links[0]["name"], "node0.nic0->rail0");
    EXPECT_GT(links[0]["utilization"].asDouble(), 0);
    EXPECT_LE(links[0]["utilization"].asDouble(), 1 + 1e-9);
  }
}

// The most that a scenario may have: an actor and its stack for each, and one process's mappings.
TEST(ManyRanks, SixteenThousandTakeTheRingsTime) {
  if (kSanitized) {
    GTEST_SKIP() << "a thread for each rank";
  }
  const TemporaryFolder folder;
  const std::string scenario = folder.write("many.textproto", R"(
    name: "many ranks"
    model { layers: [256, 256] }
    training { steps: 1 global_batch: 16384 arithmetic: NONE }
    cluster {
      world_size: 16384
      device { preset: "a100-80g" }
      link { bandwidth: "100GBps" latency: "1us" }
      collective { fidelity: FLOW }
    }
    strategies: [DDP])");
  const Json::Value run = run_json(scenario)["runs"][0];
  EXPECT_EQ(run["outcome"], "completed");
  constexpr double kRanks = 16384;
  const double chunk = std::ceil((256 * 256 + 256) / kRanks);
  const double ring_s = 2 * (kRanks - 1) * (chunk * 4 / 100e9 + 2e-6);
  EXPECT_NEAR(run["steps"][0]["time"]["exposed_communication_s"].asDouble(), ring_s, 1e-9 * ring_s);
}

// ---- Files, whole ----

struct FileCase {
  std::string name;
  std::string content;
  int ranks = 0;
  std::vector<std::string> hosts;
  std::string kind;
  std::string understood;  // A part of what the report says.
  std::string left_aside;
};

std::string nccl(const std::string& nvlinks) {
  const auto gpu = [&](const std::string& n) {
    return "<pci busid='0000:" + n +
           "0:00.0' class='0x060400' link_speed='16.0 GT/s PCIe'"
           " link_width='16'><pci busid='0000:" +
           n +
           "1:00.0' class='0x030200'"
           " link_speed='16.0 GT/s PCIe' link_width='16'><gpu dev='" +
           n + "' sm='80' rank='" + n + "' gdr='1'>" + nvlinks +
           "</gpu></pci><pci busid='0000:" + n +
           "2:00.0' class='0x020000' link_speed='16.0 GT/s PCIe' link_width='16'><nic><net "
           "name='m" +
           n + "' dev='" + n + "' speed='200000' port='1'/></nic></pci></pci>";
  };
  return "<system version='1'><cpu numaid='0' affinity='ff' arch='x86_64' vendor='AuthenticAMD'"
         " familyid='143' modelid='49'>" +
         gpu("0") + gpu("1") + "</cpu></system>";
}

std::vector<FileCase> file_cases() {
  const std::string platform =
      "<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>"
      "<platform version='4.1'><zone id='w' routing='Full'>"
      "<cluster id='c' prefix='node-' radical='0-7' suffix='.x' speed='1Gf' bw='10GBps' lat='5us'>"
      "<prop id='owner' value='us'/></cluster></zone></platform>";
  const auto device = [](const std::string& name) {
    return "<node id='" + name +
           "'><data key='k'>gpu</data><data key='c'>red</data></node><edge source='s' target='" +
           name + "'><data key='b'>12.5GBps</data></edge>";
  };
  const std::string graphml =
      "<graphml><key id='b' for='edge' attr.name='bandwidth' attr.type='string'/>"
      "<key id='k' for='node' attr.name='kind' attr.type='string'/>"
      "<key id='c' for='node' attr.name='color' attr.type='string'/><graph "
      "edgedefault='undirected'>"
      "<node id='s'><data key='k'>switch</data></node>" +
      device("g0") + device("g1") + device("g2") + device("g3") + "</graph></graphml>";
  const std::string dot =
      "graph g { edge [bandwidth=\"100Gbps\", latency=\"1us\", color=blue]\n"
      "node [kind=gpu]; leaf [kind=switch]; leaf -- subgraph {g0 g1 g2 g3} }";
  const std::string nvswitch = "<nvlink target='0000:f0:00.0' count='12' tclass='0x068000'/>";
  return {
      {"platform.xml", platform, 8, {}, "SimGrid", "hosts", ""},
      {"some.xml", platform, 4, {"node-[2-5].x"}, "SimGrid", "hosts", ""},
      {"g.graphml", graphml, 4, {}, "GraphML", "4 devices, 1 switch", "color"},
      {"g.dot", dot, 4, {}, "Graphviz", "4 devices, 1 switch", "color"},
      {"with.xml", nccl(nvswitch), 2, {}, "NCCL", "NVLink", ""},
      {"without.xml", nccl(""), 2, {}, "NCCL", "NVLink", ""},
  };
}

TEST(ClusterFiles, RunQuickstartsStrategies) {
  TemporaryFolder folder;
  for (const FileCase& file : file_cases()) {
    SCOPED_TRACE(file.name);
    const std::string ranks = std::to_string(file.ranks);
    std::string hosts;
    for (const std::string& host : file.hosts) {
      hosts += " hosts: \"" + host + "\"";
    }
    const std::string scenario = folder.write(
        file.name + ".textproto",
        "model { layers: [32, 64, 32] } training { steps: 2 global_batch: 16 precision: BF16 }"
        " cluster { world_size: " +
            ranks + " device { preset: \"a100-40g\" } file: \"" + file.name + "\"" + hosts + " }");
    folder.write(file.name, file.content);
    const Json::Value report = run_json(scenario);
    check_report(report);
    ASSERT_EQ(report["runs"].size(), 5U);
    for (const Json::Value& run : report["runs"]) {
      EXPECT_EQ(run["outcome"], "completed") << run["strategy"];
      EXPECT_EQ(run["world_size"], file.ranks);
    }
    const Json::Value& network = report["assumptions"]["network"];
    EXPECT_NE(network["file_kind"].asString().find(file.kind), std::string::npos)
        << network["file_kind"];
    EXPECT_NE(network["understood"].toStyledString().find(file.understood), std::string::npos)
        << network["understood"];
    EXPECT_NE(network["left_aside"].toStyledString().find(file.left_aside), std::string::npos)
        << network["left_aside"];
  }
}

}  // namespace
}  // namespace shardscope::testing
