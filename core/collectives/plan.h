// How a collective is carried out: its algorithm and what the algorithm wants to know of the
// cluster. A plan is made once and shared by the schedules that follow it.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace shardscope {

enum class Operation { all_reduce, reduce_scatter, all_gather, broadcast, barrier };
enum class Algorithm { ring, halving_doubling, double_tree, direct, hierarchical };

inline constexpr std::array kAlgorithms = {Algorithm::ring, Algorithm::halving_doubling,
                                           Algorithm::double_tree, Algorithm::direct,
                                           Algorithm::hierarchical};

std::string_view name(Operation operation);

/// "RING", "HALVING_DOUBLING", "DOUBLE_TREE", "DIRECT", "HIERARCHICAL"; and the way back.
std::string_view name(Algorithm algorithm);
std::optional<Algorithm> find_algorithm(std::string_view name);

/// Rings through a group's ranks, one for each channel. Without any there is one, in rank order.
class RingOrders {
 public:
  RingOrders() = default;

  /// Each a permutation of the group's ranks, all of one length; aborts otherwise.
  explicit RingOrders(std::vector<std::vector<int>> orders);

  int channels() const { return orders_.empty() ? 1 : static_cast<int>(orders_.size()); }

  /// Whether the rings are of so many ranks.
  bool fits(int world_size) const {
    return orders_.empty() || orders_.front().size() == static_cast<std::size_t>(world_size);
  }

  /// Where a rank stands in a channel's ring, and who stands at a place in it.
  int position(int channel, int rank) const {
    return orders_.empty() ? rank : at(positions_, channel, rank);
  }
  int rank_at(int channel, int position) const {
    return orders_.empty() ? position : at(orders_, channel, position);
  }

 private:
  static int at(const std::vector<std::vector<int>>& table, int channel, int index) {
    return table[static_cast<std::size_t>(channel)][static_cast<std::size_t>(index)];
  }

  std::vector<std::vector<int>> orders_;
  std::vector<std::vector<int>> positions_;  // By rank.
};

/// A group's ranks by node, the same number on each. Nodes are counted in the order of their lowest
/// ranks, ranks of a node in rank order.
class NodeGroups {
 public:
  NodeGroups() = default;

  /// Of each group rank a number that names its node; a node's ranks need not be adjacent. Aborts
  /// if nodes differ in size.
  explicit NodeGroups(const std::vector<int>& node_of_rank);

  int nodes() const { return nodes_; }
  int ranks_per_node() const { return ranks_per_node_; }
  bool fits(int world_size) const { return nodes_ * ranks_per_node_ == world_size; }

  int node(int rank) const { return at(node_of_, rank); }
  int local_rank(int rank) const { return at(local_of_, rank); }
  int rank(int node, int local_rank) const {
    return at(ranks_, node * ranks_per_node_ + local_rank);
  }

  /// Ranks node by node.
  const std::vector<int>& ranks() const { return ranks_; }

 private:
  static int at(const std::vector<int>& table, int index) {
    return table[static_cast<std::size_t>(index)];
  }

  int nodes_ = 0;
  int ranks_per_node_ = 0;
  std::vector<int> node_of_;  // By rank.
  std::vector<int> local_of_;
  std::vector<int> ranks_;
};

struct CollectivePlan {
  Algorithm algorithm = Algorithm::ring;
  RingOrders rings = {};  ///< ring: each channel moves a part of every chunk.
  NodeGroups nodes = {};  ///< hierarchical: of the group's ranks.
  int segments = 1;       ///< double_tree: that each half is cut into.
};

/// Whose messages an operation has under a plan: a barrier is always that of barrier.h;
/// halving_doubling and hierarchical broadcast along a ring (hierarchical: node by node), and so do
/// reduce_scatter and all_gather of double_tree, as in NCCL.
Algorithm algorithm_of(const CollectivePlan& plan, Operation operation);

}  // namespace shardscope
