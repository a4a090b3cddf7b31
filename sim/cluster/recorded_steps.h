// Which steps of a run are recorded, operation by operation.
#pragma once

#include <cstdint>

namespace shardscope {

/// Rounds of collectives and kernels of all ranks that a run records: some 200 MB.
inline constexpr std::int64_t kRecordingBudget = 500'000;

/// Steps first..last, and the final one if `final_step`, which has a budget of its own.
struct RecordedSteps {
  std::int64_t first = 1;
  std::int64_t last = 0;
  bool final_step = false;
  std::int64_t budget = kRecordingBudget;
};

}  // namespace shardscope
