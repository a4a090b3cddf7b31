// From what an engineer has - a scenario, a model's and a framework's configuration, lists of
// choices - to a plan with all its candidates simulated.
#pragma once

#include <optional>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/plan/plan_request.h"
#include "sim/text/fault.h"

namespace shardscope {

/// The candidates. Without `strategies` they are those of the scenario, else the configuration's
/// with the others of its framework, else torch DDP, DeepSpeed's stages and FSDP. Each point trains
/// with and without recomputation, unless the configuration asks for it. Nothing, and every fault,
/// if something is wrong; a combination that cannot be is Plan::left_out's.
std::optional<Plan> read_plan(const PlanRequest& request, std::vector<Fault>& faults);

}  // namespace shardscope
