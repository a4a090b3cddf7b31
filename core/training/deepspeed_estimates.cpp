#include "core/training/deepspeed_estimates.h"

namespace shardscope {

std::uint64_t deepspeed_estimate_bytes(EstimatedSetup setup, std::uint64_t parameters,
                                       std::uint64_t largest_layer, int world_size) {
  const auto ranks = static_cast<std::uint64_t>(world_size);
  if (setup.stage == 2) {
    return 2 * parameters + (setup.optimizer_on_host ? 0 : 18 * parameters / ranks);
  }
  return 4 * largest_layer + (setup.optimizer_on_host ? 2 : 18) * parameters / ranks;
}

}  // namespace shardscope
