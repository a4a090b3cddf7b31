#include "tests/core/support/stated_order.h"

#include <vector>

namespace shardscope::testing {
namespace {

// ((x[after] + x[after+1]) + ...) + x[last], around a circle of so many.
float around(int size, int last, const Addend& addend, const Plus& plus) {
  float sum = addend((last + 1) % size);
  for (int i = 2; i <= size; ++i) {
    sum = plus(sum, addend((last + i) % size));
  }
  return sum;
}

float in_ring(const RingOrders& rings, int world, int chunk, std::size_t inside, std::size_t size,
              const Addend& addend, const Plus& plus) {
  const auto channels = static_cast<std::size_t>(rings.channels());
  const auto channel = static_cast<int>(inside / ((size + channels - 1) / channels));
  return around(
      world, rings.position(channel, chunk),
      [&](int place) { return addend(rings.rank_at(channel, place)); }, plus);
}

// s[i] of the header after the exchanges at distances p/2, .., d.
float in_halves(int i, int d, const std::vector<float>& f, const Plus& plus) {
  if (d == static_cast<int>(f.size())) {
    return f[static_cast<std::size_t>(i)];
  }
  return plus(in_halves(i, 2 * d, f, plus), in_halves(i ^ d, 2 * d, f, plus));
}

float by_halving(int world, int chunk, const Addend& addend, const Plus& plus) {
  int p = 1;
  while (2 * p <= world) {
    p *= 2;
  }
  const int e = world - p;
  std::vector<float> f;
  for (int i = 0; i < p; ++i) {
    f.push_back(i < e ? plus(addend(2 * i), addend(2 * i + 1)) : addend(i + e));
  }
  return in_halves(chunk < 2 * e ? chunk / 2 : chunk - e, 1, f, plus);
}

// The sum of the subtree of a place whose children are at most `step` away.
float in_tree(int places, int place, int step, const Addend& addend, const Plus& plus) {
  float sum = addend(place);
  if (step == 0) {
    return sum;
  }
  sum = plus(sum, in_tree(places, place - step, step / 2, addend, plus));
  int right = step;
  while (right > 0 && place + right >= places) {
    right /= 2;
  }
  return right == 0 ? sum : plus(sum, in_tree(places, place + right, right / 2, addend, plus));
}

float by_trees(int world, bool second, const Addend& addend, const Plus& plus) {
  const Addend at_place = [&](int place) {
    if (!second) {
      return addend(place);
    }
    return addend(world % 2 == 0 ? world - 1 - place : (place + 1) % world);
  };
  if (world == 1) {
    return at_place(0);
  }
  int below = 1;
  while (2 * below <= world - 1) {
    below *= 2;
  }
  return plus(at_place(0), in_tree(world, below, below / 2, at_place, plus));
}

float directly(int world, int chunk, const Addend& addend, const Plus& plus) {
  float sum = addend(chunk);
  for (int i = 1; i < world; ++i) {
    sum = plus(sum, addend((chunk + i) % world));
  }
  return sum;
}

float by_nodes(const NodeGroups& nodes, int chunk, const Addend& addend, const Plus& plus) {
  return around(
      nodes.nodes(), nodes.node(chunk),
      [&](int node) {
        return around(
            nodes.ranks_per_node(), nodes.local_rank(chunk),
            [&](int local) { return addend(nodes.rank(node, local)); }, plus);
      },
      plus);
}

}  // namespace

float stated_sum(const CollectivePlan& plan, Operation operation, int world_size,
                 const Chunking& chunking, std::size_t element, const Addend& addend,
                 const Plus& plus) {
  if (world_size == 1) {
    return addend(0);
  }
  const auto chunk = static_cast<int>(element / chunking.chunk);
  switch (plan.algorithm) {
    case Algorithm::halving_doubling:
      return by_halving(world_size, chunk, addend, plus);
    case Algorithm::double_tree:
      if (operation == Operation::all_reduce) {
        return by_trees(world_size, element >= (chunking.count + 1) / 2, addend, plus);
      }
      break;
    case Algorithm::direct:
      return directly(world_size, chunk, addend, plus);
    case Algorithm::hierarchical:
      return by_nodes(plan.nodes, chunk, addend, plus);
    case Algorithm::ring:
      break;
  }
  return in_ring(plan.rings, world_size, chunk, element - chunking.offset(chunk),
                 chunking.size(chunk), addend, plus);
}

}  // namespace shardscope::testing
