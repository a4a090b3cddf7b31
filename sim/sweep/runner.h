// Runs the points of a sweep, a child process per point and strategy, several at once.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/plan.h"
#include "sim/sweep/store.h"
#include "sim/sweep/sweep.h"

namespace shardscope {

struct SweepOptions {
  std::size_t jobs = 1;  ///< Children at once.

  /// Called as rows come, and a few times a second between them. May be empty.
  std::function<void(std::size_t rows_done)> on_progress;
};

/// Runs the tasks, ascending, and appends their rows as they come; what is wrong with a point is
/// its row's reason. Children hold no more of the machine's memory together than there is. Ends
/// early if the store fails or Interruption notes a signal; children that still run are killed.
void run_tasks(const PointSource& source, const Sweep& sweep, const std::vector<std::size_t>& tasks,
               StoreWriter& store, const SweepOptions& options);

}  // namespace shardscope
