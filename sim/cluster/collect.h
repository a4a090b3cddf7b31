// From what the ranks measured to the result message.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "core/tensor/ledger.h"
#include "core/tensor/tensor.h"
#include "core/training/strategy.h"
#include "sim/cluster/background.h"
#include "sim/cluster/link_loads.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/rank.h"
#include "sim/collectives/cluster_planner.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

class RunResult;

/// What the ranks ran on.
struct RunCluster {
  const Platform& platform;
  const ClusterPlanner& planner;
  const std::deque<BackgroundTraffic>& background;
};

/// Of ranks that have all trained to the end. `on_weights` gets the final fp32 weights in torch
/// order, if the run is not shape-only; it may be empty.
RunResult completed_result(const Scenario& scenario, const Strategy& strategy,
                           const RunCluster& cluster, const Ranks& ranks,
                           const std::function<void(Tensor)>& on_weights);

/// Of a run that its own rules ended, with the steps before that, which all ranks did.
RunResult failed_result(const Scenario& scenario, const Strategy& strategy, const Ranks& ranks,
                        const std::string& failure);

/// Of a run that ended when `rank` ran out of memory.
RunResult out_of_memory_result(const Scenario& scenario, const Strategy& strategy,
                               const Ranks& ranks, int rank, const OutOfMemory& reason);

}  // namespace shardscope
