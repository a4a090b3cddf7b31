// Ring collectives: every rank sends to the next one of a ring and receives from the one before.
//
//   rank 0 --> rank 1 --> ... --> rank N-1 --> rank 0
//
// reduce_scatter  N-1 rounds. In round s rank r sends chunk r-s-1 and adds the chunk r-s-2 it
//                 receives, so that chunk c travels from rank c+1 around to rank c:
//                 ((g[c+1] + g[c+2]) + ...) + g[c], ranks mod N. That is the reduction order.
// all_gather      N-1 rounds. In round s rank r sends chunk r-s and receives chunk r-s-1.
// all_reduce      the first, then the second: 2(N-1) rounds.
// broadcast       the chunks follow each other down the chain from the root: 2N-2 rounds.
//
// That is one channel, in rank order. With K channels each chunk is cut into K parts of
// ceil(size / K); part j takes channel j, whose ring is a permutation of the ranks, and is summed
// in the order of that ring: from the rank after the chunk's owner around to the owner. In a round
// a rank sends a message on every channel, all at once.
//
// On equal links of bandwidth B and path latency L, for S bytes that N (and K) divides, a round
// takes L + S/(N B): all_reduce 2(N-1) of them (Patarasuk & Yuan 2009), the halves N-1 each, a
// broadcast 2N-2 (on one channel: several do not stay in step). No algorithm sends less, so that
// long vectors go as fast as links allow; short ones pay a latency for every rank. Several rings
// pay where a rank has several links, or where one ring would leave links of a fabric idle.
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

/// The rings must be of `world_size` ranks.
std::unique_ptr<const Schedule> make_ring_schedule(Operation operation,
                                                   std::shared_ptr<const RingOrders> rings,
                                                   int world_size, Chunking chunking, int root);

}  // namespace shardscope
