// What the time of a step hangs on: the longest chain of kernels and messages through it, and how
// long the step would take if one kind of them were faster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardscope {

class RunResult;

struct PathShare {
  std::string name;
  double seconds = 0;
};

/// The step with other durations, those before it too, by the same order of operations: exact where
/// no two messages share a link at once, as in rings on a star.
struct WhatIf {
  std::string name;  ///< communication_free, bandwidth_doubled, latency_zero, device_doubled
  double wall_s = 0;
};

struct CriticalPath {
  std::int64_t step = 0;
  int rank = 0;         ///< The one that finishes last; the path ends there.
  double length_s = 0;  ///< Its wall-clock time.

  /// Each adds up to the length; only what is not zero, largest first.
  /// Phases: forward, backward and optimizer of kernels, transfer and latency of messages, offset
  /// if the path comes from a rank that began the step at another time.
  std::vector<PathShare> phases;
  std::vector<PathShare> layers;  ///< "layers.2"; "" where no layer is concerned.
  std::vector<PathShare> links;   ///< "2->3"; "" of what is no message.

  std::vector<WhatIf> what_ifs;
};

/// Of the last step that was recorded. None if none was, or its messages were too many.
std::optional<CriticalPath> critical_path(const RunResult& run);

}  // namespace shardscope
