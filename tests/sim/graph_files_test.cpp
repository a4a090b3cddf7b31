// GraphML and DOT files, and what all topology files have in common.
#include <sys/stat.h>

#include <random>

#include "sim/topology/routes.h"
#include "sim/topology_files/dot.h"
#include "sim/topology_files/natural_order.h"
#include "tests/sim/sanitized.h"
#include "tests/sim/topology_files.h"

namespace shardscope::testing {
namespace {

const std::string kKeys =
    "<key id='k' for='node' attr.name='kind' attr.type='string'/>\n"
    "<key id='b' for='edge' attr.name='bandwidth' attr.type='string'/>\n"
    "<key id='l' for='edge' attr.name='latency' attr.type='string'/>\n"
    "<key id='e' for='edge' attr.name='kind' attr.type='string'/>\n"
    "<key id='c' for='node' attr.name='color' attr.type='string'/>\n";

std::string graphml(const std::string& body, const std::string& keys = kKeys,
                    const std::string& edges = "undirected") {
  return "<graphml xmlns='http://graphml.graphdrawing.org/xmlns'>\n" + keys +
         "<graph edgedefault='" + edges + "'>\n" + body + "\n</graph></graphml>\n";
}

std::string edge(const std::string& data, const std::string& attributes = "") {
  return "<edge source='a' target='b' " + attributes + ">" + data + "</edge>";
}

const std::string kTwo = "<node id='a'/><node id='b'/>\n";
const std::string kFast = "<data key='b'>100Gbps</data>";

TEST(Kind, IsToldFromTheContent) {
  const std::vector<std::pair<std::string, FileKind>> cases = {
      {"<platform version='4.1'/>", FileKind::simgrid},
      {"<?xml version='1.0'?><!DOCTYPE platform SYSTEM 'simgrid.dtd'><platform/>",
       FileKind::simgrid},
      {"<!-- a comment --><system/>", FileKind::nccl},
      {"\xef\xbb\xbf<graphml/>", FileKind::graphml},
      {"graph {}", FileKind::dot},
      {"// a\n# b\n/* c */ STRICT digraph x {}", FileKind::dot}};
  const TemporaryFolder folder;
  for (const auto& [text, kind] : cases) {
    std::vector<Fault> faults;
    EXPECT_EQ(topology_file_kind(folder.write("any.json", text), faults), kind) << text;
    EXPECT_TRUE(faults.empty()) << text;
  }
}

TEST(Kind, RefusesWhatIsNone) {
  const char* accepted =
      "a SimGrid platform (<platform>), an NCCL topology (<system>), GraphML (<graphml>) or "
      "Graphviz DOT (graph, digraph)";
  expect_fault("{\"nodes\": []}",
               std::string("f: is no description of a cluster that is known; ") + accepted);
  expect_fault("\n<svg/>", std::string("f:2: is XML of the unknown kind <svg>; ") + accepted);
  expect_fault("<graphs version='1'/>", "f:1: is an NCCL graph file");
  expect_fault("", "f: is empty");
  expect_fault(" \n\t ", "f: is empty");
  expect_fault("/* no end", "is no description");
  expect_fault("graphics {}", "is no description");
}

TEST(Kind, RefusesWhatIsNoTextFile) {
  const TemporaryFolder folder;
  const auto fault = [&](const std::string& path) {
    std::vector<Fault> faults;
    EXPECT_FALSE(read_topology_file(path, faults).has_value());
    return faults.empty() ? "" : format_fault(faults.front()).substr(path.size());
  };
  EXPECT_EQ(fault(folder.path("")), ": is a directory; a file");
  EXPECT_EQ(fault(folder.path("none")), ": cannot be opened: No such file or directory");
  ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(fault(folder.path("pipe")),
            ": is no regular file; a file that can be read more than once");
  EXPECT_EQ(fault("/dev/zero"), ": is no regular file; a file that can be read more than once");
  EXPECT_EQ(fault(folder.write("x", "<graphml>\n a\xffz</graphml>")),
            ":2:3: is not text: byte 0xff; UTF-8 text");
  EXPECT_EQ(fault(folder.write("x", std::string("<\0g\0", 4))),
            ": is UTF-16 or UTF-32; UTF-8 text");
  EXPECT_EQ(fault(folder.write("x", "\xfe\xff<")), ": is UTF-16 or UTF-32; UTF-8 text");
  const std::string large = folder.write("large", "graph {}");
  ASSERT_EQ(truncate(large.c_str(), (64 << 20) + 1), 0);
  EXPECT_EQ(fault(large), ": is too large; at most 64 MiB");
}

TEST(Xml, RefusesBombsAndEntities) {
  expect_fault(
      "<!DOCTYPE graphml [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><graphml>&b;</graphml>",
      "has a DOCTYPE with declarations of its own (entities), which are not read");
  expect_fault("<!DOCTYPE system [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><system>&x;</system>",
               "has a DOCTYPE with declarations of its own");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) {
    deep += "<a>";
  }
  expect_fault(deep, "f:1:300000: is not well-formed XML");
  std::string closed = "<graphml>\n";
  for (int i = 0; i < 64; ++i) closed += "<a>";
  for (int i = 0; i < 64; ++i) closed += "</a>";
  expect_fault(closed + "</graphml>", "f:2: nests too deep; at most 64 levels");
  expect_fault("<graphml>" + std::string(2'000'001, '=') + "</graphml>",
               "has too many elements and attributes; at most 2000000");
}

TEST(Xml, SaysWhereItIsMalformed) {
  expect_fault("<graphml>\n  <graph>\n</graphml>", "f:3:3: is not well-formed XML: Start-end tags");
  expect_fault("<graphml>\n<node a='1' a='2'/></graphml>",
               "f:2: has the attribute \"a\" twice in <node>");
  expect_fault("<graphml/>\n<graphml/>", "f:2: has a second root element, <graphml>; one root");
  expect_fault("<graphml", "is not well-formed XML");
  expect_fault("<!-- only a comment -->", "is not well-formed XML: No document element found");
}

TEST(GraphMl, ReadsNodesAndEdges) {
  const ReadText read(
      graphml("<node id='a'><data key='k'>gpu</data><data key='c'>red</data></node>"
              "<node id='s'><data key='k'>switch</data></node>"
              "<node id='b'><data key='k'>host</data></node>"
              "<edge source='a' target='s'>" +
              kFast +
              "<data key='l'>5us</data></edge>"
              "<edge source='a' target='s'><data key='b'>2e9</data><data key='l'>1e-6</data></edge>"
              "<edge source='s' target='b'>" +
              kFast + "<data key='e'>nvlink</data></edge>"));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  const Topology& topology = read.file->topology;
  EXPECT_EQ(topology.devices(), (std::vector<NodeId>{0, 2}));
  EXPECT_EQ(topology.node(1).kind, NodeKind::network_switch);
  ASSERT_EQ(topology.links().size(), 6u);
  EXPECT_EQ(read.link("a->s")->cable.bandwidth_bytes_per_s, 12.5e9);
  EXPECT_EQ(read.link("a->s")->cable.latency_s, 5e-6);
  EXPECT_EQ(read.link("s->a #1")->cable.bandwidth_bytes_per_s, 2e9);
  EXPECT_EQ(read.link("s->a #1")->cable.latency_s, 1e-6);
  EXPECT_EQ(read.link("b->s")->cable.kind, LinkKind::nvlink);
  EXPECT_EQ(read.link("a->s")->cable.kind, LinkKind::network);
  EXPECT_EQ(joined(read.file->notes.understood),
            "2 devices, 1 switch (attribute kind)\n"
            "3 full-duplex cables (undirected edges)\n"
            "bandwidth: of 3 edges, 1 of them as a bare number in bytes/s; 2e+09 to 1.25e+10 "
            "bytes/s\n"
            "latency: of 2 edges, 1 of them as a bare number in s; 1e-06 to 5e-06 s; 0 s where "
            "there is none, 1 edge\n"
            "kind: network where there is none, 2 edges\n");
  EXPECT_EQ(joined(read.file->notes.left_aside), "attribute \"color\" of nodes (1)\n");
}

TEST(GraphMl, MixesDirections) {
  const ReadText read(graphml(kTwo + edge(kFast) + edge(kFast, "directed='true'")));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  EXPECT_EQ(read.file->topology.links().size(), 3u);
  EXPECT_NE(read.link("a->b #1"), nullptr);
  EXPECT_EQ(read.link("b->a #1"), nullptr);
  EXPECT_TRUE(contains(read.file->notes.understood, "no node has a kind: all are devices"));
}

TEST(GraphMl, AppliesDefaults) {
  const std::string keys =
      "<key id='b' for='edge' attr.name='bandwidth' attr.type='double'><default>1e9</default></key>"
      "<key id='k' for='node' attr.name='kind' attr.type='string'><default>device</default></key>";
  const ReadText read(
      graphml("<node id='a'/><node id='b'/><node id='s'><data key='k'>bridge</data></node>" +
                  edge("") + edge("<data key='b'>2e9</data>"),
              keys));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  EXPECT_EQ(read.link("a->b")->cable.bandwidth_bytes_per_s, 1e9);
  EXPECT_EQ(read.link("a->b #1")->cable.bandwidth_bytes_per_s, 2e9);
  EXPECT_EQ(read.file->topology.devices().size(), 2u);
}

TEST(GraphMl, NotesWhatHasNoMeaning) {
  const ReadText read("<!DOCTYPE graphml SYSTEM 'graphml.dtd'>" +
                      graphml("<data key='g'>x</data><port name='p'/>" + kTwo +
                                  edge(kFast + "<desc>d</desc>", "sourceport='p' id='e1'"),
                              kKeys + "<key id='g' for='graph' attr.name='title'/><desc>x</desc>"));
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  const std::string left = joined(read.file->notes.left_aside);
  for (const char* part : {"the external DTD (not fetched) (1)", "attribute \"title\" of the graph",
                           "attribute \"sourceport\" of <edge> (1)", "attribute \"id\" of <edge>",
                           "element \"desc\" of <graphml>", "element \"desc\" of edges",
                           "element \"port\" of the graph"}) {
    EXPECT_NE(left.find(part), std::string::npos) << part << "\n" << left;
  }
}

TEST(GraphMl, RefusesFiguresAndKinds) {
  const auto bandwidth = [](const std::string& value) {
    return graphml(kTwo + edge("<data key='b'>" + value + "</data>"));
  };
  const std::string field = "f:9: edge \"a\" -- \"b\", bandwidth: ";
  expect_fault(graphml(kTwo + edge("")), field + "is missing; above 0, a rate such as");
  expect_fault(bandwidth("0Gbps"), field + "\"0Gbps\" is not allowed");
  expect_fault(bandwidth("-1Gbps"), field + "\"-1Gbps\" is negative");
  expect_fault(bandwidth("100"), field + "\"100\" is out of range for bytes/s, and has no unit");
  expect_fault(bandwidth("nan"), field + "\"nan\" is out of range");
  expect_fault(bandwidth("inf"), field + "\"inf\" is out of range");
  expect_fault(bandwidth("-5e9"), field + "\"-5e9\" is out of range");
  expect_fault(bandwidth("1e300"), field + "\"1e300\" is out of range");
  expect_fault(bandwidth("9999EBps"), field + "\"9999EBps\" is out of range");
  expect_fault(bandwidth("100gbps"),
               field + "\"100gbps\" has the unknown unit \"gbps\"; did you mean");
  expect_fault(bandwidth("fast"), field + "\"fast\" is not a quantity");
  const auto latency = [](const std::string& value) {
    return graphml(kTwo + edge(kFast + "<data key='l'>" + value + "</data>"));
  };
  const std::string latency_field = "f:9: edge \"a\" -- \"b\", latency: ";
  expect_fault(latency("5"), latency_field + "\"5\" is out of range for seconds, and has no unit");
  expect_fault(latency("-1us"), latency_field + "\"-1us\" is negative");
  expect_fault(latency("5um"), latency_field + "\"5um\" has the unknown unit");
  expect_fault(graphml(kTwo + edge(kFast + "<data key='e'>nvlnk</data>")),
               "edge \"a\" -- \"b\", kind: \"nvlnk\" is unknown; did you mean \"nvlink\"? (one of");
  expect_fault(graphml("<node id='a'><data key='k'>swich</data></node><node id='b'/>"),
               "f:8: node \"a\", kind: \"swich\" is unknown; did you mean \"switch\"?");
  expect_fault(graphml("<node id='a'><data key='k'>gpu</data></node>\n<node id='b'/>"),
               "f:9: node \"b\", kind: is missing, and other nodes have one");
}

TEST(GraphMl, RefusesWhatIsNoCluster) {
  expect_fault("<graphml/>", "f: has no <graph>");
  expect_fault(graphml(""), "f: there is no device");
  expect_fault(graphml(kTwo), "devices must reach each other both ways, and fall into 2 parts");
  expect_fault(graphml(kTwo + edge(kFast), kKeys, "directed"), "fall into 2 parts");
  expect_fault(graphml("<node id='a'/>\n<node id='a'/>"), "f:9: node \"a\": is declared twice");
  expect_fault(graphml("<node/>"), "node \"\": has no id");
  expect_fault(graphml("<node id='a'/><edge source='a' target='a'>" + kFast + "</edge>"),
               "f:8: edge \"a\" -- \"a\": joins a node with itself");
  expect_fault(graphml("<node id='node1'/><edge source='node1' target='nod1'>" + kFast + "</edge>"),
               "has the unknown end \"nod1\"; did you mean \"node1\"?");
  expect_fault(graphml(kTwo + edge("<data key='z'>1</data>")), "has data of the unknown key \"z\"");
  expect_fault(graphml(kTwo + edge(kFast, "directed='yes'")), "directed: \"yes\" is unknown");
  expect_fault(graphml("<node id='a'><graph/></node>"), "node \"a\": has a graph inside");
  expect_fault(graphml("<hyperedge/>"), "has a <hyperedge> in the graph");
  expect_fault(graphml(kTwo, kKeys, "both"), "graph, edgedefault: \"both\" is unknown");
  expect_fault(graphml(kTwo, kKeys + kKeys), "key \"k\": is declared twice");
  expect_fault(graphml(kTwo, "<key id='k' for='nodes'/>"),
               "for: \"nodes\" is unknown; one of graph");
  expect_fault(graphml(kTwo, "<key id='x' for='all' attr.name='y'><default>1</default></key>"),
               "key \"x\": has a default for all; keys for node or for edge");
  std::string many;
  for (int i = 0; i < 100'001; ++i) many += "<node id='" + std::to_string(i) + "'/>";
  expect_fault(graphml(many), "has 100001 nodes and 0 edges; at most 100000 and 500000");
}

TEST(GraphMl, FindsAllFaultsAtOnceButNotThousands) {
  std::string edges;
  for (int i = 0; i < 300; ++i) edges += edge("");
  const ReadText read(graphml(kTwo + edges));
  EXPECT_EQ(read.faults.size(), 101u);
  EXPECT_EQ(read.lines().back(), "f: has 200 more faults");
}

TEST(Dot, ReadsNodesAndEdges) {
  const ReadText read(
      "graph g {\n"
      "  label=x; node [kind=device, shape=box]; edge [bandwidth=\"400Gbps\", latency=\"1us\"]\n"
      "  gpu10; gpu2; leaf [kind=\"switch\"]\n"
      "  leaf -- subgraph {gpu10 gpu2} [kind=network]\n"
      "  gpu2 -- gpu10 [bandwidth=\"900GBps\", kind=nvlink, color=red]\n"
      "}\n");
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  const Topology& topology = read.file->topology;
  ASSERT_EQ(topology.devices().size(), 2u);
  EXPECT_EQ(topology.node(topology.devices()[0]).name, "gpu2");
  EXPECT_EQ(topology.node(topology.devices()[1]).name, "gpu10");
  EXPECT_EQ(topology.links().size(), 6u);
  EXPECT_EQ(read.link("leaf->gpu10")->cable.bandwidth_bytes_per_s, 50e9);
  EXPECT_EQ(read.link("gpu10->gpu2")->cable.bandwidth_bytes_per_s, 900e9);
  EXPECT_EQ(read.link("gpu10->gpu2")->cable.kind, LinkKind::nvlink);
  EXPECT_EQ(joined(read.file->notes.left_aside),
            "attribute \"color\" of edges (1)\nattribute \"label\" of the graph (1)\n"
            "attribute \"shape\" of nodes (3)\n");
}

TEST(Dot, DirectedEdgesAreOneWay) {
  const ReadText read("strict digraph { edge [bandwidth=\"2e9\"] a -> b -> a; a -> b }");
  ASSERT_TRUE(read.file.has_value()) << joined(read.lines());
  EXPECT_EQ(read.file->topology.links().size(), 2u);
  expect_fault("digraph { a -> b [bandwidth=\"2e9\"] }", "fall into 2 parts");
}

TEST(Dot, SaysWhereTheErrorIs) {
  expect_fault("graph {\n a -- b\n c -> d\n e -- f\n}\n", "f:3: is not Graphviz DOT: Using ->");
  expect_fault("graph {\n a -- b\n", "f:3: is not Graphviz DOT:");
  expect_fault("graph {\n a [x=]\n}\n", "f:2: is not Graphviz DOT: Wanted identifier");
  expect_fault("graph {\n a\n \"no end\n}\n", "f:3: is not Graphviz DOT: Invalid character");
  expect_fault("graph { a -- a [bandwidth=\"2e9\"] }",
               "edge \"a\" -- \"a\": joins a node with itself");
  expect_fault("graph { a -- b }", "f: edge \"a\" -- \"b\", bandwidth: is missing");
  expect_fault("graph { }", "there is no device");
}

TEST(Dot, AnonymousSubgraphsDependOnTheBoostThereIs) {
  const ReadText read("graph { edge [bandwidth=\"1Gbps\"] a -- {b c} }");
  EXPECT_TRUE(read.file.has_value() ||
              contains(read.lines(), "(the word subgraph before { in statements)") ||
              contains(read.lines(), "; the word subgraph before { in statements"))
      << joined(read.lines());
}

TEST(Dot, ABombEndsInItsChild) {
  std::string many;
  for (int i = 0; i < 3000; ++i) many += "n" + std::to_string(i) + " ";
  const std::string bomb = "graph { subgraph a {" + many + "} -- subgraph b {" + many + "} }";
  const auto fault = [&](const ChildLimits& limits) {
    std::vector<Fault> faults;
    FaultList list("f", faults);
    NameCounts left_aside;
    EXPECT_FALSE(read_dot(bomb, list, left_aside, limits).has_value());
    return format_fault(faults.front());
  };
  const std::size_t gigabyte = std::size_t{1} << 30;
  if (!kSanitized) {
    EXPECT_EQ(fault({.memory_bytes = gigabyte / 16, .time = std::chrono::seconds(60)}),
              "f: cannot be read as Graphviz DOT: needs more than 64 MiB of memory");
  }
  EXPECT_EQ(fault({.memory_bytes = gigabyte, .time = std::chrono::seconds(0)}),
            "f: cannot be read as Graphviz DOT: takes longer than 0 s");
}

TEST(NaturalOrder, CountsInNumbers) {
  const std::vector<std::string> sorted = {"",      "a",      "a0",     "a00",
                                           "a01",   "a1",     "a2",     "a10",
                                           "a10b2", "a10b10", "a99999", "a100000000000000000000000",
                                           "b"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t k = 0; k < sorted.size(); ++k) {
      EXPECT_EQ(natural_less(sorted[i], sorted[k]), i < k) << sorted[i] << " " << sorted[k];
    }
  }
}

TEST(GraphFiles, MutatedFilesNeverCrash) {
  const std::vector<std::string> texts = {
      graphml(kTwo + edge(kFast) + edge(kFast, "directed='true'")),
      "graph { node [kind=device] edge [bandwidth=\"1Gbps\"] a -- subgraph {b c} -- d }"};
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 160; ++i) {
    const std::size_t which = i % 8 == 0 ? 1 : 0;  // DOT takes a process each time.
    const std::string text = mutated(texts[which], random);
    SCOPED_TRACE(text);
    const ReadText read(text);
    if (read.file.has_value()) {
      EXPECT_TRUE(read.file->topology.check().empty());
    }
  }
}

}  // namespace
}  // namespace shardscope::testing
