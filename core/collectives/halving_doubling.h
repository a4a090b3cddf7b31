// Recursive halving and doubling (Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005).
//
//   halving, 4 ranks:   0 <-------> 2   1 <-------> 3      half of the vector each way,
//                       0 <-> 1   2 <-> 3                  then a quarter
//   doubling:           the same exchanges in the other order, with what is complete
//
// Let p = 2^q be the largest power of two <= N and e = N - p. Ranks 2i+1 < 2e are folded: they
// send everything to rank 2i, which acts for both. Acting ranks count 0 .. p-1 and own blocks of
// chunks: block i is chunks 2i and 2i+1 for i < e, then chunk i+e.
//
// reduce_scatter  fold; q rounds in which i exchanges halves of its blocks with i xor p/2, p/4,
//                 .., 1 and adds; rank 2i sends its partner's chunk to it.
// all_gather      partners send their chunks in; q rounds in which i exchanges all it has with
//                 i xor 1, 2, .., p/2; partners get the rest.
// all_reduce      fold; q rounds of halving, q of doubling; partners get everything.
//
// The reduction order is one tree for all chunks: f[i] = g[2i] + g[2i+1] for i < e, else g[i+e];
// then s[i] = f[i] + f[i xor p/2], s[i] + s[i xor p/4], .., + s[i xor 1].
//
// On equal links of bandwidth B and path latency L, for S bytes and N = 2^q that divides them,
// reduce_scatter and all_gather take q L + (N-1)/N S/B each. Otherwise folding adds to
// reduce_scatter 2 L + S/B + S/(N B), and blocks of two chunks make rounds longer. It wins over the
// ring where latencies count, i.e. for all but long vectors, if N is a power of two.
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

/// Of an all_reduce, reduce_scatter or all_gather.
std::unique_ptr<const Schedule> make_halving_doubling_schedule(Operation operation, int world_size,
                                                               Chunking chunking);

}  // namespace shardscope
