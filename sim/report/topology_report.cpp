#include "sim/report/topology_report.h"

#include <json/json.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "sim/report/cluster_text.h"
#include "sim/report/format.h"
#include "sim/report/page.h"
#include "sim/report/table.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::size_t kMostRoutes = 32;

std::string plural(std::size_t count, const std::string& thing) {
  const bool ends_in_s = thing.ends_with("ch");
  return format_count(count) + " " + thing + (count == 1 ? "" : ends_in_s ? "es" : "s");
}

std::string parts_text(const TopologyFacts& facts) {
  std::string text;
  for (const auto& [kind, count] : facts.nodes) {
    text += (text.empty() ? "" : ", ") + plural(count, kind);
  }
  for (const auto& [kind, count] : facts.links) {
    text += ", " + format_count(count) + " " + kind + (count == 1 ? " link" : " links");
  }
  return text + " (each way counts)";
}

void write_ring(const Topology& topology, const Cluster& cluster, const TopologyFacts& facts,
                Page& page) {
  Table table;
  table.add_column("rank, device", Align::left);
  for (const char* title : {"links", "latency", "bandwidth", "with\nothers"}) {
    table.add_column(title, Align::right);
  }
  table.add_column("narrowest link", Align::left);
  const auto device = [&](std::size_t rank) {
    return printable(topology.node(topology.devices()[cluster.placement[rank]]).name);
  };
  for (const RingRoute& route : facts.ring) {
    if (route.rank == kMostRoutes) {
      break;
    }
    table.add_row({std::to_string(route.rank) + "  " + device(route.rank),
                   std::to_string(route.links.size()), format_seconds(route.latency_s),
                   format_bits_per_s(route.alone_bytes_per_s),
                   format_bits_per_s(route.shared_bytes_per_s),
                   route.links.empty() ? "-" : printable(topology.link(route.bottleneck).name)});
  }
  const std::string more = facts.ring.size() > kMostRoutes
                               ? " The first " + std::to_string(kMostRoutes) + "; --json has all."
                               : "";
  page.section("Routes to the next rank of a ring", table,
               "With others: what is left where all ranks send to their next ones at once." + more);
}

void write_slowest(const Topology& topology, const TopologyFacts& facts, Page& page) {
  const auto slowest = std::min_element(facts.ring.begin(), facts.ring.end(),
                                        [](const RingRoute& a, const RingRoute& b) {
                                          return a.shared_bytes_per_s < b.shared_bytes_per_s;
                                        });
  if (slowest == facts.ring.end()) {
    return;
  }
  std::size_t flows = 0;
  LinkId shared = 0;
  for (const LinkId link : slowest->links) {
    std::size_t crossing = 0;
    for (const RingRoute& route : facts.ring) {
      crossing += std::count(route.links.begin(), route.links.end(), link) > 0 ? 1 : 0;
    }
    const double left =
        topology.link(link).cable.bandwidth_bytes_per_s / static_cast<double>(crossing);
    if (left == slowest->shared_bytes_per_s) {
      flows = crossing;
      shared = link;
      break;
    }
  }
  page.entry("ring", "at most " + format_bits_per_s(slowest->shared_bytes_per_s) + " (" +
                         format_bytes_per_s(slowest->shared_bytes_per_s) + "), over " +
                         printable(topology.link(shared).name) + ", which " +
                         plural(flows, "message") + " cross" + (flows == 1 ? "es" : "") +
                         " at once");
}

}  // namespace

std::string topology_text(const Scenario& scenario, const Topology& topology,
                          const TopologyFacts& facts, bool colour, std::size_t width) {
  const Cluster& cluster = scenario.cluster;
  Page page(colour, width);
  page.paragraph(printable(scenario.name) + ": " + parts_text(facts), Style::bold);
  page.empty_line();
  page.entry("network", network_text(cluster));
  page.entry("ranks", std::to_string(cluster.placement.size()) + " on " +
                          plural(topology.devices().size(), "device"));
  if (const std::string text = placement_text(cluster); !text.empty()) {
    page.entry("placement", text);
  }
  if (const std::string text = unevenness_text(cluster); !text.empty()) {
    page.entry("uneven", text);
  }
  page.entry("bisection", format_bits_per_s(facts.bisection_bytes_per_s) + " (" +
                              format_bytes_per_s(facts.bisection_bytes_per_s) +
                              "), from the first half of the devices to the second");
  page.entry("diameter", plural(facts.diameter_links, "link") + " between two devices at most");
  write_slowest(topology, facts, page);
  write_ring(topology, cluster, facts, page);
  return page.text();
}

std::string topology_json(const Scenario& scenario, const Topology& topology,
                          const TopologyFacts& facts, const std::string& version) {
  Json::Value root;
  root["shardscope"] = version;
  root["scenario"] = scenario.name;
  root["network"] = network_text(scenario.cluster);
  for (const auto& [kind, count] : facts.nodes) {
    root["nodes_by_kind"][kind] = Json::UInt64{count};
  }
  for (const auto& [kind, count] : facts.links) {
    root["links_by_kind"][kind] = Json::UInt64{count};
  }
  root["bisection_bytes_per_s"] = facts.bisection_bytes_per_s;
  root["diameter_links"] = Json::UInt64{facts.diameter_links};
  for (const std::size_t device : scenario.cluster.placement) {
    root["device_of_rank"].append(topology.node(topology.devices()[device]).name);
  }
  for (const Link& link : topology.links()) {
    Json::Value value;
    value["name"] = link.name;
    value["from"] = topology.node(link.from).name;
    value["to"] = topology.node(link.to).name;
    value["kind"] = std::string(name(link.cable.kind));
    value["bandwidth_bytes_per_s"] = link.cable.bandwidth_bytes_per_s;
    value["latency_s"] = link.cable.latency_s;
    root["links"].append(value);
  }
  for (const RingRoute& route : facts.ring) {
    Json::Value value;
    value["rank"] = Json::UInt64{route.rank};
    value["next"] = Json::UInt64{route.next};
    for (const LinkId link : route.links) {
      value["links"].append(topology.link(link).name);
    }
    value["latency_s"] = route.latency_s;
    value["bottleneck"] = topology.link(route.bottleneck).name;
    value["bandwidth_bytes_per_s"] = route.alone_bytes_per_s;
    value["shared_bandwidth_bytes_per_s"] = route.shared_bytes_per_s;
    root["ring"].append(value);
  }
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  builder["precision"] = 17;
  return Json::writeString(builder, root) + "\n";
}

std::string topology_dot(const Topology& topology) {
  const auto quoted = [](const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
      out += c == '"' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    return out + "\"";
  };
  const auto figure = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return std::string(text);
  };
  const std::map<NodeKind, std::string> kinds = {{NodeKind::device, "device"},
                                                 {NodeKind::nic, "nic"},
                                                 {NodeKind::bridge, "bridge"},
                                                 {NodeKind::network_switch, "switch"}};
  const std::map<LinkKind, std::string> link_kinds = {{LinkKind::nvlink, "nvlink"},
                                                      {LinkKind::pcie, "pcie"},
                                                      {LinkKind::socket, "socket"},
                                                      {LinkKind::network, "network"}};
  std::string dot = "digraph cluster {\n";
  for (NodeId id = 0; id < topology.node_count(); ++id) {
    const Topology::Node& node = topology.node(id);
    dot += "  " + quoted(node.name) + " [kind=" + kinds.at(node.kind) + "];\n";
  }
  for (const Link& link : topology.links()) {
    dot += "  " + quoted(topology.node(link.from).name) + " -> " +
           quoted(topology.node(link.to).name) + " [kind=" + link_kinds.at(link.cable.kind) +
           ", bandwidth=\"" + figure(link.cable.bandwidth_bytes_per_s) + "Bps\", latency=\"" +
           figure(link.cable.latency_s) + "s\"];\n";
  }
  return dot + "}\n";
}

}  // namespace shardscope
