#include "sim/report/topology_report.h"

#include <json/json.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>
#include <vector>

#include "sim/report/cluster_text.h"
#include "sim/report/format.h"
#include "sim/report/page.h"
#include "sim/report/table.h"
#include "sim/text/printable.h"

namespace shardscope {
namespace {

constexpr std::ptrdiff_t kMostGroups = 20;

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

// Where the ring is narrowest, and how many of its messages meet there.
void write_slowest(const TopologyFacts& facts, Page& page) {
  const auto slowest = std::min_element(facts.ring.begin(), facts.ring.end(),
                                        [](const RingRoute& a, const RingRoute& b) {
                                          return a.shared_bytes_per_s < b.shared_bytes_per_s;
                                        });
  if (slowest == facts.ring.end() || slowest->links.empty()) {
    return;
  }
  const auto messages_over = [&](std::size_t link) {
    return std::count_if(facts.ring.begin(), facts.ring.end(), [&](const RingRoute& route) {
      return std::find(route.links.begin(), route.links.end(), link) != route.links.end();
    });
  };
  const auto left_on = [&](std::size_t link) {
    return facts.path_links[link].bandwidth_bytes_per_s / static_cast<double>(messages_over(link));
  };
  const std::size_t link =
      *std::min_element(slowest->links.begin(), slowest->links.end(),
                        [&](std::size_t a, std::size_t b) { return left_on(a) < left_on(b); });
  const auto messages = static_cast<std::size_t>(messages_over(link));
  page.entry("ring", "at most " + format_bits_per_s(slowest->shared_bytes_per_s) + " (" +
                         format_bytes_per_s(slowest->shared_bytes_per_s) + "), over " +
                         printable(facts.path_links[link].name) + ", which " +
                         plural(messages, "message") + (messages == 1 ? " crosses" : " cross") +
                         " at once");
}

// Routes that are alike in every figure.
struct RouteGroup {
  const RingRoute* first;
  std::size_t count;
};

std::vector<RouteGroup> groups_of(const std::vector<RingRoute>& ring) {
  const auto figures = [](const RingRoute& route) {
    return std::tuple(route.links.size(), route.latency_s, route.alone_bytes_per_s,
                      route.shared_bytes_per_s);
  };
  std::vector<RouteGroup> groups;
  std::map<std::tuple<std::size_t, double, double, double>, std::size_t> known;
  for (const RingRoute& route : ring) {
    const auto [found, is_new] = known.emplace(figures(route), groups.size());
    if (is_new) {
      groups.push_back({&route, 0});
    }
    ++groups[found->second].count;
  }
  return groups;
}

void write_ring(const TopologyFacts& facts, Page& page) {
  Table table;
  table.add_column("rank", Align::left);
  for (const char* title : {"latency", "bandwidth", "with\nothers"}) {
    table.add_column(title, Align::right);
  }
  table.add_column("narrowest link", Align::left);
  const std::vector<RouteGroup> groups = groups_of(facts.ring);
  for (const RouteGroup& group : groups) {
    if (&group - groups.data() == kMostGroups) {
      break;
    }
    const RingRoute& route = *group.first;
    const bool has_links = !route.links.empty();
    table.add_row({std::to_string(route.rank) + " to " + std::to_string(route.next) +
                       (group.count == 1 ? "" : " + " + std::to_string(group.count - 1)),
                   format_seconds(route.latency_s),
                   has_links ? format_bits_per_s(route.alone_bytes_per_s) : "-",
                   has_links ? format_bits_per_s(route.shared_bytes_per_s) : "-",
                   has_links ? printable(facts.path_links[route.bottleneck].name) : "-"});
  }
  page.section("Routes to the next rank of a ring", table,
               "With others: what is left where all ranks send to their next ones at once. + n: so "
               "many more are alike; --json has all.");
}

}  // namespace

std::string topology_text(const Scenario& scenario, const TopologyFacts& facts, bool colour,
                          std::size_t width) {
  const Cluster& cluster = scenario.cluster;
  Page page(colour, width);
  page.paragraph(printable(scenario.name) + ": " + parts_text(facts), Style::bold);
  page.empty_line();
  page.entry("network", network_text(cluster));
  write_file(cluster, page);
  page.entry("ranks", std::to_string(cluster.placement.size()) + " on " +
                          plural(cluster.spec.nodes * cluster.devices_per_node, "device"));
  if (const std::string text = placement_text(cluster); !text.empty()) {
    page.entry("placement", text);
  }
  if (const std::string text = unevenness_text(cluster); !text.empty()) {
    page.entry("uneven", text);
  }
  if (facts.bisection_bytes_per_s.has_value()) {
    page.entry("bisection", format_bits_per_s(*facts.bisection_bytes_per_s) + " (" +
                                format_bytes_per_s(*facts.bisection_bytes_per_s) +
                                "), from the first half of the devices to the second");
  }
  if (facts.diameter_links.has_value()) {
    page.entry("diameter", plural(*facts.diameter_links, "link") + " between two devices at most");
  }
  write_slowest(facts, page);
  write_ring(facts, page);
  return page.text();
}

std::string topology_json(const Scenario& scenario, const Topology* topology,
                          const TopologyFacts& facts, const std::string& version) {
  Json::Value root;
  root["shardscope"] = version;
  root["scenario"] = scenario.name;
  root["network"] = network_text(scenario.cluster);
  if (scenario.cluster.file.has_value()) {
    for (const std::string& text : scenario.cluster.file->understood) {
      root["understood"].append(text);
    }
    for (const std::string& text : scenario.cluster.file->left_aside) {
      root["left_aside"].append(text);
    }
  }
  for (const auto& [kind, count] : facts.nodes) {
    root["nodes_by_kind"][kind] = Json::UInt64{count};
  }
  for (const auto& [kind, count] : facts.links) {
    root["links_by_kind"][kind] = Json::UInt64{count};
  }
  if (facts.bisection_bytes_per_s.has_value()) {
    root["bisection_bytes_per_s"] = *facts.bisection_bytes_per_s;
  }
  if (facts.diameter_links.has_value()) {
    root["diameter_links"] = Json::UInt64{*facts.diameter_links};
  }
  for (const std::string& device : facts.device_of_rank) {
    root["device_of_rank"].append(device);
  }
  for (std::size_t i = 0; topology != nullptr && i < topology->links().size(); ++i) {
    const Link& link = topology->link(i);
    Json::Value value;
    value["name"] = link.name;
    value["from"] = topology->node(link.from).name;
    value["to"] = topology->node(link.to).name;
    value["kind"] = std::string(name(link.cable.kind));
    value["bandwidth_bytes_per_s"] = link.cable.bandwidth_bytes_per_s;
    value["latency_s"] = link.cable.latency_s;
    root["links"].append(value);
  }
  for (const RingRoute& route : facts.ring) {
    Json::Value value;
    value["rank"] = Json::UInt64{route.rank};
    value["next"] = Json::UInt64{route.next};
    for (const std::size_t link : route.links) {
      value["links"].append(facts.path_links[link].name);
    }
    value["latency_s"] = route.latency_s;
    if (!route.links.empty()) {
      value["bottleneck"] = facts.path_links[route.bottleneck].name;
      value["bandwidth_bytes_per_s"] = route.alone_bytes_per_s;
      value["shared_bandwidth_bytes_per_s"] = route.shared_bytes_per_s;
    }
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
