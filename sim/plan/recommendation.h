// Which candidate of each number of ranks to take, why, and what would change it.
#pragma once

#include "sim/plan/plan.h"
#include "sim/plan/runner.h"

namespace shardscope {

/// Sets plan.recommendations from its sorted rows. The one to take is the fastest that fits; of
/// those within 1 % of it the one that recomputes nothing, then the one that holds least. From what
/// network bandwidth on a thriftier strategy would cost less than 5 % is found by simulating both
/// at other bandwidths, where the cluster is built of a node and a fabric.
void recommend(Plan& plan, const PlanRunOptions& options);

}  // namespace shardscope
