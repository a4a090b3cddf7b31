// SimGrid platforms before a simulation. Each case starts SimGrid's loader in a child.
#include "sim/topology_files/simgrid_platform.h"

#include <random>

#include "tests/sim/topology_files.h"

namespace shardscope::testing {
namespace {

std::string full(const std::string& body) {
  return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
         "<platform version='4.1'>\n<zone id='world' routing='Full'>\n" +
         body + "\n</zone>\n</platform>\n";
}

std::string pair(const std::string& link) {
  return full("<host id='a' speed='1Gf'/><host id='b' speed='2Gf'/>\n" + link +
              "<route src='a' dst='b'><link_ctn id='l'/></route>");
}

const std::string kCluster = full(
    "<cluster id='c' prefix='node-' radical='0-11' suffix='.x' speed='1Gf' bw='125MBps' "
    "lat='50us' bb_bw='2GBps' bb_lat='500us'/>");

struct Described {
  TemporaryFolder folder;
  std::string path;
  std::vector<Fault> faults;
  std::optional<SimgridPlatform> platform;

  explicit Described(const std::string& text, const std::string& name = "f.xml")
      : path(folder.write(name, text)) {
    platform = describe_simgrid_platform(path, faults);
    EXPECT_NE(platform.has_value(), !faults.empty());
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const Fault& fault : faults) {
      all.push_back(format_fault(fault).substr(folder.path("").size()));
    }
    return all;
  }

  std::vector<std::string> select(const std::vector<std::string>& patterns) {
    return select_hosts(*platform, patterns, faults);
  }
};

void expect_platform_fault(const std::string& text, std::string_view part) {
  const Described described(text);
  EXPECT_TRUE(contains(described.lines(), part)) << "not found: " << part << "\nin:\n"
                                                 << joined(described.lines());
}

TEST(SimgridPlatform, DescribesAFile) {
  const Described described(full(
      "<host id='h10' speed='2Gf,1Gf' core='4' pstate='1'><prop id='k' value='v'/></host>\n"
      "<host id='h2' speed='1Gf'/>\n"
      "<link id='l' bandwidth='1GBps' latency='1us'/>\n"
      "<link id='f' bandwidth='3GBps' latency='0' sharing_policy='FATPIPE'/>\n"
      "<link id='d' bandwidth='2GBps' latency='5us' sharing_policy='SPLITDUPLEX'/>\n"
      "<route src='h2' dst='h10'><link_ctn id='d' direction='UP'/><link_ctn id='l'/></route>"));
  ASSERT_TRUE(described.platform.has_value()) << joined(described.lines());
  const SimgridPlatform& platform = *described.platform;
  ASSERT_EQ(platform.hosts.size(), 2u);
  EXPECT_EQ(platform.hosts[0].name, "h2");
  const SimgridHost& host = platform.hosts[1];
  EXPECT_EQ(host.name, "h10");
  EXPECT_EQ(host.speeds_flop_per_s, (std::vector<double>{2e9, 1e9}));
  EXPECT_EQ(host.power_state, 1u);
  EXPECT_EQ(host.cores, 4u);
  EXPECT_EQ(host.properties, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
  ASSERT_EQ(platform.links.size(), 4u);
  EXPECT_EQ(platform.links[0].name, "d_DOWN");
  EXPECT_EQ(platform.links[0].sharing, SimgridSharing::split_duplex);
  EXPECT_EQ(platform.links[2].sharing, SimgridSharing::fatpipe);
  EXPECT_EQ(platform.links[3].sharing, SimgridSharing::shared);
  EXPECT_EQ(platform.links[3].bandwidth_bytes_per_s, 1e9);
  EXPECT_EQ(platform.links[3].latency_s, 1e-6);
  EXPECT_TRUE(contains(platform.notes.left_aside, "element \"prop\" of <host> (1)"));
  EXPECT_EQ(joined(platform.notes.understood),
            "2 hosts, \"h2\" to \"h10\"\n1 link, SHARED\n1 link, FATPIPE\n2 links, SPLITDUPLEX\n");

  std::vector<Fault> faults;
  const auto routes = platform_routes(described.path, {"h2", "h10"}, faults);
  ASSERT_TRUE(routes.has_value());
  ASSERT_EQ(routes->size(), 2u);
  EXPECT_EQ(routes->front().links, (std::vector<std::string>{"d_UP", "l"}));
  EXPECT_DOUBLE_EQ(routes->front().latency_s, 6e-6);
  EXPECT_FALSE(platform_routes(described.path, {"h2", "h3"}, faults).has_value());
  EXPECT_TRUE(contains({format_fault(faults.back())}, "there is no host \"h3\""));
}

TEST(SimgridPlatform, FindsProfilesAndSettings) {
  const TemporaryFolder folder;
  folder.write("p", "0.0 1.0\n1.0 0.5\n");
  folder.write("q", "0.0 1.0\n1.0 0.5\n");
  const std::string path = folder.write(
      "f.xml",
      "<?xml version='1.0'?><!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">"
      "<platform version='4.1'><config>"
      "<prop id='network/model' value='LV08'/><prop id='network/loopback-lat' value='1e-6'/>"
      "</config><zone id='z' routing='Full'><host id='a' speed='1Gf' speed_file='p'/>"
      "<link id='l' bandwidth='1GBps' latency='1us' bandwidth_file='q'/></zone></platform>");
  std::vector<Fault> faults;
  const auto platform = describe_simgrid_platform(path, faults);
  ASSERT_TRUE(platform.has_value()) << format_fault(faults.front());
  EXPECT_TRUE(platform->hosts[0].speed_profile);
  EXPECT_FALSE(platform->hosts[0].state_profile);
  EXPECT_TRUE(platform->links[0].bandwidth_profile);
  EXPECT_FALSE(platform->links[0].latency_profile);
  EXPECT_TRUE(contains(platform->notes.left_aside,
                       "setting \"network/model\" of <config>, which is overridden"));
  EXPECT_TRUE(contains(platform->notes.understood,
                       "setting \"network/loopback-lat\" of <config>: SimGrid applies it"));
  EXPECT_TRUE(contains(platform->notes.understood, "profiles of a link's bandwidth: 1"));
}

TEST(SimgridPlatform, RefusesWhatSimGridTakes) {
  expect_platform_fault(pair("<link id='l' bandwidth='-1MBps' latency='1us'/>"),
                        "f.xml:6: link \"l\", bandwidth: -1e+06 bytes/s is not allowed");
  expect_platform_fault(pair("<link id='l' bandwidth='0Bps' latency='nan'/>"),
                        "f.xml:6: link \"l\", latency: nan s is not allowed");
  expect_platform_fault(pair("<link id='l' bandwidth='1Mbps,2Mbps' latency='1us' "
                             "sharing_policy='WIFI'/>"),
                        "f.xml:6: link \"l\", sharing_policy: WIFI is not simulated");
  expect_platform_fault(full(""), "f.xml: has no host");
  expect_platform_fault(
      "<platform version='4.1'><config><prop id='tracing' value='yes'/></config>"
      "</platform>",
      "config, \"tracing\": is not allowed");
  expect_platform_fault("<system/>", "f.xml:1: is no SimGrid platform");
  expect_platform_fault("<!DOCTYPE platform [<!ENTITY a 'b'>]><platform/>",
                        "has a DOCTYPE with declarations of its own");
  const Described program(kCluster, "f.so");
  EXPECT_TRUE(contains(program.lines(), "f.so: has a name that SimGrid takes for a program's"));
}

TEST(SimgridPlatform, TellsWhatSimGridSays) {
  expect_platform_fault(full("<host id='a' speed='1Gxx'/>"),
                        "f.xml:5: SimGrid cannot load it: unknown unit: Gxx");
  expect_platform_fault(full("<host id='a' speed='1Gf'/>\n<foo/>"), "f.xml:6: SimGrid cannot load");
  expect_platform_fault(full("<host id='a' speed='1Gf'/><host id='a' speed='1Gf'/>"),
                        "Refusing to create a second host named 'a'");
  // It aborts.
  expect_platform_fault(
      full("<host id='a' speed='1Gf'/>\n<link id='l' bandwidth='1Mbps,2Mbps' latency='1us'/>"),
      "f.xml:5: here or after \"a\", SimGrid cannot load it: Non-WIFI links must use only 1 "
      "bandwidth.");
}

TEST(SimgridPlatform, NamesHostsWithoutARoute) {
  Described described(full("<host id='a' speed='1Gf'/><host id='b' speed='1Gf'/>"));
  ASSERT_TRUE(described.platform.has_value());
  // It crashes.
  EXPECT_FALSE(platform_routes(described.path, {"a", "b"}, described.faults).has_value());
  EXPECT_TRUE(contains(described.lines(), "SimGrid finds no route from \"a\" to \"b\""))
      << joined(described.lines());
  EXPECT_TRUE(platform_routes(described.path, {}, described.faults)->empty());
}

TEST(SimgridPlatform, SelectsHosts) {
  Described described(kCluster);
  ASSERT_TRUE(described.platform.has_value()) << joined(described.lines());
  using Names = std::vector<std::string>;
  EXPECT_EQ(described.select({}).size(), 12u);
  EXPECT_EQ(described.select({})[10], "node-10.x");
  EXPECT_EQ(described.select({"node-3.x", "node-1.x"}), (Names{"node-3.x", "node-1.x"}));
  EXPECT_EQ(described.select({"node-[9-11].x"}), (Names{"node-9.x", "node-10.x", "node-11.x"}));
  EXPECT_EQ(described.select({"node-{0-1,5}.x"}), (Names{"node-0.x", "node-1.x", "node-5.x"}));
  EXPECT_EQ(described.select({"node-1?.x"}), (Names{"node-10.x", "node-11.x"}));
  EXPECT_EQ(described.select({"*"}).size(), 12u);
  EXPECT_EQ(described.select({"*-[0-1]*"}),
            (Names{"node-0.x", "node-1.x", "node-10.x", "node-11.x"}));
  EXPECT_TRUE(described.faults.empty()) << joined(described.lines());

  const auto fault = [&](const Names& patterns) {
    described.faults.clear();
    described.select(patterns);
    return described.lines().empty() ? "" : described.lines().front();
  };
  EXPECT_EQ(fault({"nod-3.x"}),
            "f.xml: hosts: \"nod-3.x\" matches no host; did you mean \"node-3.x\"? (hosts from "
            "\"node-0.x\" to \"node-11.x\")");
  EXPECT_TRUE(
      contains({fault({"node-[10-14].x"})},
               "\"node-[10-14].x\" names \"node-12.x\" and 2 more, of which there is no host"));
  EXPECT_TRUE(contains({fault({"node-[00-01].x"})}, "names \"node-00.x\" and 1 more"));
  EXPECT_TRUE(contains({fault({"node-1.x", "node-1*"})},
                       "\"node-1.x\" is chosen twice, by \"node-1.x\" and \"node-1*\""));
  for (const char* none : {"node-[1", "node-1]", "node-{}", "node-[3-1]", "node-[a-b]",
                           "node-[0-9999999999]", "n[0-999][0-999]", "node-[1,]", "node-[-1]"}) {
    EXPECT_TRUE(contains({fault({none})}, "is no pattern of hosts")) << none;
  }
  EXPECT_TRUE(contains({fault({""})}, "\"\" matches no host"));
  EXPECT_TRUE(contains({fault({"x*"})}, "\"x*\" matches no host"));
}

TEST(SimgridPlatform, MutatedFilesNeverCrash) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 30; ++i) {
    const std::string text = mutated(kCluster, random);
    SCOPED_TRACE(text);
    const Described described(text);
  }
}

}  // namespace
}  // namespace shardscope::testing
