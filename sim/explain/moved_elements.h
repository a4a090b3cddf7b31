// Which elements the collectives of a step move.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/explain/layout.h"
#include "sim/explain/step_log.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

struct MovedElements {
  enum class Kind {
    control,   ///< A norm or a flag of overflow: no elements.
    reduce,    ///< A bucket of gradients, inside a shard group.
    across,    ///< The own shards of gradients, among the ranks that hold the same.
    gather,    ///< Parameters, for the layer that computes.
    prefetch,  ///< The same, for a layer after it.
    publish    ///< Updated parameters.
  };

  Kind kind = Kind::control;
  std::size_t bucket = 0;   ///< Of reduce.
  std::optional<int> root;  ///< Of a broadcast.

  /// By rank and chunk, the columns of its elements in the order of the data.
  std::vector<std::vector<std::vector<std::size_t>>> columns;

  bool is_of_parameters() const {
    return kind == Kind::gather || kind == Kind::prefetch || kind == Kind::publish;
  }
};

/// For each collective of the step, in their order: by the strategy's buckets and its plan of
/// gathers. `log` is rank 0's.
std::vector<MovedElements> moved_elements(const Scenario& scenario, const Strategy& strategy,
                                          const Layout& layout, bool first_step,
                                          const StepLog& log);

}  // namespace shardscope
