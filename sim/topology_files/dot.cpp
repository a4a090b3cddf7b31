#include "sim/topology_files/dot.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "sim/text/printable.h"
#include "sim/topology_files/child.pb.h"
#include "sim/topology_files/dot_parser.h"
#include "sim/topology_files/natural_order.h"

namespace shardscope {
namespace {

// By index in the message, that in the natural order of names.
std::vector<std::size_t> places_in_order(const DotGraph& message) {
  std::vector<int> order(static_cast<std::size_t>(message.nodes_size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return natural_less(message.nodes(a).name(), message.nodes(b).name());
  });
  std::vector<std::size_t> places(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    places[static_cast<std::size_t>(order[i])] = i;
  }
  return places;
}

DescribedGraph graph_of(const DotGraph& message) {
  const std::vector<std::size_t> places = places_in_order(message);
  DescribedGraph graph;
  graph.nodes.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const DotGraph::Node& node = message.nodes(static_cast<int>(i));
    DescribedNode& described = graph.nodes[places[i]];
    described.name = node.name();
    if (node.has_kind()) described.kind = node.kind();
  }
  for (const DotGraph::Edge& edge : message.edges()) {
    DescribedEdge described;
    described.from = places[edge.from()];
    described.to = places[edge.to()];
    described.directed = message.directed();
    if (edge.has_bandwidth()) described.bandwidth = edge.bandwidth();
    if (edge.has_latency()) described.latency = edge.latency();
    if (edge.has_kind()) described.kind = edge.kind();
    graph.edges.push_back(std::move(described));
  }
  return graph;
}

// Boost 1.74 does not take "a -- {b c}", which is Graphviz.
std::string allowed_instead(const std::string& error) {
  return error.find("left brace to start subgraph") == std::string::npos
             ? ""
             : "the word subgraph before { in statements";
}

}  // namespace

std::optional<DescribedGraph> read_dot(std::string_view text, FaultList& faults,
                                       NameCounts& left_aside, const ChildLimits& limits) {
  const ChildResult result =
      run_in_limited_child(limits, [&] { return parse_dot(std::string(text)); });
  DotGraph message;
  if (!result.ok || !message.ParseFromString(result.output)) {
    faults.add(0, {}, "cannot be read as Graphviz DOT: " + printable(result.failure));
    return std::nullopt;
  }
  if (message.has_syntax_error()) {
    faults.add(message.error_line(), {},
               "is not Graphviz DOT: " + printable(message.syntax_error()),
               allowed_instead(message.syntax_error()));
    return std::nullopt;
  }
  for (const CountedName& name : message.left_aside()) {
    left_aside.add(name.name(), name.count());
  }
  return graph_of(message);
}

}  // namespace shardscope
