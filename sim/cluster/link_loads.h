// What a run sent over each link.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "sim/cluster/background.h"
#include "sim/cluster/platform.h"
#include "sim/cluster/rank.h"

namespace shardscope {

using Ranks = std::vector<std::unique_ptr<Rank>>;

struct LinkLoad {
  std::size_t link = 0;  ///< Index in Platform::links().
  std::uint64_t training_bytes = 0;
  std::uint64_t background_bytes = 0;
  double seconds = 0;  ///< All bytes at the link's bandwidth, its mean where that changes.
};

struct LinkLoads {
  /// Links that carried anything, the one with the most seconds first, the first one on a tie.
  std::vector<LinkLoad> busiest;
  double longest_latency_s = 0;  ///< Of a path that the training used.
};

/// At `end_s`, when the run is over.
LinkLoads link_loads(const Platform& platform, const Ranks& ranks,
                     const std::deque<BackgroundTraffic>& background,
                     const std::vector<LinkChange>& changes, double end_s);

}  // namespace shardscope
