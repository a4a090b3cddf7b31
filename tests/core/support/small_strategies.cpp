#include "tests/core/support/small_strategies.h"

#include <algorithm>

#include "core/data/generator.h"

namespace shardscope::testing {

Strategy small(Strategy strategy) {
  strategy.reduction.buckets.bytes = std::min<std::uint64_t>(strategy.reduction.buckets.bytes, 64);
  strategy.reduction.buckets.first_bytes =
      std::min<std::uint64_t>(strategy.reduction.buckets.first_bytes, 16);
  strategy.reduction.buckets.elements =
      std::min<std::uint64_t>(strategy.reduction.buckets.elements, 12);
  GatherOptions& gather = strategy.gather;
  gather.prefetch_elements = std::min<std::uint64_t>(gather.prefetch_elements, 5);
  gather.persistence_threshold = std::min<std::uint64_t>(gather.persistence_threshold, 2);
  gather.max_reuse_distance = std::min<std::uint64_t>(gather.max_reuse_distance, 20);
  strategy.fp32_gradient_copy = std::min<std::uint64_t>(strategy.fp32_gradient_copy, 7);
  strategy.shard_group_size = std::min(strategy.shard_group_size, 2);
  return strategy;
}

bool has_overlap(const Strategy& strategy) {
  return find_strategy(strategy.name)->reduction.overlap ||
         find_strategy(strategy.name)->reduction.contiguous_buffers > 0;
}

void set_overlap(Strategy& strategy, bool overlap) {
  strategy.reduction.overlap = overlap;
  if (strategy.gradients == Placement::replicated) {
    strategy.reduction.time =
        overlap ? ReductionTime::during_backward : ReductionTime::after_backward;
  }
}

const std::vector<Strategy>& small_strategies() {
  static const std::vector<Strategy> strategies = [] {
    std::vector<Strategy> all;
    for (const Strategy& strategy : all_strategies()) {
      all.push_back(small(strategy));
    }
    return all;
  }();
  return strategies;
}

std::vector<Strategy> random_strategies(std::uint64_t seed) {
  std::uint64_t draws = 1000;  // Beside those of RandomProblem.
  const auto draw = [&](std::uint64_t below) { return splitmix64(seed, draws++) % below; };
  std::vector<Strategy> all;
  for (Strategy strategy : all_strategies()) {
    ReductionOptions& reduction = strategy.reduction;
    if (reduction.buckets.bytes > 0) {
      reduction.buckets.bytes = 1 + draw(200);
      reduction.buckets.first_bytes = 1 + draw(100);
    }
    if (reduction.buckets.elements > 0) {
      reduction.buckets.elements = 1 + draw(40);
    }
    if (has_overlap(strategy)) {
      set_overlap(strategy, draw(2) == 0);
      reduction.max_in_flight = reduction.overlap ? static_cast<int>(draw(3)) : 0;
    }
    if (strategy.framework == Framework::torch && !strategy.cuts_shards()) {
      reduction.every_micro_step = draw(2) == 0;
    }
    reduction.persistent_buckets = reduction.persistent_buckets && draw(2) == 0;
    if (strategy.name == "DEEPSPEED_STAGE3" && draw(2) == 0) {
      reduction.collective = Reduction::all_reduce;
    }
    if (reduction.contiguous_buffers > 0) {
      reduction.contiguous_buffers = static_cast<int>(draw(3));
    }
    GatherOptions& gather = strategy.gather;
    if (gather.traced) {
      gather.prefetch_elements = draw(60);
      gather.persistence_threshold = draw(12);
      gather.max_reuse_distance = draw(80);
      gather.max_live_parameters = draw(2) == 0 ? kNoLimit : draw(60);
    } else if (gather.prefetch_layers > 0) {
      gather.prefetch_layers = draw(4);
      gather.max_in_flight = static_cast<int>(1 + draw(3));
      gather.reshard_after_forward = draw(2) == 0;
    }
    if (strategy.shard_group_size > 0) {
      strategy.shard_group_size = static_cast<int>(1 + draw(4));
      strategy.reduce_across_every_micro_step = draw(2) == 0;
    }
    if (strategy.fp32_gradient_copy > 0) {
      strategy.fp32_gradient_copy = 1 + draw(50);
    }
    all.push_back(strategy);
  }
  return all;
}

}  // namespace shardscope::testing
