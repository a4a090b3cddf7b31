// A plan for a terminal: the recommendations, the candidates as a table, the assumptions.
#pragma once

#include <cstddef>
#include <string>

#include "sim/plan/plan.h"

namespace shardscope {

/// Of a plan that was run.
std::string plan_text(const Plan& plan, bool colour, std::size_t width);

}  // namespace shardscope
