// summary.txt: what a sweep says, on a page for people.
#pragma once

#include <string>
#include <vector>

#include "sim/sweep/findings.h"
#include "sim/sweep/grid.h"

namespace shardscope {

/// 80 columns wide. Findings are tables by axis, the most important first; those that take too much
/// space are counted. Of a shard, only what was swept and what failed.
std::string sweep_summary(const Grid& grid, const std::vector<Finding>& findings);

}  // namespace shardscope
