#include "core/collectives/closed_forms.h"

#include <algorithm>
#include <bit>

namespace shardscope {
namespace {

std::uint64_t u64(int value) { return static_cast<std::uint64_t>(value); }

int floor_log2(int value) { return std::bit_width(static_cast<unsigned>(value)) - 1; }

// ---- Elements sent ----

// Of the parts that a channel moves.
std::uint64_t part_size(std::uint64_t chunk, int channel, int channels) {
  const std::uint64_t k = (chunk + u64(channels) - 1) / u64(channels);
  return std::min(chunk - std::min(chunk, u64(channel) * k), k);
}

std::uint64_t sent_in_rings(const CollectiveShape& shape, const RingOrders& rings, int rank) {
  const int n = shape.world_size;
  const auto part = [&](int channel, int chunk) {
    return part_size(shape.chunking.size(chunk), channel, rings.channels());
  };
  // All chunks but one are full or empty.
  const std::uint64_t full =
      shape.chunking.chunk == 0 ? 0 : shape.chunking.count / shape.chunking.chunk;
  const std::uint64_t rest = shape.chunking.count - full * shape.chunking.chunk;
  std::uint64_t sent = 0;
  for (int channel = 0; channel < rings.channels(); ++channel) {
    const int next = rings.rank_at(channel, (rings.position(channel, rank) + 1) % n);
    const std::uint64_t all = full * part_size(shape.chunking.chunk, channel, rings.channels()) +
                              part_size(rest, channel, rings.channels());
    switch (shape.operation) {
      case Operation::reduce_scatter:
        sent += all - part(channel, rank);
        break;
      case Operation::all_gather:
        sent += all - part(channel, next);
        break;
      case Operation::all_reduce:
        sent += 2 * all - part(channel, rank) - part(channel, next);
        break;
      case Operation::broadcast:
        sent += next == shape.root ? 0 : all;
        break;
      case Operation::barrier:
        break;
    }
  }
  return sent;
}

// A rank's part in recursive halving: acting ranks are numbered, each acts for one rank or two.
class Halving {
 public:
  Halving(const CollectiveShape& shape, int rank)
      : chunking_(shape.chunking),
        acting_(1 << floor_log2(shape.world_size)),
        folded_(shape.world_size - acting_),
        has_partner_(rank < 2 * folded_),
        is_folded_(has_partner_ && rank % 2 == 1),
        index_(has_partner_ ? rank / 2 : rank - folded_) {}

  bool has_partner() const { return has_partner_; }
  bool is_folded() const { return is_folded_; }
  int steps() const { return floor_log2(acting_); }

  // Elements of the 2^level acting ranks among which this one is, or of those beside them.
  std::uint64_t block(int level) const { return sum(index_ >> level, level); }
  std::uint64_t block_beside(int level) const { return sum((index_ >> level) ^ 1, level); }

 private:
  std::uint64_t sum(int block, int level) const {
    const int first = block << level;
    const int last = (block + 1) << level;
    const auto ranks_before = [&](int index) { return index + std::min(index, folded_); };
    return chunking_.offset(ranks_before(last)) - chunking_.offset(ranks_before(first));
  }

  Chunking chunking_;
  int acting_;
  int folded_;
  bool has_partner_;
  bool is_folded_;
  int index_;
};

std::uint64_t sent_in_halving(const CollectiveShape& shape, int rank) {
  const Halving halving(shape, rank);
  const std::uint64_t all = shape.chunking.count;
  const bool gathers = shape.operation == Operation::all_gather;
  if (halving.is_folded()) {
    return gathers ? shape.chunking.size(rank) : all;
  }
  const std::uint64_t partners = halving.has_partner() ? shape.chunking.size(rank + 1) : 0;
  std::uint64_t doubling = 0;
  for (int level = 0; level < halving.steps(); ++level) {
    doubling += halving.block(level);
  }
  switch (shape.operation) {
    case Operation::reduce_scatter:
      return all - halving.block(0) + partners;
    case Operation::all_gather:
      return doubling + (halving.has_partner() ? all - partners : 0);
    default:
      return all - halving.block(0) + doubling + (halving.has_partner() ? all : 0);
  }
}

// Children of a place in NCCL's binary tree of so many places: odd ones are leaves, the root has
// one, others have two if there is a place after them.
int children_in_tree(int places, int place) {
  if (place == 0) {
    return places > 1 ? 1 : 0;
  }
  return place % 2 == 1 ? 0 : (place + 1 < places ? 2 : 1);
}

// Children of a rank in one of the two trees and whether it is the root, which for a broadcast is
// the source.
struct TreeNode {
  int children = 0;
  bool is_root = false;
};

TreeNode tree_node(const CollectiveShape& shape, int tree, int rank) {
  const bool broadcasts = shape.operation == Operation::broadcast;
  const int places = broadcasts ? shape.world_size - 1 : shape.world_size;
  int place = rank;
  if (broadcasts) {
    if (rank == shape.root) {
      return {.children = 1, .is_root = true};
    }
    place = (rank + shape.world_size - shape.root - 1) % shape.world_size;
  }
  if (tree == 1) {
    place = places % 2 == 0 ? places - 1 - place : (place + places - 1) % places;
  }
  return {.children = children_in_tree(places, place), .is_root = place == 0 && !broadcasts};
}

std::uint64_t half_size(const CollectiveShape& shape, int tree) {
  const std::uint64_t all = shape.chunking.count;
  return tree == 0 ? all - all / 2 : all / 2;
}

std::uint64_t sent_in_trees(const CollectiveShape& shape, int rank) {
  std::uint64_t sent = 0;
  for (int tree = 0; tree < 2; ++tree) {
    const TreeNode node = tree_node(shape, tree, rank);
    const bool goes_up = shape.operation == Operation::all_reduce && !node.is_root;
    sent += half_size(shape, tree) * (u64(node.children) + (goes_up ? 1 : 0));
  }
  return sent;
}

std::uint64_t sent_directly(const CollectiveShape& shape, int rank) {
  const std::uint64_t own = shape.chunking.size(rank);
  const std::uint64_t scatter = shape.chunking.count - own;
  const std::uint64_t gather = u64(shape.world_size - 1) * own;
  switch (shape.operation) {
    case Operation::reduce_scatter:
      return scatter;
    case Operation::all_gather:
      return gather;
    case Operation::all_reduce:
      return scatter + gather;
    default:
      return rank == shape.root ? u64(shape.world_size - 1) * shape.chunking.count : 0;
  }
}

// Chunks of the ranks with one local rank.
std::uint64_t column_size(const CollectiveShape& shape, int local_rank) {
  const NodeGroups& nodes = shape.plan.nodes;
  std::uint64_t elements = 0;
  for (int node = 0; node < nodes.nodes(); ++node) {
    elements += shape.chunking.size(nodes.rank(node, local_rank));
  }
  return elements;
}

std::uint64_t sent_in_hierarchy(const CollectiveShape& shape, int rank) {
  const NodeGroups& nodes = shape.plan.nodes;
  const int local = nodes.local_rank(rank);
  const int next_local = (local + 1) % nodes.ranks_per_node();
  const int next_node = (nodes.node(rank) + 1) % nodes.nodes();
  const std::uint64_t scatter = shape.chunking.count - shape.chunking.size(rank);
  const std::uint64_t gather = shape.chunking.count - column_size(shape, next_local) +
                               column_size(shape, local) -
                               shape.chunking.size(nodes.rank(next_node, local));
  switch (shape.operation) {
    case Operation::reduce_scatter:
      return scatter;
    case Operation::all_gather:
      return gather;
    default:
      return scatter + gather;
  }
}

// What `use` makes of the rings of an operation that has those of Algorithm::ring.
template <typename Use>
auto with_rings(const CollectivePlan& plan, const Use& use) {
  switch (plan.algorithm) {
    case Algorithm::hierarchical:
      return use(RingOrders({plan.nodes.ranks()}));
    case Algorithm::ring:
      return use(plan.rings);
    default:
      return use(RingOrders());
  }
}

// ---- Staging ----

Staging staged_in_rings(const CollectiveShape& shape, const RingOrders& rings) {
  const std::uint64_t part = part_size(shape.chunking.size(0), 0, rings.channels());
  return symmetric_staging(shape.operation, u64(rings.channels()) * part);
}

Staging staged_in_halving(const CollectiveShape& shape, int rank) {
  const Halving halving(shape, rank);
  const std::size_t all = shape.chunking.count;
  if (reduces(shape.operation)) {
    if (halving.is_folded()) {
      return {};
    }
    return {.added = halving.has_partner() ? all : halving.block(halving.steps() - 1),
            .sent = 0,
            .received = 0};
  }
  if (halving.is_folded()) {
    const std::size_t own = shape.chunking.size(rank);
    return {.added = 0, .sent = own, .received = all - own};
  }
  const std::size_t partners = halving.has_partner() ? shape.chunking.size(rank + 1) : 0;
  Staging staging = {
      .added = 0, .sent = halving.has_partner() ? all - partners : 0, .received = partners};
  for (int level = 0; level < halving.steps(); ++level) {
    staging.sent = std::max<std::size_t>(staging.sent, halving.block(level));
    staging.received = std::max<std::size_t>(staging.received, halving.block_beside(level));
  }
  return staging;
}

Staging staged_in_trees(const CollectiveShape& shape, int rank) {
  Staging staging;
  const std::uint64_t segments = u64(shape.plan.segments);
  for (int tree = 0; tree < 2; ++tree) {
    const TreeNode node = tree_node(shape, tree, rank);
    const std::size_t segment = (half_size(shape, tree) + segments - 1) / segments;
    if (reduces(shape.operation)) {
      staging.added += u64(node.children) * segment;
    } else {
      staging.sent += node.children > 0 ? segment : 0;
      staging.received += node.is_root ? 0 : segment;
    }
  }
  return staging;
}

Staging staged_directly(const CollectiveShape& shape, int rank) {
  const std::size_t all = shape.chunking.count;
  const std::size_t own = shape.chunking.size(rank);
  if (reduces(shape.operation)) {
    return {.added = u64(shape.world_size - 1) * own, .sent = 0, .received = 0};
  }
  if (shape.operation == Operation::all_gather) {
    return {.added = 0, .sent = own, .received = all - own};
  }
  const bool is_root = rank == shape.root;
  return {.added = 0, .sent = is_root ? all : 0, .received = is_root ? 0 : all};
}

std::uint64_t most_in_hierarchy(const CollectiveShape& shape) {
  const NodeGroups& nodes = shape.plan.nodes;
  std::uint64_t most = nodes.nodes() > 1 ? shape.chunking.size(0) : 0;
  for (int local = 0; local < nodes.ranks_per_node() && nodes.ranks_per_node() > 1; ++local) {
    most = std::max(most, column_size(shape, local));
  }
  return most;
}

// ---- Time ----

class Time {
 public:
  Time(int world_size, std::uint64_t bytes, const EqualLinks& links)
      : n_(world_size),
        latency_s_(links.path_latency_s),
        whole_s_(static_cast<double>(bytes) / links.bandwidth_bytes_per_s),
        fully_connected_(links.fully_connected) {}

  CollectiveTime barrier() const {
    return {std::bit_width(static_cast<unsigned>(n_ - 1)) * latency_s_, true};
  }

  CollectiveTime ring(Operation operation, const RingOrders& rings) const {
    const bool twice = operation == Operation::all_reduce || operation == Operation::broadcast;
    return {(twice ? 2 : 1) * (n_ - 1) * (latency_s_ + whole_s_ / n_),
            rings.channels() == 1 || (!fully_connected_ && operation != Operation::broadcast)};
  }

  CollectiveTime halving_doubling(Operation operation) const {
    const int steps = floor_log2(n_);
    const int folded = n_ - (1 << steps);
    const double chunk_s = whole_s_ / n_;
    double half_s = 0;
    for (int level = 0; level < steps; ++level) {
      half_s += latency_s_ + ((1 << level) + std::min(1 << level, folded)) * chunk_s;
    }
    double seconds = (operation == Operation::all_reduce ? 2 : 1) * half_s;
    if (folded > 0) {
      switch (operation) {
        case Operation::reduce_scatter:
          seconds += 2 * latency_s_ + whole_s_ + chunk_s;
          break;
        case Operation::all_gather:
          seconds += 2 * latency_s_ + whole_s_;
          break;
        default:
          seconds += 2 * latency_s_ + 2 * whole_s_;
      }
    }
    return {seconds, folded == 0 || operation == Operation::reduce_scatter};
  }

  CollectiveTime double_tree(Operation operation, int segments) const {
    const int members = operation == Operation::broadcast ? n_ - 1 : n_;
    const int height = members > 1 ? 1 + floor_log2(members - 1) : 0;
    const double segment_s = whole_s_ / (2.0 * segments);
    if (operation == Operation::broadcast) {
      return {(segments + height) * (latency_s_ + 2 * segment_s), n_ == 2};
    }
    const double latencies_s = (segments + 2 * height - 1) * latency_s_;
    return n_ == 2 ? CollectiveTime{latencies_s + 2 * segments * segment_s, true}
                   : CollectiveTime{latencies_s + 4 * (segments - 1 + height) * segment_s, false};
  }

  CollectiveTime direct(Operation operation) const {
    const double rounds = operation == Operation::all_reduce ? 2 : 1;
    const double message_s = operation == Operation::broadcast ? whole_s_ : whole_s_ / n_;
    return {rounds * (latency_s_ + (fully_connected_ ? 1 : n_ - 1) * message_s), true};
  }

  CollectiveTime hierarchical(Operation operation, const NodeGroups& nodes) const {
    const double inside_s = latency_s_ + whole_s_ / nodes.ranks_per_node();
    const double across_s = latency_s_ + whole_s_ / n_;
    const double half_s = (nodes.ranks_per_node() - 1) * inside_s + (nodes.nodes() - 1) * across_s;
    return {(operation == Operation::all_reduce ? 2 : 1) * half_s, true};
  }

 private:
  int n_;
  double latency_s_;
  double whole_s_;  // The vector over one link.
  bool fully_connected_;
};

}  // namespace

std::uint64_t predicted_sent_elements(const CollectiveShape& shape, int rank) {
  if (shape.world_size == 1 || shape.operation == Operation::barrier) {
    return 0;
  }
  switch (algorithm_of(shape.plan, shape.operation)) {
    case Algorithm::ring:
      return with_rings(shape.plan,
                        [&](const RingOrders& rings) { return sent_in_rings(shape, rings, rank); });
    case Algorithm::halving_doubling:
      return sent_in_halving(shape, rank);
    case Algorithm::double_tree:
      return sent_in_trees(shape, rank);
    case Algorithm::direct:
      return sent_directly(shape, rank);
    case Algorithm::hierarchical:
      return sent_in_hierarchy(shape, rank);
  }
  return 0;
}

Staging predicted_staging(const CollectiveShape& shape, int rank) {
  if (shape.world_size == 1 || shape.operation == Operation::barrier) {
    return {};
  }
  switch (algorithm_of(shape.plan, shape.operation)) {
    case Algorithm::ring:
      return with_rings(shape.plan,
                        [&](const RingOrders& rings) { return staged_in_rings(shape, rings); });
    case Algorithm::halving_doubling:
      return staged_in_halving(shape, rank);
    case Algorithm::double_tree:
      return staged_in_trees(shape, rank);
    case Algorithm::direct:
      return staged_directly(shape, rank);
    case Algorithm::hierarchical:
      return symmetric_staging(shape.operation, most_in_hierarchy(shape));
  }
  return {};
}

CollectiveTime collective_time(const CollectivePlan& plan, Operation operation, int world_size,
                               std::uint64_t bytes, const EqualLinks& links) {
  if (world_size == 1) {
    return {0, true};
  }
  const Time time(world_size, bytes, links);
  if (operation == Operation::barrier) {
    return time.barrier();
  }
  switch (algorithm_of(plan, operation)) {
    case Algorithm::ring:
      return with_rings(plan, [&](const RingOrders& rings) { return time.ring(operation, rings); });
    case Algorithm::halving_doubling:
      return time.halving_doubling(operation);
    case Algorithm::double_tree:
      return time.double_tree(operation, plan.segments);
    case Algorithm::direct:
      return time.direct(operation);
    case Algorithm::hierarchical:
      return time.hierarchical(operation, plan.nodes);
  }
  return {};
}

int best_segments(Operation operation, int world_size, std::uint64_t bytes, const EqualLinks& links,
                  int most) {
  CollectivePlan plan;
  plan.algorithm = Algorithm::double_tree;
  int best = 1;
  double shortest_s = 0;
  for (plan.segments = 1; plan.segments <= most; ++plan.segments) {
    const double seconds = collective_time(plan, operation, world_size, bytes, links).seconds;
    if (plan.segments == 1 || seconds < shortest_s) {
      best = plan.segments;
      shortest_s = seconds;
    }
  }
  return best;
}

}  // namespace shardscope
