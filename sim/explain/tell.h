// Makes one story of what the ranks wrote down.
#pragma once

#include <cstdint>
#include <vector>

#include "core/collectives/planner.h"
#include "core/training/strategy.h"
#include "sim/explain/step_log.h"
#include "sim/explain/story.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// The story of a step, from the logs of all ranks, whose collectives were planned by the planner.
Story tell(const Scenario& scenario, const Strategy& strategy, std::int64_t step,
           const std::vector<StepLog>& logs, const CollectivePlanner& planner);

}  // namespace shardscope
