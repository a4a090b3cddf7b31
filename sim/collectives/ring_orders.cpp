#include "sim/collectives/ring_orders.h"

#include <cstddef>
#include <map>
#include <numeric>

namespace shardscope {
namespace {

using Order = std::vector<int>;

// The jth stride that visits all of n, 1 being the 0th; they begin anew when there are no more.
int stride(int n, int j) {
  std::vector<int> strides;
  for (int s = 1; s == 1 || s < n; ++s) {
    if (std::gcd(s, n) == 1) {
      strides.push_back(s);
    }
  }
  return strides[static_cast<std::size_t>(j) % strides.size()];
}

Order by_stride(int ranks, int channel) {
  Order order;
  const int step = stride(ranks, channel);
  for (int i = 0; i < ranks; ++i) {
    order.push_back(static_cast<int>(static_cast<long>(i) * step % ranks));
  }
  return order;
}

// From the channel's rank upwards on odd nodes, from the one above it downwards on even ones.
void add_node(const Order& ranks, bool is_odd, int channel, Order& order) {
  const auto n = static_cast<int>(ranks.size());
  for (int i = 0; i < n; ++i) {
    const int local = is_odd ? channel + 1 + i : channel + n - i;
    order.push_back(ranks[static_cast<std::size_t>(local % n)]);
  }
}

}  // namespace

std::vector<Order> ring_orders(const std::vector<int>& node_of_rank, int channels) {
  std::map<int, Order> nodes;
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    nodes[node_of_rank[rank]].push_back(static_cast<int>(rank));
  }
  const bool is_flat = nodes.size() == 1 || nodes.size() == node_of_rank.size();
  std::vector<Order> orders;
  for (int channel = 0; channel < channels; ++channel) {
    if (is_flat) {
      orders.push_back(by_stride(static_cast<int>(node_of_rank.size()), channel));
      continue;
    }
    Order& order = orders.emplace_back();
    bool is_odd = false;
    for (const auto& [node, ranks] : nodes) {
      add_node(ranks, is_odd, channel, order);
      is_odd = !is_odd;
    }
  }
  return orders;
}

}  // namespace shardscope
