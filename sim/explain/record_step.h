// Trains a scenario in memory, without a clock, up to one step, and writes that step down.
#pragma once

#include <cstdint>
#include <vector>

#include "core/collectives/planner.h"
#include "core/training/strategy.h"
#include "sim/explain/step_log.h"
#include "sim/run/sources.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// The log of each rank for step 1, 2, ... The devices' capacity limits nothing. Throws
/// std::runtime_error if a file cannot be read any more.
std::vector<StepLog> record_step(const Scenario& scenario, const Strategy& strategy,
                                 const Sources& sources, std::int64_t step,
                                 const CollectivePlanner& planner);

}  // namespace shardscope
