// One collective on a scenario's cluster, by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "core/collectives/plan.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

/// A measurement: the same vector of fp32 elements on all ranks of the scenario.
struct CollectiveSize {
  Operation operation = Operation::all_reduce;
  std::uint64_t elements = 0;
};

struct CollectiveMeasurement {
  Algorithm algorithm = Algorithm::ring;  ///< Whose messages they were.
  bool as_flows = false;                  ///< Instead of message by message.
  double seconds = 0;  ///< From a moment at which all ranks begin to the last one's end.
};

/// Simulates them one after another, each from a quiet network, by the cluster's
/// collective.algorithm. Shapes only. Call once per process: SimGrid's engine does not start twice.
std::vector<CollectiveMeasurement> time_collectives(const Scenario& scenario,
                                                    const std::vector<CollectiveSize>& sizes);

}  // namespace shardscope
