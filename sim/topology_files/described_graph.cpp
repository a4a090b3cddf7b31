#include "sim/topology_files/described_graph.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>

#include "sim/text/nearest_name.h"
#include "sim/text/printable.h"
#include "sim/text/quantity.h"

namespace shardscope {
namespace {

constexpr double kLeastBareBandwidth = 1e6;
constexpr double kMostBareLatency = 1;

template <typename Kind>
using Names = std::vector<std::pair<std::string, Kind>>;

const Names<NodeKind>& node_kinds() {
  static const Names<NodeKind> names = {
      {"device", NodeKind::device},         {"nic", NodeKind::nic},    {"bridge", NodeKind::bridge},
      {"switch", NodeKind::network_switch}, {"gpu", NodeKind::device}, {"host", NodeKind::device}};
  return names;
}

const Names<LinkKind>& link_kinds() {
  static const Names<LinkKind> names = {{"nvlink", LinkKind::nvlink},
                                        {"pcie", LinkKind::pcie},
                                        {"socket", LinkKind::socket},
                                        {"network", LinkKind::network}};
  return names;
}

template <typename Kind>
std::optional<Kind> find_kind(const Names<Kind>& names, const std::string& text) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& named) { return named.first == text; });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

template <typename Kind>
std::vector<std::string> texts(const Names<Kind>& names) {
  std::vector<std::string> all;
  for (const auto& named : names) {
    all.push_back(named.first);
  }
  return all;
}

std::optional<double> bare_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// How many edges of an attribute said what, and the range of what they said.
struct Tally {
  std::size_t with_unit = 0;
  std::size_t bare = 0;
  std::size_t missing = 0;
  double least = HUGE_VAL;
  double most = -HUGE_VAL;

  void add(double value, bool is_bare) {
    ++(is_bare ? bare : with_unit);
    least = std::min(least, value);
    most = std::max(most, value);
  }

  std::string text(const std::string& name, const std::string& unit) const {
    std::string line = name + ": of " + counted(with_unit + bare, "edge");
    if (bare > 0) {
      line += ", " + std::to_string(bare) + " of them as a bare number in " + unit;
    }
    if (with_unit + bare > 0) {
      line += "; " + figure(least) + (least < most ? " to " + figure(most) : "") + " " + unit;
    }
    return line;
  }
};

class Maker {
 public:
  Maker(const DescribedGraph& graph, FaultList& faults, TopologyNotes& notes)
      : graph_(graph), faults_(faults), notes_(notes) {}

  std::optional<Topology> make() {
    if (!check_counts(graph_.nodes.size(), graph_.edges.size(), faults_)) {
      return std::nullopt;
    }
    add_nodes();
    for (const DescribedEdge& edge : graph_.edges) {
      add_edge(edge);
    }
    for (const std::string& fault : topology_.check()) {
      faults_.add(0, {}, fault);
    }
    if (!faults_.empty()) {
      return std::nullopt;
    }
    say_what_was_understood();
    return std::move(topology_);
  }

 private:
  void add_nodes() {
    has_kinds_ = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                             [](const DescribedNode& node) { return node.kind.has_value(); });
    for (const DescribedNode& node : graph_.nodes) {
      const NodeKind kind = node_kind(node);
      ++kinds_[kind];
      topology_.add_node(node.name, kind);
    }
  }

  NodeKind node_kind(const DescribedNode& node) {
    if (!node.kind.has_value()) {
      if (has_kinds_) {
        faults_.add(node.line, "node " + quoted(node.name) + ", kind",
                    "is missing, and other nodes have one", one_of(texts(node_kinds())));
      }
      return NodeKind::device;
    }
    const std::optional<NodeKind> kind = find_kind(node_kinds(), *node.kind);
    if (!kind.has_value()) {
      faults_.add(node.line, "node " + quoted(node.name) + ", kind",
                  quoted(*node.kind) + " is unknown", one_of(texts(node_kinds())),
                  nearest_name(*node.kind, texts(node_kinds())));
    }
    return kind.value_or(NodeKind::device);
  }

  std::string edge_name(const DescribedEdge& edge) const {
    return "edge " + quoted(graph_.nodes[edge.from].name) + (edge.directed ? " -> " : " -- ") +
           quoted(graph_.nodes[edge.to].name);
  }

  // Faulty edges are added as well, so that they do not seem to be missing.
  void add_edge(const DescribedEdge& edge) {
    if (edge.from == edge.to) {
      faults_.add(edge.line, edge_name(edge), "joins a node with itself");
      return;
    }
    const CableSpec cable = {.kind = link_kind(edge),
                             .bandwidth_bytes_per_s = bandwidth(edge),
                             .latency_s = latency(edge)};
    add_link(edge.from, edge.to, cable);
    if (!edge.directed) {
      add_link(edge.to, edge.from, cable);
    }
    ++(edge.directed ? one_way_ : both_ways_);
  }

  // Names as Topology gives them, without looking for earlier links each time.
  void add_link(NodeId from, NodeId to, const CableSpec& cable) {
    const std::size_t earlier = links_between_[{from, to}]++;
    topology_.add_link(graph_.nodes[from].name + "->" + graph_.nodes[to].name +
                           (earlier == 0 ? "" : " #" + std::to_string(earlier)),
                       from, to, cable);
  }

  LinkKind link_kind(const DescribedEdge& edge) {
    if (!edge.kind.has_value()) {
      ++edges_without_kind_;
      return LinkKind::network;
    }
    const std::optional<LinkKind> kind = find_kind(link_kinds(), *edge.kind);
    if (!kind.has_value()) {
      faults_.add(edge.line, edge_name(edge) + ", kind", quoted(*edge.kind) + " is unknown",
                  one_of(texts(link_kinds())), nearest_name(*edge.kind, texts(link_kinds())));
    }
    return kind.value_or(LinkKind::network);
  }

  double bandwidth(const DescribedEdge& edge) {
    const std::string allowed =
        "above 0, " + describe(Dimension::rate) + ", or a bare number of bytes/s from 1e6 on";
    const auto refuse = [&](const std::string& problem, const std::string& nearest = {}) {
      faults_.add(edge.line, edge_name(edge) + ", bandwidth", problem, allowed, nearest);
      return 1.0;
    };
    if (!edge.bandwidth.has_value()) {
      return refuse("is missing");
    }
    const std::string& text = *edge.bandwidth;
    if (const std::optional<double> bare = bare_number(text)) {
      if (!(*bare >= kLeastBareBandwidth && *bare <= 1e18)) {
        return refuse(quoted(text) + " is out of range for bytes/s, and has no unit");
      }
      bandwidths_.add(*bare, true);
      return *bare;
    }
    const ParsedQuantity quantity = parse_quantity(Dimension::rate, text);
    if (!quantity.value.has_value()) {
      return refuse(quoted(text) + " " + quantity.problem, quantity.nearest_unit);
    }
    if (*quantity.value == 0) {
      return refuse(quoted(text) + " is not allowed");
    }
    bandwidths_.add(*quantity.value, false);
    return *quantity.value;
  }

  double latency(const DescribedEdge& edge) {
    if (!edge.latency.has_value()) {
      ++latencies_.missing;
      return 0;
    }
    const std::string allowed =
        describe(Dimension::time) + ", or a bare number of seconds from 0 to 1";
    const auto refuse = [&](const std::string& problem, const std::string& nearest = {}) {
      faults_.add(edge.line, edge_name(edge) + ", latency", problem, allowed, nearest);
      return 0.0;
    };
    const std::string& text = *edge.latency;
    if (const std::optional<double> bare = bare_number(text)) {
      if (!(*bare >= 0 && *bare <= kMostBareLatency)) {
        return refuse(quoted(text) + " is out of range for seconds, and has no unit");
      }
      latencies_.add(*bare, true);
      return *bare;
    }
    const ParsedQuantity quantity = parse_quantity(Dimension::time, text);
    if (!quantity.value.has_value()) {
      return refuse(quoted(text) + " " + quantity.problem, quantity.nearest_unit);
    }
    latencies_.add(*quantity.value, false);
    return *quantity.value;
  }

  void say_what_was_understood() {
    std::string nodes;
    for (const auto& [kind, count] : kinds_) {
      nodes += (nodes.empty() ? "" : ", ") + counted(count, name(kind));
    }
    notes_.understood.push_back(
        nodes + (has_kinds_ ? " (attribute kind)" : " (no node has a kind: all are devices)"));
    std::string cables;
    if (both_ways_ > 0) {
      cables = counted(both_ways_, "full-duplex cable") + " (undirected edges)";
    }
    if (one_way_ > 0) {
      cables +=
          (cables.empty() ? "" : ", ") + counted(one_way_, "one-way link") + " (directed edges)";
    }
    notes_.understood.push_back(cables.empty() ? "no edges" : cables);
    if (graph_.edges.empty()) {
      return;
    }
    notes_.understood.push_back(bandwidths_.text("bandwidth", "bytes/s"));
    notes_.understood.push_back(
        latencies_.text("latency", "s") +
        (latencies_.missing == 0
             ? ""
             : "; 0 s where there is none, " + counted(latencies_.missing, "edge")));
    if (edges_without_kind_ > 0) {
      notes_.understood.push_back("kind: network where there is none, " +
                                  counted(edges_without_kind_, "edge"));
    }
  }

  const DescribedGraph& graph_;
  FaultList& faults_;
  TopologyNotes& notes_;
  Topology topology_;
  bool has_kinds_ = false;
  std::map<NodeKind, std::size_t> kinds_;
  std::map<std::pair<NodeId, NodeId>, std::size_t> links_between_;
  std::size_t both_ways_ = 0;
  std::size_t one_way_ = 0;
  std::size_t edges_without_kind_ = 0;
  Tally bandwidths_;
  Tally latencies_;
};

}  // namespace

bool check_counts(std::size_t nodes, std::size_t edges, FaultList& faults) {
  if (nodes <= kMostGraphNodes && edges <= kMostGraphEdges) {
    return true;
  }
  faults.add(
      0, {}, "has " + counted(nodes, "node") + " and " + counted(edges, "edge"),
      "at most " + std::to_string(kMostGraphNodes) + " and " + std::to_string(kMostGraphEdges));
  return false;
}

std::optional<Topology> make_topology(const DescribedGraph& graph, FaultList& faults,
                                      TopologyNotes& notes) {
  return Maker(graph, faults, notes).make();
}

}  // namespace shardscope
