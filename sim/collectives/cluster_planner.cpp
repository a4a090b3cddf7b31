#include "sim/collectives/cluster_planner.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "core/collectives/closed_forms.h"
#include "core/collectives/schedule.h"
#include "sim/collectives/cost_estimate.h"
#include "sim/collectives/flow_accuracy.h"
#include "sim/collectives/ring_orders.h"

namespace shardscope {
namespace {

/// DIRECT's messages are too many to look at for more ranks.
constexpr int kMostDirectRanks = 1024;

// Beyond them it takes too long to go through rounds in which most ranks have no message.
constexpr int kMostRanksOfEmptyChunks = 1024;

// Of a norm or a flag, which are few elements among many ranks.
bool has_empty_chunks(const Collective& collective) {
  const std::uint64_t element = size_of(collective.data().dtype());
  return collective.data().bytes() < element * static_cast<std::uint64_t>(collective.group().size);
}

}  // namespace

ClusterPlanner::ClusterPlanner(const Cluster& cluster, const ClusterPaths& paths)
    : cluster_(cluster), paths_(paths) {}

std::vector<int> ClusterPlanner::nodes_of(const RankGroup& group) const {
  std::vector<int> nodes;
  for (int rank = 0; rank < group.size; ++rank) {
    nodes.push_back(node_of(cluster_, group.world_rank(rank)));
  }
  return nodes;
}

CollectivePlan ClusterPlanner::make_plan(Algorithm algorithm, Operation operation,
                                         const RankGroup& group, std::uint64_t bytes) const {
  CollectivePlan plan;
  plan.algorithm = algorithm;
  const std::vector<int> nodes = nodes_of(group);
  if (algorithm == Algorithm::hierarchical) {
    if (!has_even_nodes(nodes)) {  // A part of the ranks; all of them were checked.
      plan.algorithm = Algorithm::ring;
      return plan;
    }
    plan.nodes = NodeGroups(nodes);
  } else if (algorithm == Algorithm::ring && cluster_.collective.channels > 1 && group.size > 1) {
    plan.rings = RingOrders(ring_orders(nodes, cluster_.collective.channels));
  } else if (algorithm == Algorithm::double_tree && group.size > 1) {
    const Path path = paths_.path(group.world_rank(0), group.world_rank(1));
    double bandwidth = std::numeric_limits<double>::infinity();
    for (const std::size_t link : path.links) {
      bandwidth = std::min(bandwidth, paths_.links()[link].bandwidth_bytes_per_s);
    }
    plan.segments = best_segments(operation, group.size, bytes,
                                  {.bandwidth_bytes_per_s = bandwidth,
                                   .path_latency_s = path.latency_s,
                                   .fully_connected = false});
  }
  return plan;
}

ClusterPlanner::Planned ClusterPlanner::cheapest(Operation operation, const RankGroup& group,
                                                 std::uint64_t bytes) const {
  Planned best;
  best.choice = {operation, group.size, bytes, Algorithm::ring,
                 std::numeric_limits<double>::infinity()};
  for (const Algorithm algorithm : kAlgorithms) {
    if (algorithm == Algorithm::direct && group.size > kMostDirectRanks) {
      continue;
    }
    const auto plan =
        std::make_shared<const CollectivePlan>(make_plan(algorithm, operation, group, bytes));
    const auto schedule =
        make_schedule(operation, plan, group.size, Chunking::even(bytes, group.size));
    const double seconds = estimated_seconds(*schedule, group, paths_);
    if (seconds < best.choice.estimated_s) {
      best.plan = plan;
      best.choice.algorithm = algorithm_of(*plan, operation);
      best.choice.estimated_s = seconds;
    }
  }
  return best;
}

std::shared_ptr<const CollectivePlan> ClusterPlanner::plan(Operation operation,
                                                           const RankGroup& group,
                                                           std::uint64_t bytes) const {
  const bool is_auto = !cluster_.collective.algorithm.has_value();
  const Key key{operation, group.first, group.stride, group.size, bytes};
  const std::lock_guard lock(mutex_);
  const auto known = planned_.find(key);
  if (known != planned_.end()) {
    return known->second.plan;
  }
  Planned planned = is_auto ? cheapest(operation, group, bytes)
                            : Planned{std::make_shared<const CollectivePlan>(make_plan(
                                          *cluster_.collective.algorithm, operation, group, bytes)),
                                      {}};
  return planned_.emplace(key, std::move(planned)).first->second.plan;
}

bool ClusterPlanner::as_flows(const Collective& collective) const {
  // Flows take the time of rounds in which an edge has nothing to carry, too.
  if (has_empty_chunks(collective) && collective.group().size <= kMostRanksOfEmptyChunks) {
    return false;
  }
  switch (cluster_.collective.fidelity) {
    case Fidelity::message:
      return false;
    case Fidelity::flow:
      return true;
    case Fidelity::automatic:
      break;
  }
  // Ranks pass a broadcast on to the next one before all of them have it.
  if (!is_steady(cluster_) || collective.schedule().operation() == Operation::broadcast) {
    return false;
  }
  const RankGroup& group = collective.group();
  const Schedule& schedule = collective.schedule();
  const Key key{schedule.operation(), group.first, group.stride, group.size,
                collective.data().bytes()};
  const std::lock_guard lock(mutex_);
  const auto known = as_flows_.find(key);
  if (known != as_flows_.end()) {
    return known->second;
  }
  const MessageTime time =
      message_time(schedule, size_of(collective.data().dtype()), groups_beside(group), paths_);
  const bool is_close = time.most_s <= time.least_s * (1 + kFlowTolerance);
  return as_flows_.emplace(key, is_close).first->second;
}

// What a group of a training and the other groups like it are to the ranks: all, side by side.
std::vector<RankGroup> ClusterPlanner::groups_beside(const RankGroup& group) const {
  const auto ranks = static_cast<int>(cluster_.placement.size());
  std::vector<RankGroup> groups;
  if (group.stride == 1) {
    for (int first = group.first % group.size; first + group.size <= ranks; first += group.size) {
      groups.push_back({.first = first, .stride = 1, .size = group.size});
    }
  } else {
    for (int first = 0; first < group.stride; ++first) {
      groups.push_back({.first = first, .stride = group.stride, .size = group.size});
    }
  }
  return groups;
}

std::vector<CollectiveChoice> ClusterPlanner::choices() const {
  std::vector<CollectiveChoice> choices;
  if (cluster_.collective.algorithm.has_value()) {
    return choices;
  }
  const std::lock_guard lock(mutex_);
  std::set<std::tuple<Operation, int, std::uint64_t>> listed;  // Groups of one size choose alike.
  for (const auto& [key, planned] : planned_) {
    const CollectiveChoice& choice = planned.choice;
    if (choice.bytes > 0 && choice.ranks > 1 &&
        listed.emplace(choice.operation, choice.ranks, choice.bytes).second) {
      choices.push_back(choice);
    }
  }
  return choices;
}

}  // namespace shardscope
