// Hierarchical collectives: inside the nodes, across them, and inside again.
//
//   node 0            node 1            node 2
//   0 -> 1 -> 0       2 -> 3 -> 2       4 -> 5 -> 4         rings inside (local ranks 0, 1)
//   0 --------------> 2 --------------> 4 -----------> 0    rings across, one for each local
//        1 --------------> 3 --------------> 5 ------> 1    rank
//
// With M nodes of G ranks, N = M G, the M chunks of the ranks with one local rank travel together
// inside a node, as one message of M ranges.
//
// reduce_scatter  ring reduce_scatter inside (G-1 rounds), then across over the M chunks that the
//                 rank has (M-1 rounds): rank r ends with chunk r.
// all_gather      ring all_gather across, then inside.
// all_reduce      the first, then the second: 2(G-1) + 2(M-1) rounds.
//
// Reduction order of the chunk of local rank l on node w, ranks and nodes mod G and M: on every
// node s[v] = ((g[v,l+1] + g[v,l+2]) + ...) + g[v,l]; then ((s[w+1] + s[w+2]) + ...) + s[w].
//
// On equal links of bandwidth B and path latency L, for S bytes that N divides, reduce_scatter and
// all_gather take (G-1) (L + S/(G B)) + (M-1) (L + S/(N B)) each. One node, or one rank per node,
// is the ring. It wins where links inside a node are faster than those across: of S bytes only S/G
// of a rank leave its node, all ranks of a node at once (as Horovod's hierarchical all-reduce and
// the 2D algorithms of Jia et al. 2018).
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

/// Of an all_reduce, reduce_scatter or all_gather; the nodes must be of `world_size` ranks.
std::unique_ptr<const Schedule> make_hierarchical_schedule(Operation operation,
                                                           std::shared_ptr<const NodeGroups> nodes,
                                                           int world_size, Chunking chunking);

}  // namespace shardscope
