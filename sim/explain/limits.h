// What is small enough to be explained number by number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/text/fault.h"

namespace shardscope {

inline constexpr int kFewestExplainedRanks = 2;
inline constexpr int kMostExplainedRanks = 4;
inline constexpr std::size_t kMostExplainedParameters = 64;
inline constexpr std::size_t kMostExplainedMicroSteps = 4;
inline constexpr std::size_t kMostExplainedRows = 64;  ///< Of the global batch.

/// Why the step of the scenario cannot be explained, and what --set would mend it. None if it can.
std::vector<Fault> explain_faults(const std::string& path, const Scenario& scenario,
                                  std::int64_t step);

}  // namespace shardscope
