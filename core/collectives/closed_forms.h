// What collectives send, stage and take, by formula: derived from the algorithms' descriptions and
// not from their schedules, which are compared with them.
//
// Below, S elements are cut into chunks s_0 .. s_N-1 and B_r is the block of a rank in recursive
// halving (halving_doubling.h).
#pragma once

#include <cstdint>

#include "core/collectives/plan.h"
#include "core/collectives/schedule.h"

namespace shardscope {

/// A collective as the formulas see it. The plan must outlive it.
struct CollectiveShape {
  const CollectivePlan& plan;
  Operation operation;
  int world_size = 1;
  Chunking chunking;
  int root = 0;  ///< Of a broadcast.
};

/// Elements that a rank sends, its own by their place in the group:
///   ring              reduce_scatter S - s_r; all_gather S - s_(next rank of the ring), each
///                     channel of its parts; all_reduce both; broadcast S, and what travels in a
///                     ring in which the root is next: nothing
///   halving_doubling  reduce_scatter S - B_r, partners of folded ranks s_(r+1) more, folded ones
///                     S; all_gather what each doubling has, then S - s_(r+1) for partners, folded
///                     ones s_r; all_reduce both but S for what a folded rank gets
///   double_tree       of each half: once if not its root, and once for each child (broadcast: only
///                     for each child; the root for each half)
///   direct            reduce_scatter S - s_r; all_gather (N-1) s_r; all_reduce both; broadcast
///                     (N-1) S by the root
///   hierarchical      reduce_scatter S - s_r; all_gather, with T_l the chunks of local rank l,
///                     S - T_(next local rank) + T_l - s_(same local rank of the next node);
///                     all_reduce both
std::uint64_t predicted_sent_elements(const CollectiveShape& shape, int rank);

/// Elements that a rank stages (Schedule::staging):
///   ring              a chunk each way, cut in K equal parts
///   halving_doubling  added: the first half; S by partners of folded ranks
///   double_tree       a segment for each child, and for each tree in which something goes down
///   direct            added: (N-1) s_r; otherwise what is sent to all and what others send
///   hierarchical      the most chunks that travel together
Staging predicted_staging(const CollectiveShape& shape, int rank);

/// Every rank has one link of this bandwidth in each direction to a switch that never is a
/// bottleneck, or one to every other rank; every path has this latency.
struct EqualLinks {
  double bandwidth_bytes_per_s = 0;
  double path_latency_s = 0;
  bool fully_connected = false;
};

struct CollectiveTime {
  double seconds = 0;
  bool is_exact = false;
};

/// From a moment at which all ranks begin to the last one's end, for a vector of so many bytes. The
/// algorithms' headers have the formulas. Exact, where it says so, if all messages of a kind are
/// of the same size (N, channels and segments divide the elements); else, and for vectors that are
/// not cut evenly, an estimate.
CollectiveTime collective_time(const CollectivePlan& plan, Operation operation, int world_size,
                               std::uint64_t bytes, const EqualLinks& links);

/// The number of segments, from 1 to `most`, with the shortest time of a double_tree.
int best_segments(Operation operation, int world_size, std::uint64_t bytes, const EqualLinks& links,
                  int most = 64);

}  // namespace shardscope
