// What limits a run: which resource accounts for most of its time.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardscope {

class RunResult;

/// A resource, the time it alone would account for, and that time as a share of the wall-clock
/// time. Shares need not add up to 1: resources work side by side, and a rank may wait for another
/// one.
struct LimitShare {
  std::string_view name;         ///< As in JSON: compute, memory, bandwidth, latency, overhead,
                                 ///< storage.
  std::string_view description;  ///< As in text: "link bandwidth".
  double seconds = 0;
  double share = 0;  ///< NaN if the wall-clock time is not positive.
};

struct LimitSummary {
  /// One per resource, in the order compute (peak flops), memory (the device's memory bandwidth),
  /// bandwidth (the link's), latency (the link's), overhead (kernel launches), storage (saving
  /// checkpoints).
  std::vector<LimitShare> shares;

  /// The one with the most seconds, the first on a tie; null if nothing took time.
  const LimitShare* largest() const;
};

LimitSummary summarize_limits(const RunResult& run);

}  // namespace shardscope
