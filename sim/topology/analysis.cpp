#include "sim/topology/analysis.h"

#include <algorithm>
#include <bit>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

namespace shardscope {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;

struct Pipe {
  std::int64_t capacity = 0;
  std::int64_t residual = 0;
  Traits::edge_descriptor back = {};
};

using FlowGraph =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, Pipe>;

constexpr std::size_t kSource = 0;
constexpr std::size_t kSink = 1;

// The power of two by which bandwidths are multiplied to whole numbers, in which flows are exact:
// all links together stay below 2^62.
int scale_of(const Topology& topology) {
  double most = 1;
  for (const Link& link : topology.links()) {
    most = std::max(most, link.cable.bandwidth_bytes_per_s);
  }
  return 61 - std::ilogb(most) - static_cast<int>(std::bit_width(topology.links().size()));
}

// The halves' devices made one vertex each, links between the same two vertices one edge.
class Halves {
 public:
  explicit Halves(const Topology& topology) : scale_(scale_of(topology)) {
    const std::vector<std::size_t> vertices = vertices_of_nodes(topology);
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> capacities;
    for (const Link& link : topology.links()) {
      const std::size_t from = vertices[link.from];
      const std::size_t to = vertices[link.to];
      if (from != to) {
        capacities[{from, to}] +=
            std::llround(std::ldexp(link.cable.bandwidth_bytes_per_s, scale_));
      }
    }
    for (const auto& [ends, capacity] : capacities) {
      add_pipe(ends.first, ends.second, capacity);
    }
  }

  double flow_bytes_per_s(std::size_t from, std::size_t to) {
    const std::int64_t flow =
        boost::push_relabel_max_flow(graph_, from, to,
                                     boost::capacity_map(get(&Pipe::capacity, graph_))
                                         .residual_capacity_map(get(&Pipe::residual, graph_))
                                         .reverse_edge_map(get(&Pipe::back, graph_))
                                         .vertex_index_map(get(boost::vertex_index, graph_)));
    return std::ldexp(static_cast<double>(flow), -scale_);
  }

 private:
  std::vector<std::size_t> vertices_of_nodes(const Topology& topology) {
    const std::vector<NodeId>& devices = topology.devices();
    const std::size_t none = topology.node_count() + 2;
    std::vector<std::size_t> vertices(topology.node_count(), none);
    for (std::size_t i = 0; i < devices.size(); ++i) {
      vertices[devices[i]] = i < devices.size() / 2 ? kSource : kSink;
    }
    std::size_t next = 2;
    for (std::size_t& vertex : vertices) {
      if (vertex == none) {
        vertex = next++;
      }
    }
    for (std::size_t i = 0; i < next; ++i) {
      add_vertex(graph_);
    }
    return vertices;
  }

  // The algorithm wants an edge of no capacity back.
  void add_pipe(std::size_t from, std::size_t to, std::int64_t capacity) {
    const auto there = add_edge(from, to, Pipe{.capacity = capacity}, graph_).first;
    const auto back = add_edge(to, from, Pipe{}, graph_).first;
    graph_[there].back = back;
    graph_[back].back = there;
  }

  int scale_;
  FlowGraph graph_;
};

}  // namespace

double path_latency_s(const Topology& topology, const Route& route) {
  double latency_s = 0;
  for (const LinkId link : route) {
    latency_s += topology.link(link).cable.latency_s;
  }
  return latency_s;
}

std::optional<LinkId> bottleneck(const Topology& topology, const Route& route) {
  const auto narrowest = std::min_element(route.begin(), route.end(), [&](LinkId a, LinkId b) {
    return topology.link(a).cable.bandwidth_bytes_per_s <
           topology.link(b).cable.bandwidth_bytes_per_s;
  });
  return narrowest == route.end() ? std::nullopt : std::optional(*narrowest);
}

std::size_t diameter(const Topology& topology, Routes& routes) {
  const std::size_t devices = topology.devices().size();
  std::size_t longest = 0;
  for (std::size_t to = 0; to < devices; ++to) {
    for (std::size_t from = 0; from < devices; ++from) {
      longest = std::max(longest, routes.length(from, to));
    }
  }
  return longest;
}

double bisection_bytes_per_s(const Topology& topology) {
  if (topology.devices().size() < 2) {
    return 0;
  }
  Halves halves(topology);
  return std::min(halves.flow_bytes_per_s(kSource, kSink), halves.flow_bytes_per_s(kSink, kSource));
}

std::vector<double> link_loads(const Topology& topology, Routes& routes,
                               const std::vector<Flow>& flows) {
  std::vector<double> loads(topology.links().size());
  for (const Flow& flow : flows) {
    for (const LinkId link : routes.route(flow.source, flow.destination)) {
      loads[link] += flow.bytes;
    }
  }
  return loads;
}

}  // namespace shardscope
