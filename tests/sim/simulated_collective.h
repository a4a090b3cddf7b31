// One collective on a simulated cluster, all ranks beginning at 0, each run in a process of its
// own.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "core/collectives/plan.h"
#include "sim/result/result.pb.h"
#include "sim/scenario/cluster.h"

namespace shardscope::testing {

struct CollectiveRun {
  std::vector<double> end_s;  ///< By rank.
  bool is_right = false;      ///< Every element is the sum, or the copy, that it should be.
  RunResult recorded;         ///< A step with nothing but the collective.

  double last_s() const;
};

/// On fp32 elements that are small integers. A run that dies fails the test.
CollectiveRun run_collective(const std::shared_ptr<const CollectivePlan>& plan, Operation operation,
                             const Cluster& cluster, std::size_t elements);

}  // namespace shardscope::testing
