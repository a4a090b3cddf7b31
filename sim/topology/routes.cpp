#include "sim/topology/routes.h"

#include <algorithm>

#include "core/check.h"

namespace shardscope {
namespace {

constexpr std::uint32_t kUnreached = UINT32_MAX;
constexpr std::size_t kMostDistances = std::size_t{1} << 24;

std::uint32_t count_not_nvlink(const Link& link) {
  return link.cable.kind == LinkKind::nvlink ? 0 : 1;
}

// The choice of a route to device d among k links after choices among m in all.
std::size_t choice(std::size_t d, std::size_t m, std::size_t k) {
  return (d / m + d % m * ((k + m - 1) / m)) % k;
}

// A larger product of choices changes nothing for fewer devices than that, but may overflow.
constexpr std::size_t kMostChoices = std::size_t{1} << 31;

}  // namespace

Routes::Routes(const Topology& topology)
    : topology_(topology), destinations_(topology.devices().size()) {}

// Breadth first against the direction of the links, until the source's distance and those of all
// nodes nearer to the destination are final, which they are when only nodes as far are left to be
// searched from.
void Routes::fill(Distances& distances, NodeId destination, NodeId source) const {
  const Topology::Graph& graph = topology_.graph();
  std::vector<Distance>& found = distances.from;
  std::vector<NodeId>& reached = distances.reached;
  if (found.empty()) {
    found.resize(topology_.node_count());
    found[destination].links = 0;
    reached = {destination};
  }
  std::uint32_t level = kUnreached;
  for (; distances.left < reached.size(); ++distances.left) {
    const NodeId to = reached[distances.left];
    if (found[source].links <= found[to].links) {
      return;
    }
    if (found[to].links != level) {
      level = found[to].links;
      if (reaches(source, destination, level, distances)) {
        return;
      }
    }
    if (to != destination && graph[to].kind == NodeKind::device && !distances.through_devices) {
      continue;
    }
    for (auto [edge, end] = in_edges(to, graph); edge != end; ++edge) {
      const std::uint32_t links = found[to].links + 1;
      const std::uint32_t not_nvlink =
          found[to].not_nvlink + count_not_nvlink(topology_.link(graph[*edge].link));
      const NodeId node = boost::source(*edge, graph);
      Distance& distance = found[node];
      if (distance.links == kUnreached) {
        distance = {links, not_nvlink};
        reached.push_back(node);
      } else if (distance.links == links) {
        distance.not_nvlink = std::min(distance.not_nvlink, not_nvlink);
      }
    }
  }
}

bool Routes::may_pass(NodeId node, NodeId destination, const Distances& distances) const {
  return node == destination || topology_.graph()[node].kind != NodeKind::device ||
         distances.through_devices;
}

// Whether links lead from the source to nodes at that distance, all of which are known: its own is
// then final as well, though a switch that it is at may have thousands of links to be searched.
bool Routes::reaches(NodeId source, NodeId destination, std::uint32_t level,
                     Distances& distances) const {
  const Topology::Graph& graph = topology_.graph();
  Distance& distance = distances.from[source];
  for (auto [edge, end] = out_edges(source, graph); edge != end; ++edge) {
    const NodeId to = target(*edge, graph);
    if (!may_pass(to, destination, distances) || distances.from[to].links != level) {
      continue;
    }
    const std::uint32_t not_nvlink =
        distances.from[to].not_nvlink + count_not_nvlink(topology_.link(graph[*edge].link));
    if (distance.links == kUnreached) {
      distance = {level + 1, not_nvlink};
      distances.reached.push_back(source);
    }
    distance.not_nvlink = std::min(distance.not_nvlink, not_nvlink);
  }
  return distance.links == level + 1;
}

// A destination may have both kinds of distances.
void Routes::make_room() {
  const std::size_t most = kMostDistances / (2 * topology_.node_count()) + 1;
  while (filled_.size() >= most) {
    Destination& oldest = destinations_[filled_.front()];
    oldest = {};
    filled_.pop_front();
  }
}

const Routes::Distances& Routes::distances(std::size_t source, std::size_t destination) {
  const NodeId from = topology_.devices()[source];
  const NodeId to = topology_.devices()[destination];
  Destination& known = destinations_[destination];
  if (known.around_devices.from.empty()) {
    make_room();
    filled_.push_back(destination);
  }
  fill(known.around_devices, to, from);
  if (known.around_devices.from[from].links != kUnreached) {
    return known.around_devices;
  }
  fill(known.through_devices, to, from);
  SHARDSCOPE_CHECK(known.through_devices.from[from].links != kUnreached,
                   "devices reach each other");
  return known.through_devices;
}

void Routes::find_next(NodeId node, NodeId destination, const Distances& distances) {
  const Topology::Graph& graph = topology_.graph();
  const Distance& here = distances.from[node];
  std::size_t lowest = SIZE_MAX;  // Dimension.
  next_.clear();
  for (auto [edge, end] = out_edges(node, graph); edge != end; ++edge) {
    const NodeId to = target(*edge, graph);
    const Distance& there = distances.from[to];
    if (may_pass(to, destination, distances) && there.links != kUnreached &&
        there.links + 1 == here.links &&
        there.not_nvlink + count_not_nvlink(topology_.link(graph[*edge].link)) == here.not_nvlink) {
      next_.push_back(graph[*edge].link);
      lowest = std::min(lowest, topology_.link(next_.back()).cable.dimension);
    }
  }
  std::erase_if(next_, [&](LinkId link) { return topology_.link(link).cable.dimension > lowest; });
}

Route Routes::route(std::size_t source, std::size_t destination) {
  const Distances& to_destination = distances(source, destination);
  const NodeId last = topology_.devices()[destination];
  Route route;
  NodeId node = topology_.devices()[source];
  std::size_t choices = 1;
  while (node != last) {
    find_next(node, last, to_destination);
    route.push_back(next_[choice(destination, choices, next_.size())]);
    choices = std::min(choices * next_.size(), kMostChoices);
    node = topology_.link(route.back()).to;
  }
  return route;
}

std::size_t Routes::length(std::size_t source, std::size_t destination) {
  return distances(source, destination).from[topology_.devices()[source]].links;
}

}  // namespace shardscope
