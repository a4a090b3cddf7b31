// Direct collectives: every rank talks to every other one at once.
//
//   rank 0 <---> rank 1
//     ^ \      / ^
//     |   \  /   |        all pairs, in one round
//     |   /  \   |
//     v /      \ v
//   rank 2 <---> rank 3
//
// reduce_scatter  1 round. Rank r sends chunk c to rank c and adds what it receives of chunk r in
//                 the order of ranks after it: ((g[r] + g[r+1]) + g[r+2]) + ... + g[r-1], mod N.
// all_gather      1 round. Rank r sends chunk r to all.
// all_reduce      the first, then the second.
// broadcast       1 round. The root sends everything to each.
//
// For S bytes that N divides, on links of bandwidth B and path latency L, reduce_scatter and
// all_gather take L + (N-1)/N S/B where a rank has one link to a switch, as the N-1 messages share
// it, and L + S/(N B) where it has a link to every other rank (Chan, Heimlich, Purkayastha, van de
// Geijn 2007, section 6: one-step algorithms); a broadcast takes L + (N-1) S/B and L + S/B. It wins
// for short vectors, of which it pays one latency, and on fully connected nodes for all; it needs
// N-1 chunks of staging, and N (N-1) messages load a fabric most.
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

std::unique_ptr<const Schedule> make_direct_schedule(Operation operation, int world_size,
                                                     Chunking chunking, int root);

}  // namespace shardscope
