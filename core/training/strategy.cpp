#include "core/training/strategy.h"

namespace shardscope {

const std::vector<Strategy>& all_strategies() {
  static const std::vector<Strategy> strategies = {
      {.name = "DDP",
       .parameters = Placement::replicated,
       .reduction = Reduction::all_reduce,
       .reduction_time = ReductionTime::after_backward,
       .gradients = Placement::replicated,
       .optimizer = Placement::replicated},
      {.name = "NAIVE_ZERO",
       .parameters = Placement::replicated,
       .reduction = Reduction::all_reduce,
       .reduction_time = ReductionTime::after_backward,
       .gradients = Placement::replicated,
       .optimizer = Placement::sharded},
      {.name = "ZERO1",
       .parameters = Placement::replicated,
       .reduction = Reduction::reduce_scatter,
       .reduction_time = ReductionTime::after_backward,
       .gradients = Placement::replicated,
       .optimizer = Placement::sharded},
      {.name = "ZERO2",
       .parameters = Placement::replicated,
       .reduction = Reduction::reduce_scatter,
       .reduction_time = ReductionTime::per_layer,
       .gradients = Placement::sharded,
       .optimizer = Placement::sharded},
      {.name = "ZERO3",
       .parameters = Placement::sharded,
       .reduction = Reduction::reduce_scatter,
       .reduction_time = ReductionTime::per_layer,
       .gradients = Placement::sharded,
       .optimizer = Placement::sharded},
  };
  return strategies;
}

const Strategy* find_strategy(std::string_view name) {
  for (const Strategy& strategy : all_strategies()) {
    if (strategy.name == name) {
      return &strategy;
    }
  }
  return nullptr;
}

}  // namespace shardscope
