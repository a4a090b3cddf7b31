// Traffic beside the training's: messages between devices, again and again, until all ranks are
// done.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/cluster/platform.h"
#include "sim/scenario/cluster.h"

namespace shardscope {

/// A flow, and what it has sent.
struct BackgroundTraffic {
  const BackgroundFlow* flow;
  std::uint64_t arrived_bytes = 0;
};

/// Starts actors that end with the last rank's. Flows and the result must outlive the simulation.
std::deque<BackgroundTraffic> start_background(const std::vector<BackgroundFlow>& flows,
                                               const Platform& platform);

}  // namespace shardscope
