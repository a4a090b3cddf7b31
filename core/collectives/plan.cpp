#include "core/collectives/plan.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/check.h"

namespace shardscope {

std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return "all_reduce";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::all_gather:
      return "all_gather";
    case Operation::broadcast:
      return "broadcast";
    case Operation::barrier:
      return "barrier";
  }
  return "";
}

std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return "RING";
    case Algorithm::halving_doubling:
      return "HALVING_DOUBLING";
    case Algorithm::double_tree:
      return "DOUBLE_TREE";
    case Algorithm::direct:
      return "DIRECT";
    case Algorithm::hierarchical:
      return "HIERARCHICAL";
  }
  return "";
}

std::optional<Algorithm> find_algorithm(std::string_view name) {
  const auto* const found =
      std::find_if(kAlgorithms.begin(), kAlgorithms.end(),
                   [&](Algorithm algorithm) { return shardscope::name(algorithm) == name; });
  return found == kAlgorithms.end() ? std::nullopt : std::optional(*found);
}

RingOrders::RingOrders(std::vector<std::vector<int>> orders) : orders_(std::move(orders)) {
  for (const std::vector<int>& order : orders_) {
    std::vector<int>& positions = positions_.emplace_back(orders_.front().size(), -1);
    SHARDSCOPE_CHECK(order.size() == positions.size(), "rings of different groups");
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto rank = static_cast<std::size_t>(order[i]);
      SHARDSCOPE_CHECK(rank < positions.size() && positions[rank] < 0, "not a permutation");
      positions[rank] = static_cast<int>(i);
    }
  }
}

NodeGroups::NodeGroups(const std::vector<int>& node_of_rank) {
  std::unordered_map<int, int> nodes;  // By what names them.
  std::vector<int> sizes;
  for (const int name : node_of_rank) {
    const int node = nodes.emplace(name, static_cast<int>(nodes.size())).first->second;
    sizes.resize(nodes.size());
    node_of_.push_back(node);
    local_of_.push_back(sizes[static_cast<std::size_t>(node)]++);
  }
  nodes_ = static_cast<int>(sizes.size());
  ranks_per_node_ = sizes.empty() ? 0 : sizes.front();
  SHARDSCOPE_CHECK(
      std::all_of(sizes.begin(), sizes.end(), [&](int size) { return size == ranks_per_node_; }),
      "nodes of different size");
  ranks_.resize(node_of_rank.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const int place = node_of_[rank] * ranks_per_node_ + local_of_[rank];
    ranks_[static_cast<std::size_t>(place)] = static_cast<int>(rank);
  }
}

Algorithm algorithm_of(const CollectivePlan& plan, Operation operation) {
  switch (plan.algorithm) {
    case Algorithm::halving_doubling:
    case Algorithm::hierarchical:
      return operation == Operation::broadcast ? Algorithm::ring : plan.algorithm;
    case Algorithm::double_tree:
      return operation == Operation::reduce_scatter || operation == Operation::all_gather
                 ? Algorithm::ring
                 : plan.algorithm;
    case Algorithm::ring:
    case Algorithm::direct:
      break;
  }
  return plan.algorithm;
}

}  // namespace shardscope
