// What `shardscope collective` shows: times and bandwidths as nccl-tests prints them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/collectives/plan.h"
#include "sim/scenario/scenario.h"

namespace shardscope {

struct CollectiveRow {
  std::uint64_t bytes = 0;
  std::string asked;                      ///< The algorithm asked for: "AUTO".
  Algorithm algorithm = Algorithm::ring;  ///< Whose messages were sent.
  bool as_flows = false;                  ///< Instead of message by message.
  double seconds = 0;
};

/// bytes / time, in bytes/s.
double algorithm_bandwidth(const CollectiveRow& row);

/// algbw x a factor that makes it comparable to the links' bandwidth (nccl-tests,
/// doc/PERFORMANCE.md): all_reduce 2 (N-1) / N, reduce_scatter and all_gather (N-1) / N, broadcast
/// 1. `bytes` is the whole vector, as there.
double bus_bandwidth(Operation operation, int ranks, const CollectiveRow& row);

/// Rows by size, then algorithm; of several algorithms the fastest of a size is marked.
std::string collective_table(const Scenario& scenario, Operation operation,
                             const std::vector<CollectiveRow>& rows, bool colour,
                             std::size_t width);
std::string collective_json(const Scenario& scenario, Operation operation,
                            const std::vector<CollectiveRow>& rows, const std::string& version);

}  // namespace shardscope
