// One training step of a tiny scenario, explained number by number.
#pragma once

#include <cstdint>

#include "core/collectives/planner.h"
#include "sim/explain/story.h"
#include "sim/run/sources.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// The step by each of the scenario's strategies; explain_faults must have found none. Trains the
/// steps before it. Throws std::runtime_error if a file cannot be read any more.
Explanation explain(const Scenario& scenario, const Sources& sources, std::int64_t step,
                    const CollectivePlanner& planner = ring_planner());

}  // namespace shardscope
