#include "sim/report/limits.h"

#include <algorithm>
#include <limits>

#include "sim/result/result.pb.h"

namespace shardscope {

const LimitShare* LimitSummary::largest() const {
  const auto largest =
      std::max_element(shares.begin(), shares.end(),
                       [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return largest == shares.end() || largest->seconds <= 0 ? nullptr : &*largest;
}

LimitSummary summarize_limits(const RunResult& run) {
  const Limits& limits = run.limits();
  LimitSummary summary;
  const auto add = [&](std::string_view name, std::string_view description, double seconds) {
    const double share =
        limits.wall_s() > 0 ? seconds / limits.wall_s() : std::numeric_limits<double>::quiet_NaN();
    summary.shares.push_back({name, description, seconds, share});
  };
  add("compute", "compute", limits.flops_s());
  add("memory", "memory bandwidth", limits.memory_bandwidth_s());
  add("bandwidth", "link bandwidth", limits.wire_bandwidth_s());
  add("latency", "link latency", limits.wire_latency_s());
  add("overhead", "kernel launches", limits.launch_overhead_s());
  add("storage", "storage", limits.storage_s());
  if (limits.has_host_s()) {
    add("host", "the host", limits.host_s());
  }
  return summary;
}

}  // namespace shardscope
