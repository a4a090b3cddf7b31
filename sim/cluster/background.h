// Traffic beside the training's: messages between devices, again and again, until all ranks are
// done.
#pragma once

#include <simgrid/forward.h>

#include <cstdint>
#include <deque>
#include <simgrid/s4u/Comm.hpp>

#include "sim/cluster/platform.h"
#include "sim/scenario/cluster.h"

namespace shardscope {

/// A flow, and what it has sent.
struct BackgroundTraffic {
  const BackgroundFlow* flow;
  std::uint64_t bytes = 0;  ///< Sent when the last rank that is not one of these ended.

  // While it goes on.
  std::uint64_t whole_bytes = 0;         // Of messages that have left.
  simgrid::s4u::CommPtr under_way = {};  // Null between messages.
};

/// Starts actors that end with the last rank's. All must outlive the simulation; `traffic` gets an
/// element for each flow.
void start_background(const std::vector<BackgroundFlow>& flows, const Platform& platform,
                      std::deque<BackgroundTraffic>& traffic);

}  // namespace shardscope
