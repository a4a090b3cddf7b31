// Double binary trees (Sanders, Speck, Traff 2009; NCCL 2.4): two trees over all ranks, each of
// which moves half of the vector, so that a rank that is inside one of them is a leaf of the other.
//
//   tree 0, N = 14                         tree 1: its mirror image (N even, rank r at the place
//   0---------------8                      of rank N-1-r) or shifted (N odd, r at that of r-1)
//            ______/ \______
//           4               12             3----------------11
//         /   \            /  \           / \______
//       2       6       10     \         /         7
//      / \     / \     /  \     \       1        /   \ ...
//     1   3   5   7   9   11    13
//
// all_reduce  each half is cut into K segments of ceil(size / K), which follow each other up the
//             tree to its root, added on the way, and down again. With H the height of a tree, a
//             rank at depth d sends segment s up in round s + H - d and down in round s + H + d:
//             K + 2H - 1 rounds. A rank adds its first child's sum to its own, then its second
//             child's; the child with the lower place in the tree is first.
// broadcast   the root feeds the roots of two such trees over the other ranks, counted from it:
//             K + H rounds.
//
// reduce_scatter and all_gather are those of the ring, as in NCCL; all_reduce therefore adds in
// another order than they do.
//
// On equal links of bandwidth B and path latency L, for S bytes, with s = S / (2K B) the time of a
// segment, rounds at full load take L + 4 s, those in which segments go only up, or only down,
// L + 2 s: together (K + 2H - 1) L + 4 (K - 1 + H) s, about 2 H L + 2 S/B for the best K. A
// broadcast takes (K + H) (L + 2 s). With more than two ranks both are estimates: a rank does not
// wait for others that have more to do. It wins over the ring for all but very long vectors where
// there are many ranks: H = 1 + floor(log2(N-1)) latencies, and as many bytes.
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

/// Of an all_reduce or broadcast; at least one segment.
std::unique_ptr<const Schedule> make_double_tree_schedule(Operation operation, int segments,
                                                          int world_size, Chunking chunking,
                                                          int root);

}  // namespace shardscope
