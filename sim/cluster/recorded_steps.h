// Which steps of a run are recorded, operation by operation.
#pragma once

#include <cstdint>

namespace shardscope {

/// Steps first..last, and the final one if `final_step`.
struct RecordedSteps {
  std::int64_t first = 1;
  std::int64_t last = 0;
  bool final_step = false;
};

}  // namespace shardscope
