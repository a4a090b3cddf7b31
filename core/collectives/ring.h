// Ring collectives: every rank sends to rank + 1 and receives from rank - 1 (mod N).
//
//   rank 0 --> rank 1 --> ... --> rank N-1 --> rank 0
//
// reduce_scatter  N-1 rounds. In round s rank r sends chunk r-s-1 and adds the chunk r-s-2 it
//                 receives, so that chunk c travels from rank c+1 around to rank c:
//                 ((g[c+1] + g[c+2]) + ...) + g[c], ranks mod N. That is the reduction order.
// all_gather      N-1 rounds. In round s rank r sends chunk r-s and receives chunk r-s-1.
// all_reduce      the first, then the second: 2(N-1) rounds.
// broadcast       the chunks follow each other down the chain from the root: 2N-2 rounds.
// barrier         ceil(log2 N) rounds of tokens, to rank + 2^k from rank - 2^k (dissemination;
//                 Hensgen, Finkel, Manber 1988): the one collective here that leaves the ring.
//
// On equal links of bandwidth B and path latency L, for S bytes that N divides, a round takes
// L + S/(N B): all_reduce 2(N-1) of them (Patarasuk & Yuan 2009), the halves N-1 each.
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

std::unique_ptr<const Schedule> make_ring_schedule(Operation operation, int world_size,
                                                   Chunking chunking, int root);

}  // namespace shardscope
