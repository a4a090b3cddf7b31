#include "tests/core/support/plans.h"

#include <numeric>
#include <utility>

#include "core/data/generator.h"

namespace shardscope::testing {
namespace {

std::vector<int> in_order(int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// A permutation drawn from the seed.
std::vector<int> shuffled(int ranks, std::uint64_t seed) {
  std::vector<int> order = in_order(ranks);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[splitmix64(seed, i) % i]);
  }
  return order;
}

// Node of each rank: blocks of ranks, or one rank after another to each node.
std::vector<int> nodes_of(int ranks, int ranks_per_node, bool interleaved) {
  std::vector<int> nodes;
  for (int rank = 0; rank < ranks; ++rank) {
    nodes.push_back(interleaved ? rank % (ranks / ranks_per_node) : rank / ranks_per_node);
  }
  return nodes;
}

std::shared_ptr<const CollectivePlan> share(CollectivePlan plan) {
  return std::make_shared<const CollectivePlan>(std::move(plan));
}

std::shared_ptr<const CollectivePlan> with_rings(std::vector<std::vector<int>> orders) {
  CollectivePlan plan;
  plan.rings = RingOrders(std::move(orders));
  return share(std::move(plan));
}

std::shared_ptr<const CollectivePlan> with_segments(int segments) {
  CollectivePlan plan;
  plan.algorithm = Algorithm::double_tree;
  plan.segments = segments;
  return share(std::move(plan));
}

std::shared_ptr<const CollectivePlan> with_nodes(const std::vector<int>& nodes) {
  CollectivePlan plan;
  plan.algorithm = Algorithm::hierarchical;
  plan.nodes = NodeGroups(nodes);
  return share(std::move(plan));
}

std::vector<int> divisors(int number) {
  std::vector<int> all;
  for (int divisor = 1; divisor <= number; ++divisor) {
    if (number % divisor == 0) {
      all.push_back(divisor);
    }
  }
  return all;
}

}  // namespace

std::shared_ptr<const CollectivePlan> simple_plan(Algorithm algorithm, int world_size) {
  switch (algorithm) {
    case Algorithm::double_tree:
      return with_segments(2);
    case Algorithm::hierarchical: {
      const std::vector<int> sizes = divisors(world_size);
      return with_nodes(nodes_of(world_size, sizes[sizes.size() / 2], /*interleaved=*/false));
    }
    default: {
      CollectivePlan plan;
      plan.algorithm = algorithm;
      return share(std::move(plan));
    }
  }
}

std::vector<NamedPlan> plans_of(int world_size) {
  std::vector<NamedPlan> plans;
  for (const Algorithm algorithm :
       {Algorithm::ring, Algorithm::halving_doubling, Algorithm::direct}) {
    plans.push_back({std::string(name(algorithm)), simple_plan(algorithm, world_size)});
  }
  std::vector<std::vector<int>> rings;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    rings.push_back(shuffled(world_size, seed));
    plans.push_back({"RING of " + std::to_string(rings.size()), with_rings(rings)});
  }
  for (const int segments : {1, 2, 3}) {
    plans.push_back({"DOUBLE_TREE in " + std::to_string(segments), with_segments(segments)});
  }
  for (const int size : divisors(world_size)) {
    for (const bool interleaved : {false, true}) {
      plans.push_back(
          {"HIERARCHICAL by " + std::to_string(size) + (interleaved ? " interleaved" : ""),
           with_nodes(nodes_of(world_size, size, interleaved))});
    }
  }
  return plans;
}

NamedPlan random_plan(int world_size, std::uint64_t seed) {
  const auto draw = [&](std::uint64_t index, std::uint64_t below) {
    return splitmix64(seed, 2000 + index) % below;
  };
  const Algorithm algorithm = kAlgorithms[draw(0, kAlgorithms.size())];
  const std::string text(name(algorithm));
  if (algorithm == Algorithm::ring) {
    std::vector<std::vector<int>> rings;
    for (std::uint64_t i = draw(1, 5); i > 0; --i) {
      rings.push_back(shuffled(world_size, seed + i));
    }
    return {text + " of " + std::to_string(rings.size()), with_rings(rings)};
  }
  if (algorithm == Algorithm::double_tree) {
    const int segments = 1 + static_cast<int>(draw(1, 9));
    return {text + " in " + std::to_string(segments), with_segments(segments)};
  }
  if (algorithm == Algorithm::hierarchical) {
    // Any assignment in which nodes are of one size.
    const std::vector<int> sizes = divisors(world_size);
    const int size = sizes[draw(1, sizes.size())];
    std::vector<int> nodes(static_cast<std::size_t>(world_size));
    const std::vector<int> order = shuffled(world_size, seed);
    for (std::size_t i = 0; i < order.size(); ++i) {
      nodes[static_cast<std::size_t>(order[i])] = 7 * (static_cast<int>(i) / size);
    }
    return {text + " by " + std::to_string(size), with_nodes(nodes)};
  }
  return {text, simple_plan(algorithm, world_size)};
}

}  // namespace shardscope::testing
