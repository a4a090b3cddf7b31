// What does not fit in memory, in as few ranges as say it all.
#pragma once

#include <vector>

#include "sim/sweep/findings.h"

namespace shardscope {

/// For each strategy the axes that decide whether it runs out of memory are found; ranges of values
/// are given along one of them, the others of them fixed. Strategies that share a range share
/// the finding.
std::vector<Finding> find_out_of_memory(const Grid& grid);

}  // namespace shardscope
