// Simulates a plan's candidates, ranks them and recommends one.
#pragma once

#include "sim/plan/plan.h"
#include "sim/plan/runner.h"

namespace shardscope {

/// Sets the plan's rows, in their order, and its recommendations.
void run_plan(Plan& plan, const PlanRunOptions& options);

}  // namespace shardscope
