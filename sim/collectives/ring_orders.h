// Rings of several channels, which use other links than each other.
//
// Over nodes of several ranks, ring j goes through a node's ranks one by one and on to the next
// node. Even nodes are entered at local rank j and left at j + 1, odd ones the other way round, so
// that messages between nodes stay between equal local ranks: on a rail. With as many channels as
// ranks of a node each NIC sends and receives for one of them.
//
//     node 0:  j, j-1, ..., j+1  -->  node 1:  j+1, j+2, ..., j  -->  node 2: as node 0
//
// Where each node has one rank, or all ranks are on one node, ring j goes by strides: the jth
// number that has no divisor in common with the number of ranks. So links of a mesh or of a fully
// connected fabric share the work.
#pragma once

#include <vector>

namespace shardscope {

/// By channel, the order of the group's ranks, each once. `node_of_rank` is of the group's ranks.
std::vector<std::vector<int>> ring_orders(const std::vector<int>& node_of_rank, int channels);

}  // namespace shardscope
