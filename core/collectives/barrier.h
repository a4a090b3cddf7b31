// A barrier by dissemination (Hensgen, Finkel, Manber 1988), under every plan: in round k of
// ceil(log2 N) rank r sends a token to rank r + 2^k and receives one from rank r - 2^k, mod N.
//
//   round 0   0 -> 1 -> 2 -> 3 -> 0          round 1   0 <-> 2   1 <-> 3
//
// On equal links of path latency L it takes ceil(log2 N) L.
#pragma once

#include <memory>

#include "core/collectives/schedule.h"

namespace shardscope {

std::unique_ptr<const Schedule> make_barrier_schedule(int world_size);

}  // namespace shardscope
