// The reduction orders that the algorithms' headers state, evaluated from those statements.
#pragma once

#include <functional>

#include "core/collectives/schedule.h"

namespace shardscope::testing {

using Addend = std::function<float(int rank)>;
using Plus = std::function<float(float, float)>;

/// The sum over ranks of one element, of an all_reduce or reduce_scatter.
float stated_sum(const CollectivePlan& plan, Operation operation, int world_size,
                 const Chunking& chunking, std::size_t element, const Addend& addend,
                 const Plus& plus);

}  // namespace shardscope::testing
